"""A rehearsal: what a release would look like, of rows that were made up; every output says so.

It is no release.  Nothing was charged, no row of the data was read, and no certificate exists that
anybody could show.  So its numbers mean nothing, and whatever shows them is marked: pages, figures,
tables, methods.

*Privacy:* a function of public facts, and of noise over made-up rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from confide.errors import ContractError
from confide.release.certificate.form import CertificateForm
from confide.release.verify.twins import MEMBER
from confide.report.release import Release
from confide.report.wording.marks import mark_of

if TYPE_CHECKING:
    from confide.drawing.shown import Shown
    from confide.plans.canonical import Json
    from confide.plans.plan import Statistic

_NOBODY = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Rehearsal(Release):
    """What a study would publish, of a twin of its data set; its certificate certifies nothing.

    Attributes:
        patients: Made-up patients of the twin.
        stated: What pages are told in place of what a certificate states.
    """

    patients: int
    stated: CertificateForm

    @property
    def form(self) -> CertificateForm:
        """What pages are told: it has no charge, no key and no signature."""
        return self.stated

    @property
    def made_up(self) -> int:
        """Made-up patients of the twin."""
        return self.patients

    def table(self, statistic: "Statistic | str", *, language: str = "en") -> "Shown":
        """Return the report's table of one statistic, with a note that its numbers are made up.

        Raises:
            UnknownNameError: If the rehearsal has no such statistic, or the language no sentences.
        """
        found = Release.table(self, statistic, language=language)
        return replace(found, notes=(mark_of(self, words=self.words(language)), *found.notes))

    def save(
        self,
        folder: str | Path,
        *,
        language: str = "en",
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Write everything but a certificate as a folder, each file marked.

        Args:
            folder: Made, or replaced when it holds a rehearsal; "rehearsal" is part of its name.
            language: Of every sentence.
            progress: Told "tables", "figures", "report", "write".

        Raises:
            ContractError: If its name does not say what it is, or it holds anything else.
            UnknownNameError: If the language has no sentences.
        """
        path = Path(folder)
        if MEMBER not in path.absolute().name:
            raise ContractError(
                f"A rehearsal is not saved as {path.name!r}, which could be a release.",
                hint=f"Name its folder {rehearsal_folder(path).name!r}.",
            )
        Release.save(self, path, language=language, progress=progress)


def rehearsal_folder(out: Path) -> Path:
    """Return where a rehearsal of what goes to a folder is saved: its name says what it is.

    Example:
        >>> rehearsal_folder(Path("june")).name, rehearsal_folder(Path("june-rehearsal")).name
        ('june-rehearsal', 'june-rehearsal')
    """
    named = out.absolute()
    return out if MEMBER in named.name else named.with_name(f"{named.name}-{MEMBER}")


def rehearsed(made: Release, *, patients: int) -> Rehearsal:
    """Return a release of made-up rows as a rehearsal, without what only a release has.

    Args:
        made: As it left the gate of a twin.
        patients: Made-up patients of the twin.
    """
    form = made.form
    bare = form.model_copy(
        update={
            "id": f"{MEMBER} of {form.data.lineage}",
            "issued": "",
            "issuer": form.issuer.model_copy(update={"key": _NOBODY}),
            "accounting": form.accounting.model_copy(
                update={"entry": 0, "charges": [], "hash": _NOBODY, "previous": _NOBODY}
            ),
            "signature": form.signature.model_copy(update={"key": _NOBODY, "value": ""}),
        }
    )
    return Rehearsal(
        noisy=made.noisy,
        estimates=made.estimates,
        certificate=_record(made, patients=patients),
        outlines=made.outlines,
        labels=made.labels,
        patients=patients,
        stated=bare,
    )


def _record(made: Release, *, patients: int) -> "Json":
    """Return what stands in the place of a certificate: of which plan, and that nothing counts."""
    plan = made.plan
    return {
        "id": f"{MEMBER} of {plan.dataset.lineage}",
        MEMBER: {
            "rows": "made-up",
            "patients": patients,
            "charged": "nothing",
            "plan": plan.digest(),
            "study": plan.study.id,
            "lineage": plan.dataset.lineage,
        },
    }
