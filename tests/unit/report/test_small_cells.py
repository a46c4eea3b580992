"""A report under a house rule shows no withheld number, whatever the statistic."""

from dataclasses import replace

import pytest

import cohorts
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.house_rule import HouseRule, SmallCells
from confide.plans.soundness.small_cells import COUNTED, FLAG, counts_cells
from confide.release.noisy import NoisyAggregates
from confide.report.charts.chart import figure
from confide.report.release import Release
from confide.report.wording.describe import total_of
from confide.report.wording.section import section


def under(rule):
    """A release of every kind of statistic under a house rule."""
    plan = cohorts.plan_of(cohorts.every_statistic(), dataset=cohorts.hospital(), nano=200_000_000)
    plan = replace(plan, study=replace(plan.study, small_cells=SmallCells(rule=rule)))
    return plan, cohorts.noisy_of(plan)


@pytest.fixture(scope="module")
def small():
    """A release of every kind of statistic in which no noisy number is above 3."""
    plan, made = under(HouseRule.CMS)
    values = tuple(
        tuple(min(value, 3) for value in noisy)
        if isinstance(m.mechanism, DiscreteLaplace | DiscreteGaussian) and isinstance(noisy, tuple)
        else noisy
        for m, noisy in zip(plan.measurements, made.values, strict=True)
    )
    noisy = NoisyAggregates(plan=plan, values=values)
    certificate = cohorts.certificate_of(made)
    return Release(noisy=noisy, estimates=noisy.estimates(), certificate=certificate)


def test_no_small_count_is_left_in_any_table(small):
    for each in small.estimates:
        if each.unit in COUNTED and each.value is not None:
            assert each.value >= HouseRule.CMS.least, each
        if FLAG in each.flags:
            numbers = (each.value, each.standard_error, each.lower, each.upper)
            assert numbers == (None,) * 4


def test_sentences_and_figures_are_made_of_what_is_left(small, words):
    flagged = 0
    for statistic in small.plan.statistics:
        said = section(small, statistic, words=words)
        drawn = figure(small, statistic, words=words)
        mine = small.of(statistic)
        if any(FLAG in each.flags for each in mine):
            flagged += 1
            assert any(text.startswith("Small cell") for text in said.flags)
        if all(each.value is None and FLAG in each.flags for each in mine):
            assert drawn is None
        total = total_of(small.noisy, statistic)
        assert total is None or total.value >= HouseRule.CMS.least
    assert flagged > 15


RAW = tuple(range(10_003, 90_003, 10))
"""Noisy counts, of which none is a multiple of 5."""


def numbers_in(spec):
    """Yield every number of a chart."""
    match spec:
        case dict():
            inside = spec.values()
        case list() | tuple():
            inside = spec
        case int() | float():
            yield spec
            return
        case _:
            return
    for each in inside:
        yield from numbers_in(each)


def figures_with_raw_counts():
    """Return the statistics of whose figure a count can be read that the rule rounds."""
    plan, made = under(HouseRule.OPENSAFELY)
    values = tuple(
        RAW[: len(noisy)] if counts_cells(m) else noisy
        for m, noisy in zip(plan.measurements, made.values, strict=True)
    )
    noisy = NoisyAggregates(plan=plan, values=values)
    release = Release(
        noisy=noisy, estimates=noisy.estimates(), certificate=cohorts.certificate_of(made)
    )
    counted = {m.statistic for m in plan.measurements if counts_cells(m)}
    assert len(counted) > 10
    drawn = {name: release.figure(name) for name in sorted(counted)}
    return [name for name, each in drawn.items() if set(numbers_in(each.spec)) & set(RAW)]


def test_no_figure_shows_a_count_as_it_was_before_it_is_rounded():
    assert figures_with_raw_counts() == []


def test_the_total_below_the_title_of_a_figure_is_rounded_as_counts_are():
    plan, made = under(HouseRule.OPENSAFELY)
    noisy = NoisyAggregates(plan=plan, values=made.values)
    totals = [total_of(noisy, statistic) for statistic in plan.statistics]
    assert len([each for each in totals if each is not None]) > 5
    assert {each.value % 5 for each in totals if each is not None} == {0}
