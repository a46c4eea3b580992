"""Consent withdrawn: a person is taken out of copies, membership files and every later release.

::

    list       keyed hashes in a sealed list: durable, and left out of every reading from then on
    note       a row of the ledger: the day and the tag of the list, and not who, nor how many
    copies     all prepared copies are deleted; they are made anew without the person
    records    the hash that led to the person's number is overwritten, in every store

After a crash in between, the same again brings it to its end.  The order matters: once the hash is
overwritten nobody can tell what the person was charged, so by then the ledger has to ask for the
list, or whoever deletes it would have given the person a fresh cap.

*Privacy:* what is done is the same whether or not the data hold the person.  What was published,
trained or backed up stays as it is (docs/how-to/consent-withdrawn.md).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from confide.budget.chain.identity import fingerprint
from confide.budget.ledger import Ledger
from confide.budget.lengths import require_reason
from confide.budget.per_patient.store_folder import forget_people, forgetting, stores_of
from confide.budget.per_patient.withdrawn import (
    FOLDER,
    Withdrawn,
    list_withdrawn,
    require_listed,
    withdrawn,
)
from confide.budget.workflow.acts import Officers
from confide.errors import ContractError, LedgerFrozenError
from confide.privacy.unit import Entity
from confide.release.approval import login
from confide.release.site.keys import read_order_key
from confide.release.site.site_ledger import PATIENTS
from confide.rows.engine import Engine
from confide.tables.schema import Dataset

_WHOLE = re.compile(r"(-?[1-9][0-9]*|0)[.]0+")
"""An integral number as one of floating point is shown; as a person it is its plain digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """That the lists of before are lost for good: an officers' act.

    Attributes:
        reason: Why.
        officers: Keys of those who do it.
    """

    reason: str
    officers: Officers = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was done.

    Attributes:
        patients: How many ids were given.
        copies: Whether prepared copies were in use, which are deleted now.
        row: Of the ledger in which it is noted.
        lost: Data sets whose per-patient budgets were kept under a hash key that is lost.
    """

    patients: int
    copies: bool
    row: int
    lost: int


def who_withdrew(folder: Path, *, ledger: Ledger | None) -> Withdrawn:
    """Return whose rows are left out of every reading, through whichever data set they withdrew.

    Args:
        folder: The workspace folder.
        ledger: Knows which lists there are; None where no release comes of it.

    Raises:
        LedgerFrozenError: If a list is missing or was changed, or ``hash.key`` is not the ledger's.
    """
    found = withdrawn(folder / FOLDER, hash_key=read_order_key(folder))
    if ledger is not None:
        _require_key(found.key, ledger=ledger)
        require_listed(found, noted=ledger.desk.consent.withdrawals())
    return found


def order_key(folder: Path, *, under: str) -> bytes:
    """Return the hash key, which is still that under which persons were told apart.

    Args:
        folder: The workspace folder.
        under: Its fingerprint then; "" of any.

    Raises:
        ContractError: If it is another.
    """
    key = read_order_key(folder)
    if under not in {"", fingerprint(key)}:
        raise ContractError(
            "hash.key was exchanged meanwhile; nothing was charged for this.",
            hint="Put the one that the ledger goes with back, and run it again.",
        )
    return key


def _require_key(key: str, *, ledger: Ledger) -> None:
    """Refuse a hash key that was exchanged since the ledger was opened.

    Under another one other rows of a patient are kept, and every patient looks new.

    Raises:
        LedgerFrozenError: If it is not the one that the ledger goes with.
    """
    if ledger.desk.consent.hash_key() not in {"", key}:
        raise LedgerFrozenError(
            "hash.key is not the one that this ledger goes with.",
            hint="Put that one back from its offline copy. Only if it is lost for good: confide "
            "ledger unfreeze --reason ...",
        )


def require_same_consent(withdrawn: Withdrawn, *, folder: Path, ledger: Ledger) -> None:
    """Refuse to read once others withdrew than those whom the engine leaves out.

    Nor once an officer went on with another hash key than that under which it knows persons.

    Asked when the charge is reserved: whoever withdraws later finds that entry under way, and in
    the ledger it is then of neither before nor after (:mod:`confide.budget.chain.consent_rows`).

    Args:
        withdrawn: Whom the engine leaves out.
        folder: The workspace folder.
        ledger: Knows which lists there are.

    Raises:
        ContractError: If there are others now, or another key.
        LedgerFrozenError: If a list is missing or was changed, or ``hash.key`` is not the ledger's.
    """
    now = who_withdrew(folder, ledger=ledger)
    if now.key != withdrawn.key:
        raise ContractError(
            "An officer went on with another hash.key meanwhile; nothing was charged for this.",
            hint="Run it again: rows are then kept under that key.",
        )
    if now != withdrawn:
        raise ContractError(
            "Somebody withdrew consent meanwhile; nothing was charged for this.",
            hint="Run it again: it is then made without their rows.",
        )


def require_not_withdrawn(folder: Path, *, ledger: Ledger, words: tuple[int, int]) -> None:
    """Refuse to speak of a person of whom nothing is known any more.

    Raises:
        ContractError: If they withdrew consent.
    """
    high, low = words
    if f"{high:016x}{low:016x}" in who_withdrew(folder, ledger=ledger).hashes:
        raise ContractError(
            "This person withdrew consent: what led from the id to charges was deleted.",
            hint="Charges that everybody pays: confide ledger show",
        )


def withdraw(
    ids: Iterable[str],
    lost: Lost | None,
    *,
    dataset: Dataset,
    over: Callable[[Withdrawn], Engine],
    ledger: Ledger,
    folder: Path,
) -> Forgotten:
    """Take persons out of all that is kept and of every later release, for good.

    An id counts as this source has it, and as a source of the folder would whose ids are texts.

    Args:
        ids: Person ids as the source has them.
        lost: Why these are all who ever withdrew; None if lists of before hold.
        dataset: Public facts.
        over: Gives the engine over the source, for how ids are compared there; reads no row.
        ledger: Where it is noted.
        folder: The workspace folder.

    Raises:
        ApprovalMissingError: If the lists of before are lost and officers did not sign.
        ContractError: If there are none, one cannot be an id, or rows have no persons; says which
            one by its place, and nothing was done.  If copies are being written: says what is
            done, and that the rest needs the same again.
        LedgerFrozenError: If the patients' records are not whole; nothing was done.
    """
    from confide.rows.copies.copies import PREPARED
    from confide.rows.prepared.build import delete_copies

    if dataset.unit.entity in (Entity.EVENT, Entity.HOSPITAL):
        raise ContractError(
            f"With the {dataset.unit.entity.value} as privacy unit this data set does not say how "
            "persons are told apart, so none can be taken out through it.",
            hint="Do it through a data set of this folder that protects patients: that holds for "
            "all of them. Where there is none, delete the rows in the source.",
        )
    if lost is not None:
        require_reason(lost.reason, what="going on without a list of withdrawn patients")
    found = who_withdrew(folder, ledger=ledger if lost is None else None)
    _require_key(found.key, ledger=ledger)
    engine = over(found)
    ids = tuple(ids)
    if not ids:
        raise ContractError("Expected a person id, got none.", hint="Write one on each line.")
    read = [(place, each) for place, given in enumerate(ids, start=1) for each in readings(given)]
    written = [each for _, each in read]
    words = engine.identities(written)
    usable = {place for (place, _), found in zip(read, words, strict=True) if found is not None}
    for place in range(1, len(ids) + 1):
        if place not in usable:
            raise ContractError(
                f"Id {place} cannot be a person id of this source; nothing was done.",
                hint="Write ids as the source has them, one on each line.",
            )
    words += engine.identities(written, as_texts=True)
    whole = sorted({each for each in words if each is not None})
    identities, key = np.array(whole, dtype=np.uint64), order_key(folder, under=found.key)
    consent = ledger.desk.consent
    stores, unread = stores_of(
        folder / PATIENTS, hash_key=key, replaced=consent.hash_key_was_replaced
    )
    said: dict[str, Any] = {"tag": list_withdrawn(folder / FOLDER, identities, hash_key=key)}
    said["by"] = login()
    if lost is None:
        row = consent.note_withdrawal(dataset.lineage, **said)
    else:
        said |= {"reason": lost.reason, "officers": lost.officers}
        row = consent.note_lists_lost(dataset.lineage, **said)
    try:
        copies = delete_copies(folder / PREPARED)
    except ContractError:
        raise ContractError(
            f"Done: row {row} of the ledger, and no later release counts them. Not done: prepared "
            "copies and membership files still hold them, because `confide prepare` is running.",
            hint="When it is done, do the same again with the same ids.",
        ) from None
    left = forgetting(who_withdrew(folder, ledger=ledger), row=row)
    forget_people(stores, left, hash_key=key)
    return Forgotten(patients=len(ids), copies=copies, row=row, lost=unread)


def readings(given: str) -> tuple[str, ...]:
    """Return what an id may be in the source: letters and exports add blanks, quotes and zeros.

    A hash too many leads nowhere, while one too few counts somebody who withdrew.

    Example:
        >>> readings(' "P001 "'), readings("7.0")
        ((' "P001 "', '"P001 "', 'P001 ', 'P001'), ('7.0', '7'))
    """
    bare = given.strip()
    found = [given, bare]
    for quote in ('"', "'"):
        if len(bare) > 1 and bare[0] == bare[-1] == quote:
            inside = bare[1:-1].replace(2 * quote, quote)
            found += [inside, inside.strip()]
    found += [whole[1] for each in found if (whole := _WHOLE.fullmatch(each))]
    return tuple(each for each in dict.fromkeys(found) if each)
