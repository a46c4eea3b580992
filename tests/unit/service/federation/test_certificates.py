"""What becomes of a site's certificate that is not true: nothing, wherever the site stands."""

import copy
import json

from confide.errors import VerificationError
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.plans.canonical import canonical_bytes
from confide.service.federation.status import status
from confide.service.opening import open_site
from federated_sites import Sites


def lying(patch, names):
    """Let sites post certificates of a loss that is far too small, signed with their keys."""
    post = Board.post

    def forged(self, kind, body, *, sender, key, number=None):
        if kind is NoticeKind.CERTIFIED and sender in names:
            body = copy.deepcopy(body)
            body["guarantee"]["spend"]["rho"] = "0.000001"
            rest = {name: part for name, part in body.items() if name != "signature"}
            body["signature"]["value"] = key.sign(canonical_bytes(rest)).hex()
        post(self, kind, body, sender=sender, key=key, number=number)

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


def say_another(sites, kind, name):
    """A member says a second thing of a kind in the last run."""
    run = status(federation=sites.file, folder=sites.shared).runs[0].run
    board = Board(sites.shared, federation=sites.federation, run=run)
    with open_site(sites.root / name / "dataset.yaml", spends=False) as site:
        board.post(kind, {"another": "word"}, sender=name, key=site.signer)


def test_a_site_that_says_two_things_ends_nobody_but_itself(tmp_path):
    sites = Sites(tmp_path)
    first = sites.together().hub
    say_another(sites, NoticeKind.CERTIFIED, "site-1")
    made = sites.run(out="second", seconds=1)
    assert made.run == first.run
    assert sorted(made.certificates) == ["site-0", "site-2"]
    assert made.missing == {"site-1": "'site-1' said two things: certified."}


def test_a_coordinator_that_says_two_things_is_shown_as_nobodys_word(tmp_path):
    sites = Sites(tmp_path)
    sites.together()
    say_another(sites, NoticeKind.ADDED, "hub")
    (run,) = status(federation=sites.file, folder=sites.shared).runs
    assert run.came_to == "nobody's word"
    assert run.why == "'hub' said two things: added."
    assert [each.said for each in run.sites] == ["certified"] * 3
