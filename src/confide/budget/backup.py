"""Backups of a ledger: the chain, the answers, and a signed manifest; the same of every store.

A backup is what cannot be made anew: counters and states follow from the chain.  So what was
backed up from SQLite is restored into PostgreSQL, and the other way round.

``chain.jsonl`` is an export; ``answers.jsonl`` holds the stored answers, withheld ones too; other
files are what the folder keeps beside the ledger; ``manifest.json`` names all by hash and is
signed.  Keys are not in it.

*Privacy:* a backup is older than what came after it, so it would offer spent budget again.  Unless
the anchor says that nothing came after, what is restored has no signed head: it is frozen, on
every host, until an officer has given a reason; what any anchor saw spent stays spent, and what was
under way is burned.  Of a ledger that several hosts share no anchor knows all that came after.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confide.budget.accountant import Accountant
from confide.budget.accounts.book import Book
from confide.budget.chain.chain import Chain, Signer, canonical, is_valid
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.integrity.anchor import Anchor
from confide.budget.integrity.export import chain_text, check_chain, read_chain
from confide.budget.stores.store import Store, answers_of
from confide.errors import ContractError, LedgerFrozenError, PolicyError, VerificationError
from confide.regular_file import create_durable, read_bytes, sync_folder

SCHEMA = "confide.ledger-backup/1"
CHAIN, ANSWERS, MANIFEST = "chain.jsonl", "answers.jsonl", "manifest.json"
_DOMAIN = b"confide ledger backup 1\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """What a folder holds, checked.

    Attributes:
        chain: Every row, and the signed head over them.
        answers: Stored answers by entry.
        beside: Other files by name, as they were.
        key: Public key in hexadecimal that signed the manifest.
    """

    chain: Chain
    answers: Mapping[int, bytes]
    beside: Mapping[str, bytes]
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore did.

    Attributes:
        rows: Of the chain that are there now.
        aside: Name under which what was there is kept; "" if nothing was.
        beside: How many files and lines beside the ledger were put back.
        whole: Whether the ledger that is there holds all of the backup, and was left alone.
    """

    rows: int
    aside: str
    beside: int = 0
    whole: bool = False


def write_backup(
    ledger: ChainedLedger,
    folder: Path,
    *,
    signer: Signer,
    at: str,
    beside: Callable[[], Mapping[str, bytes]] = dict,
) -> Chain:
    """Write a backup of a ledger that is whole, on disk when this returns; return its chain.

    Args:
        ledger: May be in use; what is copied is the state at one row.
        folder: To be made.
        signer: The site's key.
        at: Time of the backup, RFC 3339.
        beside: Reads the files that the folder keeps beside the ledger, after the chain.

    Raises:
        ContractError: If the folder holds something already.
        LedgerFrozenError: If the ledger is not whole.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ContractError(
            f"{folder.name} is not empty.", hint="Name a folder that is not there yet."
        )
    chain = ledger.chain()
    book = Book()
    for event in chain.events:
        book.follow(event)
    answers = "".join(
        canonical({"entry": str(number), "bytes": base64.b64encode(payload).decode("ascii")}) + "\n"
        for number in answers_of(book)
        for payload in (ledger.kept(number),)
    )
    texts = {**beside(), CHAIN: chain_text(chain).encode(), ANSWERS: answers.encode()}
    body: dict[str, Any] = {
        "schema": SCHEMA,
        "at": at,
        "rows": str(chain.head.number),
        "head": chain.head.hash,
        "files": {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()},
        "key": signer.public_key.hex(),
    }
    body["signature"] = signer.sign(_message(body)).hex()
    for name, text in {**texts, MANIFEST: canonical(body).encode() + b"\n"}.items():
        _write(folder / name, text)
    return chain


def read_backup(folder: Path, *, keys: Collection[str], recompute: Accountant) -> Backup:
    """Return what a backup holds, after checking all of it.

    Args:
        folder: As written.
        keys: The site's public keys in hexadecimal, old and new.
        recompute: The loss of events.

    Raises:
        ContractError: If it is no backup.
        VerificationError: If it was changed, or signed by somebody else.
    """
    try:
        manifest = json.loads(read_bytes(folder / MANIFEST))
        told, key = manifest["files"], str(manifest["key"])
        names = {CHAIN, ANSWERS, *(Path(name).name for name in told)}
        texts = {name: read_bytes(folder / name, largest=None) for name in names}
        is_signed = is_valid(key, message=_message(manifest), signature=manifest["signature"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ContractError(
            f"{folder.name} is not a backup of a ledger.",
            hint="Make one with: confide ledger backup FOLDER",
        ) from None
    if not is_signed or key not in keys:
        raise VerificationError(
            "The manifest of the backup is not signed by a key of this site.",
            hint="If signing.key or signing.old.pub is missing or new, put back that of the time.",
        )
    for name, text in texts.items():
        if hashlib.sha256(text).hexdigest() != told.get(name):
            raise VerificationError(f"{name} of the backup was changed.", hint="Use another one.")
    chain = read_chain(texts[CHAIN], name=CHAIN)
    book = check_chain(chain, recompute=recompute)
    answers = dict(_answers(texts[ANSWERS]))
    hashes = {number: hashlib.sha256(answer).hexdigest() for number, answer in answers.items()}
    if hashes != answers_of(book):
        raise VerificationError("An answer of the backup is not what its chain says.")
    beside = {name: text for name, text in texts.items() if name not in {CHAIN, ANSWERS}}
    return Backup(chain=chain, answers=answers, beside=beside, key=key)


def require_of(backup: Backup, ledger: str) -> None:
    """Refuse a backup of another ledger than the one of this folder; "" takes any.

    Raises:
        PolicyError: If both have an id, and not the same.
    """
    book = Book()
    for event in backup.chain.events:
        book.follow(event)
    if ledger and book.identity.ledger not in {"", ledger}:
        raise PolicyError(
            f"The backup is of ledger {book.identity.ledger}; the one of this folder is {ledger}.",
            hint="Nothing was changed. Restore a backup of this folder's ledger.",
        )


def restore(
    store: Store,
    backup: Backup,
    *,
    anchor: Path,
    public_key: str,
    beside: Callable[[Book | None], int] = lambda _: 0,
) -> Restored:
    """Put a backup in the place of a ledger that is damaged, missing, or older.

    What was there is renamed, never deleted.  Files beside the ledger come first, so that none is
    missing where this is killed in between; a whole ledger that holds all of the backup lacks
    nothing else, and stays.

    Args:
        store: Where to.
        backup: As read.
        anchor: The site's anchor; it is read and left alone.
        public_key: The site's key in hexadecimal.
        beside: Puts back what is missing beside the ledger, and returns how many; is given the
            ledger that stays.

    Raises:
        PolicyError: If a whole ledger is there that is of another history, or as new or newer and
            nothing is missing beside it.
    """
    with store.turn():
        store.migrate()
        with _transaction(store):
            there = _book_of(store)
        if there is not None and _holds(there, backup) and (found := beside(there)):
            return Restored(rows=there.number, aside="", beside=found, whole=True)
        if there is not None:
            _require_older(there, backup)
        found = beside(None)
        aside = store.set_aside() if there is None or there.number else ""
        is_alone = store.most_behind is not None
        with _transaction(store):
            signature = _signature(backup, anchor, public_key) if is_alone else ""
            rows = _write_all(store, backup, signature=signature)
            store.commit()
    return Restored(rows=rows, aside=aside, beside=found)


def _holds(there: Book, backup: Backup) -> bool:
    """Return whether every row of a backup is in a ledger that is whole."""
    head = backup.chain.head
    return bool(head.number) and there.trail.get(head.number) == head.hash


def _require_older(there: Book, backup: Backup) -> None:
    rows = len(backup.chain.events)
    hint = "Nothing was changed. A backup replaces a ledger that is damaged, missing or older."
    if there.number >= rows and rows:
        raise PolicyError(
            f"The ledger that is here is whole and has {there.number} rows; the backup has {rows}.",
            hint=hint,
        )
    if there.number and backup.chain.events[there.number - 1].hash != there.hash:
        raise PolicyError(
            "The ledger that is here is whole and of another history than the backup.", hint=hint
        )


def _book_of(store: Store) -> Book | None:
    """Return what a store adds up to; None if it is damaged."""
    book = Book()
    try:
        for event in store.events_after(-1):
            book.follow(event)
        return None if any(store.damage(book)) else book
    except LedgerFrozenError:
        return None
    except store.failures:
        return None


def _write_all(store: Store, backup: Backup, *, signature: str) -> int:
    book = Book()
    for event in backup.chain.events:
        book.follow(event)
        store.write_event(event)
    for held in book.requests.all():
        store.write_request(held.entry)
    for number, payload in backup.answers.items():
        store.write_payload(entry=number, payload=payload)
    store.write_counters(book)
    store.write_head(book=book, signature=signature)
    return book.number


def _signature(backup: Backup, anchor: Path, public_key: str) -> str:
    """Return the head's signature if the anchor knows of nothing later; else none."""
    lines, head = Anchor(anchor).lines(), backup.chain.head
    last = lines[-1] if lines else None
    is_last = last is not None and (last.number, last.hash) == (head.number, head.hash)
    return head.signature if is_last and head.key == public_key else ""


@contextmanager
def _transaction(store: Store) -> Iterator[None]:
    """Run one transaction of a store; what is not committed inside is dropped."""
    store.begin()
    try:
        yield
    finally:
        store.rollback()


def _answers(text: bytes) -> Iterator[tuple[int, bytes]]:
    try:
        for line in text.splitlines():
            fields = json.loads(line)
            yield int(fields["entry"]), base64.b64decode(fields["bytes"], validate=True)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise VerificationError("An answer of the backup cannot be read.") from None


def _message(manifest: Mapping[str, Any]) -> bytes:
    fields = {name: value for name, value in manifest.items() if name != "signature"}
    return _DOMAIN + canonical(fields).encode("utf-8")


def _write(path: Path, content: bytes) -> None:
    create_durable(path, content)
    sync_folder(path.parent)
