"""Show: what a release found, and its tables, if it verifies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from confide.drawing.numbers import clean
from confide.drawing.shown import Shown as Layout
from confide.drawing.words import Words
from confide.errors import UnknownNameError
from confide.jobs.kinds import read_spec, tells_numbers, told_numbers
from confide.plans.canonical import Json
from confide.plans.estimates import Estimate
from confide.plans.plan import Statistic
from confide.regular_file import reading_text
from confide.release.certificate.certificate import shown_loss
from confide.release.certificate.cuts import cut_notes_of
from confide.release.certificate.form import BoundPart, CertificateForm
from confide.release.certificate.form_check import read_form
from confide.release.export import lines_of, rows
from confide.release.verify.verify import read_certificate, verify
from confide.release.verify.verify_job import answer_in, is_job
from confide.release.verify.verify_reuse import is_reuse
from confide.report.load import rebuilt, verified
from confide.report.pages.folder import CERTIFICATE
from confide.report.pages.layouts import laid_out
from confide.report.release import Release
from confide.report.wording.odds_words import adjacency_text, loss_text
from confide.report.wording.section import assumed, section
from confide.service.dump import ASIDE
from confide.service.planning.loss import told_loss
from confide.service.reading.labelled import labelled


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTable:
    """The table of a statistic, as it is certified.

    Attributes:
        id: Of the statistic.
        title: For people.
        columns: Their names.
        rows: Texts.
        notes: On what its intervals take for granted, and on values that were cut.
        layout: As the report has it; None where only the certified file is at hand.
    """

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    layout: Annotated[Layout | None, ASIDE] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one question found.

    Attributes:
        id: Of the statistic.
        title: For people.
        sentence: As the first page of the report has it.
        caveats: What goes with it, as the first page has it.
        flagged: Whether a number of it has a flag.
    """

    id: str
    title: str
    sentence: str
    caveats: tuple[str, ...]
    flagged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a release found, and its tables.

    Attributes:
        release: Its id.
        verifies: Whether it verifies, which it does.
        title: Of the study.
        loss: What it cost, in words.
        findings: One a statistic; none where its noisy numbers are withheld.
        tables: One a statistic.
        signer: Whose key signed.
    """

    release: str
    verifies: bool
    title: str
    loss: str
    findings: tuple[Finding, ...]
    tables: tuple[ShownTable, ...]
    signer: Annotated[str, ASIDE]


def show(folder: Path, *, only: str = "", labels: Path | None = None) -> Shown:
    """Return the tables of a release that verifies.

    Args:
        folder: Where it is.
        only: The one statistic that is wanted; all when empty.
        labels: The study.yaml whose labels it is told in; the declared names when None.

    Raises:
        VerificationError: If it does not verify.
        UnknownNameError: If there is no such statistic.
    """
    certificate = read_certificate(folder / CERTIFICATE)
    if is_job(certificate) and tells_numbers(certificate["plan"]["kind"]):
        return _numbers_of_job(folder, certificate, only=only)
    certificate, checked = verified(folder)
    form = None if is_reuse(certificate) else read_form(certificate, form=CertificateForm)
    bounds = [] if form is None else form.guarantee.contribution_bounds
    findings: tuple[Finding, ...] = ()
    title, loss = certificate["id"], ""
    if form is None or checked.rebuilt:
        release = labelled(rebuilt(certificate, folder=folder), labels)
        words = release.words()
        tables = _tables(release, bounds=bounds, words=words)
        findings = _findings(release, words=words)
        study = release.plan.study
        title, loss = clean(study.title or study.id, most=160), _cost(release, words=words)
    else:
        tables = _printed(form, folder)
    known = [each.id for each in tables]
    if only and only not in known:
        raise UnknownNameError("statistic", only, known=known)
    return Shown(
        release=certificate["id"],
        verifies=True,
        title=title,
        loss=loss,
        findings=findings,
        tables=tuple(each for each in tables if not only or each.id == only),
        signer=checked.signer,
    )


def _numbers_of_job(folder: Path, certificate: Json, *, only: str) -> Shown:
    """Return the numbers of a job that verifies."""
    checked = verify(certificate, folder=folder, pinned_key=None, read_spec=read_spec)
    checked.require(folder)
    answer = answer_in(folder)
    plan = answer.plan
    if only and only != plan.kind:
        raise UnknownNameError("statistic", only, known=[plan.kind])
    head, *body = told_numbers(plan, answer.files)
    told = ShownTable(
        id=plan.kind,
        title=clean(plan.study.title or plan.study.id, most=160),
        columns=head,
        rows=tuple(body),
        notes=(f"{told_loss(plan).text}.",),
        layout=Layout(head=head, rows=tuple(body), text_columns=2, numbers=2),
    )
    return Shown(
        release=certificate["id"],
        verifies=True,
        title=told.title,
        loss=told_loss(plan).text,
        findings=(),
        tables=(told,),
        signer=checked.signer,
    )


def _tables(
    release: Release, *, bounds: Sequence[BoundPart], words: Words
) -> tuple[ShownTable, ...]:
    return tuple(
        replace(
            _table(each, release.of(each), bounds=bounds, words=words),
            layout=laid_out(release, each, words=words),
        )
        for each in release.plan.statistics
    )


def _findings(release: Release, *, words: Words) -> tuple[Finding, ...]:
    told = []
    for each in release.plan.statistics:
        said = section(release, each, words=words)
        told.append(
            Finding(
                id=each.id,
                title=said.title,
                sentence=said.finding,
                caveats=said.caveats,
                flagged=bool(said.flags),
            )
        )
    return tuple(told)


def _cost(release: Release, *, words: Words) -> str:
    """Return what a release cost: nothing where it was made of earlier ones."""
    if release.made_of is not None:
        return words.say("reuse.free")
    dataset = release.plan.dataset
    unit = adjacency_text(dataset.unit.entity, adjacency=dataset.adjacency, words=words)
    return f"{loss_text(shown_loss(release.plan), words=words)}: {unit}"


def _printed(form: CertificateForm, folder: Path) -> tuple[ShownTable, ...]:
    """Return the certified tables as they lie in the folder, where noisy.json is withheld."""
    found = []
    for output in form.outputs:
        if output.columns is not None:
            with reading_text(folder / output.path) as file:
                head, *body = lines_of(file.read())
            name, bounds = Path(output.path).stem, form.guarantee.contribution_bounds
            found.append(_shown(name, name, head=head, body=body, bounds=bounds))
    return tuple(found)


def _table(
    statistic: Statistic,
    estimates: Sequence[Estimate],
    *,
    bounds: Sequence[BoundPart],
    words: Words,
) -> ShownTable:
    head, body = rows(statistic, estimates)
    title = statistic.title or statistic.id
    shown = _shown(statistic.id, title, head=head, body=body, bounds=bounds)
    said = assumed(statistic, words=words)
    return replace(shown, notes=(*said, *shown.notes))


def _shown(
    name: str,
    title: str,
    *,
    head: Sequence[str],
    body: Sequence[Sequence[str]],
    bounds: Sequence[BoundPart],
) -> ShownTable:
    return ShownTable(
        id=name,
        title=title,
        columns=tuple(head),
        rows=tuple(tuple(row) for row in body),
        notes=tuple(cut_notes_of(bounds, statistic=name)),
    )
