"""Write a document: from a study, a release or a year of the ledger, to a folder."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from confide.budget.ledger import Entry, Ledger
from confide.errors import ContractError, VerificationError
from confide.files.audit_results import read_audit
from confide.files.legal import read_legal
from confide.files.study import read_study
from confide.plans.plan import Plan
from confide.plans.pricing.roads import OnRecord
from confide.regular_file import read_bytes
from confide.release.certificate.form import CertificateForm
from confide.release.certificate.form_check import read_form
from confide.release.jobs.job_answer import stored_study
from confide.release.noisy import read_payload
from confide.release.verify.verify import read_certificate, verify
from confide.release.verify.verify_job import is_job
from confide.release.verify.verify_reuse import is_reuse
from confide.report.legal.audited import AuditResults
from confide.report.legal.build import build
from confide.report.legal.document import Kind
from confide.report.legal.save import save_document
from confide.report.legal.subject import (
    NOT_CHARGED,
    LegalSubject,
    YearEntry,
    of_release,
    of_study,
    of_year,
)
from confide.service.opening import open_measured, open_study
from confide.service.spent import spent_on


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Of what a document is wanted, and where.

    Attributes:
        what: Study, release or data set.
        legal: The legal.yaml; beside ``what`` when None.
        audit: Audit results.
        study: Study of a release.
        year: Of a ledger.
        period: Which run of a study that repeats.
        language: Of the document, by its tag.
        out: Folder.
        replace: Whether files that differ are written over.
    """

    what: Path
    legal: Path | None = None
    audit: Path | None = None
    study: Path | None = None
    year: int | None = None
    period: str | None = None
    language: str = "en"
    out: Path
    replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingField:
    """A field that is for a person to fill in.

    Attributes:
        id: By which it is answered.
        part: Of the document.
        label: What is asked.
        who: Answers.
    """

    id: str
    part: str
    label: str
    who: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A document in its folder.

    Attributes:
        document: Its kind.
        language: Of it.
        files: Where it is.
        complete: Whether every field is filled in.
        missing: Those that are not.
        signatures: That are to be given.
    """

    document: Kind
    language: str
    files: tuple[Path, ...]
    complete: bool
    missing: tuple[MissingField, ...]
    signatures: tuple[str, ...]


def write_document(kind: Kind, wanted: Wanted) -> Written:
    """Build a document, save it, and say what is missing; reads no row and charges nothing.

    Raises:
        ContractError: If a file breaks its contract, or files that differ are there.
        VerificationError: If a release does not verify.
    """
    law = read_legal(wanted.legal or _beside(wanted.what))
    subject = _subject(wanted)
    made = build(kind, subject, law=law, language=wanted.language)
    files = save_document(made, wanted.out, replace=wanted.replace)
    missing = tuple(
        MissingField(id=item.id, part=part.number, label=item.label, who=item.who)
        for part, item in made.missing()
    )
    return Written(
        document=made.kind,
        language=made.language,
        files=tuple(files),
        complete=not missing,
        missing=missing,
        signatures=tuple(item.id for item in made.signatures()),
    )


def _beside(what: Path) -> Path:
    """Return where legal.yaml is: beside the study or data set, or above a release's folder."""
    if what.is_dir():
        inside = what / "legal.yaml"
        return inside if inside.exists() else what.absolute().parent / "legal.yaml"
    return what.parent / "legal.yaml"


def _subject(wanted: Wanted) -> LegalSubject:
    what = wanted.what
    if not what.exists():
        raise ContractError(
            f"There is no {what.name}.",
            hint="Name a study.yaml, a release's folder, or a dataset.yaml.",
        )
    audit = None if wanted.audit is None else read_audit(wanted.audit)
    if wanted.year is not None:
        return _year(what, year=wanted.year, audit=audit)
    if what.is_dir() or what.suffix == ".json":
        return _release(wanted, audit=audit)
    if wanted.study is not None:
        raise ContractError("--study goes with a release.", hint="Leave it out.")
    return _study(wanted, audit=audit)


def _study(wanted: Wanted, *, audit: AuditResults | None) -> LegalSubject:
    site, declared = open_study(wanted.what, period=wanted.period)
    with site:
        return of_study(
            declared.plan(),
            asks=declared.asks,
            spent=spent_on(site),
            organisation=declared.declared.organisation,
            file=wanted.what.name,
            audit=audit,
        )


def _release(wanted: Wanted, *, audit: AuditResults | None) -> LegalSubject:
    folder = wanted.what if wanted.what.is_dir() else wanted.what.parent
    certificate = read_certificate(folder / "certificate.json")
    checked = verify(certificate, folder=folder)
    checked.require(folder, refused="no document is made of it")
    if is_reuse(certificate):
        raise ContractError(
            "This release is made of others and was charged nothing.",
            hint="Make the documents of the releases that it is made of.",
        )
    if is_job(certificate):
        raise ContractError(
            "Documents are made of releases of statistics, and this is a job.",
            hint="Make the document of a year, which counts jobs too.",
        )
    plan = read_payload(read_bytes(folder / "noisy.json", largest=None)).plan
    asks: Any = ()
    if wanted.study is not None:
        declared = replace(
            read_study(wanted.study, period=wanted.period),
            record=OnRecord(released=lambda each: _is_same(each, plan)),
        )
        if not _is_same(declared.plan(), plan):
            raise ContractError(
                f"{wanted.study.name} is not the study of this release: the plans differ.",
                hint="Give the file as it was when the study ran, or leave --study out.",
            )
        asks = declared.asks
    return of_release(
        plan,
        certificate=read_form(certificate, form=CertificateForm),
        file="certificate.json",
        asks=asks,
        asked_in="" if wanted.study is None else wanted.study.name,
        audit=audit,
    )


def _is_same(declared: Plan, released: Plan) -> bool:
    """Return whether a study is that of a release, of whatever snapshot it would be today."""
    of = replace(declared.dataset, snapshot=released.dataset.snapshot)
    return replace(declared, dataset=of).digest() == released.digest()


def _year(dataset: Path, *, year: int, audit: AuditResults | None) -> LegalSubject:
    with open_measured(dataset) as (ledger, declared):
        lineage = declared.dataset.lineage
        entries, spent = ledger.entries(lineage), ledger.spent(lineage)
        within = (e for e in entries if e.at.startswith(f"{year:04d}-"))
        told = sum(e.amount.atto for e in entries if e.state not in NOT_CHARGED)
        return of_year(
            year,
            dataset=declared.dataset,
            entries=[YearEntry(entry=e, title=_title(e, ledger=ledger)) for e in within],
            spent=spent,
            organisation=declared.organisation,
            file=dataset.name,
            lost_delta=max(0, spent.delta - told),
            audit=audit,
        )


def _title(entry: Entry, *, ledger: Ledger) -> str:
    """Return the title of a request's study; its id where no answer that can be read is there."""
    if not entry.payload_sha256 or entry.withheld:
        return entry.study
    try:
        study = stored_study(ledger.stored(entry.number).payload)
    except VerificationError:  # of a format that is read no more
        return entry.study
    return study.title or study.id
