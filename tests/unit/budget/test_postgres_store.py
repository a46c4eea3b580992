"""What only the PostgreSQL store does: sessions, rights, several hosts."""

import contextlib
import os
import subprocess
import sys
from dataclasses import replace
from importlib import resources

import pytest

from confide.budget.ledger import Reservation
from confide.budget.stores.place import PostgresPlace, open_store
from confide.budget.stores.postgres_store import PostgresStore
from confide.errors import (
    BurnedError,
    ContractError,
    LedgerFrozenError,
    LedgerUnreachableError,
    MissingExtraError,
    PolicyError,
)
from confide.privacy.measure import Measure
from ledgers import (
    LINEAGE,
    TENTH,
    HandClock,
    SiteKey,
    open_ledger,
    released,
    request,
    schema_of,
    terms,
    used,
)
from postgres_server import server

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "host-a"


@pytest.fixture
def at(folder):
    """Open the ledger of ``folder``'s schema as a process of some host."""
    opened = []

    def open_at(host=None, **others):
        ledger = open_ledger(folder, clock=HandClock(), url=server().url, host=host, **others)
        opened.append(ledger)
        return ledger

    yield open_at
    for ledger in opened:
        with contextlib.suppress(psycopg.Error):
            ledger.close()


@pytest.fixture
def ledger(at):
    ledger = at()
    ledger.register(terms())
    return ledger


def sql(statement, *values, url=None):
    with contextlib.closing(psycopg.connect(url or server().url, autocommit=True)) as connection:
        cursor = connection.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


def cut(ledger):
    """End the session as a network that fails does."""
    backend = ledger._journal.store._session.connection.info.backend_pid
    sql("SELECT pg_terminate_backend(%s, 5000)", backend)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET body = '{}'",
        "DELETE FROM event",
        "TRUNCATE event CASCADE",
        "DELETE FROM request",
        "TRUNCATE request CASCADE",
        "UPDATE request SET state = 'reserved'",
        "UPDATE request SET state = 'cancelled'",
        "UPDATE request SET analyst = 'bo'",
        "UPDATE payload SET bytes = ''",
        "DELETE FROM payload",
        "TRUNCATE payload",
        "UPDATE counter SET spent = cap + 1 WHERE scope = 'lifetime'",
        "UPDATE counter SET spent = -1",
        "INSERT INTO event VALUES (99, '{}', '', 'x')",
    ],
)
def test_the_database_refuses_what_the_rules_forbid(ledger, statement):
    released(ledger, "k", b"answer")
    with pytest.raises(psycopg.IntegrityError):
        ledger._journal.store._run(statement)


def test_the_database_itself_refuses_to_pass_a_cap(ledger):
    units = 5 * 10**9
    with pytest.raises(LedgerFrozenError):
        ledger._journal.store.add_spent(
            lineage=LINEAGE, scope="lifetime", units=units, expect=units
        )


def test_a_commit_is_on_disk_when_it_returns_whatever_the_role_prefers(ledger, at):
    name = "ALTER ROLE postgres IN DATABASE postgres SET synchronous_commit = {}"
    sql(name.format("off"))
    try:
        store = at()._journal.store
        for setting in ("synchronous_commit", "fsync", "full_page_writes"):
            assert store._run(f"SHOW {setting}") == [("on",)]
    finally:
        sql("ALTER ROLE postgres IN DATABASE postgres RESET ALL")


def test_a_server_that_does_not_keep_what_it_commits_is_refused(folder):
    from confide.budget.stores import postgres_session

    wanted = dict(postgres_session._REQUIRED)
    try:
        postgres_session._REQUIRED["fsync"] = "a value that this server does not have"
        with pytest.raises(ContractError, match="fsync"):
            PostgresStore(server().url, schema="t", folder=folder)
    finally:
        postgres_session._REQUIRED.update(wanted)


def test_a_session_that_is_lost_while_reading_is_burned_by_the_next(ledger, at):
    reservation = ledger.reserve(request())
    ledger.start_reading(reservation)
    other = at()
    with pytest.raises(PolicyError, match="in progress"):
        other.reserve(request())
    cut(ledger)
    with pytest.raises(BurnedError):
        other.reserve(request())
    assert used(other)["lifetime"] == TENTH
    with pytest.raises(LedgerUnreachableError):
        ledger.commit(reservation, payload=b"late")
    with pytest.raises(BurnedError):
        other.reserve(request())


def test_a_session_that_is_lost_before_reading_gives_its_charge_back(ledger, at):
    ledger.reserve(request())
    cut(ledger)
    other = at()
    assert used(other)["lifetime"] == 0
    assert isinstance(other.reserve(request()), Reservation)


def test_a_lost_session_is_an_error_that_names_the_fix_and_a_new_one_goes_on(ledger, at):
    number = released(ledger, "k", b"answer")
    cut(ledger)
    for _ in range(2):
        with pytest.raises(LedgerUnreachableError, match="Check that the server runs"):
            ledger.head()
    assert at().stored(number).payload == b"answer"


def test_a_pool_that_lends_sessions_is_refused(ledger):
    ledger._journal.store._session._backend += 1  # as behind such a pool: another one answers
    with pytest.raises(ContractError, match="shared by the transaction"):
        ledger.reserve(request())


def test_hosts_share_one_budget_and_each_anchor_records_what_its_host_saw(ledger, at, folder):
    beside = folder.with_name("host-b")
    other = at(beside)
    assert (beside / "anchor").read_bytes() == (folder / "anchor").read_bytes()
    for turn in range(3):
        released(ledger, f"a{turn}", b"")
        released(ledger, f"b{turn}", b"")
    assert len((beside / "anchor").read_bytes().splitlines()) == 1
    released(other, "c", b"")
    assert used(ledger) == used(other)
    assert used(other)["lifetime"] == 7 * TENTH
    assert (beside / "anchor").read_bytes() == (folder / "anchor").read_bytes()
    for each in (ledger, other):
        each.verify_chain()


def copy_of_schema(folder, *, back=False):
    """A dump of the schema, or the dump put in its place, as an administrator does."""
    schema, kept = schema_of(folder), f"{schema_of(folder)}_dump"
    tables = ("migration", "event", "head", "counter", "request", "payload")
    if not back:
        sql(f"CREATE SCHEMA {kept}")
        for table in tables:
            sql(f"CREATE TABLE {kept}.{table} AS TABLE {schema}.{table}")
        return
    with contextlib.closing(psycopg.connect(server().url)) as connection:
        connection.execute("SET session_replication_role = replica")
        for table in tables:
            connection.execute(f"DELETE FROM {schema}.{table}")
            connection.execute(f"INSERT INTO {schema}.{table} TABLE {kept}.{table}")
        connection.commit()


def test_a_database_put_back_freezes_each_host_that_saw_more_until_its_officer_acts(
    ledger, at, folder
):
    beside = folder.with_name("host-b")
    released(ledger, "a", b"")
    copy_of_schema(folder)
    for key in "bc":
        released(ledger, key, b"")
    at(beside).close()  # saw all of it as well
    copy_of_schema(folder, back=True)
    with pytest.raises(LedgerFrozenError):  # also a ledger that was open all the while
        ledger.reserve(request("d"))
    mine = at()
    with pytest.raises(LedgerFrozenError, match="an older copy of the ledger was put back"):
        mine.reserve(request("d"))
    mine.unfreeze("restored after a disk failure")
    assert used(mine)["lifetime"] == 3 * TENTH
    theirs = at(beside)
    with pytest.raises(LedgerFrozenError, match="another history"):
        theirs.head()
    theirs.unfreeze("the same restore")
    assert used(theirs)["lifetime"] == 3 * TENTH
    for each in (theirs, mine):
        released(each, f"{id(each)}", b"")
        each.verify_chain()
    at().verify_chain()


def test_what_one_host_alone_saw_counts_on_top_of_what_another_spent_anew(ledger, at, folder):
    """Host a goes on from the copy and spends before host b, which saw more, has looked."""
    beside = folder.with_name("host-b")
    released(ledger, "a", b"")
    copy_of_schema(folder)
    released(ledger, "b", b"")  # lost, and seen by both
    theirs = at(beside)
    for key in "cd":
        released(theirs, key, b"")  # lost, and seen by host b alone
    theirs.close()
    copy_of_schema(folder, back=True)
    mine = at()
    mine.unfreeze("restored after a disk failure")
    assert used(mine)["lifetime"] == 2 * TENTH
    for key in "efg":
        released(mine, key, b"")
    theirs = at(beside)
    theirs.unfreeze("the same restore")
    assert used(theirs)["lifetime"] == 7 * TENTH  # a and b, e to g, c and d
    third = at(folder.with_name("host-c"))
    assert used(third)["lifetime"] == used(mine)["lifetime"] == 7 * TENTH
    theirs.verify_chain()


def test_what_another_host_has_counted_already_does_not_count_twice(ledger, at, folder):
    beside = folder.with_name("host-b")
    released(ledger, "a", b"")
    copy_of_schema(folder)
    released(ledger, "b", b"")
    at(beside).close()
    for key in "cd":
        released(ledger, key, b"")  # host b saw less than this one
    copy_of_schema(folder, back=True)
    mine = at()
    mine.unfreeze("restored after a disk failure")
    released(mine, "e", b"")
    theirs = at(beside)
    theirs.unfreeze("the same restore")
    assert used(theirs)["lifetime"] == 5 * TENTH


@pytest.mark.parametrize("first", ["who saw it", "who did not"])
def test_terms_that_one_host_alone_saw_hold_unless_another_charged_under_earlier_ones(
    ledger, at, folder, first
):
    """Amounts of ε and ρ never add: then nothing more is spent, from any host."""
    beside, in_rho = folder.with_name("host-b"), {"measure": Measure.ZCDP}
    copy_of_schema(folder)
    theirs = at(beside)
    theirs.register(replace(terms(), **in_rho))
    theirs.commit(held := read(theirs, "lost", **in_rho), payload=b"")
    theirs.close()
    copy_of_schema(folder, back=True)
    if first == "who did not":
        released(at(), "anew", b"")
    theirs = at(beside)
    with pytest.raises(LedgerFrozenError, match=r"an older copy|another history"):
        theirs.head()
    theirs.unfreeze("restored after a disk failure")
    measure = in_rho if first == "who saw it" else {}
    for host in (at(), theirs):
        host.register(replace(terms(), **measure))
        assert used(host)["lifetime"] >= held.entry.amount.nano
        if measure:
            read(host, str(id(host)), **measure)
            continue
        with pytest.raises(PolicyError, match="the two do not add up"):
            read(host, "more")
    at().verify_chain()


def read(ledger, key, **others):
    """Charge a request and begin to read."""
    held = ledger.reserve(replace(request(key), **others))
    ledger.start_reading(held)
    return held


def test_a_host_with_another_signing_key_is_refused(ledger, at, folder):
    stranger = at(folder.with_name("host-c"), signer=SiteKey(b"s" * 32))
    with pytest.raises(LedgerFrozenError, match="not signed by this site's key"):
        stranger.reserve(request())
    released(ledger, "k", b"")


def test_a_key_rotated_on_one_host_stops_the_others_until_they_have_it(ledger, at, folder):
    new, beside = SiteKey(b"n" * 32), folder.with_name("host-b")
    released(ledger, "a", b"")
    other, late = at(beside), folder.with_name("host-c")
    ledger.rotate_key(new, reason="yearly")
    released(ledger, "b", b"")
    with pytest.raises(LedgerFrozenError, match="signing key was replaced"):
        other.reserve(request("c"))
    with pytest.raises(LedgerFrozenError, match="was rotated; this folder holds another one"):
        at(beside).head()
    for host in (beside, late, folder):
        mine = at(host, signer=new)
        released(mine, str(host), b"")
        mine.verify_chain()


def test_a_child_that_closes_the_ledger_does_not_end_its_parents_session(folder):
    code = (
        "import os, sys; from pathlib import Path; from ledgers import open_ledger, terms\n"
        "ledger = open_ledger(Path(sys.argv[1]), url=sys.argv[2])\n"
        "ledger.register(terms())\n"
        "if os.fork() == 0:\n"
        "    try: ledger.head()\n"
        "    except ValueError: ledger.close(); os._exit(7)\n"
        "    os._exit(0)\n"
        "status = os.waitstatus_to_exitcode(os.wait()[1])\n"
        "ledger.head(); ledger.close(); sys.exit(status)\n"
    )
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, folder, server().url],
        env=environment,
        check=False,
    )
    assert done.returncode == 7


def grants(schema, role):
    text = (resources.files("confide.budget") / "grants.sql").read_text("utf-8")
    return text.format(schema=f'"{schema}"', role=f'"{role}"')


@pytest.fixture
def writer(ledger, folder):
    """A role with the rights that grants.sql gives, and its URL."""
    role = f"{schema_of(folder)}_writer"
    sql(f"CREATE ROLE {role} LOGIN")
    sql(grants(schema_of(folder), role))
    return server().url.replace("postgres@", f"{role}@")


def test_a_role_with_the_grants_writes_releases_and_can_change_nothing(ledger, at, folder, writer):
    released(ledger, "by the owner", b"")
    mine = open_ledger(folder, clock=HandClock(), url=writer)
    released(mine, "k", b"answer")
    mine.cancel(mine.reserve(request("given back")))
    mine.unfreeze("nothing")
    mine.verify_chain()
    schema = schema_of(folder)
    for statement in (
        "UPDATE event SET body = ''",
        "DELETE FROM event",
        "TRUNCATE event",
        "UPDATE payload SET bytes = ''",
        "DELETE FROM payload",
        "DELETE FROM request",
        "UPDATE request SET analyst = 'bo'",
        "ALTER TABLE event DISABLE TRIGGER ALL",
        "DROP TABLE payload",
        "DROP FUNCTION refuse CASCADE",
        "CREATE TABLE more (x INTEGER)",
        "SET session_replication_role = replica",
        f"ALTER SCHEMA {schema} RENAME TO mine",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            mine._journal.store._run(statement)
    with pytest.raises(PolicyError, match="owns the schema"):
        mine._journal.store.set_aside()
    mine.close()
    at().verify_chain()


def test_a_role_without_rights_is_told_who_gives_them(ledger, folder):
    role = f"{schema_of(folder)}_nobody"
    sql(f"CREATE ROLE {role} LOGIN")
    theirs = server().url.replace("postgres@", f"{role}@")
    with pytest.raises(ContractError, match=r"may not (read|make)"):
        open_ledger(folder, url=theirs)
    with pytest.raises(ContractError, match="as the role that owns the schema"):
        open_ledger(folder.with_name("none yet"), url=theirs)


PASSWORD = "zq7canary"  # noqa: S105


@pytest.fixture
def guarded():
    """A role that the server asks for a password."""
    with contextlib.suppress(psycopg.errors.DuplicateObject):
        sql(f"CREATE ROLE guarded LOGIN SUPERUSER PASSWORD '{PASSWORD}'")
    sql("SELECT 1")
    # pg_hba.conf asks for a password on the database `guarded` alone
    with contextlib.suppress(psycopg.errors.DuplicateDatabase):
        sql("CREATE DATABASE guarded")
    return server().url.replace("postgres@/postgres", "guarded@/guarded")


def test_a_password_comes_from_the_environment_or_pgpass_and_never_shows(
    guarded, folder, tmp_path, monkeypatch
):
    folder.mkdir(mode=0o700)
    place = PostgresPlace(url=guarded, schema="confide")
    for password in ("", "wrong " + PASSWORD):
        monkeypatch.setenv("PGPASSWORD", password)
        with pytest.raises(LedgerUnreachableError, match="PGPASSWORD") as caught:
            open_store(place, folder=folder)
        assert PASSWORD not in str(caught.value) + repr(caught.value.__cause__)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    open_store(place, folder=folder).close()
    monkeypatch.delenv("PGPASSWORD")
    (tmp_path / "pgpass").write_text(f"*:*:*:guarded:{PASSWORD}\n")
    (tmp_path / "pgpass").chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
    store = open_store(place, folder=folder)
    assert PASSWORD not in repr(store) + repr(place) + repr(store._session.connection)
    store.close()


def test_a_server_that_cannot_be_reached_is_an_error_that_names_the_fix(folder, tmp_path):
    folder.mkdir(mode=0o700)
    place = PostgresPlace(url=f"postgresql://ada@/db?host={tmp_path}")
    with pytest.raises(LedgerUnreachableError, match="Check that the server runs"):
        open_store(place, folder=folder)


def test_without_psycopg_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"\.\[postgres\]"):
        open_store(PostgresPlace(url="postgresql://ada@host/db"), folder=folder)


def test_a_schema_with_something_else_in_it_is_refused(folder):
    schema = schema_of(folder)
    sql(f"CREATE SCHEMA {schema}")
    sql(f"CREATE TABLE {schema}.event (x INTEGER)")
    with pytest.raises(ContractError, match="Name another schema"):
        open_ledger(folder, url=server().url)
    assert sql("SELECT to_regclass(%s)", f"{schema}.migration") == [(None,)]


def test_a_ledger_of_a_newer_version_is_not_opened(ledger, at, folder):
    sql(f"INSERT INTO {schema_of(folder)}.migration (number) VALUES (99)")
    with pytest.raises(ContractError, match="upgrade"):
        at()


def test_two_hosts_that_open_a_new_ledger_at_once_make_it_once(folder):
    code = (
        "import sys; from pathlib import Path; from ledgers import open_ledger, terms\n"
        "ledger = open_ledger(Path(sys.argv[1]), url=sys.argv[2], host=Path(sys.argv[3]))\n"
        "ledger.register(terms()); ledger.verify_chain(); ledger.close()\n"
    )
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    hosts = [folder.with_name(f"host-{number}") for number in range(3)]
    running = [
        subprocess.Popen([sys.executable, "-c", code, folder, server().url, host], env=environment)
        for host in hosts
    ]
    assert [each.wait(60) for each in running] == [0, 0, 0]


def test_numbered_migrations_have_no_gaps_and_both_databases_are_of_one_version():
    root = resources.files("confide.budget") / "migrations"
    for kind in ("sqlite", "postgres"):
        names = [item.name for item in (root / kind).iterdir() if item.name.endswith(".sql")]
        assert sorted(int(name[:4]) for name in names) == list(range(1, len(names) + 1))
