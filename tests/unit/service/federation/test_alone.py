"""A member speaks through one process in a run, and never says that it was not charged if it was."""

import datetime as dt
import json

import pytest

from confide.errors import BurnedError, ContractError, MessageRefusedError, PolicyError
from confide.jobs.federated.runs.coordinate import Coordinator
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.runs.site_round import SiteRound
from confide.release.over_sites import site_gate
from confide.service.federation.status import status
from confide.service.federation.telling import certify, tell_charged_before
from confide.service.opening import open_site
from federated_sites import Sites

AGAIN, LATER = {"again": True}, {"clock": lambda: dt.datetime.now(dt.UTC) + dt.timedelta(days=9)}


@pytest.fixture
def sites(tmp_path):
    return Sites(tmp_path)


def said(sites, name):
    """What a member said, by kind."""
    found = {}
    for path in sites.shared.glob(f"run-*/{name}/*.json"):
        found.setdefault(path.name.split(".")[0], []).append(json.loads(path.read_bytes())["body"])
    return found


def refused(work):
    """The refusal that some work ends with."""
    with pytest.raises(ContractError) as failure:
        work()
    return str(failure.value)


@pytest.mark.parametrize("again", [False, True])
def test_a_second_command_of_a_coordinator_that_works_says_nothing(again, sites, monkeypatch):
    told = []

    def work(self, plan, *, progress):
        if not told:
            told.append(refused(lambda: sites.run(out="second", again=again, seconds=0.1)))
        raise KeyboardInterrupt

    monkeypatch.setattr(Coordinator, "bring_about", work)
    with pytest.raises(KeyboardInterrupt):
        sites.run()
    assert told[0].startswith(
        "Another process of this member is at this run; this one said nothing"
    )
    assert [*said(sites, "hub")] == ["proposed"]
    with pytest.raises(KeyboardInterrupt):  # the first is gone, so its run goes on
        sites.run()
    assert len(status(federation=sites.file, folder=sites.shared).runs) == 1


def test_a_second_command_of_a_site_that_reads_says_nothing_and_burns_nobody(sites, monkeypatch):
    with_part, told, digest = site_gate._with_part, [], sites.digest()

    def second(measurement, secret, *, entropy):
        if not told:
            told.append("begun")
            told.extend(refused(lambda how=how: served(**how)) for how in ({}, LATER, AGAIN))
        return with_part(measurement, secret, entropy=entropy)

    def served(**how):
        return sites.serve(name, approve=digest, out=sites.root / "second", **how)

    name = "site-0"
    gather = SiteRound.gather

    def first_reads(self):
        gather(self)
        if self._site == 0:
            monkeypatch.setattr(site_gate, "_with_part", second)

    monkeypatch.setattr(SiteRound, "gather", first_reads)
    made = sites.together()
    assert len(told) == 4
    assert all("Another process of this member is at this run" in each for each in told[1:])
    assert made.hub.added == tuple(sites.names)
    assert made.hub.missing == {}
    assert sorted(said(sites, name)) == ["accepted", "certified"]


def burned(sites, monkeypatch):
    """A run that ended for every site after its numbers had left."""

    def cut_off(self):
        raise OSError("cut off after its vector left")

    with monkeypatch.context() as patch:
        patch.setattr(SiteRound, "_told", cut_off)
        sites.together(seconds=5)
    assert {state for state, _ in sites.entries("site-0")} == {"burned"}
    for word, name in (("ended", "site-*"), ("certified", "site-*")):
        for path in sites.shared.glob(f"run-*/{name}/{word}.*"):
            path.unlink()  # as of a process that was killed before it could say it
    return status(federation=sites.file, folder=sites.shared).runs[0].run


def test_what_burned_is_told_as_a_charge_that_stays(sites, monkeypatch):
    run = burned(sites, monkeypatch)
    with pytest.raises(BurnedError):
        sites.serve("site-0", seconds=1, again=True, out=sites.root / "other")
    with pytest.raises(PolicyError, match="was open until"):
        sites.serve("site-1", seconds=1, again=True, out=sites.root / "other", **LATER)
    board = Board(sites.shared, federation=sites.federation, run=run)
    with open_site(sites.root / "site-2" / "dataset.yaml", spends=False) as site:
        tell_charged_before(board, plan=sites.plan(), site=site, name="site-2")
    stays = {"why": "it was charged in this run before its part ended; its charge stays."}
    for name in sites.names:
        assert said(sites, name)["ended"] == [stays]
        assert "refused" not in said(sites, name)


def test_a_certificate_that_was_made_again_by_other_versions_is_not_said_again(sites):
    with open_site(sites.root / "site-0" / "dataset.yaml", spends=False) as site:
        board = lambda: Board(sites.shared, federation=sites.federation, run="a" * 64)  # noqa: E731
        for numpy in ("2.0", "99.0", "99.0"):
            certify(board(), {"numpy": numpy}, site=site, name="site-0")
        assert board().read(NoticeKind.CERTIFIED, "site-0") == {"numpy": "2.0"}
        board().post(NoticeKind.CERTIFIED, {"numpy": "3"}, sender="site-0", key=site.signer)
        certify(board(), {"numpy": "2.0"}, site=site, name="site-0")
    with pytest.raises(MessageRefusedError, match="said two things"):
        board().read(NoticeKind.CERTIFIED, "site-0")
