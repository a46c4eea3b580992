"""Modules trained over sites: one plan, one charge a site, patients protected, no rows pooled."""

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("opacus", reason="needs the extra `learning`")

from modules_over_sites import ModuleSites, auc  # noqa: E402


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    sites = ModuleSites(tmp_path_factory.mktemp("sites"), counts=(400, 500, 600))
    return sites, sites.together()


def test_x(trained):
    sites, ended = trained
    print(ended)
    print(sites.entries("site-0"), sites.entries("hub"))
    print([auc(ended[n]) for n in sites.names])
    print(sites.member("hub").plan())
