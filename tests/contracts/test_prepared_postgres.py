"""Prepared copies in PostgreSQL under the engine contract: the integers of the algebra."""

import contextlib
import tempfile
from pathlib import Path

import pyarrow as pa

from confide.rows.copies.manifest import Standing
from contracts.engine_contract import EngineContract
from postgres_copies import opened, preparation, with_copies
from postgres_tables import in_postgres
from rows_world import Database
from source_kinds import without_nul


class TestPreparedPostgres(EngineContract):
    """Every twelfth question of the menu; all of them in the audit of kinds of sources."""

    stride = 12

    @contextlib.contextmanager
    def open(self, database, *, of, **_):
        source = with_copies(in_postgres(database.frames))
        with tempfile.TemporaryDirectory(prefix="confide-test-") as name:
            folder = Path(name)
            preparation(source, of, folder=folder).prepare()
            with opened(source, of, folder=folder) as engine:
                assert engine._standing is Standing.CURRENT
                yield engine

    def adapted(self, database: Database) -> Database:
        return Database(frames={n: without_nul(rows) for n, rows in database.frames.items()})

    def nothing(self, rows, kind):
        return pa.nulls(rows, kind)

    # asked of every engine's compiler already
    test_sums_that_could_overflow_are_refused = None
    test_key_selection_refuses_bounds_other_than_keys = None
    test_values_defined_by_themselves_are_refused = None
    test_days_between_values_that_are_no_dates_are_refused = None
    test_undeclared_names_are_refused = None
    test_the_answer_is_secret = None
    test_columns_without_any_value_follow_the_null_policy = None
