"""A report under a house rule shows no withheld number, whatever the statistic."""

from dataclasses import replace

import pytest

import cohorts
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.house_rule import HouseRule, SmallCells
from confide.plans.small_cells import COUNTED, FLAG
from confide.release.noisy import NoisyAggregates
from confide.report.chart import figure
from confide.report.describe import total_of
from confide.report.release import Release
from confide.report.section import section


@pytest.fixture(scope="module")
def small():
    """A release of every kind of statistic in which no noisy number is above 3."""
    plan = cohorts.plan_of(cohorts.every_statistic(), dataset=cohorts.hospital(), nano=200_000_000)
    house = SmallCells(rule=HouseRule.CMS)
    plan = replace(plan, study=replace(plan.study, small_cells=house))
    made = cohorts.noisy_of(plan)
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
