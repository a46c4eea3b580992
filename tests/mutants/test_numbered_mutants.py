"""Deliberately broken bounds of numbered rows, which the count beside each kept row refuses."""

import pytest

from confide.errors import EngineError
from confide.rows.cells import bounding
from confide.rows.copies.copies import Copies
from confide.rows.engines.duckdb import open_engine
from confide.rows.relational.sql import WrittenPass, one_pass
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.source import Source, SourceKind
from contracts.test_prepared_engine import written
from rows_world import DB, KEY, ask, dataset, random_database
from unit.rows.prepared.test_proved_ranks import by_rank, prepared

pytestmark = pytest.mark.mutant


@pytest.mark.parametrize(
    "bounds",
    [RowBound(max_rows=2), CellBound(max_cells=2, max_rows_per_cell=2)],
    ids=["rows", "cells"],
)
def test_a_numbered_bound_that_keeps_one_more_is_caught(tmp_path, monkeypatch, bounds):
    first = bounding._first
    of, asked = dataset(), (ask(axes=[DB], bounds=bounds),)

    def exact():
        with open_engine(
            Source(kind=SourceKind.FRAMES),
            base=tmp_path,
            dataset=of,
            hash_key=KEY,
            frames=random_database(2).frames,
            threads=1,
        ) as engine:
            compiled = one_pass(
                asked, dataset=of, layout=engine._layout, streams=False, stores=False
            )
            return WrittenPass.of(compiled, on=engine._session).exact(engine._session)

    assert sum(exact()[0])
    monkeypatch.setattr(
        bounding, "_first", lambda rows, most, **given: first(rows, most + 1, **given)
    )
    monkeypatch.setattr(
        bounding,
        "call",
        lambda name, *of: of[0] if name == "least" else bounding_call(name, *of),
    )
    with pytest.raises(EngineError, match="contribution bound not enforced"):
        exact()


def test_ranks_that_are_one_more_than_the_bound_are_caught(tmp_path, monkeypatch):
    work = prepared(written(tmp_path, random_database(2, events=9)))
    assert by_rank(tmp_path, work)[0]
    first_rows = Copies.first_rows
    monkeypatch.setattr(
        Copies,
        "first_rows",
        lambda copies, table, *, most: first_rows(copies, table, most=most + 1),
    )
    with pytest.raises(EngineError, match="contribution bound not enforced"):
        by_rank(tmp_path, work)


bounding_call = bounding.call
