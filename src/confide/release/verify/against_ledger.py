"""A certificate against the ledger that it was made from, for the steward.

Compares the row, opens the commitment to the snapshot, and tells whether a later release supersedes
this one.

*Privacy:* says whether the source's files are still those that were read; that is for the steward,
who holds them, and is printed nowhere else.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from confide.budget.ledger import Entry, Ledger, State
from confide.errors import ConfideError, LedgerFrozenError, UnknownNameError
from confide.plans.canonical import Json
from confide.release.approval import authority_of
from confide.release.certificate.certificate import accounting_of, commitment_of
from confide.release.certificate.lines import differences
from confide.release.jobs.job_answer import stored_study
from confide.release.lost_charge import LostCharge, lost_in_ledger
from confide.release.site.commitment import opening_of, snapshot_digest
from confide.release.verify.against_sources import sources_in_ledger
from confide.release.verify.checks import Check, ledger_of
from confide.release.verify.verify_reuse import is_reuse
from confide.release.verify.withheld import withheld_in_ledger
from confide.rows.sources.fingerprint import SourceState


def ledger_checks(
    certificate: Json,
    *,
    ledger: Ledger,
    lineage: str,
    folder: Path,
    state: SourceState,
    pinned: str | None = None,
) -> Iterator[Check]:
    """Yield what ledger and steward's folder say of a certificate.

    Args:
        certificate: Of a release that was charged, or made of such.
        ledger: Of the data set.
        lineage: Of the data set.
        folder: The steward's.
        state: Of the source as it is now.
        pinned: Id of the ledger that the reader knows; looked at where releases are made of others.
    """
    try:
        ledger.verify_chain()
        yield Check(name="chain", holds=True)
    except LedgerFrozenError as frozen:
        yield Check(name="chain", holds=False, detail=str(frozen))
    if is_reuse(certificate):
        yield from sources_in_ledger(certificate, ledger=ledger, lineage=lineage, pinned=pinned)
        return
    entry = _entry(certificate, ledger=ledger, lineage=lineage)
    if entry is not None and ledger_of(certificate) != entry.ledger:
        named = ledger_of(certificate) or "without id"
        detail = f"is of ledger {named}; this one is {entry.ledger or 'without id'}"
        yield Check(name="ledger", holds=False, detail=detail)
    said = certificate["accounting"]
    known = {"number": said.get("entry"), "digest": said.get("hash")}
    lost = lost_in_ledger(entry, **known, ledger=ledger)
    if lost is None and entry is None:
        detail = "the ledger has no such entry: it is of another history, or of rows that were lost"
        yield Check(name="ledger row", holds=False, detail=detail)
        return
    if lost is not None and (lost.whole or entry is None):
        yield Check(name="ledger row", holds=True, detail=lost.told(), caution=True)
    elif entry is not None:
        yield _row(said, entry=entry, lost=lost)
        yield _authority(certificate, entry=entry, ledger=ledger)
        yield from withheld_in_ledger(entry.number, ledger=ledger)
    yield _snapshot(certificate, digest=said["hash"], folder=folder, state=state)
    later = superseding(ledger, lineage=lineage).get(str(certificate.get("id")))
    detail = f"superseded by {later}" if later else ""
    yield Check(name="latest version", holds=True, detail=detail, caution=bool(later))


def _row(said: Json, *, entry: Entry, lost: LostCharge | None) -> Check:
    """Compare what a certificate says of its row with it, but for an answer whose row was lost."""
    payload = entry.payload_sha256 if lost is None else said.get("payload-sha256")
    try:
        true = accounting_of(replace(entry, payload_sha256=payload)).to_json()
    except ValueError:  # what stands there is no digest
        detail = "the ledger stored no answer of this entry"
        return Check(name="ledger row", holds=False, detail=detail)
    check = _against("ledger row", said, true, line="accounting")
    if lost is None or not check.holds:
        return check
    return replace(check, detail=lost.told(), caution=True)


def _authority(certificate: Json, *, entry: Entry, ledger: Ledger) -> Check:
    """Compare who asked and approved, under which policy and when, with the ledger."""
    stated = certificate.get("authority")
    true = authority_of(ledger, entry).to_json() | {"issued": entry.at}
    said = {**stated, "issued": certificate.get("issued")} if isinstance(stated, dict) else {}
    known = {name: value for name, value in true.items() if name in said}
    return _against("authority", said, known, line="authority")


def _against(name: str, said: Json, true: Json, *, line: str) -> Check:
    """Compare what a part of a certificate says with what the ledger does."""
    wrong = next(differences(said, true, line=line), None)
    detail = "" if wrong is None else f"{wrong.line} says {wrong.one!r}, the ledger {wrong.other!r}"
    return Check(name=name, holds=not detail, detail=detail)


def payload_of(certificate: Json, *, ledger: Ledger, lineage: str) -> bytes | None:
    """Return the noisy payload that the ledger stored for a certificate; None if withheld.

    None, too, of a certificate that names another row than the ledger has: it is of other numbers.
    """
    entry = _entry(certificate, ledger=ledger, lineage=lineage)
    if entry is None or not entry.payload_sha256 or entry.withheld:
        return None
    if entry.hash != certificate["accounting"].get("hash"):
        return None
    return ledger.stored(entry.number).payload


def why_no_payload(certificate: Json, *, ledger: Ledger, lineage: str) -> str:
    """Return why :func:`payload_of` has none for a certificate."""
    entry = _entry(certificate, ledger=ledger, lineage=lineage)
    accounting = certificate.get("accounting")
    said = accounting if isinstance(accounting, dict) else {}
    if entry is not None and entry.hash == said.get("hash"):
        for check in withheld_in_ledger(entry.number, ledger=ledger):
            return f"the answer of entry {entry.number} was {check.detail}"
    lost = lost_in_ledger(entry, number=said.get("entry"), digest=said.get("hash"), ledger=ledger)
    if lost is not None:
        return f"of entry {said.get('entry')} {lost.told()}"
    named = ledger_of(certificate) or "without id"
    return (
        f"this ledger has no entry {said.get('entry')} as the certificate names it, which is of "
        f"ledger {named}"
    )


def superseding(ledger: Ledger, *, lineage: str) -> Mapping[str, str]:
    """Return the id of the release that supersedes each release that one does."""
    found = {}
    for entry in ledger.entries(lineage):
        if entry.state is not State.PUBLISHED or entry.withheld:
            continue
        try:
            study = stored_study(ledger.stored(entry.number).payload)
        except ConfideError:  # of a format that is read no more
            continue
        if study.supersedes is not None:
            found[study.supersedes.id] = f"{lineage}/{entry.number}"
    return found


def _entry(certificate: Json, *, ledger: Ledger, lineage: str) -> Entry | None:
    accounting = certificate.get("accounting")
    number = accounting.get("entry") if isinstance(accounting, dict) else None
    try:
        found = ledger.entry(number) if type(number) is int else None
    except UnknownNameError:
        return None
    return found if found is not None and found.lineage == lineage else None


def _snapshot(certificate: Json, *, digest: str, folder: Path, state: SourceState) -> Check:
    stated = certificate["data"].get("commitment")
    opening = opening_of(folder, entry=digest)
    if stated is None:
        return Check(name="snapshot", holds=opening is None, detail="nothing was committed to")
    if opening is None:
        detail = "cannot be opened: its nonce is not in commitments.jsonl (put back a backup of it)"
        return Check(name="snapshot", holds=True, detail=detail)
    made = commitment_of(opening)
    if made is None or stated != made.to_json():
        detail = "data.commitment is not the one that was made for this entry"
        return Check(name="snapshot", holds=False, detail=detail)
    same = snapshot_digest(state, folder=folder) == opening.snapshot
    detail = "" if same else "opens; the files of the source have changed since"
    return Check(name="snapshot", holds=True, detail=detail)
