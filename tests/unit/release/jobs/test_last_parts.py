"""A job in parts whose last part failed, or is under way, is not delivered as if it were done."""

import json

import pyarrow as pa
import pytest

import confide
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.ledger import State
from confide.errors import BurnedError, PolicyError, ReleaseFailedError
from confide.release.jobs import job_rounds
from confide.service.releasing.jobs import last_part, planned, run_in_parts
from counting_job import ThreeParts
from ledgers import schema_of
from postgres_server import server

PARTS = (1, 2, 3)


@pytest.fixture(params=["sqlite", "postgres"])
def site(request, tmp_path):
    frame = pa.table({"patient": [str(i) for i in range(40)], "sex": ["F", "M"] * 20})
    dataset = {
        "dataset": {"id": "clinic", "lineage": "clinic", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "patient", "adjacency": "add-remove"},
        "accounting": {"measure": "pure"},
        "caps": {"lifetime": {"epsilon": "3"}},
        "tables": {"people": {"columns": {"sex": {"categories": ["F", "M"]}}}},
    }
    if request.param == "postgres":
        place = {"kind": "postgres", "url": server().url, "schema-name": schema_of(tmp_path)}
        dataset["ledger"] = place
    with confide.open(dataset, frames={"people": frame}, folder=tmp_path) as ws:
        yield ws


def run(ws, **given):
    job = ThreeParts()
    found = run_in_parts(ws, job, plan=planned(ws, job), runner=job, **{"request": "r"} | given)
    return json.loads(found.answer.files["counts.json"])


def spent(ws):
    return sum(entry.amount.nano for entry in ws.ledger.entries("clinic"))


def broken_in(part, monkeypatch):
    real = ThreeParts.advanced

    def advanced(self, rows, **given):
        if given["part"] == part:
            raise RuntimeError
        return real(self, rows, **given)

    monkeypatch.setattr(ThreeParts, "advanced", advanced)


def is_over(ws, part, monkeypatch):
    """The part fails; the job is over from then on, and a new key begins another."""
    with monkeypatch.context() as patch:
        broken_in(part, patch)
        with pytest.raises(ReleaseFailedError):
            run(ws)
    once = spent(ws)
    for _ in range(2):
        with pytest.raises(BurnedError, match="its charge stays"):
            run(ws)
    kept = json.loads(last_part(ws).answer.files["counts.json"])
    assert len(kept) == part - 1
    assert spent(ws) == once
    assert len(run(ws, request="other")) == len(PARTS)
    assert spent(ws) == 2 * once


@pytest.mark.parametrize("part", PARTS)
def test_a_job_is_over_whichever_part_failed(site, part, monkeypatch):
    is_over(site, part, monkeypatch)


def test_a_job_whose_last_part_is_under_way_is_not_done(site, monkeypatch):
    real, told = ChainedLedger.commit, []

    def commit(self, held, **given):
        if self.entry(held.entry.number).step.stop > len(PARTS):
            with pytest.raises(PolicyError, match="is in progress") as refused:
                run(site)
            told.append(str(refused.value))
        return real(self, held, **given)

    monkeypatch.setattr(ChainedLedger, "commit", commit)
    done = run(site)
    assert len(told) == 1
    assert run(site) == done
    assert {entry.state for entry in site.ledger.entries("clinic")} == {State.PUBLISHED}


@pytest.mark.mutant
def test_a_part_that_passes_for_the_last_one_is_caught(site, monkeypatch):
    monkeypatch.setattr(job_rounds, "_is_last", lambda *_, **__: True)
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        is_over(site, PARTS[-1], monkeypatch)
