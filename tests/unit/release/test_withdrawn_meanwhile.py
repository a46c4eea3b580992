"""Somebody withdraws consent while a release is under way: it is of before, of after, or refused."""

import json
from fractions import Fraction

import pytest

from confide.budget.chained_ledger import ChainedLedger
from confide.errors import ContractError
from confide.service.releasing.jobs import planned, run_in_parts, run_job
from counting_job import Counting, ThreeParts, clinic

PEOPLE = {"id": "n", "kind": "count", "table": "people"}
EPSILON = "40"
GONE = [str(i) for i in range(10)]
MEANWHILE = "Somebody withdrew consent meanwhile; nothing was charged"


@pytest.fixture
def site(tmp_path):
    with clinic(tmp_path, lifetime="900") as ws:
        yield ws


@pytest.fixture
def leaves(tmp_path):
    """Make a listener in whose nth moment of a name ten of forty patients withdraw."""

    def leaving(at, *, time=1):
        seen = []

        def told(stage):
            seen.append(stage)
            if stage == at and seen.count(at) == time:
                with clinic(tmp_path, lifetime="900") as other:
                    other.forget(GONE)

        return told

    return leaving


def counted(ws, request="r", **given):
    plan = ws.plan(PEOPLE, epsilon=EPSILON)
    return round(ws.release(plan, request=request, **given).of("n")[0].value)


def joined(ws):
    """How many releases reuse joins, and the number of people that it tells of them."""
    found = ws.reuse(ws.plan(PEOPLE, epsilon=EPSILON))
    return len(found.reused.sources), round(found.of("n")[0].value)


@pytest.mark.parametrize("moment", ["check", "charge"])
def test_a_release_is_refused_at_no_charge_if_somebody_withdrew_before_it_reads(
    site, leaves, moment
):
    before = site.spent()
    with pytest.raises(ContractError, match=MEANWHILE) as refused:
        counted(site, progress=leaves(moment))
    assert "Run it again" in str(refused.value)
    assert site.spent() == before
    assert counted(site) == 30, "the same request again"


@pytest.mark.parametrize("moment", ["check", "charge", "read", "noise", "commit", "publish"])
def test_what_reuse_joins_left_out_the_same_patients_whenever_they_withdrew(site, leaves, moment):
    try:
        assert counted(site, "open", progress=leaves(moment)) == 40
    except ContractError as refused:
        assert MEANWHILE in str(refused)
    for request in ("1", "2"):
        assert counted(site, request) == 30
    assert joined(site) == (2, 30)


def test_whoever_withdraws_between_charge_and_check_is_not_read_either(site, leaves, monkeypatch):
    reserve, gone = ChainedLedger.reserve, leaves("reserved")

    def reserved(ledger, request):
        held = reserve(ledger, request)
        gone("reserved")
        return held

    with monkeypatch.context() as patch:
        patch.setattr(ChainedLedger, "reserve", reserved)
        with pytest.raises(ContractError, match=MEANWHILE):
            counted(site)
    assert counted(site) == 30


@pytest.mark.parametrize("moment", ["check", "charge"])
def test_a_job_is_refused_at_no_charge_if_somebody_withdrew_before_it_reads(site, leaves, moment):
    job = Counting(scale=Fraction(1, 40))
    plan, before = planned(site, job), site.spent()
    with pytest.raises(ContractError, match=MEANWHILE):
        run_job(site, job, plan=plan, request="r", progress=leaves(moment))
    assert site.spent() == before
    files = run_job(site, job, plan=plan, request="r").answer.files
    assert sum(json.loads(files["counts.json"])) == 30


@pytest.mark.parametrize("moment", ["read", "working", "noise"])
def test_a_part_of_a_job_that_was_made_of_who_withdrew_is_thrown_away_and_made_anew(
    site, leaves, moment
):
    job = ThreeParts(scale=Fraction(1, 40))
    given = {"plan": planned(site, job), "runner": job, "request": "r"}
    with pytest.raises(ContractError, match=MEANWHILE):
        run_in_parts(site, job, **given, progress=leaves(moment))
    spent = site.spent()
    files = run_in_parts(site, job, **given).answer.files
    assert json.loads(files["counts.json"]) == [10, 10, 10], "of 14, four are gone"
    assert site.spent() == spent, "charged when it was opened"
