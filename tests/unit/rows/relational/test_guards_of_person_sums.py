"""Sums by person are refused where they keep too much or their persons were numbered anew."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import duckdb
import numpy as np
import pytest
from sqlglot import exp

from confide.errors import ContractError, EngineError
from confide.plans.pricing.individual import Norm, Rate, rate_of
from confide.privacy.individual import FEMTO
from confide.rows.cells.bounding import MOST_IN_CELL, MOST_ROWS, OUT_OF_ORDER, limits
from confide.rows.cells.build import HUGEINT, num, own
from confide.rows.cells.layout import Ids, Layout
from confide.rows.relational.norms import _rated
from confide.rows.relational.person_rows import _at_end
from confide.rows.relational.person_sums import PersonSums, _guard, _numbered
from confide.rows.relational.running import RUNNING
from confide.rows.relational.summand import NARROW, wide
from confide.rows.relational.sums import _cells
from confide.rows.relational.table_rows import Scope
from confide.tables.aggregates.square_root import coefficients
from confide.tables.bound_contributions import CellBound, RowBound
from rows_world import ask, col, dataset

BOUNDS = RowBound(max_rows=2)
STATEMENT = SimpleNamespace(
    query=exp.select("p", "cell", "n").from_("t"), answers=(), bounds=BOUNDS
)


class Answering:
    """A session whose queries have answers that were written down."""

    def __init__(self, *, worst=(2, 2, 2)):
        self.worst, self.taken_back = worst, []

    def rows(self, _):
        return [self.worst]

    def arrays(self, _):
        return {"high": np.array([1]), "low": np.array([2])}

    def make(self, *_):
        pass

    drop = lend = make

    def take_back(self, name):
        self.taken_back.append(name)


def sums(on):
    return PersonSums((STATEMENT,), asked=1, dataset=dataset(), copies=None, on=on)


@pytest.mark.parametrize("worst", [(3, 2, 2), (2, 3, 2), (2, 2, 3)])
def test_more_rows_more_cells_or_more_rows_in_a_cell_than_the_bound_are_each_refused(worst):
    _guard((2, 2, 2), bounds=BOUNDS)
    with pytest.raises(EngineError, match="bound"):
        _guard(worst, bounds=BOUNDS)
    sums(Answering()).store()
    sums(Answering(worst=(None, None, None))).store()
    with pytest.raises(EngineError, match="bound"):
        sums(Answering(worst=worst)).store()


def test_limits_of_rows_and_of_cells_leave_none_out_of_order():
    assert limits(BOUNDS) == {MOST_ROWS: 2, MOST_IN_CELL: 1, OUT_OF_ORDER: 0}
    cells = CellBound(max_cells=4, max_rows_per_cell=3)
    assert limits(cells) == {MOST_ROWS: 4, MOST_IN_CELL: 3, OUT_OF_ORDER: 0}


def test_persons_of_an_index_that_was_replaced_are_not_named():
    found = sums(Answering())
    assert found.identities().tolist() == [[1, 2]]
    found._roster = "that of the index before"
    with pytest.raises(EngineError, match="replaced"):
        found.identities()


def test_what_was_lent_to_queries_is_taken_back():
    on = Answering()
    with sums(on) as found:
        found._lend("weights", {})
        found._lend("more", {})
    assert on.taken_back == ["weights", "more"]


def test_the_persons_of_every_table_are_numbered():
    text = _numbered(["one", "two", "three"]).sql("confideduckdb")
    assert [text.count(f'"{name}"') for name in ("one", "two", "three")] == [1, 1, 1]


def test_a_norm_costs_in_sql_what_it_costs_in_python():
    norms, rates = (0, 1, 2, 9, 1_000, 12_345), []
    for dropped, shift in ((0, 3), (2, 5), (1, 40)):
        rates.append(Rate(dropped=dropped, times=77, shift=shift, most=1_000))
    costs = [
        (_rated(num(norm), rate, norm=Norm.L1), rate.of(norm)) for norm in norms for rate in rates
    ]
    with duckdb.connect() as on:
        found = on.execute(exp.select(*(sql for sql, _ in costs)).sql("confideduckdb")).fetchone()
    assert found == tuple(cost for _, cost in costs)


@pytest.mark.parametrize("order", [2, 30_000, 10**9])
@pytest.mark.parametrize("bits", [1, 41, 60, 61, 118])
def test_no_norm_is_so_large_that_its_cost_overflows(order, bits):
    largest, most = 2**bits - 1, 10**18
    rate = rate_of(Fraction(order * FEMTO, 7), largest=largest, most=most)
    norms = sorted({0, 1, largest // 2, largest})
    costs = [(_rated(num(norm), rate, norm=Norm.L1), rate.of(norm)) for norm in norms]
    with duckdb.connect() as on:
        found = on.execute(exp.select(*(sql for sql, _ in costs)).sql("confideduckdb")).fetchone()
    assert found == tuple(cost for _, cost in costs)
    for norm, cost in zip(norms, found, strict=True):
        assert min(most, Fraction(order * FEMTO * norm, 7)) <= cost <= most


def test_values_are_wide_from_62_bits_on():
    for moved, is_wide in ((2 ** (NARROW - 1) - 1, False), (2 ** (NARROW - 1), True)):
        for l1, l2_squared in ((moved, 1), (1, moved)):
            of = SimpleNamespace(l1=l1, l2_squared=l2_squared)
            charge = SimpleNamespace(measurement=SimpleNamespace(sensitivity=of))
            assert wide(own("x"), charge).is_type(HUGEINT) is is_wide


def test_a_period_weighs_the_sum_of_what_it_adds_to_later_ones():
    lent = {}
    stored = SimpleNamespace(
        parts=(SimpleNamespace(table="t", column="n"),),
        dataset=None,
        charge=SimpleNamespace(norm=Norm.L1),
        lend=lambda name, columns: lent.update({name: columns}),
        name="weights",
    )
    RUNNING.summand(SimpleNamespace(length=lambda _: 5), stored)
    of = coefficients(5)
    assert lent["weights"]["t"].tolist() == [0, 1, 2, 3, 4]
    assert lent["weights"]["w"].tolist() == [sum(of[: 5 - t]) for t in range(5)]


def test_few_cells_are_ordered_by_their_number_alone():
    scope = SimpleNamespace(dataset=dataset(), copies=None)
    assert _cells(ask(axes=[col("pressure")]), scope=scope).limbs == (own("cell"),)


def scope_of(of):
    return Scope(dataset=of, layout=Layout(tables={}, ids=Ids.TEXT))


@pytest.mark.parametrize(("before", "is_date"), [("first a", True), ("how many", False)])
def test_rows_before_a_value_are_those_before_a_date(before, is_date):
    of = dataset()
    last = replace(of.value("pressure before"), before=before)
    scope = scope_of(of)
    if is_date:
        with pytest.raises(ContractError, match="was not found in the source"):
            _at_end(scope, last)
        return
    with pytest.raises(ContractError, match=f"Per-patient value '{before}' is not a date"):
        _at_end(scope, last)
