"""PostgreSQL under the engine contract: the integers of the algebra in plain Python."""

import contextlib

import pyarrow as pa
import pytest

from confide.rows.engines.postgres import open_postgres
from contracts.engine_contract import EngineContract
from postgres_tables import in_postgres
from rows_world import KEY, Database
from source_kinds import without_nul

pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")


class TestPostgres(EngineContract):
    """Every sixth question of the menu; all of them are asked by the audit of kinds of sources."""

    stride = 6

    @contextlib.contextmanager
    def open(self, database, *, of, **_):
        with open_postgres(in_postgres(database.frames), dataset=of, hash_key=KEY) as engine:
            yield engine

    def adapted(self, database: Database) -> Database:
        return Database(frames={n: without_nul(rows) for n, rows in database.frames.items()})

    def nothing(self, rows, kind):
        return pa.nulls(rows, kind)

    @pytest.mark.audit
    def test_columns_without_any_value_follow_the_null_policy(self):
        """Half of the menu."""
        super().test_columns_without_any_value_follow_the_null_policy()
