"""Plan, forecast and estimates of every kind of statistic, number for number.

The answers are made up, and the same in every run; other tests say why these numbers are right.
"""

from dataclasses import asdict, fields, replace
from fractions import Fraction

import pytest

import cohorts
import confide
from confide.drawing.words import load_words
from confide.files.kinds import KINDS
from confide.plans.pricing.allocate import forecast
from confide.privacy.measure import Measure
from confide.report.charts.chart import figures
from confide.report.pages.layouts import laid_out
from confide.report.wording.section import section
from confide.statistics import read_plan
from kept_texts import assert_kept, chart_text, digest_of, number_text

STATISTICS = {each.id: each for each in (*cohorts.every_statistic(), cohorts.wards_statistic())}
GRADIENTS = {"bands", "deaths", "odds", "stays"}  # noised as pure ε cannot charge
CASES = [
    (name, measure)
    for name in STATISTICS
    for measure in Measure
    if measure is Measure.ZCDP or name not in GRADIENTS
]


def asked(name):
    """Return a statistic with the planning numbers that its forecast may need."""
    found = STATISTICS[name]
    named = {each.name for each in fields(found)}
    more = {"expect": Fraction(5000)} if found.expect is None else {}
    more |= {"expect_weight": Fraction("1.2")} if "expect_weight" in named else {}
    return replace(found, **more)


@pytest.mark.parametrize(("name", "measure"), CASES)
def test_plan_forecast_and_estimates_are_the_numbers_that_were_read(name, measure):
    statistic, dataset = asked(name), cohorts.hospital(measure=measure)
    plan = cohorts.plan_of((statistic,), dataset=dataset, nano=200_000_000)
    release = cohorts.release_of(plan)
    lines = [number_text(each) for each in plan.to_json()["measurements"]]
    lines += [number_text(asdict(forecast(plan, statistic)))]
    lines += [number_text(asdict(each)) for each in release.estimates[:60]]
    assert_kept(f"statistics/{name}-{measure.value}.txt", "\n".join(lines))


@pytest.mark.parametrize("name", STATISTICS)
def test_its_figures_are_those_that_were_seen(name):
    statistic = asked(name)
    plan = cohorts.plan_of((statistic,), dataset=cohorts.hospital(), nano=200_000_000)
    drawn = figures(cohorts.release_of(plan), statistic, words=load_words("en"))
    lines = [f"{place} {digest_of(chart_text(each.chart))}" for place, each in drawn.items()]
    assert_kept(f"statistics/{name}-figures.txt", "\n".join(lines))


@pytest.mark.parametrize("name", STATISTICS)
def test_its_headline_and_table_are_the_words_that_were_read(name):
    statistic, words = asked(name), load_words("en")
    plan = cohorts.plan_of((statistic,), dataset=cohorts.hospital(), nano=200_000_000)
    release = cohorts.release_of(plan)
    told, table = (
        section(release, statistic, words=words),
        laid_out(release, statistic, words=words),
    )
    lines = [
        number_text(asdict(told)),
        *(number_text(row) for row in (table.head, *table.rows[:60])),
    ]
    assert_kept(f"statistics/{name}-words.txt", "\n".join(lines))
    assert read_plan(plan.to_json()).digest() == plan.digest()


@pytest.mark.parametrize("kind", KINDS)
def test_a_section_of_a_study_asks_what_was_read(kind, tmp_path):
    pytest.importorskip("pandas")
    from every_kind import STUDIES, dataset, frames

    with confide.open(dataset(measure="zcdp"), frames=frames(), folder=tmp_path) as ws:
        plan = ws.plan({"id": "asked", "kind": kind, **STUDIES[kind]}, epsilon="1")
    assert_kept(f"sections/{kind}.json", number_text(plan.to_json()["statistics"]))
