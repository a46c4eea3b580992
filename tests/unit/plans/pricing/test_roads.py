"""The noise of a plan in a mixed ledger: the smaller errors of those that fit into the year."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from confide.errors import ContractError
from confide.files.accounting import asked_nano
from confide.files.dataset import declared_by
from confide.files.study import ask_from
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.plan import Study
from confide.plans.pricing.allocate import forecast, make_plan
from confide.plans.pricing.roads import lanes_of, measured_in, part_of, planned_by
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.service.planning.priced import priced
from pages import ROOT

DATASET = {
    "dataset": {"id": "ward", "lineage": "ward", "snapshot": "1"},
    "source": {"kind": "csv", "path": "."},
    "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
    "accounting": {"measure": "mixed", "delta": "1e-6", "selection-delta": "0"},
    "caps": {"lifetime": {"epsilon": 10}, "calendar-year": {"epsilon": 3}},
    "tables": {
        "visits": {
            "rows-per-patient": 1,
            "columns": {"age": {"kind": "number", "lower": 0, "upper": 100}},
        }
    },
}


def ward(releases=None):
    asked = {} if releases is None else {"releases-a-year": releases}
    return declared_by(DATASET | {"accounting": DATASET["accounting"] | asked}, folder=".")


def counts(number):
    return [{"id": f"n{place}", "kind": "count"} for place in range(number)]


def plan(number, *, epsilon="1", releases=None):
    return priced(counts(number), declared=ward(releases), epsilon=epsilon)


def narrowest(number, *, epsilon):
    """The least that the noise of so many counts is wide, in either measure, by hand."""
    cap = MixedCap.of(Fraction(epsilon), delta=Fraction("1e-6"))
    sigma_squared = number / (2 * Fraction(cap.budget // cap.order, NANO))
    laws = (
        DiscreteLaplace(scale=number / Fraction(epsilon)),
        DiscreteGaussian(sigma_squared=sigma_squared),
    )
    return min(each.half_width(0.95) for each in laws)


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2"])
@pytest.mark.parametrize("number", [1, 3, 8, 9, 10, 11, 12, 30])
def test_a_study_of_equal_counts_has_the_noise_that_is_less_wide(number, epsilon):
    made = plan(number, epsilon=epsilon)
    assert made.measurements[0].mechanism.half_width(0.95) <= narrowest(number, epsilon=epsilon)


def test_one_count_has_laplace_noise_and_a_dozen_have_gaussian():
    assert plan(1).dataset.measure is Measure.PURE
    assert plan(12).dataset.measure is Measure.ZCDP


def test_who_needs_more_releases_a_year_than_fit_as_epsilon_gets_gaussian_noise():
    assert plan(1, releases=3).dataset.measure is Measure.PURE
    assert plan(1, releases=4).dataset.measure is Measure.ZCDP
    assert plan(1, epsilon="0.1", releases=30).dataset.measure is Measure.PURE


def test_releases_of_a_plan_that_fit_into_a_year_are_those_that_its_caps_admit():
    of = ward()
    year = of.year()
    pure = lanes_of(plan(1), measure=of.measure)
    gaussian = lanes_of(plan(1, releases=7), measure=of.measure)
    assert part_of(year, pure) == Fraction(1, 3)
    assert part_of(year, gaussian) == Fraction(gaussian.at(year.cap.order), year.cap.budget)
    assert math.floor(1 / part_of(year, gaussian)) == 7


def test_a_study_of_declared_errors_takes_the_noise_that_leaves_the_year_more_room():
    asked = [{"id": "n", "kind": "count", "error": {"within": 60}}]
    made = priced(asked, declared=ward())
    of = ward()
    rooms = {}
    for each in measured_in(of.dataset):
        alone = replace(of, dataset=replace(each, mixed=False))
        rooms[each.measure] = part_of(
            of.year(), lanes_of(priced(asked, declared=alone), measure=of.measure)
        )
    assert rooms[made.dataset.measure] == min(rooms.values())


def test_what_only_gaussian_noise_can_do_is_planned_with_it():
    of = ward()
    with pytest.raises(ContractError):
        priced([{"id": "it", "kind": "no-kind"}], declared=of, epsilon="1")
    alone = replace(of, dataset=replace(of.dataset, measure=Measure.PURE, mixed=False))
    asked = {"id": "it", "kind": "series", "column": "age", "over": "age"}
    with pytest.raises(ContractError):  # has a form in neither: the fault is told, not another
        priced([asked], declared=alone, epsilon="1")


def test_errors_of_plans_are_compared_statistic_by_statistic():
    of = ward()
    rough, sharp = plan(20, epsilon="0.3"), plan(1, epsilon="0.9")
    rough = replace(rough, statistics=rough.statistics[:1], measurements=rough.measurements[:1])
    plans = iter((rough, sharp))
    chosen = planned_by(lambda _: next(plans), dataset=of.dataset, year=of.year())
    assert chosen.taken.plan == sharp
    widths = [each.measurements[0].mechanism.half_width(0.95) for each in (sharp, rough)]
    assert chosen.error == pytest.approx(widths[0] / widths[1])


PAGE = ROOT / "docs/how-to/choose-a-budget.md"
ROW = re.compile(r"\| ([^|]+) \| \**([\d.]+)[^|]* \| (\d+) \| \**([\d.]+)[^|]* \| (\d+) \|")
COLUMNS = {
    "age": {"kind": "number", "lower": 0, "upper": 100},
    "days": {"kind": "number", "lower": 0, "upper": 3600},
    "dead": {"categories": ["no", "yes"]},
    "ill": {"categories": ["no", "yes"]},
    "sex": {"categories": ["f", "m"]},
}
ASKED = {
    "one count": counts(1),
    "a survival curve, 500 patients, 24 intervals": [
        {
            "id": "it",
            "kind": "survival",
            "time": "days",
            "status": "dead",
            "censored": "no",
            "until": "3600",
            "bins": 24,
            "expect": {"count": 500},
        }
    ],
    "a mean age, 500 patients": [
        {"id": "it", "kind": "mean", "column": "age", "expect": {"count": 500}}
    ],
    "Table 1 of four variables in two groups of 250": [
        {
            "id": "it",
            "kind": "table-1",
            "variables": ["age", "days", "dead", "ill"],
            "by": ["sex"],
            "expect": {"count": 250},
        }
    ],
    "ten counts": counts(10),
    "thirty counts": counts(30),
}


def test_the_table_of_errors_with_either_noise_is_what_plans_say():
    rows = {found[0]: found[1:] for found in ROW.findall(PAGE.read_text())}
    assert rows.keys() == ASKED.keys()
    tables = {"people": {"rows-per-patient": 1, "columns": COLUMNS}}
    of = declared_by(DATASET | {"tables": tables}, folder=".")
    for name, (laplace, fit_pure, gaussian, fit_rho) in rows.items():
        told = {Measure.PURE: (laplace, fit_pure), Measure.ZCDP: (gaussian, fit_rho)}
        for each in measured_in(of.dataset):

            def make(dataset, asked=ASKED[name]):
                asks = [ask_from(one, dataset=dataset) for one in asked]
                nano = asked_nano("1", None, dataset=dataset)
                return make_plan(asks, study=Study(id="s"), dataset=dataset, nano=nano)

            made = make(each)
            width = forecast(made, made.statistics[0]).half_width
            error, fit = told[each.measure]
            assert float(f"{width:.2g}") == float(error), name
            assert 1 // part_of(of.year(), lanes_of(made, measure=of.measure)) == int(fit), name
