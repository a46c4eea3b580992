"""The folder of a store of patients: one process at a time, and whom it shall forget.

*Privacy:* as :mod:`.people`.
"""

import contextlib
import functools
import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from confide.budget.ledger import Ledger
from confide.budget.per_patient.members import forgotten_by
from confide.budget.per_patient.people import Forgetting, People
from confide.budget.per_patient.sealed import changed, read_sealed, write_sealed
from confide.budget.per_patient.withdrawn import Withdrawn, require_listed
from confide.errors import LedgerFrozenError
from confide.regular_file import locked

KIND = "store"
MARK = "store.sealed"


def store_key(hash_key: bytes) -> bytes:
    """Return what the files of a store are sealed with."""
    return hmac.new(hash_key, b"confide patient store 1", hashlib.sha256).digest()


def store_folder(folder: Path, *, lineage: str) -> Path:
    """Return the folder of a lineage's store, made for the steward alone, as that of all stores."""
    own = folder / hashlib.sha256(lineage.encode()).hexdigest()[:16]
    for each in (folder, own):  # `parents` would give the first of them the usual mode
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    return own


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Let one process at a time decide in the folder of a store; a killed one lets go.

    Raises:
        LedgerFrozenError: If the folder is gone.
    """
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locked(folder / "lock"))
        except FileNotFoundError:
            raise changed(folder) from None
        yield


def require_made(folder: Path, *, lineage: str, key: bytes) -> None:
    """Make a store in its folder, or make sure that it was made under this key.

    Raises:
        LedgerFrozenError: If it was made under another.
    """
    path = folder / MARK
    if not path.exists():
        write_sealed(path, key=key, fields={"kind": KIND, "lineage": lineage}, columns={})
        return
    try:
        read_sealed(path, key=key, kind=KIND)
    except LedgerFrozenError:
        raise LedgerFrozenError(
            "The patients' records were made under another hash.key: every patient would look "
            "new, with a budget of their own.",
            hint="Restore hash.key from its backup. If it is lost for good, nobody can tell "
            "who paid what: adopt the next version of the policy without `enforce: drop`.",
        ) from None


def stores_of(
    folder: Path, *, hash_key: bytes, replaced: Callable[[], bool]
) -> tuple[tuple[People, ...], int]:
    """Return the patients of every store, all of them whole, and how many stores tell of nobody.

    Those were made under a hash key in whose place an officer accepted another: nobody can tell any
    more which number is whose.

    Args:
        folder: Of all stores.
        hash_key: Of the site.
        replaced: Whether an officer ever did.

    Raises:
        LedgerFrozenError: If a store is not whole, or under another hash key and none was replaced.
    """
    key, found, lost = store_key(hash_key), [], 0
    for people in sorted(folder.glob("*/people")):
        mark = people.parent / MARK
        with alone(people.parent):
            try:
                lineage = read_sealed(mark, key=key, kind=KIND).fields["lineage"]
            except LedgerFrozenError:
                if not mark.exists() or not replaced():
                    raise
                lost += 1
            else:
                found.append(People(people, lineage=lineage, key=key))
    return tuple(found), lost


def forget_people(stores: Iterable[People], left: Forgetting, *, hash_key: bytes) -> None:
    """Break the link between some patients and their numbers, in the stores of every lineage.

    What was charged stands, under numbers that are nobody's: a charge is never taken back.

    Args:
        stores: Of every lineage.
        left: Everybody who ever withdrew and is listed.
        hash_key: Of the site.

    Raises:
        LedgerFrozenError: If a store is not whole.
    """
    for people in stores:
        with alone(people.folder.parent):
            people.refresh()
            forget_in(people, left, key=store_key(hash_key))


def forget_in(people: People, left: Forgetting, *, key: bytes) -> None:
    """Do so in one store, whose lock is held; ``key`` is what its files are sealed with."""
    store = people.folder.parent
    seen = functools.partial(forgotten_by, store / "members", key=key)
    people.forget(left, seen=functools.cache(seen))
    unfinished = people.folder.glob("*.people.part")  # of a process that was killed
    for path in (*store.glob("*.roster"), *unfinished):
        path.unlink()


def forgets_again(
    people: People, listed: Callable[[], Withdrawn], *, ledger: Ledger, key: bytes
) -> bool:
    """Forget who withdrew where segments do not know of it; return whether.

    So they do not where they are of before, and no record came after it yet; or another host, or
    a release that read already, left them so.

    Args:
        people: Of one store, whose lock is held.
        listed: Returns everybody who withdrew consent.
        ledger: Knows which lists there must be.
        key: What the files of the store are sealed with.

    Raises:
        LedgerFrozenError: If a list is missing or was changed, or records came after the segments.
    """
    lists = ledger.desk.consent.withdrawals()
    if people.forgot(lists):
        return False
    people.require_newest(forgotten_by(people.folder.parent / "members", key=key))
    found = listed()
    require_listed(found, noted=lists)
    forget_in(people, forgetting(found, row=ledger.head().number), key=key)
    return True


def forgetting(found: Withdrawn, *, row: int) -> Forgetting:
    """Return everybody who stands in the lists: older records may have come back since.

    Args:
        found: The lists.
        row: The last one of the ledger.
    """
    words = [(int(each[:16], 16), int(each[16:], 16)) for each in found.hashes]
    identities = np.array(words, dtype=np.uint64).reshape(-1, 2)
    return Forgetting(identities=identities, lists=found.tags, row=row)
