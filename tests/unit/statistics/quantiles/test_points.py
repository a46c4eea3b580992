"""Quantiles without intervals: chosen among the values, by the law that is planned."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from confide.errors import ContractError, UnsupportedError
from confide.noise.set_selection import SetSelection, draw_sets
from confide.plans.contribution import PerPatient
from confide.plans.estimates import AT_BOUND, POINT_ONLY
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, forecast, least_nano, make_plan
from confide.plans.pricing.calibrate_to_error import Within
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.release.verify.verify import read_certificate, verify
from confide.statistics import Quantiles, read_plan
from confide.statistics.quantiles.spec import QuantileInterval
from confide.tables.aggregates.ranked.ranked_value import MOST_VALUES, utilities
from confide.tables.aggregates.refined import GridCounts
from noisy_answers import SIMULATION, dataset, draws, estimate, mechanisms
from one_table import released
from seeded import SeededEntropy

TO = dataset()
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
PRESSURE = Quantiles(
    id="q",
    table="participants",
    column="pressure",
    expect=Fraction(500),
    interval=QuantileInterval.NONE,
)


def priced(statistic, *, to=TO, nano=NANO):
    return make_plan([Ask(statistic=statistic)], study=Study(id="s"), dataset=to, nano=nano)


def counts_of(values, *, upper):
    return np.bincount(np.clip(values, 0, upper), minlength=upper + 1).tolist()


def test_each_quantile_is_a_choice_of_one_among_the_values():
    for adjacency, reaches in (
        (Adjacency.ADD_REMOVE, (6, 2, 6)),
        (Adjacency.SUBSTITUTE, (8, 4, 8)),
    ):
        plan = priced(PRESSURE, to=dataset(adjacency=adjacency))
        laws = [measured.mechanism for measured in plan.measurements]
        assert [law.reach for law in laws] == list(reaches)
        for law in laws:
            assert isinstance(law, SetSelection)
            assert (law.size, law.candidates) == (1, 121)
            assert Fraction(33, 100) < law.epsilon <= Fraction(1, 3)
        assert read_plan(plan.to_json()) == plan


def test_under_zcdp_a_quantile_costs_an_eighth_of_epsilon_squared():
    plan = priced(PRESSURE, to=dataset(measure=Measure.ZCDP))
    spent = sum(measured.mechanism.epsilon**2 / 8 for measured in plan.measurements)
    assert 0.99 < spent <= 1


def test_several_visits_of_a_patient_reach_as_much_further():
    days = replace(PRESSURE, table="visits", column="days", per_patient=PerPatient(rows=3))
    assert [q.sensitivity.reach for q in days.questions(TO)] == [18, 6, 18]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bins": 8}, "among the column's values"),
        ({"edges": (Fraction(80), Fraction(200))}, "among the column's values"),
        ({"by": ("sex",)}, "of one group"),
        ({"at": (Fraction(1, 2), Fraction(2, 4))}, "one is repeated"),
    ],
)
def test_what_a_choice_among_values_has_no_use_for_is_refused(change, said):
    with pytest.raises(ContractError, match=said):
        replace(PRESSURE, **change)


def test_quantiles_with_intervals_say_nothing_new_in_a_plan():
    plan = priced(replace(PRESSURE, interval=QuantileInterval.BY_RANK))
    assert "by-rank" not in str(plan.to_json())
    assert "RankedValue" in str(priced(PRESSURE).to_json())


def answered(places, *, statistic=PRESSURE):
    names = [asked.name for asked in statistic.questions(TO)]
    noisy = {name: (place,) for name, place in zip(names, places, strict=True)}
    return statistic.estimate(noisy, mechanisms={}, dataset=TO, simulation=SIMULATION)


def test_a_value_is_published_without_an_interval_and_is_flagged_so():
    low, middle, high = answered((0, 41, 119))
    assert [each.value for each in (low, middle, high)] == [80, 121, 199]
    assert middle.quantity == "quantile 0.5"
    for each in (low, middle, high):
        assert (each.lower, each.upper, each.standard_error) == (None, None, None)
    assert middle.flags == (POINT_ONLY,)
    assert low.flags == (AT_BOUND, POINT_ONLY)


@pytest.mark.parametrize("places", [(0, 1, 121), (-1, 1, 1)])
def test_an_answer_that_is_no_candidate_is_refused(places):
    with pytest.raises(UnsupportedError, match="other candidates"):
        answered(places)


def test_values_are_drawn_with_the_enumerated_law():
    """Chances ∝ exp(ε·u/R), against frequencies of the planned mechanism; χ² of 12 values."""
    rng = np.random.default_rng(2)
    counts = counts_of(rng.poisson(4, 15), upper=11)
    found = list(utilities(counts, q=Fraction(1, 4)))
    law = SetSelection(epsilon=Fraction(2), reach=6, size=1, candidates=12)
    size = 20_000
    drawn = draw_sets(found, size=1, slope=law.slope, count=size, entropy=SeededEntropy(5))
    weights = np.exp(float(law.slope) * np.array(found))
    expected = size * weights / weights.sum()
    seen = np.bincount(drawn[:, 0], minlength=12)
    off = float(((seen - expected) ** 2 / expected).sum())
    assert off < 33  # .999 of χ² with 11 degrees of freedom is 31.3
    double = np.exp(2 * float(law.slope) * np.array(found))
    other = size * double / double.sum()
    assert ((seen - other) ** 2 / other).sum() > 1_000


def chosen(values, statistic, *, upper, runs, nano=NANO, entropy=None):
    """Return shape (runs, quantiles): values that the planned mechanisms choose."""
    counts, columns = counts_of(values, upper=upper), []
    for place, measured in enumerate(priced(statistic, nano=nano).measurements):
        found = list(utilities(counts, q=statistic.at[place]))
        drawn = draw_sets(
            found,
            size=1,
            slope=measured.mechanism.slope,
            count=runs,
            entropy=entropy or SeededEntropy(place),
        )
        columns.append(drawn[:, 0])
    return np.stack(columns, axis=1)


def test_a_value_is_within_the_ranks_that_the_plan_says_whatever_the_rows():
    told = " ".join(forecast(priced(PRESSURE), PRESSURE).notes)
    ranks = int(told.partition("at most ")[2].partition(" ranks")[0])
    rng = np.random.default_rng(4)
    for values in (rng.normal(60, 9, 300), rng.exponential(3, 300), np.repeat([1, 119], 150)):
        whole = np.clip(np.round(values).astype(int), 0, 120)
        found = chosen(whole, PRESSURE, upper=120, runs=400)
        for q, column in zip(QUARTILES, found.T, strict=True):
            wanted = float(q) * len(whole)
            below = np.array([(whole < v).sum() for v in column])
            up_to = np.array([(whole <= v).sum() for v in column])
            off = np.maximum(0, np.maximum(below - wanted, wanted - up_to))
            assert (off <= ranks).mean() >= 0.95
            assert (off <= ranks / 12).mean() < 1 or np.all(off == 0)


def test_the_error_of_a_median_under_a_normal_law_is_what_the_plan_says():
    median = replace(PRESSURE, at=(Fraction(1, 2),), expect=Fraction(200))
    said = forecast(priced(median, nano=NANO // 10), median)
    law = np.clip(np.random.default_rng(1).normal(60, 20, (40, 200)), 0, 120).round().astype(int)
    off = np.concatenate(
        [
            abs(
                chosen(
                    each, median, upper=120, runs=50, nano=NANO // 10, entropy=SeededEntropy(at)
                )[:, 0]
                - np.median(each)
            )
            for at, each in enumerate(law)
        ]
    )
    assert 0.9 <= (off <= said.half_width + 0.5).mean() <= 0.985
    assert np.median(off) == pytest.approx(said.median_error, abs=1)


def test_a_plan_of_several_quantiles_says_that_they_share_the_charge():
    for at, said in (((Fraction(1, 2),), False), (QUARTILES, True)):
        asked = replace(PRESSURE, at=at)
        assert any("share the charge" in n for n in forecast(priced(asked), asked).notes) == said


def test_a_smaller_error_costs_more_and_is_met():
    costs = []
    for within in (8, 4, 2):
        ask = Ask(statistic=PRESSURE, error=Within(amount=Fraction(within)))
        nano = least_nano(ask, dataset=TO)
        costs.append(nano)
        assert forecast(priced(PRESSURE, nano=nano), PRESSURE).half_width <= within
    assert costs == sorted(costs)


def test_a_column_of_too_many_values_is_chosen_in_even_steps_and_says_so():
    wide = replace(TO.tables[0].columns[3], upper=1_000_000)
    columns = (*TO.tables[0].columns[:3], wide, *TO.tables[0].columns[4:])
    to = replace(TO, tables=(replace(TO.tables[0], columns=columns), TO.tables[1]))
    plan = priced(PRESSURE, to=to)
    said = forecast(plan, PRESSURE)
    assert all(m.mechanism.candidates == MOST_VALUES + 1 for m in plan.measurements)
    assert any("65,536 even steps, each of 15.26 mm[Hg]" in note for note in said.notes)


def test_values_alone_are_nearer_than_those_of_two_rounds():
    """Half of the error for the median of costs of 400 patients at ε = 1/2."""
    rng = np.random.default_rng(6)
    values = np.clip(np.round(rng.lognormal(3, 0.6, 400)), 0, 120).astype(int)
    true = np.sort(values)[199]
    alone = replace(PRESSURE, at=(Fraction(1, 2),), expect=Fraction(400))
    points = chosen(values, alone, upper=120, runs=300, nano=NANO // 2)[:, 0]
    counted = replace(alone, interval=QuantileInterval.BY_RANK)
    grid = GridCounts(counts_of(values, upper=120), groups=1)
    noise = mechanisms(counted, to=TO, spend=Fraction(1, 2))
    errors = [
        abs(estimate(counted, noisy, to=TO, noise=noise)[0].value - 80 - true)
        for noisy in draws(
            [{"histogram": grid}] * 100,
            noise=noise,
            runs=100,
            seed=4,
            asked={"histogram": counted.measured(TO)},
            to=TO,
        )
    ]
    assert abs(points - true).mean() < 0.7 * np.mean(errors)


def test_values_alone_are_released_verified_and_shown_without_intervals(tmp_path):
    values = [1] * 50 + [2] * 30 + [9] * 40 + [30]
    asked = {"id": "q", "kind": "quantiles", "column": "days", "interval": "none"}
    release = released(
        asked | {"expect": {"count": 100}},
        table=pa.table({"pid": range(len(values)), "days": values}),
        columns={"days": {"kind": "number", "lower": "0", "upper": "400", "unit": "d"}},
        name="stays",
        folder=tmp_path / "ledger",
    )
    assert [each.value for each in release.of("q")] == [1, 2, 9]
    release.save(tmp_path / "out")
    certificate = tmp_path / "out" / "certificate.json"
    assert verify(read_certificate(certificate), folder=tmp_path / "out").holds
    page = (tmp_path / "out" / "report.html").read_text("utf-8").replace("\xa0", " ")
    for said in (
        "The median is 2 days (no interval).",
        "Values without intervals",
        "Each value is at most 1 record from its rank, but for a chance of 5 %.",
        "Values alone: there is no interval",
        "Quantiles of days",
        "to a few ranks",
    ):
        assert said in page
    for unsaid in ("95 % CI", "95 % intervals", "the interval covers", "width of a bin"):
        assert unsaid not in page
    assert str(release.table("q")).splitlines()[0].split("  ")[-1].strip() == "Estimate, days"
