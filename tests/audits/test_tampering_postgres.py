"""Whoever administers the PostgreSQL server, and lacks the signing key, is found out."""

import contextlib

import pytest

from confide.budget.chain.chain import Event, row_hash
from confide.budget.ledger import Caps
from confide.errors import ConfideError, LedgerFrozenError
from ledgers import (
    LINEAGE,
    NANO,
    HandClock,
    open_ledger,
    released,
    request,
    schema_of,
    terms,
    used,
)
from postgres_server import server

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")

REWRITTEN = (
    "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql"
    " AS $$ BEGIN RETURN NULL; END $$"
)
TABLES = ("event", "head", "counter", "request", "payload")


class World:
    """A ledger with a row of every kind, and an administrator with all rights."""

    def __init__(self, folder):
        self.folder = folder
        with self.opened() as ledger:
            ledger.register(terms())
            caps = Caps(lifetime=NANO, calendar_year=NANO // 2)
            ledger.amend_caps(LINEAGE, caps=caps, reason="board")
            released(ledger, "a", b"answer")
            ledger.cancel(ledger.reserve(request("b")))
            with pytest.raises(ConfideError):
                ledger.reserve(request("c", nano=NANO))
            reservation = ledger.reserve(request("d"))
            ledger.start_reading(reservation)
            ledger.burn(reservation, incident="i")
            released(ledger, "e", b"last answer")
        self.admin = psycopg.connect(server().url, autocommit=True)
        self.admin.execute("SET session_replication_role = replica")  # no triggers, no references
        self.admin.execute(f"SET search_path = {schema_of(folder)}")
        self.rows = {table: self.sql(f"SELECT * FROM {table}") for table in TABLES}

    @contextlib.contextmanager
    def opened(self):
        ledger = open_ledger(self.folder, clock=HandClock(), url=server().url)
        try:
            yield ledger
        finally:
            ledger.close()

    def sql(self, statement, values=None):
        cursor = self.admin.execute(statement, values)
        return cursor.fetchall() if cursor.description else []

    def columns(self, table):
        return [column.name for column in self.admin.execute(f"TABLE {table}").description]

    def put_back(self):
        with self.admin.transaction():
            for table, rows in self.rows.items():
                self.sql(f"DELETE FROM {table}")
                places = ", ".join("%s" for _ in self.columns(table))
                with self.admin.cursor() as cursor:
                    cursor.executemany(f"INSERT INTO {table} VALUES ({places})", rows)

    def is_found(self):
        try:
            with self.opened() as ledger:
                ledger.reserve(request("new"))
        except ConfideError:
            return True
        return False

    def is_refused_or_found(self, statement, values=None):
        """Whether the database refuses a change, or the ledger finds it."""
        try:
            self.sql(statement, values)
        except psycopg.IntegrityError:
            return True
        try:
            return self.is_found()
        finally:
            self.put_back()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("world"))
    yield made
    made.admin.close()


def other(value):
    """A value of the same type that is not ``value``."""
    match value:
        case None:
            return 7
        case int():
            return value + 100
        case bytes():
            return value + b"!"
        case str() if value in {"published", "burned"}:
            return "committed"
        case str() if value in {"cancelled", "refused"}:
            return "burned"
        case str():
            return value[:-1] + ("0" if value[-1:] != "0" else "1")


def test_an_edit_of_any_column_of_any_row_is_found_on_postgres(world):
    for table, rows in world.rows.items():
        columns = world.columns(table)
        for row in rows:
            where = " AND ".join(f"{name} IS NOT DISTINCT FROM %s" for name in columns)
            for column, value in zip(columns, row, strict=True):
                edit = f"UPDATE {table} SET {column} = %s WHERE {where}"
                assert world.is_refused_or_found(edit, [other(value), *row]), (table, row, column)


def test_a_deletion_of_any_row_is_found_on_postgres(world):
    for table, rows in world.rows.items():
        where = " AND ".join(f"{name} IS NOT DISTINCT FROM %s" for name in world.columns(table))
        for row in rows:
            assert world.is_refused_or_found(f"DELETE FROM {table} WHERE {where}", row), row


def test_rows_that_change_places_or_are_added_are_found_on_postgres(world):
    last = Event(**dict(zip(world.columns("event"), max(world.rows["event"]), strict=True)))
    body = last.body.replace(f'"number":"{last.number}"', f'"number":"{last.number + 1}"')
    added = (last.number + 1, body, last.hash, row_hash(last.hash, body=body))
    assert world.is_refused_or_found("INSERT INTO event VALUES (%s, %s, %s, %s)", added)
    for number in range(1, last.number):
        swap = (
            "UPDATE event a SET body = b.body, previous = b.previous, hash = b.hash || 'x'"
            f" FROM event b WHERE (a.number, b.number) IN (({number}, {number + 1}),"
            f" ({number + 1}, {number}))"
        )
        assert world.is_refused_or_found(swap), number


def test_a_chain_computed_anew_without_the_key_is_found_on_postgres(world):
    previous = "0" * 64
    try:
        for number, body, _, _ in sorted(world.rows["event"]):
            text = body.replace('"incident":"i"', '"incident":"j"')
            digest = row_hash(previous, body=text)
            world.sql(
                "UPDATE event SET body = %s, previous = %s, hash = %s WHERE number = %s",
                (text, previous, digest, number),
            )
            previous = digest
        world.sql("UPDATE head SET hash = %s", (previous,))
        assert world.is_found()
    finally:
        world.put_back()


@pytest.mark.parametrize(
    ("change", "back"),
    [
        ("ALTER TABLE event DISABLE TRIGGER event_is_appended", "ENABLE TRIGGER event_is_appended"),
        ("ALTER TABLE payload DISABLE TRIGGER ALL", "ENABLE TRIGGER ALL"),
        ("CREATE TABLE more (x INTEGER)", "DROP TABLE more"),
        ("ALTER TABLE head ADD y INTEGER", "ALTER TABLE head DROP y"),
        ("DROP INDEX request_has_one_answer", None),
        ("ALTER TABLE counter DROP CONSTRAINT counter_is_within_its_cap", None),
        ("DROP TRIGGER payload_is_never_changed ON payload", None),
        (REWRITTEN, None),
        ("CREATE RULE nothing AS ON DELETE TO event DO INSTEAD NOTHING", None),
    ],
)
def test_another_schema_is_found_on_postgres(tmp_path, change, back):
    world = World(tmp_path)
    world.sql(change)
    assert world.is_found()
    if back is not None:
        table = change.split()[2]
        world.sql(back if back.split()[0] in {"DROP", "ALTER"} else f"ALTER TABLE {table} {back}")
        assert not world.is_found()
    world.admin.close()


def test_a_counter_changed_under_an_open_ledger_is_found_on_postgres(tmp_path):
    world = World(tmp_path)
    with world.opened() as ledger:
        world.sql("UPDATE counter SET spent = 0")
        with pytest.raises(LedgerFrozenError, match="is not what its rows say"):
            ledger.reserve(request("n"))
        ledger.unfreeze("counters written anew")
        assert used(ledger)["lifetime"] == 300_000_000
    world.admin.close()


def test_a_changed_missing_or_moved_line_of_an_anchor_is_found_on_postgres(world):
    """Lines at the end may be missing: another host wrote those rows, and they are added."""
    anchor = world.folder / "anchor"
    whole = anchor.read_bytes()
    lines = whole.splitlines(keepends=True)
    cases = [lines[1:], [*lines[:-1], lines[-1].replace(b'"signature":"', b'"signature":"00')]]
    for number in range(len(lines) - 1):
        cases.append([*lines[:number], *lines[number + 1 :]])
        cases.append([*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]])
        edited = lines[number].replace(b'"hash":"', b'"hash":"0')
        cases.append([*lines[:number], edited, *lines[number + 1 :]])
        cases.append([*lines[:number], b"?\n", *lines[number + 1 :]])
    for case in cases:
        anchor.write_bytes(b"".join(case))
        assert world.is_found()
    anchor.write_bytes(b"".join(lines[:-3]) + b'{"torn')
    with world.opened() as ledger:
        ledger.verify_chain()
    assert anchor.read_bytes() == whole
