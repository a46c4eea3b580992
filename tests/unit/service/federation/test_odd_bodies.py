"""Signed bodies of any shape end nobody but who signed them, and never in an exception of Python."""

import datetime as dt
import shutil

import pytest

from confide.errors import MessageRefusedError, RoundAbortedError
from confide.jobs.federated.runs.coordinate import propose, reasons
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.runs.proposal import Proposal
from confide.jobs.federated.runs.site_round import look_for_end
from confide.service.federation.meeting import latest_run
from confide.service.federation.run import certificates_of
from confide.service.federation.status import status
from confide.service.opening import open_site
from federated_sites import Sites

ODD = [
    *([], ["x"], {}, "x", 5, 1e308, True, [[]]),
    *({"why": ["a"]}, {"why": None}, {"signature": "x"}, {"signature": {"key": 1}}),
    *({"totals": 1}, {"added": 5, "totals": []}, {"totals": ["9" * 5000], "added": ["site-0"]}),
]
OF_COORDINATOR = {NoticeKind.ABORTED, NoticeKind.ADDED, NoticeKind.ANSWERED, NoticeKind.PROPOSED}


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    sites = Sites(tmp_path_factory.mktemp("sites"))
    sites.agreed, sites.keys = sites.plan(), {}
    for name in ("hub", "site-0"):
        with open_site(sites.root / name / "dataset.yaml", spends=False) as site:
            sites.keys[name] = site.signer
    return sites


def proposed(sites, **changed):
    """The board of a new run."""
    made = propose(sites.agreed, now=dt.datetime.now(dt.UTC), open_for=dt.timedelta(days=1))
    board = Board(sites.shared, federation=sites.federation, run=made.run)
    body = made.body() | changed
    board.post(NoticeKind.PROPOSED, body, sender="hub", key=sites.keys["hub"])
    return board


@pytest.mark.parametrize("kind", NoticeKind)
def test_a_body_of_any_shape_is_told_or_refused(kind, sites):
    sender = "hub" if kind in OF_COORDINATOR else "site-0"
    for body in ODD:
        for path in sites.shared.iterdir():
            shutil.rmtree(path)
        run = "a" * 64 if kind is NoticeKind.PROPOSED else proposed(sites).run
        board = Board(sites.shared, federation=sites.federation, run=run)
        number = 0 if kind is NoticeKind.ANSWERED else None
        board.post(kind, body, sender=sender, key=sites.keys[sender], number=number)
        if kind is NoticeKind.PROPOSED:
            with pytest.raises(MessageRefusedError, match="cannot be read"):
                status(federation=sites.file, folder=sites.shared)
            continue
        shown = status(federation=sites.file, folder=sites.shared)
        latest_run(sites.shared, federation=sites.federation, plan=sites.agreed)
        reasons(board, federation=sites.federation)
        if kind is NoticeKind.ABORTED:
            assert next(each for each in shown.runs if each.run == run).came_to == "aborted"
            with pytest.raises(RoundAbortedError, match="ended the run"):
                look_for_end(board, coordinator="hub")
        found, missing = certificates_of(
            ("site-0",),
            payload="0",
            board=board,
            federation=sites.federation,
            meeting=sites.meeting(0),
        )
        assert (found, list(missing)) == ({}, ["site-0"])


@pytest.mark.parametrize("until", ["9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+14:00"])
def test_a_time_to_which_nothing_can_be_added_is_no_proposal(until, sites):
    body = propose(sites.agreed, now=dt.datetime.now(dt.UTC), open_for=dt.timedelta(days=1)).body()
    with pytest.raises(MessageRefusedError, match="cannot be read"):
        Proposal.read(body | {"until": until}, run="a" * 64)


@pytest.mark.parametrize("part", ["statistics", "measurements"])
def test_a_plan_without_lists_is_shown_as_one_that_is_not_known_here(part, sites):
    plan = sites.agreed.to_json() | {part: None}
    run = proposed(sites, plan=plan).run
    (shown,) = [e for e in status(federation=sites.file, folder=sites.shared).runs if e.run == run]
    assert shown.sums == 0
