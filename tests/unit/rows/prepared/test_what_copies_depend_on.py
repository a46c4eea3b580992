"""What changes the answer of a copy in PostgreSQL without changing its rows, and what hides it."""

import threading
from dataclasses import replace

import pytest

from confide.errors import ContractError
from confide.rows.copies import in_database
from confide.rows.copies.manifest import Standing
from confide.rows.engines.postgres import open_postgres
from confide.tables.aggregates.value import Plain
from confide.tables.bound_contributions import RowBound
from confide.tables.filter import Between, IsIn
from confide.tables.schema import Table
from postgres_copies import opened, preparation, told, with_copies
from postgres_server import server
from postgres_tables import in_postgres
from rows_world import EVENTS, KEY, ask, category, col, dataset
from unit.rows.prepared.test_database_copies import (
    ASKED,
    OF,
    copies_of,
    exact,
    frames,
    made,
    of_events,
    only,
)

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")

assert made  # the fixture
FILTERED = (
    ask(
        axes=[col("code")],
        bounds=RowBound(max_rows=1),
        where=IsIn(of=col("code"), values=(0, 1, 2, 3)),
    ),
    ask(
        value=Plain(of=col("pressure")),
        bounds=RowBound(max_rows=2),
        where=Between(of=col("pressure"), lower=510, upper=590),
    ),
    ask(axes=[col("code")], bounds=RowBound(max_rows=2)),
)


def of_source(source, asked=ASKED):
    with open_postgres(source, dataset=OF, hash_key=KEY) as plain:
        return exact(plain, asked)


@pytest.mark.parametrize("columns", ["(p, c0)", "(p, c1)", "(rk)"])
def test_a_copy_that_has_an_index_is_not_read(columns, made, tmp_path):
    copy, expected = of_events(made), of_source(made, FILTERED)
    with opened(made, OF, folder=tmp_path) as engine:
        told(f"CREATE INDEX ON {copy} {columns}")
        told(f"VACUUM ANALYZE {copy}")
        assert exact(engine, FILTERED) == expected
        assert not engine.sound()
    with opened(made, OF, folder=tmp_path) as engine:
        assert engine._standing is Standing.OUTDATED
        assert exact(engine, FILTERED) == expected


@pytest.mark.parametrize("columns", ["(p, c0)", "(p, c1)", "(rk, p)"])
def test_no_setting_of_a_database_lets_an_index_change_the_order_of_a_copy(
    columns, made, tmp_path, monkeypatch
):
    """Whether or not the index is known of: it may be made after the catalogue was looked at."""
    monkeypatch.setattr(in_database, "_INDEXED", "SELECT $1 = $2")
    expected, copy = of_source(made, FILTERED), of_events(made)
    told(f"CREATE INDEX ON {copy} {columns}")
    told(f"VACUUM ANALYZE {copy}")
    role = f"asker_{made.copies}"
    told(f"CREATE ROLE {role} LOGIN SUPERUSER")
    asked = replace(made, url=made.url.replace("postgres@", f"{role}@"))
    try:
        for setting in ("enable_seqscan = off", "seq_page_cost = 1e12", "random_page_cost = 0"):
            told(f"ALTER ROLE {role} RESET ALL; ALTER ROLE {role} SET {setting}")
            with opened(asked, OF, folder=tmp_path) as engine:
                assert engine._standing is Standing.CURRENT
                assert exact(engine, FILTERED) == expected, setting
    finally:
        told(f"DROP ROLE {role}")


def test_a_label_of_an_enumeration_that_is_renamed_puts_its_copies_out_of_date(tmp_path):
    code = category("code", {"a": 0, "b": 1}, 3, other=2)
    events = Table(name="events", source="events", columns=(code, only(EVENTS, "day").columns[0]))
    of = dataset(tables=(events,), per_patient=())
    source, asked = with_copies(in_postgres(frames())), ASKED[:1]
    kind = f"{source.schema}.kind"
    told(
        f"CREATE TYPE {kind} AS ENUM ('a', 'b', 'c'); ALTER TABLE {source.schema}.events "
        f"ALTER code TYPE {kind} USING (CASE code WHEN 'a' THEN 'a' ELSE 'c' END)::{kind}"
    )
    preparation(source, of, folder=tmp_path).prepare()
    for old, new in (("a", "x"), ("b", "a"), ("x", "b")):
        told(f"ALTER TYPE {kind} RENAME VALUE '{old}' TO '{new}'")
    with opened(source, of, folder=tmp_path) as engine:
        assert engine._standing is Standing.OUTDATED
        found = engine.aggregate(asked, dataset=of).reveal_to_gate()
    with open_postgres(source, dataset=of, hash_key=KEY) as plain:
        assert found == plain.aggregate(asked, dataset=of).reveal_to_gate()


def test_copies_that_go_between_charge_and_reading_leave_the_answer_to_the_source(made, tmp_path):
    expected = of_source(made)
    with opened(made, OF, folder=tmp_path) as engine:
        assert engine._standing is Standing.CURRENT
        preparation(made, OF, folder=tmp_path).drop()
        assert exact(engine) == expected
        with engine.snapshot():  # of jobs and models, which read no copies
            assert engine._clustered


def test_copies_that_may_no_longer_be_read_leave_the_answer_to_the_source(made, tmp_path):
    expected, reader = of_source(made), f"reader_{made.copies}"
    told(f"CREATE ROLE {reader} LOGIN")
    for schema in (made.schema, made.copies):
        told(
            f"GRANT USAGE ON SCHEMA {schema} TO {reader};"
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}"
        )
    asked = replace(made, url=made.url.replace("postgres@", f"{reader}@"))
    try:
        with opened(asked, OF, folder=tmp_path) as engine:
            assert engine._standing is Standing.CURRENT
            told(f"REVOKE SELECT ON {of_events(made)} FROM {reader}")
            assert exact(engine) == expected
    finally:
        told(f"DROP OWNED BY {reader} CASCADE; DROP ROLE {reader}")


def test_copies_that_somebody_locks_leave_the_answer_to_the_source(made, tmp_path):
    expected, found = of_source(made), []
    with opened(made, OF, folder=tmp_path) as engine, psycopg.connect(server().url) as other:
        other.execute(f"LOCK TABLE {of_events(made)} IN ACCESS EXCLUSIVE MODE")
        asking = threading.Thread(target=lambda: found.append(exact(engine)))
        asking.start()
        asking.join(timeout=30)
        answered = list(found)
        other.rollback()
        asking.join()
    assert answered == [expected]


def test_copies_in_another_schema_of_before_are_dropped_as_well(made, tmp_path):
    """Those of before stay until the next run, wherever they lie, and no longer."""
    moved = with_copies(made)
    preparation(moved, OF, folder=tmp_path).prepare()
    assert copies_of(made)  # for whoever reads them
    told(f"DELETE FROM {made.schema}.person")
    preparation(moved, OF, folder=tmp_path).prepare()
    assert copies_of(made) == []
    preparation(made, OF, folder=tmp_path).prepare()
    assert preparation(moved, OF, folder=tmp_path).drop()
    assert copies_of(made) == copies_of(moved) == []


def test_copies_of_before_that_somebody_else_owns_are_told_of(made, tmp_path):
    moved, keeper = with_copies(made), f"keeper_{made.copies}"
    told(
        f"CREATE ROLE {keeper} LOGIN; GRANT USAGE ON SCHEMA {made.schema} TO {keeper};"
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {made.schema} TO {keeper};"
        f"ALTER SCHEMA {moved.copies} OWNER TO {keeper}"
    )
    try:
        work = preparation(moved, OF, folder=tmp_path, role=keeper)
        with pytest.raises(ContractError, match=f"{made.copies}.* may not drop"):
            work.drop()
        assert copies_of(made)
    finally:
        told(f"DROP OWNED BY {keeper} CASCADE; DROP ROLE {keeper}")


def test_copies_under_the_key_of_before_are_dropped_with_their_partial_tables(made, tmp_path):
    before = set(copies_of(made))
    preparation(made, OF, folder=tmp_path, hash_key=b"another key of sixteen bytes").prepare()
    assert not before & set(copies_of(made))
