"""A process that stays open while the ledger is put back under it: what an opening finds, it finds."""

import contextlib
import shutil
import sqlite3

import pytest

import confide
from command_line import confide as command
from confide.errors import LedgerFrozenError
from ledgers import schema_of
from postgres_server import server
from small_clinic import Clinic, make_clinic

TABLES = ("event", "head", "counter", "request", "payload")
COUNT = {"id": "c", "kind": "count", "table": "patients"}
KEYS = ("signing.key", "signing.pub", "hash.key")


def ran(*words, code=0):
    done = command(*words)
    assert done.code == code, (words, done.out, done.err)
    return done


def sql(*statements):
    import psycopg

    with contextlib.closing(psycopg.connect(server().url, autocommit=True)) as connection:
        connection.execute("SET session_replication_role = replica")  # as an administrator may
        for statement in statements:
            connection.execute(statement)


def spend(workspace, request):
    return workspace.release(workspace.plan(COUNT, epsilon="0.3"), request=request)


@pytest.fixture
def shared(tmp_path):
    """A clinic whose ledger in PostgreSQL holds a release, and the schema's name."""
    clinic, schema = make_clinic(tmp_path / "host-a"), schema_of(tmp_path)
    place = f'{{kind: postgres, url: "{server().url}", schema-name: {schema}}}'
    clinic.dataset.write_text(f"{clinic.dataset.read_text()}\nledger: {place}\n")
    ran("run", clinic.study, "--out", tmp_path / "out")
    return clinic, schema


def beside(clinic):
    """Another host with the same files and the same keys."""
    folder = clinic.folder.with_name("host-b")
    folder.mkdir()
    for each in clinic.folder.iterdir():
        if each.is_file():
            shutil.copy2(each, folder)
    (folder / ".confide").mkdir(mode=0o700)
    for name in KEYS:
        shutil.copy2(clinic.folder / ".confide" / name, folder / ".confide")
    return Clinic(folder=folder)


def test_a_process_that_stayed_open_does_not_go_on_with_a_ledger_that_was_restored(
    shared, tmp_path
):
    clinic, schema = shared
    other = beside(clinic)
    ran("ledger", "backup", tmp_path / "backup", clinic.dataset)
    with confide.open(clinic.dataset) as workspace:
        again = "--out", tmp_path / "b", "--request", "b", "--again"
        ran("run", other.study, *again)  # after the backup, and seen by the other host alone
        sql(f"DROP SCHEMA {schema} CASCADE")
        ran("ledger", "restore", tmp_path / "backup", clinic.dataset)
        with pytest.raises(LedgerFrozenError, match="restored from a backup"):
            spend(workspace, "late")
    for place in (clinic, other):
        ran("ledger", "verify", place.dataset, code=6)
    ran("ledger", "unfreeze", clinic.dataset, "--reason", "restored", "--quiet")
    ran("ledger", "unfreeze", other.dataset, "--reason", "it saw more", "--quiet")
    with confide.open(clinic.dataset) as workspace:
        spend(workspace, "late")
    ran("ledger", "verify", other.dataset)


def test_a_process_that_was_open_all_the_while_goes_on_once_an_officer_has(shared, tmp_path):
    clinic, schema = shared
    ran("ledger", "backup", tmp_path / "backup", clinic.dataset)
    with confide.open(clinic.dataset) as workspace:
        sql(f"DROP SCHEMA {schema} CASCADE")
        ran("ledger", "restore", tmp_path / "backup", clinic.dataset)
        ran("ledger", "unfreeze", clinic.dataset, "--reason", "restored", "--quiet")
        spend(workspace, "late")
    ran("ledger", "verify", clinic.dataset)


@pytest.mark.parametrize("signature", ["", "00" * 64], ids=["none", "somebody's"])
def test_a_head_that_this_site_did_not_sign_stops_an_open_process_in_postgres(shared, signature):
    clinic, schema = shared
    with confide.open(clinic.dataset) as workspace:
        spend(workspace, "before")
        sql(f"UPDATE {schema}.head SET signature = '{signature}'")
        with pytest.raises(LedgerFrozenError, match="not signed"):
            spend(workspace, "late")
    ran("ledger", "verify", clinic.dataset, code=6)


@pytest.mark.parametrize("signature", ["", "00" * 64], ids=["none", "somebody's"])
def test_a_head_that_this_site_did_not_sign_stops_an_open_process_in_sqlite(tmp_path, signature):
    clinic = make_clinic(tmp_path)
    with confide.open(clinic.dataset) as workspace:
        spend(workspace, "before")
        path = tmp_path / ".confide" / "ledger.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("UPDATE head SET signature = ?", (signature,))
            database.commit()
        with pytest.raises(LedgerFrozenError, match="not signed"):
            spend(workspace, "late")
    ran("ledger", "verify", clinic.dataset, code=6)


def test_a_history_that_the_hosts_own_anchor_does_not_know_stops_an_open_process(shared, tmp_path):
    """The database is put back, another host writes other rows, and as many or more."""
    clinic, schema = shared
    other = beside(clinic)
    with confide.open(clinic.dataset) as workspace:
        sql(f"CREATE SCHEMA {schema}_kept")
        sql(*(f"CREATE TABLE {schema}_kept.{t} AS TABLE {schema}.{t}" for t in TABLES))
        ran("run", clinic.study, "--out", tmp_path / "a", "--request", "a", "--again")  # lost
        for table in TABLES:
            sql(f"DELETE FROM {schema}.{table}")
        for table in TABLES:
            sql(f"INSERT INTO {schema}.{table} TABLE {schema}_kept.{table}")
        for name in ("b", "c"):
            ran("run", other.study, "--out", tmp_path / name, "--request", name, "--again")
        with pytest.raises(LedgerFrozenError, match="anchor is not where the ledger is"):
            spend(workspace, "late")
    assert "another history" in ran("ledger", "verify", clinic.dataset, code=6).err
