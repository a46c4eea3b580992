"""Counts with wide bounds: chosen by public numbers, told beforehand, and for prediction alone."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, forecasts, make_plan
from confide.plans.pricing.calibrate_to_error import Within
from confide.release.noisy import NoisyAggregates, read_payload
from confide.rows.relational.descent import DescentRows
from confide.statistics import PoissonRegression, read_plan
from confide.statistics.person_time.few_events import HazardFit
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS
from models import NAMES
from person_time import COUNT_TRUTH, asked_in_turn, columns_of, counted, world

MOST = 50
AUTO = PoissonRegression(
    id="rates",
    table="people",
    events="visits",
    covariates=NAMES,
    time="observed",
    method=HazardFit.AUTO,
    expect=Fraction(5_000),
    expect_share=Fraction(2, 100),
)
RHO = 28_800_000  # on the nano grid: ε = 1 at δ = 10⁻⁵


def planned(spec, *, nano=RHO, error=None):
    asked = [Ask(statistic=spec, error=error)]
    return make_plan(asked, study=Study(id="s"), dataset=world(most=MOST), nano=nano)


def method_of(spec, **beside):
    (statistic,) = planned(spec, **beside).statistics
    return statistic.method


def said(spec):
    (found,) = forecasts(planned(spec)).values()
    return found


def test_public_numbers_choose_the_fit_of_counts_and_the_plan_holds_their_choice():
    """X = 5,000 × 0.02 × 0.24 / 4 = 6; of a bound five times less, 30."""
    assert method_of(AUTO) is HazardFit.WIDE
    narrow = replace(AUTO, expect_share=Fraction(1, 10) + Fraction(1, 1000))
    assert method_of(narrow) is HazardFit.ROUNDS
    rounds = replace(narrow, method=HazardFit.ROUNDS)
    assert planned(narrow).digest() == planned(rounds).digest()
    assert method_of(replace(narrow, hold_out=Fraction(3, 10))) is HazardFit.WIDE
    few = replace(AUTO, expect=Fraction(4_900), expect_share=None)  # a tenth, else
    assert method_of(few) is HazardFit.WIDE
    assert read_plan(planned(AUTO).to_json()) == planned(AUTO)


def test_rounds_of_counts_are_chosen_where_no_number_says_and_where_an_error_is_named():
    assert method_of(replace(AUTO, expect=None)) is HazardFit.ROUNDS
    wanted = Within(amount=Fraction(2), level=Fraction(95, 100))
    assert method_of(AUTO, nano=None, error=wanted) is HazardFit.ROUNDS


def test_the_number_of_counted_events_of_the_data_is_never_asked_for_in_its_place():
    with pytest.raises(ContractError, match="not public"):
        planned(replace(AUTO, method=HazardFit.WIDE, expect=None))


def test_the_plan_says_which_fit_of_counts_by_which_numbers_and_that_it_predicts_only():
    words = said(AUTO)
    assert "bound × √(2ρ) / terms = 100 × 0.24 / 4 = 6, below 30" in words
    assert "predicts only, with no rate ratio and no interval" in words
    far = replace(AUTO, method=HazardFit.WIDE, expect=Fraction(50_000))
    assert "60, not below 30" in said(far)


def test_rounds_of_counts_with_a_wide_bound_say_what_would_rank_better():
    for rows, warned in ((5_000, True), (50_000, False)):
        spec = replace(AUTO, method=HazardFit.ROUNDS, expect=Fraction(rows))
        assert any("`method: wide`" in note for note in said(spec).notes) is warned


def test_a_release_of_wide_counts_predicts_and_publishes_no_ratio_and_no_interval():
    plan = planned(replace(AUTO, hold_out=Fraction(1, 2)))
    (measurement,) = plan.measurements
    aggregate, rng = measurement.aggregate, np.random.default_rng(1)
    assert (aggregate.rounds, aggregate.expected) == (WIDE_ROUNDS, 2_500)
    columns = columns_of(counted(5_000, rng, most=MOST), aggregate=aggregate)
    columns["fold"] = rng.integers(0, 1000, 5_000)
    noisy, _ = asked_in_turn(aggregate, columns, to=plan.dataset, rho=RHO / 1e9, rng=rng)
    found = NoisyAggregates(plan=plan, values=(noisy,))
    assert read_payload(found.payload()) == found
    estimates = found.estimates()
    assert not {each.quantity for each in estimates} & {"rate ratio", "coefficient", "intercept"}
    used = [each for each in estimates if each.quantity == "prediction coefficient"]
    assert len(used) == 1 + 4
    assert all(each.lower is None and each.standard_error is None for each in used)
    assert all(each.flags == ("predicts only",) for each in used)
    assert used[0].value + math.log(365) == pytest.approx(COUNT_TRUTH[0], abs=0.4)  # a year, a day
    by = {(each.quantity, each.key[0]): each for each in estimates}
    ratio = by["observed to expected", "held out"]
    assert not ratio.flags  # though in units of the bound there would be too few events
    assert ratio.lower < 1 < ratio.upper < 2 * ratio.lower
    assert 0.5 < by["concordance", "held out"].value < 0.8


@pytest.mark.parametrize(("most", "cut"), [(1_000, 8), (5, 5)])
def test_events_of_those_held_out_are_cut_seven_deviations_above_their_mean_or_at_the_bound(
    most, cut
):
    """0.8 events on average, of a standard deviation that is one in whole numbers."""
    spec = replace(AUTO, hold_out=Fraction(3, 10), expect_share=Fraction(8, 10 * most))
    asked = [Ask(statistic=replace(spec, method=HazardFit.WIDE))]
    plan = make_plan(asked, study=Study(id="s"), dataset=world(most=most), nano=10**11)
    (measurement,) = plan.measurements
    rng, asks = np.random.default_rng(5), []
    people = counted(20_000, rng, most=most)
    people["visits"] = np.minimum(rng.poisson(0.8, 20_000), most)
    columns = columns_of(people, aggregate=measurement.aggregate)
    columns["fold"] = rng.integers(0, 1000, 20_000)
    asked_in_turn(measurement.aggregate, columns, to=plan.dataset, rho=100, rng=rng, asks=asks)
    assert asks[-1].most == cut


def test_too_few_patients_for_any_counts_are_told_so():
    plan = planned(AUTO)
    (measurement,) = plan.measurements
    rng = np.random.default_rng(2)
    columns = columns_of(counted(3, rng, most=MOST), aggregate=measurement.aggregate)
    assert DescentRows(measurement.aggregate, columns, dataset=plan.dataset)
    noisy, _ = asked_in_turn(
        measurement.aggregate, columns, to=plan.dataset, rho=RHO / 1e9, rng=rng
    )
    estimates = NoisyAggregates(plan=plan, values=(noisy,)).estimates()
    used = [each for each in estimates if each.quantity == "prediction coefficient"]
    assert all(each.value is None and each.flags for each in used)
