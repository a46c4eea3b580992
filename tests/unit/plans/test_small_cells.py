"""House rules on noisy counts: what they withhold, what goes with it, and how often they err."""

import ast
import inspect
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans import house_rule
from confide.plans.house_rule import HouseRule, NoisyFile, SmallCells
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, forecast, make_plan
from confide.plans.soundness import small_cells
from confide.plans.soundness.small_cells import FLAG, expectations
from confide.release.noisy import NoisyAggregates
from confide.statistics.histogram.spec import Histogram
from confide.statistics.mean.spec import Mean
from confide.statistics.proportion.spec import Proportion
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from noisy_answers import dataset
from seeded import SeededEntropy

BY_SEX = Histogram(id="by_sex", table="participants", by=("sex",))
ILL = IsIn(of=ColumnOf(table="participants", column="diabetes"), values=(1,))


def printed(statistic, *values, rule=HouseRule.CMS, nano=10**9):
    """Return what is printed of a statistic with these noisy vectors."""
    house = None if rule is None else SmallCells(rule=rule)
    plan = make_plan(
        [Ask(statistic=statistic)],
        study=Study(id="s", small_cells=house),
        dataset=dataset(),
        nano=nano,
    )
    return NoisyAggregates(plan=plan, values=values).estimates()


@pytest.mark.parametrize(
    ("rule", "least"),
    [
        (HouseRule.CMS, 11),
        (HouseRule.OPENSAFELY, 8),
        (HouseRule.UK_LLC, 10),
        (HouseRule.ACRO, 10),
    ],
)
def test_noisy_counts_below_the_least_are_withheld_and_flagged(rule, least):
    below, at = printed(BY_SEX, (least - 1, least), rule=rule)
    assert (below.value, below.standard_error, below.lower, below.upper) == (None,) * 4
    assert below.flags == (FLAG,)
    assert at.value == (10 if rule is HouseRule.OPENSAFELY else least)
    assert at.flags == ()


def test_a_noisy_zero_or_less_is_withheld_too_since_it_does_not_say_that_nobody_is_there():
    assert [e.value for e in printed(BY_SEX, (0, -4))] == [None, None]


def test_without_a_rule_every_noisy_count_is_printed():
    assert [e.value for e in printed(BY_SEX, (3, 0), rule=None)] == [3, 0]


def test_opensafely_rounds_to_five_and_moves_intervals_outwards():
    for count in range(8, 60):
        raw, _ = printed(BY_SEX, (count, 100), rule=None)
        shown, _ = printed(BY_SEX, (count, 100), rule=HouseRule.OPENSAFELY)
        assert shown.value % 5 == shown.lower % 5 == shown.upper % 5 == 0
        assert abs(shown.value - raw.value) <= 2.5
        assert 0 <= raw.lower - shown.lower < 5
        assert 0 <= shown.upper - raw.upper < 5
        assert shown.standard_error > raw.standard_error


def test_a_share_goes_with_its_numerator_its_complement_and_its_denominator():
    share = Proportion(id="p", table="participants", by=("sex",), of=ILL)
    # cells: (male, not ill), (male, ill), (female, not ill), (female, ill), in the order of axes
    for vector, withheld in (
        ((400, 100, 300, 5), "female"),
        ((400, 100, 5, 300), "female"),
        ((5, 300, 400, 100), "male"),
        ((400, 100, 300, 90), None),
    ):
        found = printed(share, vector, nano=3 * 10**9)
        gone = {e.key[0] for e in found if e.flags == (FLAG,)}
        assert gone == ({withheld} if withheld else set())


def test_a_mean_goes_with_its_denominator():
    mean = Mean(id="m", table="participants", column="age", by=("sex",))
    found = printed(
        mean, (20_000, 20_000, 300, 300), nano=3 * 10**9
    )  # 400 and 6 rows of 0 to 100 years
    assert {e.key[0] for e in found if e.flags == (FLAG,)} == {"female"}


@pytest.mark.parametrize(
    "noise", [DiscreteLaplace(scale=Fraction(3)), DiscreteGaussian(sigma_squared=Fraction(20))]
)
@pytest.mark.parametrize("rule", list(HouseRule))
def test_the_stated_mistakes_are_those_of_the_noise(noise, rule):
    runs = 200_000
    drawn = noise.sample(runs, entropy=SeededEntropy(7))
    for each in expectations(rule, noise=noise):
        share = float(np.mean(each.count + drawn < rule.least))
        assert abs(share - each.withheld) < 5 * np.sqrt(0.25 / runs)
        small = each.count < rule.least
        assert each.mistake == (1 - each.withheld if small else each.withheld)


def test_a_plan_states_the_mistakes_of_its_house_rule_before_anything_is_spent():
    study = Study(id="s", small_cells=SmallCells(rule=HouseRule.CMS))
    plan = make_plan([Ask(statistic=BY_SEX)], study=study, dataset=dataset(), nano=10**9)
    (note,) = [n for n in forecast(plan, BY_SEX).notes if "house rule" in n]
    noise = plan.measurements[0].mechanism
    five = 1 - noise.cdf(11 - 1 - 5)
    assert f"a cell of 5 is shown with probability {five:.2g}" in note
    assert "a cell of 5" not in str(forecast(replace(plan, study=Study(id="s")), BY_SEX).notes)


def test_a_rounded_interval_covers_at_least_as_often():
    runs = 2_000
    count, study = 43, Study(id="s", small_cells=SmallCells(rule=HouseRule.OPENSAFELY))
    plan = make_plan([Ask(statistic=BY_SEX)], study=study, dataset=dataset(), nano=5 * 10**8)
    noise = plan.measurements[0].mechanism
    drawn = noise.sample(runs, entropy=SeededEntropy(11)).tolist()
    shown = [NoisyAggregates(plan=plan, values=((count + z, 500),)).estimates()[0] for z in drawn]
    covered = [e.lower <= count <= e.upper for e in shown if e.value is not None]
    assert np.mean(covered) >= 0.95


def test_a_house_rule_cannot_see_rows():
    for module in (small_cells, house_rule):
        tree = ast.parse(inspect.getsource(module))
        names = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module]
        assert not [name for name in names if name.startswith("confide.rows")]


def test_the_rule_is_part_of_the_plans_digest():
    plans = [
        make_plan(
            [Ask(statistic=BY_SEX)],
            study=Study(id="s", small_cells=house),
            dataset=dataset(),
            nano=10**9,
        )
        for house in (
            None,
            SmallCells(rule=HouseRule.CMS),
            SmallCells(rule=HouseRule.ACRO),
            SmallCells(rule=HouseRule.CMS, noisy=NoisyFile.PUBLISHED),
        )
    ]
    assert len({plan.digest() for plan in plans}) == 4


def test_a_release_without_new_words_has_the_digest_that_it_always_had():
    plan = make_plan([Ask(statistic=BY_SEX)], study=Study(id="s"), dataset=dataset(), nano=10**9)
    assert plan.to_json()["study"] == {"is": "Study", "id": "s"}
