"""PostgreSQL under the engine contract: the integers of the algebra in plain Python."""

import contextlib

import pyarrow as pa

from confide.rows.engines.postgres import open_postgres
from contracts.engine_contract import EngineContract
from postgres_tables import in_postgres
from rows_world import KEY, Database
from source_kinds import without_nul


class TestPostgres(EngineContract):
    """Every third question of the menu: each is sorted by a server that shares two processors."""

    stride = 3

    @contextlib.contextmanager
    def open(self, database, *, of, **_):
        with open_postgres(in_postgres(database.frames), dataset=of, hash_key=KEY) as engine:
            yield engine

    def adapted(self, database: Database) -> Database:
        return Database(frames={n: without_nul(rows) for n, rows in database.frames.items()})

    def nothing(self, rows, kind):
        return pa.nulls(rows, kind)
