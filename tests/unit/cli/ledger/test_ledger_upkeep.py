"""Operating a ledger on the command line: backups, keys, second places; on both databases."""

import contextlib
import json
import shutil

import pytest

from command_line import confide
from ledgers import schema_of
from postgres_server import server
from small_clinic import Clinic, make_clinic


def in_postgres(dataset, *, schema):
    text = dataset.read_text()
    url = server().url
    dataset.write_text(f'{text}\nledger: {{kind: postgres, url: "{url}", schema-name: {schema}}}\n')


def make(kind, folder):
    made = make_clinic(folder)
    if kind == "postgres":
        in_postgres(made.dataset, schema=schema_of(folder))
    return made


@pytest.fixture(params=["sqlite", "postgres"])
def clinic(request):
    return request.getfixturevalue({"sqlite": "plain", "postgres": "shared"}[request.param])


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A clinic with one release in ``out``; tests work on copies of it."""
    made = make_clinic(tmp_path_factory.mktemp("begun"))
    ran("run", made.study, "--out", made.folder / "out")
    return made.folder


@pytest.fixture
def plain(begun, tmp_path):
    shutil.copytree(begun, tmp_path, dirs_exist_ok=True)
    return Clinic(folder=tmp_path)


@pytest.fixture
def shared(tmp_path):
    made = make("postgres", tmp_path)
    ran("run", made.study, "--out", tmp_path / "out")
    return made


def ran(*words, code=0):
    done = confide(*words)
    assert done.code == code, (done.out, done.err)
    return done


def lose(clinic):
    """The disk of the ledger is lost; the workspace folder with its anchor is not."""
    ledger = clinic.folder / ".confide" / "ledger.sqlite"
    if ledger.exists():
        ledger.unlink()
        return
    import psycopg

    with contextlib.closing(psycopg.connect(server().url, autocommit=True)) as connection:
        connection.execute(f'DROP SCHEMA "{schema_of(clinic.folder)}" CASCADE')


def lifetime(clinic, dataset=None):
    caps = ran("ledger", "show", dataset or clinic.dataset, "--json").json["caps"]
    return next(float(each["spent"]) for each in caps if each["cap"] == "lifetime")


def test_an_older_backup_restored_is_frozen_until_a_reason_and_gives_nothing_back(clinic, tmp_path):
    ran("ledger", "backup", tmp_path / "backup", clinic.dataset)
    ran("run", clinic.study, "--out", tmp_path / "two", "--request", "again")
    spent = lifetime(clinic)
    lose(clinic)
    assert "confide ledger restore" in ran("plan", clinic.study, code=6).err
    told = ran("ledger", "restore", tmp_path / "backup", clinic.dataset).out
    assert "an older copy" in told
    assert "confide ledger unfreeze" in told
    ran("run", clinic.study, "--out", tmp_path / "three", "--request", "new", code=6)
    ran("ledger", "unfreeze", clinic.dataset, "--reason", "disk replaced", "--quiet")
    assert lifetime(clinic) == spent
    ran("ledger", "verify", clinic.dataset)
    ran("run", clinic.study, "--out", tmp_path / "three", "--request", "new")
    assert lifetime(clinic) > spent


def test_a_data_set_first_used_after_the_backup_goes_on_with_its_loss_counted(clinic, tmp_path):
    south, study = clinic.folder / "south.yaml", clinic.folder / "south_study.yaml"
    south.write_text(clinic.dataset.read_text().replace("lineage: clinic", "lineage: south"))
    study.write_text(f"dataset: south.yaml\n{clinic.study.read_text()}")
    ran("ledger", "backup", tmp_path / "backup", clinic.dataset)
    ran("run", study, "--out", tmp_path / "two")
    spent = lifetime(clinic, south)
    lose(clinic)
    ran("ledger", "restore", tmp_path / "backup", clinic.dataset)
    ran("ledger", "unfreeze", clinic.dataset, "--reason", "disk replaced", "--quiet")
    ran("run", clinic.study, "--out", tmp_path / "three", "--request", "new")
    ran("plan", study)
    assert lifetime(clinic, south) == spent > 0
    ran("run", study, "--out", tmp_path / "four", "--request", "new")
    assert lifetime(clinic, south) > spent
    ran("ledger", "verify", clinic.dataset)


def test_a_backup_of_the_last_row_is_restored_as_it_was(plain, tmp_path):
    ran("ledger", "backup", tmp_path / "backup", plain.dataset)
    spent = lifetime(plain)
    lose(plain)
    told = ran("ledger", "restore", tmp_path / "backup", plain.dataset, "--json").json
    assert told["frozen"] is False
    assert lifetime(plain) == spent
    before = (tmp_path / "out" / "noisy.json").read_bytes()
    ran("run", plain.study, "--out", tmp_path / "again")
    assert (tmp_path / "again" / "noisy.json").read_bytes() == before


def test_a_database_that_was_restored_waits_for_an_officer_since_other_hosts_may_know_more(
    shared, tmp_path
):
    ran("ledger", "backup", tmp_path / "backup", shared.dataset)
    spent = lifetime(shared)
    lose(shared)
    told = ran("ledger", "restore", tmp_path / "backup", shared.dataset, "--json").json
    assert told["frozen"] is True
    ran("ledger", "unfreeze", shared.dataset, "--reason", "every host has looked", "--quiet")
    assert lifetime(shared) == spent
    before = (tmp_path / "out" / "noisy.json").read_bytes()
    ran("run", shared.study, "--out", tmp_path / "again")
    assert (tmp_path / "again" / "noisy.json").read_bytes() == before


def test_without_an_anchor_what_is_restored_is_frozen(shared, tmp_path):
    ran("ledger", "backup", tmp_path / "backup", shared.dataset)
    lose(shared)
    (shared.folder / ".confide" / "anchor.jsonl").unlink()
    told = ran("ledger", "restore", tmp_path / "backup", shared.dataset, "--json").json
    assert told["frozen"] is True
    ran("ledger", "unfreeze", shared.dataset, "--reason", "nothing came after the backup")
    ran("ledger", "verify", shared.dataset)


def test_a_backup_does_not_replace_a_whole_ledger_that_is_as_new_or_newer(plain, tmp_path):
    ran("ledger", "backup", tmp_path / "backup", plain.dataset)
    assert "is whole" in ran("ledger", "restore", tmp_path / "backup", plain.dataset, code=3).err
    ran("run", plain.study, "--out", tmp_path / "two", "--request", "again")
    assert "is whole" in ran("ledger", "restore", tmp_path / "backup", plain.dataset, code=3).err
    ran("ledger", "verify", plain.dataset)
    assert "not empty" in ran("ledger", "backup", tmp_path / "backup", plain.dataset, code=7).err


@pytest.mark.parametrize("name", ["chain.jsonl", "answers.jsonl", "manifest.json"])
def test_a_backup_that_was_changed_is_refused(tmp_path, name):
    clinic = make("sqlite", tmp_path)
    ran("run", clinic.study, "--out", tmp_path / "out")
    ran("ledger", "backup", tmp_path / "backup", clinic.dataset)
    file = tmp_path / "backup" / name
    text = file.read_text()
    file.write_text(text.replace("0", "1", 1) if "0" in text else text + " ")
    lose(clinic)
    assert ran("ledger", "restore", tmp_path / "backup", clinic.dataset, code=6).err


def test_a_ledger_moves_from_sqlite_to_postgres_and_back_by_a_backup(tmp_path):
    clinic = make("sqlite", tmp_path)
    ran("run", clinic.study, "--out", tmp_path / "out")
    plain, spent = clinic.dataset.read_text(), lifetime(clinic)
    ran("ledger", "backup", tmp_path / "one", clinic.dataset)
    in_postgres(clinic.dataset, schema=schema_of(tmp_path))
    assert ran("ledger", "restore", tmp_path / "one", clinic.dataset, "--json").json["rows"] == 5
    ran("ledger", "unfreeze", clinic.dataset, "--reason", "moved from SQLite", "--quiet")
    assert lifetime(clinic) == spent
    ran("run", clinic.study, "--out", tmp_path / "two", "--request", "again")
    ran("ledger", "backup", tmp_path / "two.backup", clinic.dataset)
    clinic.dataset.write_text(plain)
    assert "an older copy" in ran("plan", clinic.study, code=6).err
    (tmp_path / ".confide" / "ledger.sqlite").rename(tmp_path / "kept")
    ran("ledger", "restore", tmp_path / "two.backup", clinic.dataset)
    assert lifetime(clinic) > spent


def test_a_rotated_key_signs_on_and_certificates_made_before_still_verify(clinic, tmp_path):
    inside = clinic.folder / ".confide"
    old = (inside / "signing.pub").read_text()
    new = ran("ledger", "rotate-keys", clinic.dataset, "--reason", "yearly", "--json").json["new"]
    assert (inside / "signing.pub").read_text().strip() == new != old.strip()
    assert (inside / "signing.old.pub").read_text() == old
    assert not list(inside.glob("signing.key?*"))
    assert inside.joinpath("signing.key").stat().st_mode & 0o077 == 0
    ran("ledger", "verify", clinic.dataset)
    ran("run", clinic.study, "--out", tmp_path / "two", "--request", "again")
    ran("ledger", "rotate-keys", clinic.dataset, "--reason", "yearly", "--quiet")
    ran("ledger", "verify", clinic.dataset)
    for folder in ("out", "two"):
        ran("verify", tmp_path / folder, "--key", inside / "signing.old.pub")
        ran("verify", tmp_path / folder, "--key", inside / "signing.pub", code=6)
    ran("ledger", "rotate-keys", clinic.dataset, "--reason", " ", code=7)


def test_the_row_order_key_is_not_rotated_and_the_refusal_says_why(tmp_path):
    clinic = make("sqlite", tmp_path)
    told = ran("ledger", "rotate-keys", clinic.dataset, "--key", "order", "--reason", "r", code=3)
    assert "more of a patient than it was charged for" in told.err


def test_anybody_verifies_an_exported_chain_with_the_public_key(plain, tmp_path):
    ran("ledger", "rotate-keys", plain.dataset, "--reason", "before the export", "--quiet")
    file, key = tmp_path / "chain.jsonl", plain.folder / ".confide" / "signing.pub"
    ran("ledger", "export", plain.dataset, "--out", file)
    assert ran("ledger", "export", plain.dataset).out == file.read_text()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for path in (file, key):
        shutil.copy(path, elsewhere)
    words = ("ledger", "verify", "--export", elsewhere / "chain.jsonl")
    found = ran(*words, "--key", elsewhere / "signing.pub", "--json").json
    assert (found["holds"], found["pinned"], found["rows"]) == (True, True, 6)
    assert "not pinned" in ran(*words).out
    old = plain.folder / ".confide" / "signing.old.pub"
    assert "another key" in ran(*words, "--key", old, code=6).err


def test_every_change_of_an_exported_chain_is_found(tmp_path):
    clinic = make("sqlite", tmp_path)
    ran("run", clinic.study, "--out", tmp_path / "out")
    file = tmp_path / "chain.jsonl"
    ran("ledger", "export", clinic.dataset, "--out", file)
    lines = file.read_text().splitlines(keepends=True)
    cases = [lines[:-1], lines[1:], [*lines[:2], *lines[3:]], [lines[1], lines[0], *lines[2:]]]
    for number, line in enumerate(lines):
        for old, new in (('"1', '"2'), ("published", "committed"), ("a", "b")):
            if old in line:
                cases.append([*lines[:number], line.replace(old, new, 1), *lines[number + 1 :]])
    for case in cases:
        file.write_text("".join(case))
        assert ran("ledger", "verify", "--export", file, code=6).err


def test_a_noted_head_shows_that_ledger_and_anchor_were_both_put_back(plain, tmp_path):
    inside, note = plain.folder / ".confide", tmp_path / "notary.jsonl"
    ran("ledger", "backup", tmp_path / "backup", plain.dataset)
    shutil.copy(inside / "anchor.jsonl", tmp_path / "old anchor")
    ran("ledger", "anchor", plain.dataset, "--out", note)
    ran("run", plain.study, "--out", tmp_path / "two", "--request", "again")
    printed = ran("ledger", "anchor", plain.dataset).out
    with note.open("a") as file:
        file.write(printed)
    ran("ledger", "verify", plain.dataset, "--anchor", note)
    lose(plain)
    shutil.copy(tmp_path / "old anchor", inside / "anchor.jsonl")
    ran("ledger", "restore", tmp_path / "backup", plain.dataset)
    ran("ledger", "verify", plain.dataset)  # nothing here can see it
    told = ran("ledger", "verify", plain.dataset, "--anchor", note, code=6)
    assert "was noted, and the ledger ends before it" in told.err
    assert json.loads(printed)["number"] in told.err


def test_an_anchor_stands_where_dataset_yaml_says(tmp_path):
    clinic = make_clinic(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    text = clinic.dataset.read_text()
    clinic.dataset.write_text(text + "\nledger: {anchor: elsewhere/heads.jsonl}\n")
    ran("run", clinic.study, "--out", tmp_path / "out")
    assert (tmp_path / "elsewhere" / "heads.jsonl").read_text().count("\n") == 5
    assert not (tmp_path / ".confide" / "anchor.jsonl").exists()
    ran("ledger", "verify", clinic.dataset)


def test_a_password_in_dataset_yaml_is_refused_and_not_repeated(tmp_path):
    clinic = make_clinic(tmp_path)
    plain = clinic.dataset.read_text()
    for url in (
        "postgresql://ada:zq7canary@host/db",
        "postgresql://host/db?password=zq7canary",
        "postgresql://host/db?user=ada&sslpassword=zq7canary",
        "zq7canary",
        "postgresql://[zq7canary/db",
    ):
        clinic.dataset.write_text(f'{plain}\nledger: {{kind: postgres, url: "{url}"}}\n')
        for words in (("ledger", "show", clinic.dataset), ("plan", clinic.study)):
            done = ran(*words, code=7)
            assert "zq7canary" not in done.out + done.err
            assert "postgresql://user@host/database" in done.err
