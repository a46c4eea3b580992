"""A multinomial regression with a rare class: chosen by public numbers, and for prediction alone."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import confide
import every_kind
from classes_world import STAGES, columns_of, staged, world
from confide.errors import ContractError
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, forecasts, make_plan
from confide.plans.pricing.calibrate_to_error import Within
from confide.plans.rounds.in_turn import ask_in_turn
from confide.release.noisy import NoisyAggregates, read_payload
from confide.rows.relational.descent import DescentRows
from confide.statistics import MultinomialRegression, read_plan
from confide.statistics.logistic.rare_classes import ClassFit
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS
from models import NAMES

AUTO = MultinomialRegression(
    id="stages",
    table="people",
    outcome="stage",
    covariates=NAMES,
    method=ClassFit.AUTO,
    expect=Fraction(5_000),
    expect_share=Fraction(2, 100),
)
RHO = 28_800_000  # on the nano grid: ε = 1 at δ = 10⁻⁵


def planned(spec, *, nano=RHO, error=None):
    asked = [Ask(statistic=spec, error=error)]
    return make_plan(asked, study=Study(id="s"), dataset=world(), nano=nano)


def method_of(spec, **beside):
    (statistic,) = planned(spec, **beside).statistics
    return statistic.method


def said(spec):
    (found,) = forecasts(planned(spec)).values()
    return found


def test_public_numbers_choose_the_fit_of_classes_and_the_plan_holds_their_choice():
    """X = 5,000 × 0.02 × 0.24 / 4 = 6; of a class of 3 %, 9."""
    assert method_of(AUTO) is ClassFit.WIDE
    common = replace(AUTO, expect_share=Fraction(3, 100))
    assert method_of(common) is ClassFit.ROUNDS
    assert planned(common).digest() == planned(replace(common, method=ClassFit.ROUNDS)).digest()
    assert method_of(replace(common, hold_out=Fraction(3, 10))) is ClassFit.WIDE
    assert method_of(replace(AUTO, expect_share=None)) is ClassFit.ROUNDS  # a quarter, else
    assert method_of(replace(AUTO, expect_share=None, expect=Fraction(400))) is ClassFit.WIDE
    assert read_plan(planned(AUTO).to_json()) == planned(AUTO)


def test_a_plan_in_rounds_does_not_hold_how_it_is_fitted():
    text = planned(replace(AUTO, method=ClassFit.ROUNDS)).to_json()
    assert "method" not in str(text)
    assert "wide" in str(planned(AUTO).to_json())


def test_rounds_of_classes_are_chosen_where_no_number_says_and_where_an_error_is_named():
    assert method_of(replace(AUTO, expect=None)) is ClassFit.ROUNDS
    wanted = Within(amount=Fraction(2), level=Fraction(95, 100))
    assert method_of(AUTO, nano=None, error=wanted) is ClassFit.ROUNDS


def test_the_number_of_rows_of_all_classes_is_never_that_of_the_data():
    with pytest.raises(ContractError, match="not public"):
        planned(replace(AUTO, method=ClassFit.WIDE, expect=None))


def test_the_plan_says_which_fit_of_classes_and_what_is_kept_of_the_rarest():
    words = said(AUTO)
    assert "class × √(2ρ) / terms = 100 × 0.24 / 4 = 6, below 7" in words
    assert "predicts only, with no odds ratio and no interval" in words
    assert "About 97% of what the C-statistic of the rarest class has" in words
    far = replace(AUTO, method=ClassFit.WIDE, expect=Fraction(50_000))
    assert "60, not below 7" in said(far)


@pytest.mark.parametrize(
    ("rows", "verdict", "remedy"),
    [
        (2_000, "few of them for so many terms", "at most 2 terms, or at least 3334 patients"),
        (600, "so few cannot tell so many terms", "at least 3334 patients, or that class merged"),
    ],
)
def test_the_plan_says_beforehand_where_the_rarest_class_is_too_small(rows, verdict, remedy):
    words = said(replace(AUTO, expect=Fraction(rows)))
    assert verdict in words
    assert remedy in words


def test_rounds_of_a_rare_class_say_what_would_rank_it_better():
    for rows, warned in ((5_000, True), (50_000, False)):
        spec = replace(AUTO, method=ClassFit.ROUNDS, expect=Fraction(rows))
        assert any("`method: wide`" in note for note in said(spec).notes) is warned


def released(spec, people, *, rng):
    plan, n = planned(spec), len(people["stage"])
    (measurement,) = plan.measurements
    columns = columns_of(people) | {"fold": rng.integers(0, 1000, n)}
    rows = DescentRows(measurement.aggregate, columns, dataset=plan.dataset)
    sigma, noisy = measurement.mechanism.variance() ** 0.5, ()
    while ask := ask_in_turn(
        measurement.aggregate, noisy, mechanism=measurement.mechanism, dataset=plan.dataset
    ):
        exact = rows.answer(ask)
        drawn = rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, drawn, strict=True))
    found = NoisyAggregates(plan=plan, values=(noisy,))
    assert read_payload(found.payload()) == found
    return measurement.aggregate, found.estimates()


def test_a_release_of_a_rare_class_predicts_and_publishes_no_odds_ratio_and_no_interval():
    rng = np.random.default_rng(1)
    spec = replace(AUTO, hold_out=Fraction(1, 2), reference="mild")
    aggregate, estimates = released(spec, staged(5_000, rng), rng=rng)
    assert (aggregate.rounds, aggregate.expected) == (WIDE_ROUNDS, 2_500)
    assert not {each.quantity for each in estimates} & {"odds ratio", "coefficient", "intercept"}
    used = [each for each in estimates if each.quantity == "prediction coefficient"]
    assert len(used) == 3 * 5
    assert {each.key[1] for each in used} == {f"{s} vs mild" for s in STAGES if s != "mild"}
    assert all(each.lower is None and each.standard_error is None for each in used)
    assert all(each.flags == ("predicts only",) for each in used)
    by = {(each.quantity, each.key[0]): each for each in estimates}
    held = by["auc", "mild vs the rest"]
    assert held.lower < 0.75 < held.upper + 0.1
    weights = by["sum of weights", "all"]
    assert weights.lower < 2_500 < weights.upper + 100


def test_too_few_patients_for_any_class_are_told_so():
    rng = np.random.default_rng(2)
    _, estimates = released(AUTO, staged(3, rng), rng=rng)
    used = [each for each in estimates if each.quantity == "prediction coefficient"]
    assert used
    assert all(each.value is None and each.flags for each in used)


STUDY = """
study: {id: stages, purpose: test}
spend: {at-most: {epsilon: 1}}
statistics:
  - {id: dose, kind: multinomial-regression, table: people, outcome: dose, reference: low,
     covariates: [age, sex], METHOD expect: {count: 60, share: 0.05}}
"""


@pytest.mark.parametrize(("method", "wide"), [("", True), ("method: rounds,", False)])
def test_a_study_with_a_rare_class_is_planned_released_and_read_again(tmp_path, method, wide):
    pytest.importorskip("pandas")
    study = tmp_path / "study.yaml"
    study.write_text(STUDY.replace("METHOD", method))
    to = every_kind.dataset(measure="zcdp")
    with confide.open(to, frames=every_kind.frames(), folder=tmp_path / "ws") as ws:
        plan = ws.study(study).plan()
        (statistic,) = plan.statistics
        assert statistic.method is (ClassFit.WIDE if wide else ClassFit.ROUNDS)
        release = ws.release(plan)
    release.save(tmp_path / "out")
    assert confide.load(tmp_path / "out") == release
    quantities = {each.quantity for each in release.estimates}
    assert ("odds ratio" not in quantities) is wide
    assert "prediction coefficient" in quantities
    assert plan.measurements[0].aggregate.wide is wide
