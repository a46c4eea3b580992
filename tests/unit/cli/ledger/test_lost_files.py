"""Files of the workspace that were lost: a ledger, its keys, its nonces; on both databases."""

import contextlib
import json
import shutil

import pytest

from command_line import confide
from confide.budget.chain.chain import row_hash
from confide.release.site.ledger_pin import may_begin
from ledgers import schema_of
from postgres_server import server
from recovery_world import GROWS, World, growing, ran
from small_clinic import make_clinic


@pytest.fixture(params=["sqlite", "postgres"])
def clinic(request, tmp_path):
    if request.param == "sqlite":
        return request.getfixturevalue("plain")
    return begun(request.param, tmp_path)


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    return begun("sqlite", tmp_path_factory.mktemp("ready")).folder


@pytest.fixture
def plain(ready, tmp_path):
    """A copy of a clinic with one release."""
    shutil.copytree(ready, tmp_path, dirs_exist_ok=True)
    return World(kind="sqlite", folder=tmp_path)


def begun(kind, folder):
    """A clinic with one release in ``out``."""
    make_clinic(folder)
    world = World(kind=kind, folder=folder)
    world.declare()
    ran("run", world.study, "--out", folder / "out", "--quiet")
    return world


def certificate(folder):
    return json.loads((folder / "certificate.json").read_text())


def lose_all(world):
    """rm ledger.sqlite anchor.jsonl, or the tables and the anchor."""
    world.lose()
    (world.inside / "anchor.jsonl").unlink()


def test_a_ledger_that_was_removed_with_its_anchor_is_not_begun_anew(clinic, tmp_path):
    lose_all(clinic)
    for words in (
        ("plan", clinic.study),
        ("run", clinic.study, "--out", tmp_path / "two"),
        ("ledger", "show", clinic.dataset),
        ("ledger", "verify", clinic.dataset),
    ):
        told = ran(*words, code=6).err
        assert "missing or empty, though this folder had one" in told
        assert "confide ledger restore" in told
    ran("ledger", "unfreeze", clinic.dataset, "--reason", "never mind", code=6)
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize(
    "gone",
    [
        ("ledger.id",),
        ("ledger.id", "signing.key", "signing.pub"),
        ("ledger.id", "commitments.jsonl", "snapshots.json", "hash.key"),
    ],
    ids="+".join,
)
def test_no_other_file_that_is_missing_as_well_lets_a_ledger_begin(plain, tmp_path, gone):
    lose_all(plain)
    for name in gone:
        (plain.inside / name).unlink()
    for _ in range(2):
        assert confide("run", plain.study, "--out", tmp_path / "two").code in {6, 7}
        ran("init", plain.folder, "--quiet")
    assert not (tmp_path / "two").exists()


def test_keys_copied_to_another_folder_begin_no_ledger_there(plain, tmp_path):
    other = World(kind="sqlite", folder=tmp_path / "other")
    make_clinic(other.folder)
    other.inside.mkdir(mode=0o700)
    for name in ("signing.key", "signing.pub", "hash.key"):
        shutil.copy2(plain.inside / name, other.inside)
    assert "under the same keys" in ran("run", other.study, "--out", tmp_path / "two", code=6).err


def test_a_folder_of_new_keys_begins_one_ledger_and_a_crash_before_its_first_row_costs_nothing(
    tmp_path,
):
    clinic = make_clinic(tmp_path)
    ran("init", tmp_path, "--quiet")
    inside = tmp_path / ".confide"
    assert may_begin(inside)
    for _ in range(2):  # only looked at
        ran("ledger", "show", clinic.dataset, code=7)
    named = (inside / "ledger.new").read_text().strip()
    ran("run", clinic.study, "--out", tmp_path / "out", "--quiet")
    assert not may_begin(inside)
    assert not (inside / "ledger.new").exists()
    assert (inside / "ledger.id").read_text().strip() == named
    assert certificate(tmp_path / "out")["accounting"]["ledger"] == named


def test_another_ledger_in_the_place_of_this_one_is_found_though_the_key_is_the_same(
    plain, tmp_path
):
    spare = plain.folder / "spare"
    shutil.copytree(plain.inside, spare)
    lose_all(plain)
    (plain.inside / "ledger.id").rename(plain.inside / "ledger.new")
    mine = (plain.inside / "ledger.new").read_text()
    (plain.inside / "ledger.new").write_text("0" * 32 + "\n")
    ran("run", plain.study, "--out", tmp_path / "two", "--quiet")
    assert certificate(tmp_path / "two")["accounting"]["ledger"] == "0" * 32
    (plain.inside / "ledger.id").write_text(mine)
    told = ran("ledger", "verify", plain.dataset, code=6).err
    assert f"This is ledger {'0' * 32}; the one of this folder is {mine.strip()}" in told
    ran("ledger", "unfreeze", plain.dataset, "--reason", "r", code=6)


def test_verify_compares_the_ledger_of_a_certificate(plain, tmp_path):
    """Two releases of one data set under one key, entry 2 of one ledger and entry 2 of another."""
    known = certificate(tmp_path / "out")["accounting"]["ledger"]
    ran("ledger", "export", plain.dataset, "--out", tmp_path / "chain.jsonl", "--quiet")
    lose_all(plain)
    for name in ("ledger.id",):
        (plain.inside / name).unlink()
    (plain.inside / "ledger.new").write_text("1" * 32 + "\n")
    ran("run", plain.study, "--out", tmp_path / "two", "--quiet")
    first, second = certificate(tmp_path / "out"), certificate(tmp_path / "two")
    assert first["id"] == second["id"]
    assert first["issuer"]["key"] == second["issuer"]["key"]
    for folder in ("out", "two"):
        ran("verify", tmp_path / folder)
    ran("verify", tmp_path / "out", "--ledger-id", known)
    told = ran("verify", tmp_path / "two", "--ledger-id", known, code=6).out
    assert f"is of ledger {'1' * 32}, another than the pinned one" in told
    told = ran("verify", tmp_path / "two", "--chain", tmp_path / "chain.jsonl", code=6).out
    assert f"is of ledger {'1' * 32}, not {known}" in told
    told = ran("verify", tmp_path / "out", "--ledger", plain.dataset, code=6).out
    assert f"is of ledger {known}; this one is {'1' * 32}" in told
    ran("verify", tmp_path / "out", "--chain", tmp_path / "chain.jsonl")


def test_a_ledger_of_an_earlier_version_gets_an_id_with_its_next_row_and_earlier_certificates_hold(
    plain, tmp_path
):
    forget_identity(plain)
    ran("ledger", "verify", plain.dataset)
    assert (plain.inside / "ledger.id").exists() is False
    ran("run", plain.study, "--out", tmp_path / "early", "--quiet")  # the stored answer
    assert "ledger" not in certificate(tmp_path / "early")["accounting"]
    ran("run", plain.study, "--out", tmp_path / "two", "--request", "two", "--quiet")
    named = certificate(tmp_path / "two")["accounting"]["ledger"]
    assert (plain.inside / "ledger.id").read_text().strip() == named
    assert ran("ledger", "verify", plain.dataset, "--json").json["ledger"] == named
    ran("verify", tmp_path / "early", "--ledger", plain.dataset)
    ran("verify", tmp_path / "two", "--ledger", plain.dataset, "--ledger-id", named)
    told = ran("verify", tmp_path / "early", "--ledger-id", named, code=6).out
    assert "names no ledger" in told
    lose_all(plain)
    ran("plan", plain.study, code=6)


def forget_identity(world):
    """Make a ledger as an earlier version did: no row says which one it is."""
    import sqlite3

    from confide.budget.accounts.book import Book
    from confide.budget.chain.chain import Event, sign_head
    from confide.budget.integrity.anchor import Anchor
    from confide.budget.integrity.book_head import unsigned_head
    from confide.release.site.keys import read_signing_key

    signer = read_signing_key(world.inside)
    path = world.inside / "ledger.sqlite"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        triggers = database.execute("SELECT name, sql FROM sqlite_schema WHERE type='trigger'")
        triggers = list(triggers)
        rows = database.execute("SELECT number, body FROM event ORDER BY number").fetchall()
        database.execute("BEGIN")
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        book, heads = Book(), []
        for number, body in rows:
            fields = {k: v for k, v in json.loads(body).items() if k not in {"ledger", "order-key"}}
            text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            digest = row_hash(book.hash, body=text)
            event = Event(number=number, body=text, previous=book.hash, hash=digest)
            book.follow(event)
            database.execute(
                "UPDATE event SET body = ?, previous = ?, hash = ? WHERE number = ?",
                (text, event.previous, digest, number),
            )
            head = unsigned_head(book, key=signer.public_key.hex())
            heads.append(sign_head(head, signer=signer))
        row = (heads[-1].hash, heads[-1].signature)
        database.execute("UPDATE head SET hash = ?, signature = ?", row)
        for _, text in triggers:
            database.execute(text)
        database.execute("COMMIT")
    (world.inside / "anchor.jsonl").unlink()
    Anchor(world.inside / "anchor.jsonl").append(*heads)
    (world.inside / "ledger.id").unlink()


# --- hash.key ---


def test_a_hash_key_that_is_missing_is_not_made_anew_and_put_back_it_goes_on(clinic, tmp_path):
    key = clinic.inside / "hash.key"
    key.rename(tmp_path / "kept")
    for words in (
        ("plan", clinic.study),
        ("run", clinic.study, "--out", tmp_path / "two", "--request", "two"),
        ("ledger", "show", clinic.dataset),
        ("ledger", "verify", clinic.dataset),
    ):
        assert "hash.key is missing or empty: put it back" in ran(*words, code=6).err
    assert not key.exists()
    (tmp_path / "kept").rename(key)
    ran("run", clinic.study, "--out", tmp_path / "two", "--request", "two", "--quiet")


def test_another_hash_key_is_found_and_neither_reveals_the_other(plain, tmp_path):
    key = plain.inside / "hash.key"
    old, new = key.read_text().strip(), "ab" * 32
    key.write_text(new)
    told = ran("run", plain.study, "--out", tmp_path / "two", code=6).err
    assert "hash.key is not the one that this ledger goes with" in told
    ran("ledger", "export", plain.dataset, code=6)
    chain = (plain.inside / "ledger.sqlite").read_bytes() + (
        plain.inside / "anchor.jsonl"
    ).read_bytes()
    for secret in (old, new):
        assert secret.encode() not in chain
        assert bytes.fromhex(secret) not in chain
        assert secret not in told
    key.write_text("not a key")
    assert "hash.key holds no key of 32 bytes" in ran("plan", plain.study, code=7).err


def test_a_hash_key_lost_for_good_is_replaced_by_an_officer_and_growing_releases_end(tmp_path):
    world = growing("sqlite", tmp_path / "world")
    before = world.spent()
    (world.inside / "hash.key").unlink()
    ran("ledger", "unfreeze", world.dataset, "--reason", "lost with the disk", "--quiet")
    assert (world.inside / "hash.key").stat().st_mode & 0o077 == 0
    assert world.spent() == before
    ran("ledger", "verify", world.dataset)
    world.study.write_text(GROWS.replace("THROUGH", "2026-01-10"))
    told = ran("advance", world.study, "--out", tmp_path / "more", code=3).err
    assert "ended" in told
    (world.inside / "hash.key").write_text("cd" * 32)
    assert world.is_frozen()


# --- other keys, nonces, withheld answers ---


def test_key_files_that_are_missing_are_called_missing(plain, tmp_path):
    ran("ledger", "backup", tmp_path / "backup", plain.dataset, "--quiet")
    told = ran("verify", tmp_path / "out", "--key", tmp_path / "signing.old.pub", code=6).err
    assert "signing.old.pub is missing" in told
    (plain.inside / "signing.key").rename(tmp_path / "signing.key")
    for words in (
        ("ledger", "show", plain.dataset),
        ("ledger", "restore", tmp_path / "backup", plain.dataset),
    ):
        assert "signing.key is missing" in ran(*words, code=7).err
    assert not (plain.inside / "signing.key").exists()


def test_a_signing_key_lost_for_good_is_made_by_init_and_accepted_by_an_officer(plain, tmp_path):
    spent = plain.spent()
    (plain.inside / "signing.key").unlink()
    assert "signing.key is missing" in ran("plan", plain.study, code=7).err
    ran("init", plain.folder, "--quiet")
    assert "not signed by this site's key" in ran("plan", plain.study, code=6).err
    plain.unfreeze()
    assert plain.spent() == spent
    ran("run", plain.study, "--out", tmp_path / "two", "--request", "two", "--quiet")
    ran("verify", tmp_path / "two", "--key", plain.inside / "signing.pub")


def test_a_backup_on_a_new_disk_needs_the_keys_and_brings_everything_else_back(clinic, tmp_path):
    spent = clinic.spent()
    ran("ledger", "backup", tmp_path / "backup", clinic.dataset, "--quiet")
    clinic.lose()
    keys = {name: (clinic.inside / name).read_bytes() for name in ("signing.key", "hash.key")}
    shutil.rmtree(clinic.inside)
    clinic.inside.mkdir(mode=0o700)
    for name, content in keys.items():
        (clinic.inside / name).write_bytes(content)
        (clinic.inside / name).chmod(0o600)
    told = ran("ledger", "restore", tmp_path / "backup", clinic.dataset, "--json").json
    assert told["frozen"] is True
    clinic.unfreeze()
    assert clinic.spent() == spent
    checks = ran("verify", tmp_path / "out", "--ledger", clinic.dataset, "--json").json["checks"]
    assert {each["name"]: each["detail"] for each in checks}["snapshot"] == ""
    for name in ("commitments.jsonl", "snapshots.json", "ledger.sqlite", "ledger.id"):
        found = clinic.inside / name
        assert not found.exists() or found.stat().st_mode & 0o077 == 0


def test_a_nonce_that_is_gone_is_said_to_be_gone_and_the_release_verifies(plain, tmp_path):
    (plain.inside / "commitments.jsonl").unlink()
    shown = ran("verify", tmp_path / "out", "--ledger", plain.dataset).out
    assert "cannot be opened" in shown


def test_a_backup_of_another_ledger_is_refused(plain, tmp_path):
    other = begun("sqlite", tmp_path / "other")
    for name in ("signing.key", "signing.pub", "hash.key"):
        shutil.copy2(plain.inside / name, other.inside)
    other.unfreeze()
    ran("ledger", "backup", tmp_path / "backup", other.dataset, "--quiet")
    plain.lose()
    told = ran("ledger", "restore", tmp_path / "backup", plain.dataset, code=3).err
    assert "The backup is of ledger" in told


def rubbish(text):
    return b"no database " * 700


def cut(text):
    return text[: len(text) // 2 + 100]


def without_header(text):
    return b"\0" * 100 + text[100:]


def without_schema(text):
    return text[:100] + b"\xff" * 3000 + text[3100:]


def empty(text):
    return b""


def zeroed(text):
    return text[:4096] + b"\0" * (len(text) - 4096)


@pytest.mark.parametrize("how", [rubbish, cut, without_header, without_schema, empty, zeroed])
def test_a_broken_file_is_named_as_such_and_replaced_by_its_backup(plain, tmp_path, how):
    spent = plain.spent()
    ran("ledger", "backup", tmp_path / "backup", plain.dataset, "--quiet")
    file = plain.inside / "ledger.sqlite"
    file.write_bytes(how(file.read_bytes()))
    done = confide("plan", plain.study)
    assert (done.code in {6, 7}, "backup" in done.err) == (True, True), done.err
    told = ran("ledger", "restore", tmp_path / "backup", plain.dataset, "--json").json
    assert told["frozen"] is False
    if how is not empty:
        assert (plain.inside / told["aside"]).exists()
    assert plain.spent() == spent
    ran("ledger", "verify", plain.dataset)


def test_a_ledger_in_a_schema_that_lost_its_tables_is_replaced_by_its_backup(tmp_path):
    clinic = begun("postgres", tmp_path)
    ran("ledger", "backup", tmp_path / "backup", clinic.dataset, "--quiet")
    schema = schema_of(clinic.folder)
    clinic.sql(f'DROP TABLE "{schema}".payload')
    assert "confide ledger restore" in ran("plan", clinic.study, code=6).err
    ran("ledger", "restore", tmp_path / "backup", clinic.dataset, "--quiet")
    clinic.unfreeze()
    ran("ledger", "verify", clinic.dataset)
    assert server().url in clinic.dataset.read_text()
