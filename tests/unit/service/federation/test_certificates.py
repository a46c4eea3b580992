"""What becomes of a site's certificate that is not true: nothing, wherever the site stands."""

import copy
import json

from confide.errors import VerificationError
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.plans.canonical import canonical_bytes
from federated_sites import Sites


def lying(patch, names):
    """Let sites post certificates of a loss that is far too small, signed with their keys."""
    post = Board.post

    def forged(self, kind, body, *, sender, key):
        if kind is NoticeKind.CERTIFIED and sender in names:
            body = copy.deepcopy(body)
            body["guarantee"]["spend"]["rho"] = "0.000001"
            rest = {name: part for name, part in body.items() if name != "signature"}
            body["signature"]["value"] = key.sign(canonical_bytes(rest)).hex()
        post(self, kind, body, sender=sender, key=key)

    patch.setattr(Board, "post", forged)


def test_the_joint_release_is_of_a_certificate_that_verifies(tmp_path, monkeypatch):
    sites = Sites(tmp_path)
    lying(monkeypatch, ["site-0"])
    made = sites.together()
    assert sorted(made.hub.certificates) == ["site-1", "site-2"]
    assert "does not verify" in made.hub.missing["site-0"]
    form = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert form["signature"]["key"] == sites.federation.sites[1].key
    assert not (tmp_path / "out" / "sites" / "site-0").exists()
    assert "0.000001" not in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_where_no_certificate_verifies_nothing_is_written(tmp_path, monkeypatch):
    sites = Sites(tmp_path)
    lying(monkeypatch, sites.names)
    made = sites.together()
    assert isinstance(made.hub, VerificationError)
    assert "site-2: its certificate does not verify" in str(made.hub)
    assert not (tmp_path / "out").exists()
