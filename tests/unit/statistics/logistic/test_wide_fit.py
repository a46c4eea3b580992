"""A logistic regression of many terms: chosen by public numbers, and for prediction alone."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, forecasts, make_plan
from confide.plans.pricing.calibrate_to_error import Within
from confide.plans.rounds.held_out import Recalibration
from confide.plans.rounds.in_turn import ask_in_turn
from confide.privacy.measure import Measure
from confide.release.noisy import NoisyAggregates, read_payload
from confide.report.models.model_card import model_card
from confide.report.pages.save import contents
from confide.rows.relational.descent import DescentRows
from confide.statistics import LogisticRegression, read_plan
from confide.statistics.logistic.regression import Method
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS
from confide.workspace import open_workspace
from many_terms import ILL, NAMES, TERMS, auc, many_terms, wide_world

AUTO = LogisticRegression(
    id="odds", table="people", of=ILL, covariates=NAMES, method=Method.AUTO, expect=Fraction(4_000)
)
RHO = 28_800_000  # on the nano grid: ε = 1 at δ = 10⁻⁵


def planned(spec, *, nano=RHO, error=None, to=None):
    return make_plan(
        [Ask(statistic=spec, error=error)],
        study=Study(id="s"),
        dataset=to or wide_world(),
        nano=nano,
    )


def method_of(plan):
    (statistic,) = plan.statistics
    return statistic.method


def test_public_numbers_choose_the_fit_and_the_plan_holds_their_choice():
    """x = 4,000 × 0.24 / 40 = 24; ten times the rows, 240."""
    assert method_of(planned(AUTO)) is Method.WIDE
    many = replace(AUTO, expect=Fraction(40_000))
    assert method_of(planned(many)) is Method.ROUNDS
    assert planned(many).digest() == planned(replace(many, method=Method.ROUNDS)).digest()
    turn = Fraction(60 * TERMS) / Fraction(math.sqrt(2 * 0.0288))
    for rows, taken in ((turn - 5, Method.WIDE), (turn + 5, Method.ROUNDS)):
        assert method_of(planned(replace(AUTO, expect=rows))) is taken
    held = replace(many, expect=turn + 5, hold_out=Fraction(3, 10))  # those who are fitted count
    assert method_of(planned(held)) is Method.WIDE


def test_rounds_are_chosen_where_no_number_says_and_where_an_error_is_named():
    assert method_of(planned(replace(AUTO, expect=None))) is Method.ROUNDS
    wanted = Within(amount=Fraction(2), level=Fraction(95, 100))
    assert method_of(planned(AUTO, nano=None, error=wanted)) is Method.ROUNDS


def test_a_rare_outcome_is_fitted_as_many_terms_are_and_the_plan_says_by_which_numbers():
    """x = 240; 0.04 times that is 9.5, and 0.36 times that 86."""
    many = replace(AUTO, expect=Fraction(40_000))
    rare = replace(many, expect_share=Fraction(1, 100))
    assert method_of(planned(rare)) is Method.WIDE
    assert method_of(planned(replace(many, expect_share=Fraction(1, 10)))) is Method.ROUNDS
    (said,) = forecasts(planned(rare)).values()
    assert "not below 60, but times 4p(1 − p), p = 0.01, 9.5, below 60; it predicts only" in said
    (found,) = forecasts(planned(replace(rare, method=Method.ROUNDS))).values()
    assert any("rounds may end without slopes" in note for note in found.notes)


@pytest.mark.parametrize("method", [Method.ROUNDS, Method.ONE_SHOT, Method.WIDE])
def test_a_method_that_is_named_is_taken(method):
    spec = replace(AUTO, method=method, expect=Fraction(40_000 if method is Method.WIDE else 400))
    assert method_of(planned(spec)) is method
    assert read_plan(planned(spec).to_json()) == planned(spec)


def test_the_number_of_rows_of_the_data_is_never_asked_for_in_its_place():
    wide = replace(AUTO, method=Method.WIDE, expect=None)
    with pytest.raises(ContractError, match="not public"):
        planned(wide)


def test_a_ledger_in_pure_epsilon_refuses_and_says_why():
    with pytest.raises(ContractError, match="cannot charge"):
        planned(AUTO, to=wide_world(measure=Measure.PURE))


def test_the_plan_says_in_one_line_which_fit_and_that_it_predicts_only():
    (said,) = forecasts(planned(AUTO)).values()
    assert "4000 × 0.24 / 40 = 24, below 60" in said
    assert "predicts only, with no odds ratio and no interval" in said
    far = replace(AUTO, method=Method.WIDE, expect=Fraction(40_000))
    assert "= 2.4e+02, not below 60" in next(iter(forecasts(planned(far)).values()))


def test_rounds_that_were_asked_for_warn_where_the_rule_would_not_have_taken_them():
    for rows, warned in ((4_000, True), (40_000, False)):
        spec = replace(AUTO, method=Method.ROUNDS, expect=Fraction(rows))
        (found,) = forecasts(planned(spec)).values()
        assert any("`method: wide`" in note for note in found.notes) is warned


def released(spec, *, n=4_000, seed=1):
    plan, rng = planned(spec), np.random.default_rng(seed)
    (measurement,) = plan.measurements
    columns, x, ill = many_terms(n, rng)
    columns["fold"] = rng.integers(0, 1000, n)
    rows = DescentRows(measurement.aggregate, columns, dataset=plan.dataset)
    sigma, noisy = math.sqrt(measurement.mechanism.variance()), ()
    while ask := ask_in_turn(
        measurement.aggregate, noisy, mechanism=measurement.mechanism, dataset=plan.dataset
    ):
        exact = rows.answer(ask)
        noise = rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, noise, strict=True))
    assert len(noisy) == measurement.aggregate.coordinates(plan.dataset)
    found = NoisyAggregates(plan=plan, values=(noisy,))
    assert read_payload(found.payload()) == found
    return plan, found.estimates(), x, ill


def test_a_release_predicts_and_publishes_no_odds_ratio_and_no_interval_of_a_coefficient():
    spec = replace(AUTO, hold_out=Fraction(3, 10), recalibrate=Recalibration.LINE)
    plan, estimates, x, ill = released(spec)
    assert plan.measurements[0].aggregate.rounds == WIDE_ROUNDS
    assert plan.measurements[0].aggregate.expected == 2_800
    quantities = {each.quantity for each in estimates}
    assert not quantities & {"odds ratio", "coefficient", "intercept"}
    used = [each for each in estimates if each.quantity == "prediction coefficient"]
    assert len(used) == TERMS + 1
    assert all(each.lower is None and each.standard_error is None for each in used)
    assert all(each.flags == ("predicts only",) for each in used)
    theta = np.array([each.value for each in used])
    theta[1::2] *= 500  # a number has a half width of 500
    by = {(each.quantity, each.key[0]): each for each in estimates}
    told = by["auc", "held out"]
    assert auc(x @ theta, ill) == pytest.approx(told.value, abs=0.06)
    assert told.value > 0.7
    slope = by["calibration slope", "held out"]
    assert slope.lower < 1.3
    assert slope.upper > 0.7
    weights = by["sum of weights", "all"]
    assert weights.lower < 2_800 * 1.05
    assert weights.upper > 2_800 * 0.7


def test_a_page_says_that_the_model_predicts_only_and_never_that_it_was_one_look(tmp_path):
    rng = np.random.default_rng(3)
    columns, _, ill = many_terms(1_500, rng)
    frame = {name: columns[f"e{2 * place}"] for place, name in enumerate(NAMES[:8:2])}
    frame |= {"pid": np.arange(1_500), "ill": np.where(ill, "yes", "no")}
    numbers = {"kind": "number", "lower": "0", "upper": "1000"}
    declared = {
        "dataset": {"id": "v", "lineage": "v", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": "zcdp", "delta": "1e-6"},
        "caps": {"lifetime": {"epsilon": "9"}},
        "tables": {
            "people": {
                "rows-per-patient": 1,
                "columns": {
                    **dict.fromkeys(NAMES[:8:2], numbers),
                    "ill": {"categories": ["no", "yes"]},
                },
            }
        },
    }
    asked = {"id": "m", "kind": "logistic-regression", "table": "people"}
    asked |= {"of": {"ill": ["yes"]}, "covariates": list(NAMES[:8:2]), "expect": {"count": 1_000}}
    with open_workspace(declared, frames={"people": pa.table(frame)}, folder=tmp_path) as ws:
        release = ws.release(ws.plan(asked, epsilon="1"))
    words = load_words("en")
    page = contents(release, words=words)["report.html"].decode()
    assert "A model that predicts only" in page
    assert "from one look" not in page
    assert "centred and scaled terms, for many terms" in model_card(release, words=words)


def test_too_few_rows_for_any_model_are_told_so():
    _, estimates, *_ = released(AUTO, n=3)
    used = [each for each in estimates if each.quantity == "prediction coefficient"]
    assert all(each.value is None and each.flags for each in used)
