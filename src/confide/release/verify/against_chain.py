"""A certificate against the ledger's chain, as exported or as its anchor shows it; needs no data.

Two kinds of file are read, one JSON object a line: rows of the chain (``number``, ``previous``,
``hash``, ``body``), from which every hash is computed anew; and signed heads, as in anchor.jsonl,
which show no request and can be published: a head with the number of the entry must have its hash.

*Privacy:* rows hold plans, charges and digests of noisy answers.
"""

import functools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from confide.budget.chain.chain import (
    GENESIS,
    Event,
    SignedHead,
    canonical,
    head_of,
    is_signed,
    row_hash,
)
from confide.budget.ledger import Scope
from confide.errors import VerificationError
from confide.plans.canonical import Json
from confide.privacy.amount import ATTO, NANO, decimal_text
from confide.regular_file import read_text
from confide.release.lost_charge import WENT_ON, lost_in_rows
from confide.release.verify.against_sources import sources_in_heads, sources_in_rows
from confide.release.verify.checks import Check
from confide.release.verify.verify_reuse import is_reuse
from confide.release.verify.withheld import withheld_in_rows

ROTATED = "key-rotated"


def read_chain(path: Path) -> tuple[tuple[Event, ...], tuple[SignedHead, ...]]:
    """Return the rows and the signed heads that a file holds.

    Raises:
        VerificationError: If it holds neither, or cannot be read.
    """
    rows, heads = [], []
    try:
        for line in read_text(path, largest=None).split("\n"):  # texts hold other ends of lines
            value = json.loads(line) if line.strip() else None
            match value:
                case None:
                    continue
                case {"number": n, "previous": str(p), "hash": str(h), "body": body}:
                    text = body if isinstance(body, str) else canonical(body)
                    rows.append(Event(number=int(n), body=text, previous=p, hash=h))
                case {"head": {"number": str(n), "hash": str(h)}}:  # closes an export
                    closing = (int(n), h)
                    if not rows or closing != (rows[-1].number, rows[-1].hash):
                        raise VerificationError(f"{path.name} is cut off before its head.")
                case {"number": _, "signature": str()}:
                    heads.append(head_of(value))
                case _:
                    raise VerificationError(f"{path.name} holds a line that is no row and no head.")
    except (OSError, ValueError, TypeError, OverflowError, RecursionError) as broken:
        if isinstance(broken, VerificationError):
            raise
        raise VerificationError(
            f"{path.name} cannot be read as a chain.",
            hint="Give the file of `confide ledger export`, or a copy of anchor.jsonl.",
        ) from None
    if not rows and not heads:
        raise VerificationError(f"{path.name} holds no row of a chain.")
    return tuple(rows), tuple(heads)


def chain_checks(
    certificate: Json,
    *,
    rows: Sequence[Event],
    heads: Sequence[SignedHead],
    key: str,
    pinned: str | None = None,
) -> Iterator[Check]:
    """Yield whether the entry of a certificate is in the chain, as it says.

    Args:
        certificate: Of a release that was charged, or made of such.
        rows: Of the chain; may be a part of it, without gaps.
        heads: Signed.
        key: Public key of the certificate's issuer.
        pinned: Id of the ledger that the reader knows; looked at where releases are made of others.
    """
    if is_reuse(certificate):
        yield from _sources(certificate, rows=rows, heads=heads, key=key, pinned=pinned)
        return
    accounting = certificate.get("accounting")
    accounting = accounting if isinstance(accounting, dict) else {}
    if rows:
        problem = _unlinked(rows)
        yield Check(name="chain", holds=not problem, detail=problem)
        yield from _of_row(certificate, accounting, rows=rows)
        yield from _identity(accounting, rows=rows)
    if heads:
        said = (accounting.get("entry"), accounting.get("hash"))
        yield _of_head(*said, heads=heads, key=key, name="signed head")


def _sources(
    certificate: Json,
    *,
    rows: Sequence[Event],
    heads: Sequence[SignedHead],
    key: str,
    pinned: str | None,
) -> Iterator[Check]:
    if rows:
        problem = _unlinked(rows)
        yield Check(name="chain", holds=not problem, detail=problem)
        yield from sources_in_rows(certificate, rows=rows, pinned=pinned)
    if heads:
        check = functools.partial(_of_head, heads=heads, key=key)
        yield from sources_in_heads(certificate, check=check)


def _identity(accounting: Json, *, rows: Sequence[Event]) -> Iterator[Check]:
    """Compare the id of the ledger with the one that a row of the chain says."""
    try:
        said = [row.fields().get("ledger", "") for row in rows if row.number <= accounting["entry"]]
    except (KeyError, TypeError, ValueError):
        return
    known, stated = next((each for each in said if each), ""), accounting.get("ledger", "")
    if known or (stated and rows[0].number == 1):
        detail = "" if known == stated else f"is of ledger {stated or 'without id'}, not {known}"
        yield Check(name="ledger", holds=not detail, detail=detail)


def _unlinked(rows: Sequence[Event]) -> str:
    previous = GENESIS if rows[0].number == 1 else rows[0].previous
    for place, row in enumerate(rows):
        if row.number != rows[0].number + place or row.previous != previous:
            return f"row {rows[0].number + place} is missing or out of order"
        if row.hash != row_hash(previous, body=row.body):
            return f"row {row.number} was changed after it was written"
        previous = row.hash
    return ""


def _of_row(certificate: Json, accounting: Json, *, rows: Sequence[Event]) -> Iterator[Check]:
    """Compare a certificate with its row, or say by which row the ledger went on without it."""
    entry, digest = accounting.get("entry"), accounting.get("hash")
    lost = lost_in_rows(rows, entry=entry, digest=digest)
    if lost is not None and lost.whole:
        yield Check(name="ledger row", holds=True, detail=lost.told(), caution=True)
        return
    problem = _row_problem(certificate, accounting, rows=rows, answered=lost is None)
    told = lost.told() if lost is not None and not problem else problem
    yield Check(name="ledger row", holds=not problem, detail=told, caution=lost is not None)
    if not problem:
        yield from withheld_in_rows(entry, rows=rows)


def _row_problem(
    certificate: Json, accounting: Json, *, rows: Sequence[Event], answered: bool
) -> str:
    number = accounting.get("entry")
    row = next((each for each in rows if each.number == number), None)
    if row is None:
        return f"the chain has no row {number}: it ends before the release, or is of other data"
    if (row.hash, row.previous) != (accounting.get("hash"), accounting.get("previous")):
        return f"accounting.hash is not that of row {number}: the certificate is of another history"
    try:
        wrong = _unlike(certificate, accounting, fields=row.fields())
        paid = [e.fields() for e in rows if e.number > row.number]
        stored = [f["sha256"] for f in paid if _commits(f, entry=row.number)]
    except (KeyError, TypeError, ValueError, AttributeError):
        return f"row {number} cannot be read"
    if wrong:
        return f"{wrong} is not what row {number} says (the ledger was charged otherwise)"
    if stored != ([accounting.get("payload-sha256")] if answered else []):
        return "accounting.payload-sha256 is not the answer that the ledger stored"
    return ""


def _commits(fields: Json, *, entry: int) -> bool:
    return bool(fields["kind"] == "committed" and fields.get("entry") == str(entry))


def _unlike(certificate: Json, accounting: Json, *, fields: Json) -> str:
    """Return the first line of a certificate that its row contradicts."""
    said = {
        "authority.analyst": (certificate["authority"]["analyst"], fields["analyst"]),
        "authority.request": (certificate["authority"]["request"], fields["request-key"]),
        "data.lineage": (certificate["data"]["lineage"], fields["lineage"]),
        "plan.sha256": (certificate["plan"]["sha256"], fields["plan-digest"]),
        "issued": (certificate["issued"], fields["at"]),
        "accounting.charges": (accounting["charges"], [_charge(c) for c in fields["charges"]]),
    }
    return next((line for line, (one, other) in said.items() if one != other), "")


def _charge(charge: Json) -> Json:
    per_one = ATTO if charge["scope"] == Scope.LIFETIME_DELTA.value else NANO
    names = ("amount", "before", "after", "cap")
    amounts = {name: decimal_text(int(charge[name]), per_one=per_one) for name in names}
    named = {"id": charge["id"]} if "id" in charge else {}
    if "order" in charge:
        named["order"] = int(charge["order"])
    if "epsilon" in charge:
        named["epsilon"] = decimal_text(int(charge["epsilon"]), per_one=NANO)
    return {"scope": charge["scope"], **amounts, **named}


def _of_head(
    entry: Json, stated: Json, *, heads: Sequence[SignedHead], key: str, name: str
) -> Check:
    """Return whether a signed head vouches for an entry with its hash, in rows since lost too."""
    problem = _head_problem(entry, stated, heads=heads, key=key)
    row = _lost_head(entry, stated, heads=heads, key=key) if problem else None
    if row is None:
        return Check(name=name, holds=not problem, detail=problem)
    told = f"its row was lost later; the ledger went on without it, in row {row}"
    return Check(name=name, holds=True, detail=f"{told}. What it charged counts", caution=True)


def _lost_head(entry: Json, stated: Json, *, heads: Sequence[SignedHead], key: str) -> int | None:
    """Return the row by which the issuer went on without one whose head they signed."""
    keys = (key.partition(":")[2],)
    found = [
        place
        for place, each in enumerate(heads)
        if (each.number, each.hash) == (entry, stated) and is_signed(each, keys=keys)
    ]
    after = heads[found[-1] :] if found else ()
    went = (each for each in after if each.kind == WENT_ON and each.number <= after[0].number)
    return next((each.number for each in went if is_signed(each, keys=(each.key,))), None)


def _head_problem(entry: Json, stated: Json, *, heads: Sequence[SignedHead], key: str) -> str:
    """Return what is wrong with the head of an entry that should have a hash; "" if nothing is."""
    named = [place for place, each in enumerate(heads) if each.number == entry]
    if not named:
        return f"no head has the number {entry}"
    place = named[-1]  # of lines of rows that were lost, and of those in their place, the newest
    if heads[place].hash != stated:
        return (
            "accounting.hash is not that of the signed head: it is of another history, or the copy "
            "of the anchor is older than a loss of rows that was accepted: take a newer one"
        )
    if not _is_issuers(heads[place:], key=key.partition(":")[2]):
        return "the head is not signed by the issuer of the certificate, or a key that it replaced"
    return ""


def _is_issuers(heads: Sequence[SignedHead], *, key: str) -> bool:
    """Return whether the first of some heads is the word of a certificate's issuer.

    Of their key; or of one that it replaced, directly or by others: then every head from here to
    the row that replaced it is there and of that key, and the head of that row is of the next.
    After rows that were lost the numbers begin again, at a later row than the first, where an
    officer went on.  A head says nothing of the row before it, so this shows no more than that the
    issuer went on from here; rows of the chain hold the old key's own word for the new one.
    """
    place = 0
    while is_signed(heads[place], keys=(heads[place].key,)):
        if heads[place].key == key:
            return True
        place += 1
        if place == len(heads) or not _follows(heads[place], heads[place - 1], first=heads[0]):
            return False
        same = heads[place].key == heads[place - 1].key
        if not same and heads[place].kind != ROTATED:
            return False
    return False


def _follows(head: SignedHead, before: SignedHead, *, first: SignedHead) -> bool:
    """Return whether a head is the next one, or of where an officer went on without rows."""
    went_on = head.kind == WENT_ON and first.number < head.number <= before.number
    return went_on or head.number == before.number + 1
