"""A new signing key: named by the old one, in force at once, whatever happens in between."""

import contextlib
import os
import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest

from confide.budget.accounts.book import Book
from confide.budget.chain.chain import is_signed, row_hash, sign_head
from confide.budget.integrity.export import check_chain
from confide.budget.stores.place import SQLitePlace
from confide.errors import (
    BurnedError,
    InvalidParameterError,
    LedgerFrozenError,
    PolicyError,
    VerificationError,
)
from confide.release.site.keys import read_pending_key, read_signing_key, retired_keys
from confide.release.site.ledger_pin import make_keys
from confide.release.site.rotation import rotate_signing_key, signing_key
from confide.release.site.site_ledger import site_ledger
from ledgers import HandClock, SiteKey, amount_of, open_ledger, released, request, terms

OLD, NEW, NEXT = SiteKey(b"k" * 32), SiteKey(b"n" * 32), SiteKey(b"x" * 32)

CRASH = """
import os, sys
from pathlib import Path
from confide.budget.integrity import anchor
from confide.budget.stores import sqlite_store
from confide.release.site import keys, rotation
from confide.release.site.site_ledger import site_ledger

folder, point = Path(sys.argv[1]), sys.argv[2]
ledger = site_ledger(folder, signer=keys.read_signing_key(folder))
end = lambda *_, **__: os._exit(9)
match point:
    case "before the chain names it":
        ledger._journal.store.commit = end
    case "before its anchor line":
        ledger._journal._anchor.append = end
    case "before it is installed":
        rotation.install_pending_key = end
    case "before the old name is kept":
        keys.replace_durable = end
    case "between the old name and the new":
        real = keys.replace_durable
        keys.replace_durable = lambda path, text: real(path, text) if path.name == keys.OLD else end()
    case "before it takes the place":
        real = Path.replace
        Path.replace = lambda path, to: end() if to.name == keys.SIGNING else real(path, to)
rotation.rotate_signing_key(folder, ledger, reason="yearly")
"""
POINTS = {
    "before the chain names it": "old",
    "before its anchor line": "new",
    "before it is installed": "new",
    "before the old name is kept": "new",
    "between the old name and the new": "new",
    "before it takes the place": "new",
}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "private"


@pytest.fixture
def ledger(folder):
    made = open_ledger(folder, clock=HandClock())
    made.register(terms())
    released(made, "a", b"first")
    yield made
    made.close()


@pytest.mark.parametrize("point", POINTS)
def test_a_crash_at_any_point_of_a_rotation_leaves_one_key_in_force(folder, point):
    make_keys(folder)
    old = read_signing_key(folder)
    ledger = site_ledger(folder, signer=old)
    ledger.register(terms())
    ledger.close()
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", CRASH, folder, point], env=environment, check=False
    )
    assert done.returncode == 9
    mine = signing_key(folder, place=SQLitePlace())
    assert (mine.name == old.name) == (POINTS[point] == "old")
    ledger = site_ledger(folder, signer=mine)
    ledger.verify_chain()
    assert retired_keys(folder) == (() if mine.name == old.name else (old.name,))
    assert (folder / "signing.pub").read_text().strip() == mine.name
    rotate_signing_key(folder, ledger, reason="again")
    ledger.verify_chain()
    ledger.close()
    assert not (folder / "signing.key.new").exists()


@pytest.mark.parametrize("how", ["away", "emptied", "a row is changed"])
def test_a_key_that_the_chain_may_name_is_kept_until_the_ledger_is_back(folder, how):
    """The rotation was cut off after its row; then commands run while the ledger is not whole."""
    make_keys(folder)
    old = read_signing_key(folder)
    ledger = site_ledger(folder, signer=old)
    ledger.register(terms())
    ledger.close()
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    point = "before it is installed"
    subprocess.run([sys.executable, "-c", CRASH, folder, point], env=environment, check=False)
    pending = read_pending_key(folder)
    file, whole = folder / "ledger.sqlite", (folder / "ledger.sqlite").read_bytes()
    file.unlink()
    if how == "emptied":
        file.touch(mode=0o600)
    elif how == "a row is changed":
        file.touch(mode=0o600)
        file.write_bytes(whole)
        with contextlib.closing(sqlite3.connect(file)) as database:
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type='trigger'"):
                database.execute(f"DROP TRIGGER {name}")
            database.execute("UPDATE event SET body = 'no json' WHERE number = 1")
            database.commit()
    mine = signing_key(folder, place=SQLitePlace())
    assert mine.name == old.name
    ledger = site_ledger(folder, signer=mine)
    with pytest.raises(LedgerFrozenError, match="Restore a backup"):
        ledger.head()
    with pytest.raises(LedgerFrozenError, match="Restore a backup"):
        rotate_signing_key(folder, ledger, reason="once more")
    ledger.close()
    for each in (file, *folder.glob("ledger.sqlite-*")):
        each.unlink(missing_ok=True)
    file.touch(mode=0o600)
    file.write_bytes(whole)
    mine = signing_key(folder, place=SQLitePlace())
    assert mine.name == pending.name
    ledger = site_ledger(folder, signer=mine)
    ledger.verify_chain()
    ledger.close()


def test_no_key_is_replaced_while_another_process_has_a_release_under_way(folder):
    """Under another key it could not be committed: its charge would stay, its answer be lost."""
    mine = open_ledger(folder, clock=HandClock())
    mine.register(terms())
    held = mine.reserve(request("a"))
    theirs = open_ledger(folder, clock=HandClock())
    for step in (lambda: None, lambda: mine.start_reading(held)):
        step()
        with pytest.raises(PolicyError, match=f"Entry {held.entry.number} is under way"):
            theirs.rotate_key(NEW, reason="yearly")
    mine.publish(mine.commit(held, payload=b"answer"))
    mine.close()
    theirs.rotate_key(NEW, reason="yearly")
    held = theirs.reserve(request("b"))
    theirs.start_reading(held)
    theirs.rotate_key(NEXT, reason="its own release goes on under the key that it made")
    theirs.publish(theirs.commit(held, payload=b"answer"))
    theirs.verify_chain()
    theirs.close()


def test_a_release_whose_process_is_gone_holds_no_rotation_up(folder):
    mine = open_ledger(folder, clock=HandClock())
    mine.register(terms())
    mine.start_reading(mine.reserve(request("a")))
    theirs = open_ledger(folder, clock=HandClock())
    mine.close()
    theirs.rotate_key(NEW, reason="its process was stopped")
    theirs.close()
    theirs = open_ledger(folder, signer=NEW, clock=HandClock())
    theirs.verify_chain()
    with pytest.raises(BurnedError):
        theirs.reserve(request("a"))
    theirs.close()


def test_a_rotation_that_is_refused_leaves_the_old_key(folder):
    make_keys(folder)
    old = read_signing_key(folder)
    ledger = site_ledger(folder, signer=old)
    ledger.register(terms())
    with pytest.raises(InvalidParameterError, match="reason"):
        rotate_signing_key(folder, ledger, reason=" ")
    assert signing_key(folder, place=SQLitePlace()).name == old.name
    ledger.verify_chain()
    ledger.close()


def test_heads_are_accepted_by_the_key_of_their_time_or_a_later_one(ledger, folder):
    ledger.rotate_key(NEW, reason="yearly")
    released(ledger, "b", b"second")
    ledger.rotate_key(NEXT, reason="yearly")
    released(ledger, "c", b"third")
    ledger.verify_chain()
    again = open_ledger(folder, signer=NEXT, clock=HandClock())
    again.verify_chain()
    lines = again._journal._anchor.heads()
    assert [each.key for each in lines] == sorted(
        (each.key for each in lines),
        key=[key.public_key.hex() for key in (OLD, NEW, NEXT)].index,
    )
    assert len({each.key for each in lines}) == 3
    again.close()


def test_a_key_that_was_replaced_signs_no_head_that_counts(ledger, folder):
    """Who stole the old key signs the last line of the anchor, and the head, anew."""
    ledger.rotate_key(NEW, reason="stolen")
    released(ledger, "b", b"second")
    anchor = ledger._journal._anchor
    last = anchor.heads()[-1]
    forged = sign_head(replace(last, key=OLD.public_key.hex()), signer=OLD)
    assert is_signed(forged, keys={forged.key})
    path = folder / "anchor"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    anchor.append(forged)
    with pytest.raises(LedgerFrozenError, match="not signed by this site's key"):
        open_ledger(folder, signer=NEW, clock=HandClock()).head()
    path.write_bytes(b"".join(lines))
    with pytest.raises(LedgerFrozenError, match="not signed by this site's key"):
        open_ledger(folder, signer=OLD, clock=HandClock()).head()


def test_a_middle_line_of_a_replaced_key_is_found_by_verify(ledger, folder):
    ledger.rotate_key(NEW, reason="stolen")
    for key in "bc":
        released(ledger, key, b"")
    path = folder / "anchor"
    anchor, lines = ledger._journal._anchor, path.read_bytes().splitlines(keepends=True)
    heads = list(anchor.heads())
    heads[-2] = sign_head(replace(heads[-2], key=OLD.public_key.hex()), signer=OLD)
    path.unlink()
    anchor.append(*heads)
    with pytest.raises(LedgerFrozenError, match="not signed by the key of its time"):
        ledger.verify_chain()
    path.write_bytes(b"".join(lines))
    ledger.verify_chain()


def test_nobody_replaces_the_key_without_the_old_key(ledger):
    """A row that names a new key, made by somebody who has only the new one."""
    ledger.rotate_key(NEW, reason="yearly")
    chain = ledger.chain()
    assert check_chain(chain, recompute=amount_of).signing.current == NEW.public_key.hex()
    last = chain.events[-1]
    for word, other in (("proof", "00" * 64), ("old", NEXT.public_key.hex())):
        old = last.fields()[word]
        body = last.body.replace(old, other)
        changed = replace(last, body=body, hash=row_hash(last.previous, body=body))
        book = Book()
        for event in chain.events[:-1]:
            book.follow(event)
        with pytest.raises(LedgerFrozenError, match="without the old key's word"):
            book.follow(changed)
        with pytest.raises(VerificationError):
            check_chain(replace(chain, events=(*chain.events[:-1], changed)), recompute=amount_of)


def test_a_ledger_that_was_open_when_the_key_changed_stops(ledger, folder):
    other = open_ledger(folder, clock=HandClock())
    ledger.rotate_key(NEW, reason="yearly")
    with pytest.raises(LedgerFrozenError, match="signing key was replaced"):
        other.reserve(request("late"))
    other.close()
    assert released(ledger, "b", b"") > 0


def test_a_key_that_was_lost_is_replaced_by_an_officer_and_rotates_from_there(ledger, folder):
    ledger.rotate_key(NEW, reason="yearly")
    mine = open_ledger(folder, signer=NEXT, clock=HandClock())
    with pytest.raises(LedgerFrozenError, match="was rotated; this folder holds another one"):
        mine.head()
    mine.unfreeze("signing.key was lost with the disk")
    mine.rotate_key(OLD, reason="yearly")
    released(mine, "b", b"")
    mine.verify_chain()
    mine.close()
    again = open_ledger(folder, signer=OLD, clock=HandClock())
    again.verify_chain()
    again.close()
