"""Operations are written by each dialect, and rows are bounded alike with streams and without."""

import pytest
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from confide.errors import ContractError
from confide.rows.cells.build import own
from confide.rows.cells.operations import OPERATIONS, Xor, written
from confide.rows.dialects.dialect import complete
from confide.rows.dialects.duckdb import ConfideDuckDB
from confide.rows.relational.sql import WrittenPass, one_pass
from confide.tables.source import Source, SourceKind
from rows_world import KEY, dataset, menu, random_database


def test_a_dialect_that_lacks_an_operation_is_refused():
    writers = dict.fromkeys(OPERATIONS, lambda *_: "")
    assert complete(writers) == writers
    del writers[Xor]
    with pytest.raises(ContractError, match=r"lacks Xor\."):
        complete(writers)


def test_an_operation_that_a_dialect_does_not_know_stops_the_writing():
    query = exp.Select(expressions=[Xor(this=own("a"), expression=own("b"))])
    assert written(query, dialect=ConfideDuckDB) == 'SELECT XOR("a", "b")'
    with pytest.raises(ValueError, match="Xor"):
        written(query, dialect=DuckDB)


def test_rows_that_are_numbered_give_the_integers_of_rows_that_are_streamed(tmp_path):
    from confide.rows.engines.duckdb import open_engine

    of, asked, source = dataset(), menu()[::2], Source(kind=SourceKind.FRAMES)
    frames = random_database(3, text_ids=True).frames
    with open_engine(
        source, base=tmp_path, dataset=of, hash_key=KEY, frames=frames, threads=1
    ) as engine:
        found = [
            WrittenPass.of(
                one_pass(asked, dataset=of, layout=engine._layout, streams=streams),
                on=engine._session,
            )
            for streams in (True, False)
        ]
        streamed, numbered = (each.exact(engine._session) for each in found)
    assert numbered == streamed
    assert any(any(cells) for cells in streamed.values() if isinstance(cells, tuple))
    assert not any("LAG(" in step.sql for step in found[1].steps)
    assert any("LAG(" in step.sql for step in found[0].steps)
