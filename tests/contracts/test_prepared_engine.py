"""Prepared copies under the engine contract: the same integers as the reference, in every form."""

import contextlib
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confide.rows.copies.copies import UseCopies
from confide.rows.engines.duckdb import open_engine
from confide.rows.prepared.build import Preparation
from confide.tables.aggregates.value import Plain
from confide.tables.bound_contributions import RowBound
from confide.tables.filter import All, Between, Everything, IsIn
from confide.tables.source import Source, SourceKind
from contracts.engine_contract import EngineContract, exact
from rows_world import DB, KEY, Database, ask, col, dataset, days, menu, random_database

SOURCE = Source(kind=SourceKind.PARQUET, path=".")


def written(folder: Path, database: Database) -> Path:
    for name, table in database.frames.items():
        pq.write_table(table, folder / name)
    return folder


def preparation(folder: Path, of, **changes) -> Preparation:
    given = {
        "source": SOURCE, "base": folder, "dataset": of, "hash_key": KEY,
        "folder": folder / ".confide" / "prepared", "threads": 2, "memory_limit": "1GB",
    }  # fmt: skip
    return Preparation(**{**given, **changes})


@contextlib.contextmanager
def opened(folder: Path, of, *, copying=None, threads=2, memory_limit=None):
    engine = open_engine(
        SOURCE, base=folder, dataset=of, hash_key=KEY, threads=threads, copying=copying,
        memory_limit=memory_limit,
    )  # fmt: skip
    with engine:
        yield engine


@contextlib.contextmanager
def prepared(database: Database, *, of, threads=2):
    with tempfile.TemporaryDirectory(prefix="confide-test-") as name:
        folder = written(Path(name), database)
        work = preparation(folder, of, threads=threads)
        work.prepare()
        with opened(folder, of, copying=UseCopies(folder=work.folder), threads=threads) as engine:
            yield engine


class TestPrepared(EngineContract):
    seeds = (1,)
    stride = 2

    def open(self, database, *, of, threads=2):
        return prepared(database, of=of, threads=threads)

    # asked of every engine's compiler already
    test_sums_that_could_overflow_are_refused = None
    test_key_selection_refuses_bounds_other_than_keys = None
    test_values_defined_by_themselves_are_refused = None
    test_days_between_values_that_are_no_dates_are_refused = None
    test_undeclared_names_are_refused = None
    test_the_answer_is_secret = None
    test_columns_without_any_value_follow_the_null_policy = None


def questions():
    """Every form: unfiltered, filtered by row, by what must be known; few and many rows."""
    known = Between(of=col("pressure"))
    filters = (
        Everything(),
        known,
        Between(of=col("day"), lower=days(2020, 1, 1)),
        All(of=(known, IsIn(of=col("code"), values=(1, 2)))),
    )
    return [
        ask(axes=[DB], value=value, bounds=RowBound(max_rows=m), where=where)
        for m in (1, 3, 3000)
        for where in filters
        for value in (None, Plain(of=col("pressure")))
    ]


def test_prepared_unprepared_and_one_two_or_four_threads_give_the_same_integers(tmp_path):
    of, asked = dataset(), [*questions(), *menu()[::3]]
    folder = written(tmp_path, random_database(21, events=12))
    work = preparation(folder, of)
    work.prepare()
    found = []
    for threads, copying in ((2, None), *((t, work.folder) for t in (1, 2, 4))):
        use = None if copying is None else UseCopies(folder=copying)
        with opened(folder, of, copying=use, threads=threads) as engine:
            found.append(exact(engine, asked, of))
    assert all(answers == found[0] for answers in found)


def test_all_forms_are_met_and_say_so(tmp_path):
    of = dataset()
    folder = written(tmp_path, random_database(22))
    work = preparation(folder, of)
    with opened(folder, of) as engine:
        assert "prepare" in engine.explain(questions(), dataset=of)[0]
    work.prepare()
    with opened(folder, of, copying=UseCopies(folder=work.folder)) as engine:
        text = "\n".join(engine.explain([*questions(), *menu()], dataset=of))
    for form in ("rank projection", "clustered stream", "sort and stream", "patient and cell"):
        assert form in text


def test_the_form_does_not_depend_on_the_rows(tmp_path):
    of, texts = dataset(), set()
    for seed in (1, 2, 3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        database = random_database(seed, events=seed)
        if seed == 3:
            database = Database(frames={n: t.slice(0, 0) for n, t in database.frames.items()})
        work = preparation(written(folder, database), of)
        work.prepare()
        with opened(folder, of, copying=UseCopies(folder=work.folder)) as engine:
            texts.add(engine.explain(questions(), dataset=of))
    assert len(texts) == 1


def test_rows_at_the_same_place_are_kept_by_their_columns_in_both_ways(tmp_path):
    """A key that sends every row of everyone to one place: only the columns are left to order."""
    of, base = dataset(), random_database(23, events=20)
    folder = written(tmp_path, base)
    with pytest.MonkeyPatch.context() as patch:
        from confide.rows.cells import bounding
        from confide.rows.cells.build import STAR, named, num, select
        from confide.rows.prepared import layouts
        from confide.rows.relational import table_rows

        def one_place(rows, limbs, *, name="h"):
            del limbs
            return select(STAR, named(num(7), name), of=rows)

        for module in (table_rows, layouts, bounding):  # places of cells and keys too
            patch.setattr(module, "with_place", one_place)
        work = preparation(folder, of)
        work.prepare()
        asked = [*questions()[:12], *menu()[3:6]]
        answers = []
        for copying in (None, UseCopies(folder=work.folder)):
            with opened(folder, of, copying=copying) as engine:
                answers.append(exact(engine, asked, of))
    assert answers[0] == answers[1]


def test_a_table_larger_than_memory_spills_and_is_the_same(tmp_path):
    of = dataset()
    rng = np.random.default_rng(5)
    frames = dict(random_database(24).frames)
    many = frames["events"].take(pa.array(rng.integers(2_000, size=200_000)))
    ids = pa.array(rng.integers(40_000, size=200_000))
    frames["events"] = many.set_column(many.schema.get_field_index("pid"), "pid", ids)
    folder = written(tmp_path, Database(frames=frames))
    work = preparation(folder, of, memory_limit="60MB", threads=1)
    work.prepare()
    asked, answers = questions()[:4], []
    for copying in (None, UseCopies(folder=work.folder)):
        with opened(folder, of, copying=copying, memory_limit="60MB") as engine:
            answers.append(exact(engine, asked, of))
    assert answers[0] == answers[1]
