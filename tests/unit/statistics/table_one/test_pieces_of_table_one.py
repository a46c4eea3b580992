"""Single parts of a Table 1: the distance of labels, its figure, its note, what it refuses."""

from dataclasses import replace
from statistics import NormalDist

import pytest

import cohorts
from confide.drawing.asking import Asking
from confide.drawing.cells import cells_of
from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.plans.estimation.consistency import Block, Consistent
from confide.plans.estimation.intervals import Component
from confide.plans.estimation.pooled import PooledColumn
from confide.plans.simulation import Simulation
from confide.report.charts.chart import figure
from confide.statistics import TableOne
from confide.statistics.table_one.differences import of_labels
from confide.statistics.table_one.lines import Characteristic
from confide.statistics.table_one.table import table
from confide.tables.expression import Holds
from confide.tables.schema import Derived

HOSPITAL = cohorts.hospital()
WORDS = load_words("en")


def released(*variables, **more):
    asked = TableOne(
        id="one",
        table="person",
        variables=tuple(Characteristic(column=name) for name in variables),
        **more,
    )
    return cohorts.release_of(cohorts.plan_of((asked,), dataset=HOSPITAL)), asked


def test_the_error_of_a_distance_is_its_interval_over_two_quantiles():
    of = Consistent([Block(size=3, noise=Component(variance=4.0))], [])
    first, second = (
        PooledColumn(label=name, values=[values], groups=1, of=of, level=0.95)
        for name, values in (("a", [700.0, 200.0, 100.0]), ("b", [200.0, 300.0, 500.0]))
    )
    simulation = Simulation(payload_digest="0" * 64)
    found = of_labels(first, second, 0, simulation=simulation, purpose="one")
    width = found.upper - found.lower
    assert 0 < found.lower < found.value < found.upper
    assert found.error == pytest.approx(width / (2 * NormalDist().inv_cdf(0.975)))


def test_the_figure_of_one_group_is_of_shares_where_there_are_any():
    release, asked = released("sex", "age_band")
    shares = [e.value for e in release.of("one") if e.quantity == "share"]
    drawn = figure(release, asked, words=WORDS).chart.to_dict()
    assert shares
    assert set(values_of(drawn)) == set(shares)


def values_of(part):
    """Yield the numbers of the rows that a figure draws."""
    if isinstance(part, dict):
        for name, each in part.items():
            if name == "values" and isinstance(each, list):
                yield from (
                    row["value"] for row in each if isinstance(row, dict) and "value" in row
                )
            else:
                yield from values_of(each)
    elif isinstance(part, list):
        for each in part:
            yield from values_of(each)


def test_the_note_of_a_table_tells_how_far_the_ends_of_its_counts_are():
    release, asked = released("sex")
    cells = cells_of(release.of("one"))
    far = max(
        max(cell.value - cell.outer[0], cell.outer[1] - cell.value)
        for cell in cells
        if cell.quantity == "count"
    )
    shown = table(asked, cells, Asking(dataset=HOSPITAL, words=WORDS))
    assert far >= 2
    assert WORDS.say("table-1.reach-count", reach=f"{far:,.0f}") in " ".join(shown.notes)


def test_a_characteristic_that_is_a_condition_is_refused():
    condition = Derived(name="ill", of=Holds(of=cohorts.HAS_DIABETES))
    dataset = replace(HOSPITAL, derived=(*HOSPITAL.derived, condition))
    asked = TableOne(id="one", table="person", variables=(Characteristic(column="ill"),))
    with pytest.raises(ContractError, match="'ill' is no column"):
        cohorts.plan_of((asked,), dataset=dataset)
