"""What a planned release loses by itself, and why it has its noise."""

import math
from fractions import Fraction
from pathlib import Path

import pytest

from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.threshold import KeyThreshold
from confide.plans.plan import Plan
from confide.plans.pricing.both_noises import has_both
from confide.plans.pricing.by_itself import loss_by_itself, pointwise_by_itself, uses_of
from confide.plans.pricing.why_noise import NoiseReason, why_noise
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.accounting.one_release import epsilon_of_release
from confide.privacy.amount import NANO
from confide.privacy.loss import ZeroConcentratedDP
from confide.workspace import open_study
from small_clinic import DATASET, make_clinic

KEYS = """\
  - {id: notes, kind: key-selection, table: patients, key: note, share: "0.5"}
spend: {at-most: {epsilon: 1}}
"""
HEAD = "study: {id: first, title: First look, purpose: test}\nstatistics:\n"
ONE = "  - {id: diabetes, kind: count, table: patients, where: {diabetes: [yes]}}\n"
MANY = "".join(
    f"  - {{id: c{i}, kind: count, table: patients, where: {{diabetes: [yes]}}}}\n"
    for i in range(30)
)


def planned(folder: Path, *, study: str = "", measure: str = "zcdp") -> Plan:
    dataset = DATASET.replace("measure: zcdp", f"measure: {measure}")
    if measure == "pure":
        dataset = dataset.replace(", delta: 1e-6", "")
    clinic = make_clinic(folder, dataset=dataset)
    if study:
        clinic.study.write_text(study)
    workspace, found = open_study(clinic.study)
    with workspace:
        return found.plan()


def spending(statistics: str) -> str:
    return f"{HEAD}{statistics}spend: {{at-most: {{epsilon: 1}}}}\n"


def shown(plan: Plan) -> Fraction:
    assert isinstance(plan.loss, ZeroConcentratedDP)
    return Fraction(epsilon_at(plan.loss, delta=plan.dataset.delta))


def test_a_release_of_one_count_has_less_by_itself_than_it_is_charged(tmp_path: Path) -> None:
    plan = planned(tmp_path, study=spending(ONE))
    found = loss_by_itself(plan)
    assert found is not None
    assert found.delta == plan.dataset.delta
    assert Fraction("0.9") * shown(plan) < found.epsilon < Fraction("0.94") * shown(plan)


def test_a_pure_release_says_nothing_beside_its_charge(tmp_path: Path) -> None:
    assert loss_by_itself(planned(tmp_path, study=spending(ONE), measure="pure")) is None


def test_the_delta_of_key_selections_is_left_to_them(tmp_path: Path) -> None:
    plan = planned(tmp_path, study=f"{HEAD}{ONE}{KEYS}")
    kept = sum(
        m.mechanism.delta for m in plan.measurements if isinstance(m.mechanism, KeyThreshold)
    )
    assert kept > 0
    found = loss_by_itself(plan)
    uses = list(uses_of([m.event for m in plan.measurements]))
    rest = plan.dataset.delta - plan.loss.delta
    assert rest <= plan.dataset.delta - kept
    exact = epsilon_of_release(uses, delta=rest, at_most=shown(plan))
    assert found is not None
    assert exact <= found.epsilon < exact + Fraction(1, 10**4)


def test_the_odds_of_both_noises_leave_the_delta_of_key_selections_to_them(tmp_path: Path) -> None:
    counts = "".join(
        f"  - {{id: n{place}, kind: count, table: patients{', share: 0.5' * (not place)}}}\n"
        for place in range(10)
    )
    keys = "  - {id: notes, kind: key-selection, table: patients, key: note, delta: 4e-7}\n"
    plan = planned(tmp_path, study=spending(counts + keys), measure="mixed")
    assert has_both(plan)
    assert plan.loss.delta == Fraction("4e-7")
    rest = plan.dataset.delta - plan.loss.delta
    uses = [each.event.use for each in plan.measurements]
    least = min(
        sum(use.charged(order).ordered for use in uses) / NANO - math.log(rest) / (order - 1)
        for order in range(2, 100)
    )
    assert least <= pointwise_by_itself(plan) <= least + 1e-5


def test_equal_plans_have_equal_losses_by_themselves(tmp_path: Path) -> None:
    one = planned(tmp_path / "one", study=spending(MANY))
    other = planned(tmp_path / "other", study=spending(MANY))
    assert loss_by_itself(one) == loss_by_itself(other)


def test_many_counts_have_gaussian_noise_because_laplace_noise_would_be_wider(
    tmp_path: Path,
) -> None:
    plan = planned(tmp_path, study=spending(MANY), measure="mixed")
    why = why_noise(plan)
    assert why.reason is NoiseReason.GAUSSIAN_NARROWER
    assert why.times is not None
    scales = [
        m.sensitivity.l1 / DiscreteLaplace(scale=Fraction(_laplace_scale(m, why.times))).scale
        for m in plan.measurements
    ]
    assert float(sum(scales)) == pytest.approx(float(shown(plan)), rel=1e-6)


def _laplace_scale(measurement: object, times: float) -> float:
    """The scale of Laplace noise that is so many times as wide."""
    return times * math.sqrt(measurement.mechanism.sigma_squared / 2)  # type: ignore[attr-defined]


def test_one_count_of_a_mixed_ledger_has_laplace_noise_because_gaussian_noise_would_be_wider(
    tmp_path: Path,
) -> None:
    plan = planned(tmp_path, study=spending(ONE), measure="mixed")
    why = why_noise(plan)
    assert why.reason is NoiseReason.LAPLACE_NARROWER
    assert why.times == pytest.approx(4.53 / math.sqrt(2), rel=0.01)  # scales: at (1, 1e-6), δ less


def test_a_ledger_of_one_measure_says_that_its_budget_decides(tmp_path: Path) -> None:
    in_epsilon = planned(tmp_path / "pure", study=spending(MANY), measure="pure")
    assert why_noise(in_epsilon).reason is NoiseReason.LAPLACE_BY_BUDGET
    in_rho = planned(tmp_path / "zcdp", study=spending(ONE))
    assert why_noise(in_rho).reason is NoiseReason.GAUSSIAN_BY_BUDGET
