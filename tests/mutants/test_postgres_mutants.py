"""Deliberately broken readings of PostgreSQL, each of which the tests of the source reject."""

import pytest

from confide.errors import EngineError
from confide.rows.copies import in_database
from confide.rows.dialects import postgres as dialect
from confide.rows.engines import postgres_session
from confide.rows.engines.postgres import open_postgres
from confide.rows.engines.postgres_session import DatabaseSession
from confide.rows.relational import sums
from confide.tables.aggregates.value import Plain
from confide.tables.bound_contributions import RowBound
from postgres_copies import opened, preparation, told, with_copies
from postgres_tables import in_postgres
from rows_world import KEY, ask, col, dataset, random_database
from source_kinds import without_nul
from unit.rows.engines.test_postgres_through_the_door import sql, stand_in
from unit.rows.prepared.test_database_copies import OF as COPIED
from unit.rows.prepared.test_database_copies import frames, of_events
from unit.rows.prepared.test_what_copies_depend_on import FILTERED

pytestmark = pytest.mark.mutant
OF = dataset()
ASKED = (ask(axes=[col("code")]), ask(axes=[col("code")], value=Plain(of=col("pressure"))))


@pytest.fixture(scope="module")
def stored():
    drawn = random_database(3, text_ids=True).frames
    return in_postgres({name: without_nul(rows) for name, rows in drawn.items()})


def answered(source, asked=ASKED):
    with open_postgres(source, dataset=OF, hash_key=KEY) as engine:
        return engine.aggregate(asked, dataset=OF).reveal_to_gate()


def test_doubles_that_are_used_as_they_are_are_caught(stored, monkeypatch):
    """A product that no double holds ends the query of everybody."""
    assert answered(stored)
    monkeypatch.setattr(dialect, "_clamped", lambda double: double)
    with pytest.raises(EngineError):
        answered(stored)


def test_texts_that_are_cast_without_being_asked_are_caught(stored, monkeypatch):
    monkeypatch.setattr(
        dialect, "_number_of_text", lambda text: f"CAST({text} AS DOUBLE PRECISION)"
    )
    with pytest.raises(EngineError):
        answered(stored)


def test_statements_that_each_see_a_state_of_their_own_are_caught(monkeypatch):
    drawn = random_database(4).frames
    source = in_postgres({name: without_nul(rows) for name, rows in drawn.items()})
    plain, asked = DatabaseSession.fetch, (ask("person"), ask(axes=[col("code")]))
    changed = []

    def fetch(self, query, parameters):
        rows = plain(self, query, parameters)
        if not changed:
            changed.append(sql(f'DELETE FROM "{source.schema}".events'))
        return rows

    before = answered(source, asked)
    monkeypatch.setattr(DatabaseSession, "fetch", fetch)
    monkeypatch.setattr(postgres_session, "_BEGIN", "BEGIN")
    assert answered(source, asked) != before


def test_a_search_path_that_is_believed_is_caught(stored, monkeypatch):
    """Somebody's function would stand for the server's, and choose the rows that are kept."""
    before = answered(stored)
    stand_in(stored.schema)
    sql(f'ALTER ROLE postgres SET search_path = "{stored.schema}", pg_catalog')
    try:
        assert answered(stored) == before
        believed = {n: v for n, v in postgres_session.SETTINGS.items() if n != "search_path"}
        monkeypatch.setattr(postgres_session, "SETTINGS", believed)
        assert answered(stored) != before
    finally:
        sql("ALTER ROLE postgres RESET ALL")


@pytest.fixture
def copied(tmp_path):
    source = with_copies(in_postgres(frames()))
    preparation(source, COPIED, folder=tmp_path).prepare()
    return source


def of_copies(source, folder, asked=ASKED):
    with opened(source, COPIED, folder=folder) as engine:
        return engine.aggregate(asked, dataset=COPIED).reveal_to_gate()


def of_source(source, asked=ASKED):
    with open_postgres(source, dataset=COPIED, hash_key=KEY) as engine:
        return engine.aggregate(asked, dataset=COPIED).reveal_to_gate()


def test_copies_that_are_read_whatever_became_of_the_source_are_caught(
    copied, tmp_path, monkeypatch
):
    told(f"DELETE FROM {copied.schema}.events WHERE pid IS NOT NULL")
    assert of_copies(copied, tmp_path) == of_source(copied)
    for where in ("confide.rows.copies.in_database", "confide.rows.prepared.database"):
        monkeypatch.setattr(f"{where}.state_of_sources", lambda *_: {})
    source = with_copies(in_postgres(frames()))
    preparation(source, COPIED, folder=tmp_path).prepare()
    told(f"DELETE FROM {source.schema}.events WHERE pid IS NOT NULL")
    assert of_copies(source, tmp_path) != of_source(source)


def test_copies_that_are_read_in_the_order_of_an_index_are_caught(copied, tmp_path, monkeypatch):
    """Which rows of a patient are kept would follow from what they hold."""
    before = of_source(copied, FILTERED)
    told(f"CREATE INDEX ON {of_events(copied)} (p, c0)")
    told(f"VACUUM ANALYZE {of_events(copied)}")
    assert of_copies(copied, tmp_path, FILTERED) == before
    monkeypatch.setattr(in_database, "_INDEXED", "SELECT $1 = $2")
    assert of_copies(copied, tmp_path, FILTERED) == before
    chosen = {
        "enable_seqscan": "off",
        **dict.fromkeys(("enable_indexscan", "enable_indexonlyscan"), "on"),
    }
    settings = {**postgres_session.SETTINGS, **chosen}
    monkeypatch.setattr(postgres_session, "SETTINGS", settings)
    assert of_copies(copied, tmp_path, FILTERED) != before


def test_ranks_of_a_copy_that_are_believed_are_caught(copied, tmp_path, monkeypatch):
    """A guard of another bound than the sensitivity's lets a patient of false ranks keep all."""
    asked = (ask(axes=[col("code")], bounds=RowBound(max_rows=2)),)
    before = of_source(copied, asked)
    for where in ("confide.rows.copies.in_database", "confide.rows.prepared.database"):
        monkeypatch.setattr(f"{where}.fingerprint_in", lambda *_: "the same")
    work = preparation(copied, COPIED, folder=tmp_path)
    work.drop()
    work.prepare()
    assert of_copies(copied, tmp_path, asked) == before
    told(f"UPDATE {of_events(copied)} SET rk = 1")
    with pytest.raises(EngineError):
        of_copies(copied, tmp_path, asked)
    plain = sums.stream_totals

    def unguarded(rows, *, limit, **given):
        return plain(rows, limit=limit and 2_000, **given)

    monkeypatch.setattr(sums, "stream_totals", unguarded)
    assert of_copies(copied, tmp_path, asked) != before
