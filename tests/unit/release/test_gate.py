"""The gate: its stages in their order, its checks before the charge, every kind of noise."""

import json
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

import confide
from confide.errors import (
    BudgetExhaustedError,
    ConfideError,
    ContractError,
    InvalidParameterError,
    PolicyError,
    ReleaseFailedError,
    UnsupportedError,
)
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import SystemEntropy
from confide.plans.growth import grown_to
from confide.plans.house_rule import HouseRule, NoisyFile, SmallCells
from confide.plans.plan import Study
from confide.release.gate import Gate, _noisy
from confide.release.noisy import NoisyAggregates, read_payload
from confide.release.published import published_before
from confide.rows.engine import ExactAggregates
from confide.service.releasing.release import gate as gate_of
from every_kind import STUDIES, dataset, frames
from patients_world import write_hospital

STAGES = ["check", "charge", "read", "noise", "commit", "publish"]
LARGE = Fraction(600)
"""A loss of next to no noise, to tell answers apart."""


@pytest.fixture
def ws(tmp_path):
    with confide.open(dataset(measure="zcdp"), frames=frames(), folder=tmp_path) as ws:
        yield ws


@pytest.fixture
def gate(ws):
    return gate_of(ws.site)


def plan_of(ws, kind="count", *, epsilon=LARGE, study=None, **more):
    asked = {"id": kind, "kind": kind, **STUDIES[kind], **more}
    return ws.plan(asked, epsilon=epsilon, study=study or Study(id="s"))


def through(gate, plan, *, key="r", go=Gate.release):
    """Return the answer and the stages that were told."""
    stages = []
    stored = go(gate, plan, analyst="a", request_key=key, progress=stages.append)
    return read_payload(stored.payload), stages


def entries(ws):
    return ws.ledger.entries("town")


def test_a_release_passes_its_stages_in_order_and_a_retry_reads_nothing(ws, gate):
    plan = plan_of(ws)
    first, stages = through(gate, plan)
    assert stages == STAGES
    again, stages = through(gate, plan)
    assert again == first
    assert stages == ["check", "charge"]
    assert len(entries(ws)) == 1


def test_a_second_request_is_charged_unless_that_is_not_wanted(ws, gate):
    plan = plan_of(ws, study=Study(id="s", period="2026"))
    through(gate, plan)
    with pytest.raises(ContractError):
        gate.release(plan, analyst="a", request_key="other", again=False)
    assert len([entry for entry in entries(ws) if entry.payload_sha256]) == 1
    through(gate, plan, key="third")
    assert len([entry for entry in entries(ws) if entry.payload_sha256]) == 2


def test_with_next_to_no_noise_the_gate_answers_what_is_true(ws, gate):
    whole = frames()
    count, _ = through(gate, plan_of(ws))
    assert count.values == ((len(whole["people"]),),)
    keys, _ = through(gate, plan_of(ws, "key-selection"))
    patients = whole["visits"].groupby("ward")["pid"].nunique()
    assert keys.values == (patients.to_dict(),)
    assert list(keys.values[0]) == sorted(keys.values[0])
    top, _ = through(gate, plan_of(ws, "top-category", size=2))
    ((first, second),) = top.values
    assert 0 <= first < second < 3


def test_a_loss_that_no_certificate_can_state_is_refused_before_the_charge(tmp_path):
    of = dataset(measure="pure")
    of["caps"] = {"lifetime": {"epsilon": 10_000}}
    with confide.open(of, frames=frames(), folder=tmp_path) as ws:
        bare = replace(gate_of(ws.site), rehearse=lambda _: None)
        with pytest.raises(InvalidParameterError, match="Expected epsilon ≤ 700"):
            through(bare, plan_of(ws, epsilon=Fraction(800)))
        assert entries(ws) == ()


@pytest.mark.parametrize(
    ("small_cells", "octets"),
    [
        (None, None),
        (SmallCells(rule=HouseRule.CMS), 16),
        (SmallCells(rule=HouseRule.CMS, noisy=NoisyFile.PUBLISHED), None),
    ],
)
def test_a_payload_is_salted_with_16_octets_exactly_where_its_numbers_are_withheld(
    ws, gate, small_cells, octets
):
    plan = plan_of(ws, study=Study(id="s", small_cells=small_cells))
    answer, _ = through(gate, plan)
    written = json.loads(answer.payload())
    assert len(bytes.fromhex(answer.salt)) == (octets or 0)
    assert ("salt" in written) is (octets is not None)


def test_a_plan_that_could_count_nobody_is_refused_before_the_charge(tmp_path):
    write_hospital(tmp_path, cap='epsilon: "100"', life='epsilon: "1000"')
    for name, more in (("policy.yaml", "selection-delta: 1e-6"), ("dataset.yaml", "delta: 1e-6")):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text.replace("{measure: pure}", f"{{measure: pure, {more}}}"))
    keys = {"id": "k", "kind": "key-selection", "table": "visits", "key": "note"}
    with confide.open(tmp_path / "dataset.yaml") as at:
        gate = gate_of(at.site)
        through(gate, at.plan({**keys, "per-patient": {"cells": 1}}, epsilon="60"))
        count = at.plan({"id": "n", "kind": "count", "table": "people"}, epsilon="50")
        with pytest.raises(BudgetExhaustedError):
            through(gate, count, key="n")
        assert len(at.ledger.entries(count.dataset.lineage)) == 1


# ---- what grows ----


def grown(ws, through_day, **more):
    return plan_of(ws, "running-counts", every="month", through=through_day, **more)


def test_a_step_passes_its_stages_in_order_and_a_retry_is_delivered(ws, gate):
    through(gate, grown(ws, "2025-02-28"))
    later = grown(ws, "2025-04-30")
    (whole,), stages = _values(through(gate, later, go=Gate.advance))
    assert stages == STAGES
    assert len(whole) == grown_to(later) == 4
    (again,), stages = _values(through(gate, later, go=Gate.advance))
    assert (again, stages) == (whole, [])
    (known,), stages = _values(through(gate, later))
    assert (known, stages) == (whole, ["check"])
    (first,), _ = _values(through(gate, grown(ws, "2025-02-28"), go=Gate.advance))
    assert first == whole[:2]
    assert [entry.amount.nano > 0 for entry in entries(ws)] == [True, False]


def _values(found):
    answer, stages = found
    return answer.values, stages


def test_a_step_adds_the_true_numbers_of_its_periods_alone(ws, gate):
    through(gate, grown(ws, "2025-02-28"))
    (whole,), _ = _values(through(gate, grown(ws, "2025-04-30"), go=Gate.advance))
    alone, _ = through(gate, grown(ws, "2025-04-30"), key="alone")
    assert whole == pytest.approx(alone.values[0], rel=0.05)


def test_a_step_between_two_that_were_taken_is_refused_with_those_that_are_published(ws, gate):
    through(gate, grown(ws, "2025-01-31"))
    through(gate, grown(ws, "2025-03-31"), go=Gate.advance)
    with pytest.raises(PolicyError, match="has passed these periods") as refused:
        through(gate, grown(ws, "2025-02-28"), go=Gate.advance)
    assert "published with 1, 3 periods" in refused.value.hint
    assert refused.value.hint.endswith("or later.")
    assert "grows no more" not in str(refused.value)


def test_a_step_that_somebody_is_at_is_not_called_over(ws, gate):
    through(gate, grown(ws, "2025-01-31"))
    later, told = grown(ws, "2025-02-28"), []

    def meanwhile(stage):
        if stage == "read":
            with pytest.raises(PolicyError, match="publishes later periods") as refused:
                through(gate, later, key="other", go=Gate.advance)
            told.append(refused.value.hint)

    first = gate.advance(later, analyst="a", request_key="r", progress=meanwhile)
    assert told == ["Wait for it to end and ask again: they are delivered at no charge."]
    answer, _ = through(gate, later, key="other", go=Gate.advance)
    assert answer == read_payload(first.payload)


def test_a_step_that_was_let_go_before_it_read_is_none_that_was_taken(ws, gate):
    def withdrawn():
        raise ContractError("Somebody withdrew.")

    through(gate, grown(ws, "2025-01-31"))
    with pytest.raises(ContractError, match="Somebody withdrew"):
        through(replace(gate, require_consent=withdrawn), grown(ws, "2025-02-28"), go=Gate.advance)
    through(gate, grown(ws, "2025-03-31"), go=Gate.advance)
    with pytest.raises(PolicyError, match="has passed these periods") as refused:
        through(gate, grown(ws, "2025-02-28"), go=Gate.advance)
    assert "published with 1, 3 periods" in refused.value.hint


def test_a_step_that_could_not_be_reported_is_refused_before_it_is_taken(ws, gate):
    def lacks(_):
        raise UnsupportedError("No words.")

    through(gate, grown(ws, "2025-02-28"))
    with pytest.raises(UnsupportedError, match="No words"):
        through(replace(gate, rehearse=lacks), grown(ws, "2025-03-31"), go=Gate.advance)
    with pytest.raises(UnsupportedError, match="No words"):
        through(replace(gate, rehearse=lacks), plan_of(ws))
    assert len(entries(ws)) == 1
    assert through(replace(gate, rehearse=lacks), grown(ws, "2025-02-28"))[1] == STAGES[:2]


def test_what_does_not_grow_is_refused_a_step(ws, gate):
    for plan in (plan_of(ws), grown(ws, "2025-02-28")):
        with pytest.raises(ContractError, match="No release of this study grows"):
            through(gate, plan, go=Gate.advance)
    assert entries(ws) == ()


def test_a_step_of_an_edited_plan_is_refused(ws, gate):
    through(gate, grown(ws, "2025-02-28"))
    for plan in (plan_of(ws), grown(ws, "2025-03-31")):
        edited = replace(
            plan,
            measurements=(
                replace(plan.measurements[0], mechanism=DiscreteLaplace(scale=Fraction(1, 1000))),
            ),
        )
        for go in (Gate.release, Gate.advance):
            with pytest.raises(ConfideError) as refused:
                through(gate, edited, key="edited", go=go)
            assert "No release of this study grows" not in str(refused.value)
    assert len(entries(ws)) == 1


# ---- what suits no mechanism ----


def test_an_answer_that_does_not_suit_its_mechanism_gets_no_noise_and_is_not_released(ws, gate):
    keys, count = plan_of(ws, "key-selection"), plan_of(ws)
    top = plan_of(ws, "top-category")
    for plan, secret in ((keys, (1, 2)), (count, {"east": 1}), (top, {"east": 1})):
        with pytest.raises(UnsupportedError, match="does not suit"):
            _noisy(plan.measurements[0], secret, entropy=SystemEntropy())
    with pytest.raises(UnsupportedError, match="does not suit"):
        gate._in_rounds(count.measurements[0], (1,), plan=count)


def test_only_numbers_of_periods_grow(ws, gate):
    plan, other = grown(ws, "2025-02-28"), plan_of(ws)
    before, count = (NoisyAggregates(plan=each, values=((1, 2),)) for each in (plan, other))
    later = grown(ws, "2025-03-31")
    for of, secret, old in (
        (other, (1,), before),
        (later, (1, 2, 3), count),
    ):
        with pytest.raises(UnsupportedError, match="does not grow"):
            gate._grow(of, ExactAggregates([secret]), before=old)


def test_questions_in_rounds_are_asked_and_answered_with_noise(ws, gate):
    plan = plan_of(ws, "logistic-regression", epsilon=Fraction(100))
    (measured,) = plan.measurements
    (found,), _ = _values(through(gate, plan))
    assert len(found) > measured.aggregate.rounds
    laplace = replace(measured, mechanism=DiscreteLaplace(scale=Fraction(1)))
    for wrong in (laplace, measured):
        with pytest.raises(UnsupportedError, match="does not suit"):
            gate._in_rounds(wrong, (1, 2), plan=plan)


def test_after_reading_began_a_failure_is_told_without_its_reason(ws, gate):
    def fails(*_, **__):
        raise ValueError("77 patients with gout")

    broken = SimpleNamespace(check=gate.engine.check, exact=fails, identity=gate.engine.identity)
    with pytest.raises(ReleaseFailedError) as told:
        through(replace(gate, engine=broken), plan_of(ws))
    assert "gout" not in str(told.value)
    assert len(entries(ws)) == 1


def test_nothing_was_published_before_a_request_that_the_ledger_knows():
    ledger = SimpleNamespace(known=lambda *_, **__: 7)
    assert (
        published_before(SimpleNamespace(digest=str), ledger=ledger, analyst="a", request_key="k")
        == ()
    )
