"""Ranks that were proved when they were written: what a query of them adds up, and what refuses it."""

import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confide.errors import EngineError
from confide.rows.copies.choice import Way
from confide.rows.copies.copies import UseCopies
from confide.rows.copies.manifest import MANIFEST, read_manifest
from confide.rows.prepared import ranks
from confide.rows.relational.sql import one_pass
from confide.rows.relational.statement import guarded, require_proved, vector
from confide.tables.aggregates.value import Plain
from confide.tables.bound_contributions import RowBound
from confide.tables.filter import Between
from confide.tables.source import Source, SourceKind
from contracts.engine_contract import exact
from contracts.test_prepared_engine import opened, preparation, written
from rows_world import DB, ask, col, dataset, random_database

SPARK = Source(kind=SourceKind.SPARK, path=".")
ASKED = tuple(
    ask(axes=[DB], value=value, bounds=RowBound(max_rows=most))
    for most in (1, 2, 5)
    for value in (None, Plain(of=col("pressure")), Plain(of=col("big")))
)


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path, random_database(5, events=9))


def prepared(folder):
    work = preparation(folder, dataset(), source=SPARK)
    work.prepare()
    return work


def by_rank(folder, work, asked=ASKED):
    """Ask as an engine without an order of rows is asked, and answer in DuckDB."""
    of, found, ways = dataset(), {}, set()
    with opened(folder, of, copying=UseCopies(folder=work.folder)) as engine:
        compiled = one_pass(
            asked,
            dataset=of,
            layout=engine._layout,
            streams=False,
            stores=False,
            ranked=engine._copies,
        )
        for statement in compiled.statements:
            ways.add(statement.way)
            rows = guarded(engine._session.rows(statement.query), limits=statement.limits)
            require_proved(rows, statement=statement, proved=engine._copies.proved["events"])
            for position, column in statement.answers:
                found[position] = vector(rows, column=column, cells=statement.cells)
    return [found[place] for place in range(len(asked))], ways


def test_proved_ranks_give_the_integers_of_the_source(folder):
    work = prepared(folder)
    with opened(folder, dataset()) as source:
        expected = exact(source, list(ASKED), dataset())
    found, ways = by_rank(folder, work)
    assert found == list(expected)
    assert ways == {Way.RANKS}
    assert all(map(sum, found))


def test_what_ranks_cannot_answer_numbers_the_rows_of_the_source(folder):
    work = prepared(folder)
    filtered = Between(of=col("pressure"), lower=540)
    asked = (
        ask(axes=[DB], bounds=RowBound(max_rows=2), where=filtered),
        ask(axes=[DB], bounds=RowBound(max_rows=101)),
    )
    with opened(folder, dataset()) as source:
        expected = exact(source, list(asked), dataset())
    assert by_rank(folder, work, asked) == (list(expected), {Way.NUMBERED})


def changed(work, how):
    """Change the ranks of the events, in place and of whatever size."""
    manifest = read_manifest(work.folder)
    path = work.folder / manifest.generation / manifest.tables["events"][1]
    table = how(pq.read_table(path))
    pq.write_table(table, path)
    body = json.loads((work.folder / MANIFEST).read_text())
    body["sizes"][path.name] = path.stat().st_size
    (work.folder / MANIFEST).write_text(json.dumps(body))


def with_pairs(table, pairs):
    at = table.schema.get_field_index("k")
    return table.set_column(at, "k", pa.array(pairs, pa.int64()))


def a_row_twice(table):
    return pa.concat_tables([table, table.slice(0, 1)])


def a_row_less(table):
    return table.slice(1)


def a_row_in_the_place_of_another(table):
    return pa.concat_tables([table.slice(0, 1), table.slice(0, 1), table.slice(2)])


def a_false_rank(table):
    *most, last = table["k"].to_pylist()
    return with_pairs(table, [*most, 2**32 + last % 2**32])


def two_ranks_exchanged(table):
    pairs = table["k"].to_pylist()
    first = next(i for i, k in enumerate(pairs) if k >> 32 == 1)
    second = next(
        i for i, k in enumerate(pairs) if k >> 32 == 2 and k % 2**32 != pairs[first] % 2**32
    )
    one, two = pairs[first] % 2**32, pairs[second] % 2**32
    pairs[first], pairs[second] = 2**32 + two, 2 * 2**32 + one
    return with_pairs(table, pairs)


@pytest.mark.parametrize(
    "how",
    [a_row_twice, a_row_less, a_row_in_the_place_of_another, a_false_rank, two_ranks_exchanged],
)
def test_false_duplicate_and_lost_ranks_refuse_the_answer(folder, how):
    work = prepared(folder)
    changed(work, how)
    with pytest.raises(EngineError, match="contribution bound not enforced"):
        by_rank(folder, work)


def test_a_file_in_which_somebody_has_a_rank_twice_comes_into_no_manifest(folder, monkeypatch):
    from confide.rows.prepared import build

    rank_rows = build.rank_rows

    def twice(table, *, copies):
        once = rank_rows(table, copies=copies)
        order = once.args.pop("order")
        from sqlglot import exp

        both = exp.Union(this=once, expression=once.copy(), distinct=False)
        both.set("order", order)
        return both

    monkeypatch.setattr(build, "rank_rows", twice)
    work = preparation(folder, dataset(), source=SPARK)
    with pytest.raises(EngineError, match="ranks out of order"):
        work.prepare()
    assert read_manifest(work.folder) is None


def test_a_copy_for_duckdb_alone_proves_no_ranks(folder):
    work = preparation(folder, dataset())
    assert work.prepare().proved == {}
    assert by_rank_ways(folder, work) == {Way.NUMBERED}


def by_rank_ways(folder, work):
    of = dataset()
    with opened(folder, of, copying=UseCopies(folder=work.folder)) as engine:
        compiled = one_pass(
            ASKED, dataset=of, layout=engine._layout, streams=False, stores=False,
            ranked=replace(engine._copies),
        )  # fmt: skip
    return {statement.way for statement in compiled.statements}


def test_the_proof_knows_no_rows_but_their_ranks_and_persons(folder):
    proved = prepared(folder).prepare().proved["events"]
    assert len(proved) == 100
    assert all(low < 2**31 * n + 1 and high < 2**31 * n + 1 for n, low, high in proved)
    assert proved[0][0] >= proved[1][0] > 0
    assert ranks.PROOF == ("ranked", "low", "high")
