"""A release made of published ones against the ledger or chain in which these were charged.

Such a release has no entry of its own.  Its certificate names its sources, each by entry, hash and
the SHA-256 of its answer, and each must be in the history that the reader has.

*Privacy:* reads what the ledger published, and digests.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from confide.budget.chain.chain import Event
from confide.budget.ledger import Entry, Ledger
from confide.errors import UnknownNameError
from confide.plans.canonical import Json
from confide.release.lost_charge import LostCharge, lost_in_ledger, lost_in_rows
from confide.release.reused_form import ReusedForm, SourcePart
from confide.release.verify.checks import Check
from confide.release.verify.withheld import withheld_in_ledger, withheld_in_rows


class HeadCheck(Protocol):
    """Whether the signed head of an entry has the hash that a certificate says."""

    def __call__(self, entry: int, stated: str, *, name: str) -> Check:
        """Return the check, under a name."""


def named_sources(certificate: Json) -> list[SourcePart]:
    """Return the sources that a certificate names; none if it does not have the form."""
    try:
        return ReusedForm.read(certificate).sources
    except ValueError:
        return []


def sources_in_ledger(
    certificate: Json, *, ledger: Ledger, lineage: str, pinned: str | None
) -> Iterator[Check]:
    """Yield whether every source is an entry of a ledger, with this answer.

    Args:
        certificate: Of a release made of others.
        ledger: Of the data set.
        lineage: Of the data set.
        pinned: Id of the ledger that the reader knows; None when there is none.
    """
    for each in named_sources(certificate):
        yield from _in_ledger(each, ledger, lineage=lineage)
    yield from _none(certificate)
    found = (_entry(each.entry, ledger) for each in named_sources(certificate))
    yield from _pinned(next((e.ledger for e in found if e is not None), ""), pinned=pinned)


def sources_in_rows(
    certificate: Json, *, rows: Sequence[Event], pinned: str | None
) -> Iterator[Check]:
    """Yield whether every source is a row of a chain, with this answer; ``rows`` are linked."""
    data = certificate.get("data")
    lineage = data.get("lineage") if isinstance(data, dict) else None
    for each in named_sources(certificate):
        yield from _in_rows(each, rows, lineage=lineage)
    yield from _none(certificate)
    yield from _pinned(_id_of(rows), pinned=pinned)


def sources_in_heads(certificate: Json, *, check: HeadCheck) -> Iterator[Check]:
    """Yield whether a signed head vouches for every source.

    Args:
        certificate: Of a release made of others.
        check: Returns whether the head of an entry has the hash that it should.
    """
    for each in named_sources(certificate):
        yield check(each.entry, each.hash, name=f"signed head of entry {each.entry}")
    yield from _none(certificate)


def _in_ledger(named: SourcePart, ledger: Ledger, *, lineage: str) -> Iterator[Check]:
    found = _entry(named.entry, ledger)
    lost = lost_in_ledger(found, number=named.entry, digest=named.hash, ledger=ledger)
    problem = "" if lost is not None else _entry_problem(named, found, lineage=lineage)
    yield _charged(named, problem=problem, lost=lost)
    if found is not None and lost is None and not problem:
        name = f"answer of entry {named.entry}"
        yield from withheld_in_ledger(named.entry, ledger=ledger, name=name)


def _in_rows(named: SourcePart, rows: Sequence[Event], *, lineage: Json) -> Iterator[Check]:
    lost = lost_in_rows(rows, entry=named.entry, digest=named.hash)
    problem = "" if lost is not None else _row_problem(named, rows, lineage=lineage)
    yield _charged(named, problem=problem, lost=lost)
    if lost is None and not problem:
        yield from withheld_in_rows(named.entry, rows=rows, name=f"answer of entry {named.entry}")


def _charged(named: SourcePart, *, problem: str, lost: LostCharge | None) -> Check:
    detail = problem if lost is None else lost.told()
    name = f"ledger row of entry {named.entry}"
    return Check(name=name, holds=not problem, detail=detail, caution=lost is not None)


def _none(certificate: Json) -> Iterator[Check]:
    if not named_sources(certificate):
        yield Check(name="ledger row", holds=False, detail="it names no sources")


def _pinned(ledger: str, *, pinned: str | None) -> Iterator[Check]:
    if pinned is not None:
        same = pinned.strip() == ledger
        detail = "" if same else f"its sources are of ledger {ledger or 'without id'}, another"
        yield Check(name="ledger", holds=same, detail=detail)


def _id_of(rows: Sequence[Event]) -> str:
    """Return the id of the ledger that the rows of a chain say."""
    try:
        said = [row.fields().get("ledger", "") for row in rows]
    except (TypeError, ValueError, AttributeError):
        return ""
    return next((str(each) for each in said if each), "")


def _entry(number: int, ledger: Ledger) -> Entry | None:
    try:
        return ledger.entry(number)
    except UnknownNameError:
        return None


def _entry_problem(named: SourcePart, found: Entry | None, *, lineage: str) -> str:
    if found is None:
        return "the ledger has no such entry: it is of another history, or of rows that were lost"
    said = (named.hash, named.payload_sha256, named.released)
    if (found.hash, found.payload_sha256, found.at) != said or found.lineage != lineage:
        return "the ledger says otherwise of this entry: the source is of another history"
    return ""


def _row_problem(named: SourcePart, rows: Sequence[Event], *, lineage: Json) -> str:
    row = next((each for each in rows if each.number == named.entry), None)
    if row is None:
        return f"the chain has no row {named.entry}: it ends before, or is of other data"
    if row.hash != named.hash:
        return "its hash is not that of the row: the source is of another history"
    try:
        fields, later = row.fields(), [each.fields() for each in rows if each.number > row.number]
        stored = [
            f["sha256"]
            for f in later
            if (f["kind"], f.get("entry")) == ("committed", str(named.entry))
        ]
        same = (fields["at"], fields["lineage"]) == (named.released, lineage)
    except (KeyError, TypeError, ValueError, AttributeError):
        return "the row cannot be read"
    if stored != [named.payload_sha256] or not same:
        return "the row says otherwise, or another answer was stored"
    return ""
