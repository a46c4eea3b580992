"""A house rule that looks at exact counts: equal noisy numbers must give equal tables."""

from dataclasses import replace

from confide.plans.allocate import Ask, make_plan
from confide.plans.house_rule import HouseRule, SmallCells
from confide.plans.plan import Study
from confide.plans.small_cells import FLAG, under_rule
from confide.release.noisy import NoisyAggregates
from confide.statistics.histogram.spec import Histogram
from noisy_answers import dataset

NOISY = (14, 88)
STUDY = Study(id="s", small_cells=SmallCells(rule=HouseRule.CMS))


def raw():
    """Return what is known after the gate of two sexes, without a rule."""
    by_sex = Histogram(id="by_sex", table="participants", by=("sex",))
    plan = make_plan([Ask(statistic=by_sex)], study=Study(id="s"), dataset=dataset(), nano=10**9)
    return NoisyAggregates(plan=plan, values=(NOISY,)).estimates()


def suppressing_on_the_exact_count(exact):
    """Return the rule of a publisher who looks at the data once more."""

    def mutant(study, estimates, measured, *, dataset):
        del measured, dataset
        least = study.small_cells.rule.least
        return tuple(
            replace(e, value=None, flags=(FLAG,)) if exact[e.key] < least else e for e in estimates
        )

    return mutant


def tells_the_exact_count(rule_on):
    """Return whether tables of equal noisy numbers tell a true 10 from a true 11."""
    tables = [
        rule_on({("male",): males, ("female",): 90})(STUDY, raw(), (), dataset=dataset())
        for males in (10, 11)
    ]
    return tables[0] != tables[1]


def test_a_house_rule_that_looks_at_the_exact_count_is_caught():
    assert tells_the_exact_count(suppressing_on_the_exact_count)
    assert not tells_the_exact_count(lambda _: under_rule)
