"""Copies of tables of the test's server: a schema for them, made and opened as a site does."""

import contextlib
import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from confide.rows.copies.copies import UseCopies
from confide.rows.engines.postgres import open_postgres
from confide.rows.prepared.database import DatabasePreparation
from confide.tables.source import Source
from postgres_server import server
from rows_world import KEY

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")

_NUMBERS = itertools.count()


def told(query: str) -> None:
    """Run statements, and have the server count at once what they change."""
    with psycopg.connect(server().url, autocommit=True) as connection:
        connection.execute(query)
        connection.execute("SELECT pg_stat_force_next_flush()")


def with_copies(source: Source) -> Source:
    """Return the source with a schema for copies of it, which is made."""
    schema = f"copies{next(_NUMBERS)}"
    told(f"CREATE SCHEMA {schema}")
    return replace(source, copies=schema)


def preparation(source: Source, of, *, folder: Path, **changes) -> DatabasePreparation:
    given = {"source": source, "dataset": of, "hash_key": KEY, "folder": folder / "prepared"}
    return DatabasePreparation(**{**given, **changes})


@contextlib.contextmanager
def opened(source: Source, of, *, folder: Path):
    copying = UseCopies(folder=folder / "prepared")
    with open_postgres(source, dataset=of, hash_key=KEY, copying=copying) as engine:
        yield engine
