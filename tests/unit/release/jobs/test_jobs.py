"""Jobs pass the gate in its order: charge, read, hide, commit, publish; and verify without data."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import pytest

from confide.budget.ledger import State
from confide.errors import (
    BudgetExhaustedError,
    BurnedError,
    ContractError,
    ReleaseFailedError,
    UnsupportedError,
    VerificationError,
)
from confide.release.jobs.job_answer import read_answer
from confide.release.site.keys import read_signing_key
from confide.release.site.ledger_pin import make_keys
from confide.release.verify.verify import read_certificate, verify
from confide.release.verify.verify_job import _events, answer_in
from confide.service.releasing.jobs import planned, run_job
from confide.statistics import read_job
from counting_job import Counting, clinic
from issued import signed

CANARY = "patient 17 has the value 4711"


def held(checks):
    return {check.name: check.holds for check in checks.checks}


def test_a_job_is_charged_before_it_reads_and_published_after(tmp_path):
    with clinic(tmp_path) as ws:
        job, told = Counting(), []
        plan = planned(ws, job)
        states = []

        def progress(stage):
            told.append(stage)
            states.append([entry.state for entry in ws.ledger.entries("clinic")])

        found = run_job(ws, job, plan=plan, progress=progress)
        assert told == ["check", "charge", "read", "noise", "commit", "publish"]
        assert states[2] == [State.READING]
        assert states[1] == []
        (entry,) = ws.ledger.entries("clinic")
        assert entry.state is State.PUBLISHED
        assert entry.amount.nano == 500_000_000
        counts = json.loads(found.answer.files["counts.json"])
        assert len(counts) == 2


def test_the_same_request_returns_the_stored_bytes_and_is_never_charged_twice(tmp_path):
    with clinic(tmp_path) as ws:
        job = Counting()
        plan = planned(ws, job)
        first = run_job(ws, job, plan=plan, request="a")
        again = [run_job(ws, job, plan=plan, request="a") for _ in range(3)]
        assert {each.answer.payload() for each in again} == {first.answer.payload()}
        assert len(ws.ledger.entries("clinic")) == 1
        run_job(ws, job, plan=plan, request="b")
        assert [entry.amount.nano for entry in ws.ledger.entries("clinic")] == [500_000_000] * 2


def test_a_job_that_fails_is_burned_with_a_constant_text_and_stays_charged(tmp_path):
    with clinic(tmp_path) as ws:
        job = Counting(breaks=CANARY)
        plan = planned(ws, job)
        with pytest.raises(ReleaseFailedError) as failed:
            run_job(ws, job, plan=plan)
        assert CANARY not in str(failed.value)
        assert failed.value.__cause__ is None
        assert failed.value.incident in (tmp_path / ".confide" / "incidents.log").read_text()
        (entry,) = ws.ledger.entries("clinic")
        assert entry.state is State.BURNED
        with pytest.raises(BurnedError):
            run_job(ws, job, plan=plan)


def test_files_of_a_job_are_those_that_were_saved(tmp_path):
    with clinic(tmp_path) as ws:
        release = run_job(ws, Counting(), plan=planned(ws, Counting()))
    folder = release.save(release.save(tmp_path / "a" / "b"))
    assert answer_in(folder) == release.answer
    content = (folder / "counts.json").read_bytes()
    for changed in (content.replace(b"[", b"]"), content + b" "):
        (folder / "counts.json").write_bytes(changed)
        with pytest.raises(VerificationError, match="was changed"):
            answer_in(folder)


def test_what_a_job_reads_and_draws_follows_from_the_settings_that_it_states(tmp_path):
    with clinic(tmp_path) as ws:
        answer = run_job(ws, Counting(), plan=planned(ws, Counting())).answer
    louder = Counting(scale=Fraction(1, 2))
    for job, told in (
        (Counting(), ""),
        (louder, "what is read or drawn does not follow from the settings"),
        (None, "this version knows no such job"),
    ):
        check = _events(answer, read_spec=lambda *_, job=job: job)
        assert check.holds is not bool(told)
        assert check.detail.startswith(told)
        assert bool(check.detail) is bool(told)


class Panic(BaseException):
    """What libraries in Rust raise."""


@pytest.mark.parametrize("failure", [Panic(CANARY), SystemExit(CANARY)], ids=["panic", "exit"])
def test_a_job_that_fails_with_what_is_no_exception_is_burned_and_tells_nothing(
    tmp_path, monkeypatch, failure
):
    def panic(*_, **__):
        raise failure

    monkeypatch.setattr(Counting, "run", panic)
    with clinic(tmp_path) as ws:
        with pytest.raises(ReleaseFailedError) as failed:
            run_job(ws, Counting(), plan=planned(ws, Counting()))
        assert CANARY not in str(failed.value)
        (entry,) = ws.ledger.entries("clinic")
        assert entry.state is State.BURNED


def test_a_job_that_would_pass_the_cap_is_refused_and_reads_nothing(tmp_path):
    with clinic(tmp_path, lifetime="1") as ws:
        job, told = Counting(scale=Fraction(1, 2)), []
        with pytest.raises(BudgetExhaustedError):
            run_job(ws, job, plan=planned(ws, job), progress=told.append)
        assert told == ["check", "charge"]


def test_a_plan_of_another_job_or_price_is_refused_before_the_charge(tmp_path):
    with clinic(tmp_path) as ws:
        job = Counting()
        plan = planned(ws, job)
        with pytest.raises(ContractError, match="not the one of this job"):
            run_job(ws, Counting(scale=Fraction(1)), plan=plan)
        with pytest.raises(ContractError, match="charges less"):
            run_job(ws, job, plan=replace(plan, nano=plan.nano - 1))
        assert ws.ledger.entries("clinic") == ()


def test_a_job_keeps_no_more_rows_of_a_patient_than_it_says(tmp_path):
    with clinic(tmp_path, rows=5) as ws:
        seen = []

        class Looking(Counting):
            def run(self, rows, **given):
                seen.append(rows.reveal_to_job())
                return super().run(rows, **given)

        job = Looking(rows=2)
        run_job(ws, job, plan=planned(ws, job))
        assert sorted(seen[0]) == ["e0", "fold", "patient"]
        assert seen[0]["patient"].tolist() == [i for i in range(40) for _ in range(2)]
        folds = dict(zip(seen[0]["patient"].tolist(), seen[0]["fold"].tolist(), strict=True))
        assert [folds[p] for p in seen[0]["patient"].tolist()] == seen[0]["fold"].tolist()


def test_gaussian_noise_of_a_job_in_a_ledger_of_epsilon_needs_a_delta(tmp_path):
    with clinic(tmp_path, delta="1e-6") as ws:
        job = Counting(gaussian=True, scale=Fraction(5))
        with pytest.raises(UnsupportedError, match="δ"):
            planned(ws, job)
        plan = planned(ws, job, delta=Fraction(1, 10**6))
        assert plan.atto == 10**12
        found = run_job(ws, job, plan=plan)
        spend = found.certificate["guarantee"]["spend"]
        assert spend["measure"] == "approx"
        assert spend["delta"] == "0.000001"
        said = found.certificate["guarantee"]
        epsilon = float(plan.loss.epsilon)
        odds = math.ceil(math.exp(2 * epsilon) * 1000) / 1000
        assert f"factor {odds:.3f}" in said["in-words"]["en"]
        rare = Fraction(said["equivalents"][0]["delta"])
        assert 2e-6 / (1 - math.exp(-epsilon)) <= rare < 2.1e-6 / (1 - math.exp(-epsilon))


def test_a_job_of_gaussian_noise_costs_its_rho_in_a_ledger_of_rho(tmp_path):
    with clinic(tmp_path, measure="zcdp", delta="1e-6") as ws:
        plan = planned(ws, Counting(gaussian=True, scale=Fraction(5)))
        assert (plan.nano, plan.atto) == (20_000_000, 0)


def test_a_certificate_of_a_job_verifies_without_data_and_no_change_of_it_does(tmp_path):
    with clinic(tmp_path) as ws:
        job = Counting()
        found = run_job(ws, job, plan=planned(ws, job))
    folder = found.save(tmp_path / "out")
    certificate = read_certificate(folder / "certificate.json")
    assert verify(certificate, folder=folder).holds
    key = read_signing_key(tmp_path / ".confide")
    for change in (
        {"guarantee": certificate["guarantee"] | {"trust": "local"}},
        {"events": []},
        {"extra": 1},
        {"id": "clinic/99"},
    ):
        body = {k: v for k, v in certificate.items() if k != "signature"} | change
        assert not verify(signed(body, key), folder=folder).holds
    make_keys(tmp_path / "other")
    forged = {k: v for k, v in certificate.items() if k != "signature"}
    other = signed(forged, read_signing_key(tmp_path / "other"))
    assert not held(verify(other, folder=folder))["signature"]
    counts = (folder / "counts.json").read_bytes()
    (folder / "counts.json").write_bytes(counts + b" ")
    assert not verify(certificate, folder=folder).holds


def test_a_certificate_of_a_job_that_was_charged_too_little_does_not_verify(tmp_path):
    with clinic(tmp_path) as ws:
        job = Counting()
        found = run_job(ws, job, plan=planned(ws, job))
    folder = found.save(tmp_path / "out")
    head = json.loads((folder / "job.json").read_bytes())
    head["plan"]["events"][0]["noise"]["scale"] = "1"
    (folder / "job.json").write_text(json.dumps(head))
    assert not held(verify(found.certificate, folder=folder))["losses"]


def test_the_plan_of_a_job_survives_its_json(tmp_path):
    with clinic(tmp_path) as ws:
        plan = planned(ws, Counting(gaussian=False))
        assert read_job(plan.to_json()) == plan
        assert read_job(plan.to_json()).digest() == plan.digest()


def test_a_payload_of_a_job_that_was_cut_off_or_grew_is_refused(tmp_path):
    with clinic(tmp_path) as ws:
        job = Counting()
        payload = run_job(ws, job, plan=planned(ws, job)).answer.payload()
    assert read_answer(payload).payload() == payload
    for broken in (payload[:-1], payload + b"x", b"{}", b"\xff"):
        with pytest.raises(VerificationError):
            read_answer(broken)


def test_a_ledger_with_jobs_is_whole_when_it_is_opened_again(tmp_path):
    with clinic(tmp_path) as ws:
        job = Counting()
        run_job(ws, job, plan=planned(ws, job))
    with clinic(tmp_path) as ws:
        ws.ledger.verify_chain()
        assert len(ws.ledger.entries("clinic")) == 1
