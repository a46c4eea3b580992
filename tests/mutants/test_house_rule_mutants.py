"""A house rule that looks at exact counts: equal noisy numbers must give equal tables."""

from dataclasses import replace

import pytest

from confide.drawing.charts.marks import Frame, plausible, row_of
from confide.plans.house_rule import HouseRule, SmallCells
from confide.plans.mechanisms import coordinate
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.reuse import Summed
from confide.plans.soundness.small_cells import FLAG, under_rule
from confide.release.noisy import NoisyAggregates
from confide.statistics.area_rate.spec import AreaRate
from confide.statistics.count import figure as count_figure
from confide.statistics.degree_histogram.spec import DegreeHistogram
from confide.statistics.histogram.spec import Histogram
from confide.statistics.standardized_rate.spec import StandardizedRate
from noisy_answers import dataset
from unit.report.test_small_cells import figures_with_raw_counts
from unit.statistics import test_small_cells_everywhere as house

NOISY = (14, 88)
BY_SEX = Histogram(id="by_sex", table="participants", by=("sex",))
STUDY = Study(id="s", small_cells=SmallCells(rule=HouseRule.CMS))


def raw():
    """Return what is known after the gate of two sexes, without a rule."""
    plan = make_plan([Ask(statistic=BY_SEX)], study=Study(id="s"), dataset=dataset(), nano=10**9)
    return NoisyAggregates(plan=plan, values=(NOISY,)).estimates()


def suppressing_on_the_exact_count(exact):
    """Return the rule of a publisher who looks at the data once more."""

    def mutant(study, statistic, estimates, answered, *, dataset):
        del statistic, answered, dataset
        least = study.small_cells.rule.least
        return tuple(
            replace(e, value=None, flags=(FLAG,)) if exact[e.key] < least else e for e in estimates
        )

    return mutant


def tells_the_exact_count(rule_on):
    """Return whether tables of equal noisy numbers tell a true 10 from a true 11."""
    tables = [
        rule_on({("male",): males, ("female",): 90})(STUDY, BY_SEX, raw(), (), dataset=dataset())
        for males in (10, 11)
    ]
    return tables[0] != tables[1]


def test_a_house_rule_that_looks_at_the_exact_count_is_caught():
    assert tells_the_exact_count(suppressing_on_the_exact_count)
    assert not tells_the_exact_count(lambda _: under_rule)


@pytest.mark.parametrize(
    "kind", ["area-rate of larger areas", "area-rate with weights", "crude rate"]
)
def test_a_rate_that_does_not_tell_its_counts_is_caught(kind, monkeypatch, tmp_path):
    for of in (AreaRate, StandardizedRate):
        monkeypatch.setattr(of, "counts_behind", lambda *_, **__: iter(()))
    with pytest.raises(AssertionError):
        house.test_a_share_rate_or_mean_of_a_handful_is_withheld_of_whatever_kind(kind, tmp_path)


def test_a_mean_degree_that_does_not_tell_its_persons_is_caught(monkeypatch, tmp_path):
    monkeypatch.setattr(DegreeHistogram, "counts_behind", lambda *_, **__: iter(()))
    with pytest.raises(AssertionError):
        house.test_a_mean_degree_of_a_handful_of_persons_is_withheld(8, False, tmp_path)


def test_a_share_of_earlier_counts_that_does_not_tell_them_is_caught(monkeypatch, tmp_path):
    monkeypatch.setattr(Summed, "answered", lambda _: ())
    with pytest.raises(AssertionError):
        house.test_a_share_of_a_handful_is_withheld_where_it_is_made_of_earlier_counts(2, tmp_path)


def around_the_count_as_it_was(subject, cells, *, bars):
    """Draw what a curve of plausible counts has its peak at."""
    del bars
    raw = float(coordinate(subject.noisy("count"), 0))
    frame = Frame(groups=("",), x_title="patients")
    return plausible([(raw, 1.0)], row=row_of(cells[0], group=""), frame=frame), ()


def test_a_figure_that_is_drawn_around_the_count_before_it_is_rounded_is_caught(monkeypatch):
    monkeypatch.setattr(count_figure, "groups", around_the_count_as_it_was)
    assert figures_with_raw_counts()
