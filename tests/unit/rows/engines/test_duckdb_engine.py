"""DuckDB under the engine contract, from frames, a DuckDB file, Parquet and CSV."""

import contextlib
import tempfile
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from confide.rows.engines.duckdb import open_engine
from confide.tables.source import Source, SourceKind
from contracts.engine_contract import EngineContract
from rows_world import EVENTS, KEY, PERSON, Database


@contextlib.contextmanager
def opened(kind, folder, of, *, path="", frames=None, threads=2):
    engine = open_engine(
        Source(kind=kind, path=path),
        base=folder,
        dataset=of,
        hash_key=KEY,
        frames=frames,
        threads=threads,
    )
    with engine:
        yield engine


class TestFrames(EngineContract):
    seeds = (1,)

    def open(self, database, *, of, threads=2):
        return opened(SourceKind.FRAMES, Path(), of, frames=database.frames, threads=threads)


class OnDisk(EngineContract):
    text_ids = (False,)
    stride = 3

    def open(self, database, *, of, threads=2):
        folder = Path(tempfile.mkdtemp(prefix="confide-test-"))
        return self.stored(folder, database, of=of, threads=threads)

    @contextlib.contextmanager
    def stored(self, folder, database, *, of, threads):
        path = self.write(folder, database)
        with opened(self.kind, folder, of, path=path, threads=threads) as engine:
            yield engine

    # what differs only by how a source is opened is asked once, of frames
    test_row_order_and_threads_change_nothing = None
    test_answers_add_up_over_patients_so_nobody_moves_another_patients_rows = None
    test_sum_and_count_of_the_same_filter_keep_the_same_rows = None
    test_check_accepts_what_aggregate_answers = None
    test_an_empty_source_counts_zero_everywhere = None
    test_columns_without_any_value_follow_the_null_policy = None
    test_another_data_set_than_the_opened_one_is_refused = None
    test_a_join_that_could_multiply_rows_is_refused = None
    test_sums_that_could_overflow_are_refused = None
    test_key_selection_refuses_bounds_other_than_keys = None
    test_values_defined_by_themselves_are_refused = None
    test_days_between_values_that_are_no_dates_are_refused = None
    test_undeclared_names_are_refused = None
    test_the_answer_is_secret = None


class TestDuckDBFile(OnDisk):
    kind = SourceKind.DUCKDB

    def write(self, folder, database):
        path = folder / "ware'house.duckdb"
        with duckdb.connect(str(path)) as connection:
            for name, table in database.frames.items():
                connection.register("given", table)
                connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        path.chmod(0o400)
        return path.name


class TestParquet(OnDisk):
    kind = SourceKind.PARQUET

    def write(self, folder, database):
        for name, table in database.frames.items():
            pq.write_table(table, folder / name)
        return "."


class TestCSV(OnDisk):
    """Everything is text, ids too; a NUL cannot be written down."""

    kind = SourceKind.CSV
    reference_ids_as_text = True

    def adapted(self, database: Database) -> Database:
        frames = {}
        for name, table in database.frames.items():
            columns = {}
            for field in table.schema:
                values = table.column(field.name)
                if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
                    values = pc.if_else(pc.match_substring(values, "\0"), "x", values)
                columns[field.name] = values
            frames[name] = pa.table(columns)
        return Database(frames=frames)

    def write(self, folder, database):
        for name, table in database.frames.items():
            pyarrow.csv.write_csv(table, folder / name)
        return "."


def test_the_tables_of_the_world_are_the_ones_stored():
    assert {PERSON.source, EVENTS.source} == {"person", "events"}


def test_part_files_of_one_table_are_read_together(tmp_path):
    from rows_world import ask, dataset, random_database

    database = random_database(9)
    (tmp_path / "events.d").mkdir()
    table = database.frames["events"]
    for part in range(3):
        third = -(-table.num_rows // 3)
        pq.write_table(table.slice(part * third, third), tmp_path / "events.d" / f"{part}.parquet")
    of = dataset(tables=(PERSON, replace(EVENTS, source="events.d")))
    with opened(SourceKind.PARQUET, tmp_path, of, path=".") as engine:
        (parts,) = engine.aggregate((ask(),), dataset=of).reveal_to_gate()
    of = dataset()
    with opened(SourceKind.FRAMES, tmp_path, of, frames=database.frames) as engine:
        (whole,) = engine.aggregate((ask(),), dataset=of).reveal_to_gate()
    assert parts == whole
