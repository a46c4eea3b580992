"""Checkpoints: what the rows add up to so far, signed, so that opening need not add them up again.

A checkpoint stands in the tables beside the chain.  Its *header* holds the number and the hash of
the row that it follows, every counter, policy, key and open request as of then, and a hash over its
*lines*, one for each request (:mod:`confide.budget.integrity.archive`); it is signed by the
ledger's key. Each checkpoint brings only the lines that changed since the one before, and its hash
covers both.

*Privacy:* a checkpoint is believed only if this site's key signed it, if its row is in the chain
and in the anchor with that hash, and if every later row, which is read and checked one by one, is
the one that the anchor and the signed head say.  An older one therefore only makes opening slower:
the rows since then are added up again.  One of another ledger, or of a history that was lost, names
a row that is not there.  Whatever does not fit, the whole chain is read instead, so a checkpoint
that is missing, wrong or forged gives nothing back.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from confide.budget.accounts.account_record import account_json, account_of
from confide.budget.accounts.book import Book
from confide.budget.accounts.growths import Growths
from confide.budget.accounts.held import Requests
from confide.budget.accounts.lost_lineages import lost_lineage_of
from confide.budget.chain.chain import Signer, is_valid
from confide.budget.chain.consent_rows import consent_of
from confide.budget.chain.identity import Identity
from confide.budget.chain.key_history import KeyHistory
from confide.budget.chain.readings import Readings
from confide.budget.growth import Growth
from confide.budget.integrity.archive import (
    Archive,
    Read,
    decision_json,
    decision_of,
    request_line,
    submission_line,
)
from confide.budget.stores.store import StoredCheckpoint
from confide.budget.workflow.docket import Docket
from confide.budget.workflow.filed import Submissions
from confide.version import __version__

EVERY = 500
"""Rows after which the next checkpoint is written."""

FORMAT = 13
"""Of the rules by which rows are added up: one more whenever the same rows come to something else,
or what a checkpoint holds of it changes.  A checkpoint of another number is left unread."""

NO_LINES = "0" * 64
_DOMAIN = b"confide ledger checkpoint 1\n"  # such a signature is a signature of nothing else


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointBasis:
    """A checkpoint that is believed, from which a book is begun.

    Attributes:
        number: Of the row that it follows; 0 of none.
        hash: Of that row.
        rolled: Hash over its lines and those before.
        fields: Of its header.
        archive: What its lines say.
    """

    number: int
    hash: str
    rolled: str
    fields: dict[str, Any]
    archive: Archive

    def book(self) -> Book:
        """Return a book as it was then."""
        return _book_of(self.fields, self.archive) if self.number else Book()


def nothing(read: Read) -> CheckpointBasis:
    """Return the basis before the first row."""
    return CheckpointBasis(number=0, hash="", rolled=NO_LINES, fields={}, archive=Archive(read))


def rolled_over(before: str, *parts: bytes) -> str:
    """Return the hash over the lines of checkpoints, part by part, and all that came before."""
    rolled = before
    for lines in parts:
        both = hashlib.sha256(rolled.encode("ascii"))
        both.update(lines)
        rolled = both.hexdigest()
    return rolled


def made(book: Book, *, after: CheckpointBasis, beyond: int, signer: Signer) -> StoredCheckpoint:
    """Return the checkpoint of a book, signed.

    Args:
        book: What the rows add up to.
        after: The checkpoint before, whose lines it goes on from.
        beyond: How many more lines the anchor has than rows, from histories that were lost.
        signer: The site's key.
    """
    lines = b"".join(_lines(book))
    rolled = rolled_over(after.rolled, lines)
    key = signer.public_key.hex()
    header = json.dumps(_fields_of(book, rolled=rolled, key=key, beyond=beyond), sort_keys=True)
    signature = signer.sign(_DOMAIN + header.encode()).hex()
    return StoredCheckpoint(number=book.number, lines=lines, header=header, signature=signature)


def is_header_signed(stored: StoredCheckpoint, *, key: str) -> bool:
    """Return whether a checkpoint has a header, and ``key`` signed it."""
    message = _DOMAIN + stored.header.encode()
    return bool(stored.header) and is_valid(key, message=message, signature=stored.signature)


def signed_fields(stored: StoredCheckpoint, *, key: str) -> dict[str, Any] | None:
    """Return what a header says, if ``key`` signed it in this version of the software."""
    if not is_header_signed(stored, key=key):
        return None
    fields: dict[str, Any] = json.loads(stored.header)
    made_by = (fields["software"], fields.get("format"), fields["key"])
    is_ours = made_by == (__version__, FORMAT, key)
    return fields if is_ours and fields["number"] == stored.number else None


def read_basis(
    rows: Sequence[StoredCheckpoint], *, fields: dict[str, Any], read: Read
) -> CheckpointBasis | None:
    """Return the basis whose signed header says ``fields``; None if the lines are others.

    Args:
        rows: Every stored checkpoint, oldest first.
        fields: Of a signed header.
        read: Yields rows of the chain.
    """
    archive = Archive(read)
    mine = [row for row in rows if row.number <= fields["number"]]
    rolled = rolled_over(NO_LINES, *(row.lines for row in mine))
    if rolled != fields["lines"]:
        return None
    for row in mine:
        archive.take_in(row.lines)
    return CheckpointBasis(
        number=fields["number"],
        hash=fields["hash"],
        rolled=rolled,
        fields=fields,
        archive=archive,
    )


def grown(basis: CheckpointBasis, stored: StoredCheckpoint) -> CheckpointBasis:
    """Return the basis that a checkpoint on top of ``basis`` makes."""
    basis.archive.take_in(stored.lines)
    fields = json.loads(stored.header)
    return CheckpointBasis(
        number=stored.number,
        hash=fields["hash"],
        rolled=fields["lines"],
        fields=fields,
        archive=basis.archive,
    )


def followed(
    basis: CheckpointBasis, newer: Sequence[StoredCheckpoint], *, trail: Mapping[int, str], key: str
) -> CheckpointBasis | None:
    """Return the basis that later checkpoints make; None if they are not of this ledger.

    Args:
        basis: Where they begin.
        newer: Every later one, oldest first.
        trail: Hashes of the rows since, by number.
        key: That must have signed the last.
    """
    fields = signed_fields(newer[-1], key=key)
    rolled = rolled_over(basis.rolled, *(each.lines for each in newer))
    if fields is None or fields["lines"] != rolled:
        return None
    if trail.get(fields["number"]) != fields["hash"]:
        return None
    for each in newer[:-1]:
        basis.archive.take_in(each.lines)
    return grown(basis, newer[-1])


def is_of(book: Book, fields: dict[str, Any]) -> bool:
    """Return whether a header says what a book adds up to at the same row."""
    here = _fields_of(book, rolled=fields["lines"], key=fields["key"], beyond=fields["beyond"])
    return json.dumps(here, sort_keys=True) == json.dumps(fields, sort_keys=True)


def all_lines(book: Book) -> Iterator[bytes]:
    """Yield the line of every request of a book, without its end."""
    for held in book.requests.all():
        yield request_line(held).rstrip(b"\n")
    for submission in book.docket.submissions.values():
        yield submission_line(submission).rstrip(b"\n")


def _lines(book: Book) -> Iterator[bytes]:
    for number in sorted(book.requests.changed):
        yield request_line(book.requests[number])
    for number in sorted(book.docket.submissions.changed):
        yield submission_line(book.docket.submissions[number])


def _fields_of(book: Book, *, rolled: str, key: str, beyond: int) -> dict[str, Any]:
    endorsed = sorted(book.docket.endorsed.items())
    return {
        "software": __version__,
        "format": FORMAT,
        "key": key,
        "lines": rolled,
        "beyond": beyond,
        "number": book.number,
        "hash": book.hash,
        "at": book.at,
        "kind": book.kind,
        "lineage": book.lineage,
        "accepted": book.accepted,
        "accounts": [account_json(account) for account in book.accounts.values()],
        "open": sorted(book.open),
        "growths": [asdict(growth) for growth in book.growths.values()],
        "endorsed": [
            [*about, sorted([key, *given] for key, given in keys.items())]
            for about, keys in endorsed
        ],
        "withheld": [
            [number, *decision_json(each)] for number, each in book.docket.withheld.items()
        ],
        "signing": [list(change) for change in book.signing.changes],
        "identity": [book.identity.ledger, book.identity.order_key],
        "readings": [list(peak) for peak in book.readings.peaks],
        "lapsed": book.readings.lapsed,
        "consent": book.consent.to_json(),
        "lost": {lineage: each.to_json() for lineage, each in book.lost.items()},
    }


def _identity_of(said: Sequence[str]) -> Identity:
    ledger, order_key = said
    return Identity(ledger=ledger, order_key=order_key)


def _readings_of(fields: dict[str, Any]) -> Readings:
    peaks = [(number, reading) for number, reading in fields["readings"]]
    return Readings(peaks, lapsed=fields["lapsed"])


def _book_of(fields: dict[str, Any], archive: Archive) -> Book:
    endorsed = {
        (lineage, digest): {key: (number, given) for key, number, given in keys}
        for lineage, digest, keys in fields["endorsed"]
    }
    withheld = {number: decision_of(said) for number, *said in fields["withheld"]}
    return Book(
        number=fields["number"],
        hash=fields["hash"],
        at=fields["at"],
        kind=fields["kind"],
        lineage=fields["lineage"],
        accepted=fields["accepted"],
        accounts={each["lineage"]: account_of(each) for each in fields["accounts"]},
        requests=Requests(archive),
        open=set(fields["open"]),
        growths=Growths({each["opened"]: Growth(**each) for each in fields["growths"]}),
        docket=Docket(submissions=Submissions(archive), endorsed=endorsed, withheld=withheld),
        signing=KeyHistory(tuple((number, key) for number, key in fields["signing"])),
        identity=_identity_of(fields["identity"]),
        readings=_readings_of(fields),
        consent=consent_of(fields["consent"]),
        lost={lineage: lost_lineage_of(each) for lineage, each in fields["lost"].items()},
    )
