"""The folder of a store of patients: one process at a time, and whom it shall forget.

*Privacy:* as :mod:`.people`.
"""

import contextlib
import functools
import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from confide.budget.per_patient.members import forgotten_by
from confide.budget.per_patient.people import Forgetting, People
from confide.budget.per_patient.sealed import changed, read_sealed, write_sealed
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
        store = people.folder.parent
        with alone(store):
            people.refresh()
            members = store / "members"
            seen = functools.partial(forgotten_by, members, key=store_key(hash_key))
            people.forget(left, seen=functools.cache(seen))
            for cache in store.glob("*.roster"):
                cache.unlink()
