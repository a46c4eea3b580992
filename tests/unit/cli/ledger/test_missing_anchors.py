"""An anchor that is gone, or that dataset.yaml names elsewhere, is missed on both databases."""

import contextlib
import shutil

import pytest

import confide as library
from command_line import confide
from confide.budget import journal
from confide.budget.integrity import inspection
from confide.errors import LedgerFrozenError
from confide.release.site.ledger_pin import FolderSite
from ledgers import schema_of
from postgres_server import server
from small_clinic import Clinic, make_clinic


@pytest.fixture(params=["sqlite", "postgres"])
def clinic(request, tmp_path):
    made = make_clinic(tmp_path)
    if request.param == "postgres":
        where = f'kind: postgres, url: "{server().url}", schema-name: {schema_of(tmp_path)}'
        made.dataset.write_text(f"{made.dataset.read_text()}\nledger: {{{where}}}\n")
    assert run(made, "one").code == 0
    return made


def run(clinic, key):
    out = clinic.folder / "out" / key
    out.parent.mkdir(exist_ok=True)
    return confide("run", clinic.study, "--request", key, "--out", out, "-q")


def anchor(clinic):
    return clinic.folder / ".confide" / "anchor.jsonl"


def spent(clinic):
    caps = confide("ledger", "show", clinic.dataset, "--json").json["caps"]
    return next(float(each["spent"]) for each in caps if each["cap"] == "lifetime")


def unfreeze(clinic):
    return confide("ledger", "unfreeze", clinic.dataset, "--reason", "the anchor's disk is lost")


def missed(clinic):
    """Nothing is granted until an officer goes on, and then nothing is given back."""
    ran = run(clinic, "after")
    assert ran.code == 6, ran.err
    assert "The anchor is missing" in ran.err
    assert unfreeze(clinic).code == 0


def test_an_anchor_that_is_removed_stops_the_ledger_until_an_officer_goes_on(clinic):
    before = spent(clinic)
    anchor(clinic).unlink()
    missed(clinic)
    assert spent(clinic) == before
    assert len(anchor(clinic).read_bytes().splitlines()) > 5  # written anew from the rows
    assert run(clinic, "two").code == 0
    assert confide("ledger", "verify", clinic.dataset).code == 0


def test_another_path_of_the_anchor_in_the_dataset_is_no_new_host(clinic, tmp_path):
    text, other = clinic.dataset.read_text(), tmp_path / "other.jsonl"
    named = f"anchor: {other}"
    has_place = "ledger: {" in text
    clinic.dataset.write_text(
        text.replace("ledger: {", f"ledger: {{{named}, ")
        if has_place
        else f"{text}\nledger: {{{named}}}\n"
    )
    missed(clinic)
    assert run(clinic, "two").code == 0
    assert other.exists()


def test_an_anchor_that_is_removed_under_an_open_workspace_stops_it(clinic):
    with library.open(clinic.dataset) as ws:
        plan = ws.study(clinic.study).plan()
        ws.release(plan, request="two")
        before = ws.spent()
        anchor(clinic).unlink()
        with pytest.raises(LedgerFrozenError, match="anchor is"):
            ws.release(plan, request="three")
    assert unfreeze(clinic).code == 0
    with library.open(clinic.dataset) as ws:
        assert ws.spent() == before


def test_a_crash_before_the_first_line_of_an_anchor_is_made_good(tmp_path):
    for place in ("sqlite", "postgres"):
        folder = tmp_path / place
        made = make_clinic(folder)
        if place == "postgres":
            where = f'kind: postgres, url: "{server().url}", schema-name: {schema_of(folder)}'
            made.dataset.write_text(f"{made.dataset.read_text()}\nledger: {{{where}}}\n")
        assert confide("plan", made.study).code == 0  # the first row
        anchor(made).unlink()
        assert run(made, "one").code == 0
        assert confide("ledger", "verify", made.dataset).code == 0


def an_anchor_on_a_disk_that_is_not_there_yet(folder):
    """The first host cannot write its first line, another one goes on, and then the disk is there."""
    first, disk = make_clinic(folder / "first"), folder / "disk"
    where = f'kind: postgres, url: "{server().url}", schema-name: {schema_of(folder)}'
    text = first.dataset.read_text()
    first.dataset.write_text(f"{text}\nledger: {{{where}, anchor: {disk}/anchor.jsonl}}\n")
    assert confide("plan", first.study).code == 2
    second = another_host(first, folder / "second", f"{text}\nledger: {{{where}}}\n")
    assert run(second, "one").code == 0
    disk.mkdir()
    assert run(first, "two").code == 0  # it has lost nothing
    assert confide("ledger", "verify", first.dataset).code == 0
    (disk / "anchor.jsonl").unlink()
    missed(first)
    assert spent(first) == spent(second)


def another_host(clinic, folder, dataset):
    shutil.copytree(clinic.folder, folder, ignore=shutil.ignore_patterns(".confide"))
    (folder / ".confide").mkdir(mode=0o700)
    for name in ("signing.key", "signing.pub", "hash.key"):
        shutil.copy(clinic.folder / ".confide" / name, folder / ".confide" / name)
    made = Clinic(folder=folder)
    made.dataset.write_text(dataset)
    return made


def test_a_host_that_could_not_write_its_first_line_is_not_frozen_when_others_went_on(tmp_path):
    an_anchor_on_a_disk_that_is_not_there_yet(tmp_path)


@pytest.mark.mutant
def test_a_host_that_is_frozen_though_it_never_had_a_line_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(FolderSite, "is_unanchored", False)
    with pytest.raises(AssertionError, match="assert 6 == 0"):
        an_anchor_on_a_disk_that_is_not_there_yet(tmp_path)


def a_database_put_back_beside_no_anchor_grants_nothing_again(clinic):
    """An older copy of the tables is put back, and the anchor is gone with the host's disk."""
    import psycopg

    schema = schema_of(clinic.folder)
    tables = ("event", "head", "counter", "request", "payload", "checkpoint")
    with contextlib.closing(psycopg.connect(server().url, autocommit=True)) as database:
        database.execute(f"CREATE SCHEMA {schema}_kept")
        for table in tables:
            database.execute(f"CREATE TABLE {schema}_kept.{table} AS TABLE {schema}.{table}")
        assert run(clinic, "two").code == 0
        assert run(clinic, "three").code == 0
        database.execute("SET session_replication_role = replica")
        for table in tables:
            database.execute(f"DELETE FROM {schema}.{table}")
            database.execute(f"INSERT INTO {schema}.{table} TABLE {schema}_kept.{table}")
    anchor(clinic).unlink()
    missed(clinic)


@pytest.mark.parametrize("clinic", ["postgres"], indirect=True)
def test_a_database_put_back_beside_no_anchor_grants_nothing_until_somebody_looked(clinic):
    a_database_put_back_beside_no_anchor_grants_nothing_again(clinic)


@pytest.mark.mutant
@pytest.mark.parametrize("clinic", ["postgres"], indirect=True)
def test_a_host_that_takes_itself_for_a_new_one_is_caught(clinic, monkeypatch):
    for room in (journal, inspection):
        monkeypatch.setattr(room, "missing_anchor", lambda *_, **__: ())
    with pytest.raises(AssertionError, match="assert 0 == 6"):  # it grants
        a_database_put_back_beside_no_anchor_grants_nothing_again(clinic)


@pytest.mark.mutant
@pytest.mark.parametrize("clinic", ["postgres"], indirect=True)
def test_a_folder_that_forgets_that_it_had_an_anchor_is_caught(clinic, monkeypatch):
    (clinic.folder / ".confide" / "ledger.new").write_text("0" * 32 + "\n")
    monkeypatch.setattr(FolderSite, "anchored", lambda _: None)
    with pytest.raises(AssertionError, match="assert 0 == 6"):  # it grants
        a_database_put_back_beside_no_anchor_grants_nothing_again(clinic)
