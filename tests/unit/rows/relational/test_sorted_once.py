"""Several statements over a table sort it once, and answer as each alone."""

from pathlib import Path

import numpy as np
import pytest

from confide.errors import EngineError
from confide.privacy.unit import Entity
from confide.rows.engines.duckdb import DuckDBEngine, open_engine
from confide.rows.relational.sql import one_pass
from confide.tables.aggregates.value import Centred, Plain
from confide.tables.bound_contributions import CellBound, OneEvent, RowBound
from confide.tables.expression import OrMissing, QualityOf
from confide.tables.filter import Between, IsIn
from confide.tables.source import Source, SourceKind
from rows_world import KEY, ask, col, dataset, days, random_database, val

OF = dataset()
KNOWN = Between(of=col("pressure"))
SHARED = (
    ask(axes=[col("code")]),
    ask(axes=[col("code")], bounds=RowBound(max_rows=1)),
    ask(value=Centred(of=col("pressure")), where=KNOWN, bounds=RowBound(max_rows=3)),
    ask(value=Plain(of=col("whole")), where=IsIn(of=col("code"), values=(0, 2))),
    ask(axes=[OrMissing(of=col("code"))], where=Between(of=col("day"), lower=days(2020, 1, 1))),
)
APART = (
    ask(axes=[col("code")], bounds=CellBound(max_cells=2)),
    ask(axes=[QualityOf(of=col("code"))]),
    ask(value=Plain(of=col("age", "person"))),
    ask("person", value=Plain(of=val("how many"))),
    ask(bounds=RowBound(max_rows=2001)),
)


def engine_over(database, *, of=OF) -> DuckDBEngine:
    source = Source(kind=SourceKind.FRAMES)
    return open_engine(source, base=Path(), dataset=of, hash_key=KEY, frames=database.frames)


def tables(engine: DuckDBEngine) -> list[str]:
    found = engine._connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    return [name for (name,) in found]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.audit)])
def test_what_is_sorted_once_gives_the_integers_of_each_question_alone(seed):
    database = random_database(seed, text_ids=bool(seed % 2), patients=40, events=600)
    with engine_over(database) as engine:
        together = engine.aggregate((*SHARED, *APART), dataset=OF).reveal_to_gate()
        alone = [engine.aggregate((each,), dataset=OF).reveal_to_gate() for each in SHARED + APART]
        assert together == tuple(answer for (answer,) in alone)
        assert tables(engine) == []


def test_five_questions_sort_their_table_once_and_one_alone_as_before():
    with engine_over(random_database(1)) as engine:
        several, alone = (engine.explain(asked, dataset=OF) for asked in (SHARED, SHARED[:1]))
    assert several[1:] == ("events: sorted once, then streamed, 1 sum(s) in one pass",) * 5
    assert alone[1:] == ("events: sort and stream, 1 sum(s) in one pass",)


def test_what_streams_no_rows_of_one_table_alone_is_left_as_it_was():
    with engine_over(random_database(1)) as engine:
        alone = {each: engine.explain((each,), dataset=OF)[1] for each in APART}
        several = engine.explain((*SHARED, *APART), dataset=OF)[1:]
    assert [line for line in several if "sorted once" not in line] == list(alone.values())


def test_only_rows_that_one_of_the_questions_may_keep_are_sorted():
    with engine_over(random_database(3, patients=40, events=600)) as engine:

        def sorted_for(*asked) -> int:
            compiled = one_pass(asked, dataset=OF, layout=engine._layout)
            with compiled.sorted(engine._session):
                return engine._connection.execute('SELECT count(*) FROM "sorted t1"').fetchone()[0]

        first, second = (IsIn(of=col("code"), values=(code,)) for code in (0, 1))
        one = sorted_for(ask(where=first), ask(where=first, bounds=RowBound(max_rows=1)))
        other = sorted_for(ask(where=second), ask(where=second, bounds=RowBound(max_rows=1)))
        assert 0 < one < one + other == sorted_for(ask(where=first), ask(where=second))


def test_rows_that_were_sorted_are_gone_after_a_failure():
    with engine_over(random_database(1)) as engine:
        ready = engine._ready(SHARED, dataset=OF)
        engine._connection.execute("CREATE TEMP TABLE canary AS SELECT 1 AS alive")
        met = []

        def fails() -> None:
            with ready.compiled.sorted(engine._session):
                met.extend(tables(engine))
                raise EngineError("of this test")

        with pytest.raises(EngineError):
            fails()
        assert set(met) == {"canary", "sorted t1"}
        assert tables(engine) == ["canary"]


def test_events_as_units_are_sorted_by_nobody():
    of = dataset(Entity.EVENT, per_patient=())
    asked = (ask(bounds=OneEvent()), ask(axes=[col("code")], bounds=OneEvent()))
    with engine_over(random_database(1), of=of) as engine:
        assert "sorted once" not in " ".join(engine.explain(asked, dataset=of))


def test_sums_by_person_are_of_rows_sorted_once_too():
    database = random_database(5, patients=40, events=600)
    nobody = np.empty(0, dtype=np.int64)
    with engine_over(database) as engine:
        exact = engine.aggregate(SHARED, dataset=OF).reveal_to_gate()
        with engine.person_sums(SHARED, dataset=OF) as sums:
            assert sums.sums(without=nobody).reveal_to_gate() == exact
        assert tables(engine) == []
