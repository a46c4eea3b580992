"""Show: the tables of a release, if it verifies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from confide.drawing.words import load_words
from confide.errors import UnknownNameError
from confide.plans.canonical import Json
from confide.plans.estimates import Estimate
from confide.plans.plan import Statistic
from confide.regular_file import reading_text
from confide.release.certificate.cuts import cut_notes_of
from confide.release.certificate.form import BoundPart, CertificateForm
from confide.release.certificate.form_check import read_form
from confide.release.export import lines_of, rows
from confide.release.verify.verify_reuse import is_reuse
from confide.report.load import rebuilt, verified
from confide.report.wording.section import assumed
from confide.service.dump import ASIDE


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTable:
    """The table of a statistic, as it is certified.

    Attributes:
        id: Of the statistic.
        title: For people.
        columns: Their names.
        rows: Texts.
        notes: On what its intervals take for granted, and on values that were cut.
    """

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The tables of a release.

    Attributes:
        release: Its id.
        verifies: Whether it verifies, which it does.
        tables: One a statistic.
        signer: Whose key signed.
    """

    release: str
    verifies: bool
    tables: tuple[ShownTable, ...]
    signer: Annotated[str, ASIDE]


def show(folder: Path, *, only: str = "") -> Shown:
    """Return the tables of a release that verifies.

    Args:
        folder: Where it is.
        only: The one statistic that is wanted; all when empty.

    Raises:
        VerificationError: If it does not verify.
        UnknownNameError: If there is no such statistic.
    """
    certificate, checked = verified(folder)
    form = None if is_reuse(certificate) else read_form(certificate, form=CertificateForm)
    bounds = [] if form is None else form.guarantee.contribution_bounds
    if form is None or checked.rebuilt:
        tables = _tables(certificate, folder, bounds=bounds)
    else:
        tables = _printed(form, folder)
    known = [each.id for each in tables]
    if only and only not in known:
        raise UnknownNameError("statistic", only, known=known)
    return Shown(
        release=certificate["id"],
        verifies=True,
        tables=tuple(each for each in tables if not only or each.id == only),
        signer=checked.signer,
    )


def _tables(
    certificate: Json, folder: Path, *, bounds: Sequence[BoundPart]
) -> tuple[ShownTable, ...]:
    release = rebuilt(certificate, folder=folder)
    return tuple(_table(each, release.of(each), bounds=bounds) for each in release.plan.statistics)


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
    statistic: Statistic, estimates: Sequence[Estimate], *, bounds: Sequence[BoundPart]
) -> ShownTable:
    head, body = rows(statistic, estimates)
    title = statistic.title or statistic.id
    shown = _shown(statistic.id, title, head=head, body=body, bounds=bounds)
    said = assumed(statistic, words=load_words("en"))
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
