"""Statement: what one patient was charged, for the patient and the officer alone.

*Privacy:* exact, so it is for nobody else.  That somebody looked, and why, is recorded in the
ledger first, with the keyed hash of the person id in place of the id.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from confide.budget.ledger import Entry
from confide.errors import ContractError
from confide.privacy.amount import NANO, decimal_text
from confide.privacy.individual import FEMTO, CapWindow, PatientCap, enforced
from confide.privacy.measure import LedgerMeasure, Mixed, letter_of_patients
from confide.release.approval import login
from confide.release.consent import require_not_withdrawn
from confide.service.dump import ASIDE
from confide.service.ledger.officers import officers_of
from confide.service.opening import open_site
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientCharge:
    """What one release charged the patient.

    Attributes:
        entry: Of the ledger.
        at: When.
        study: Its id.
        state: How it ended.
        left_out: Whether the patient was.
        charged: In ε or ρ, as text; of a mixed ledger in ε(a), at the order of patients.
    """

    entry: int
    at: str
    study: str
    state: str
    left_out: bool
    charged: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What one patient was charged.

    Attributes:
        measure: In which losses add.
        caps: Of each patient.
        charges: By release.
        charged_by_lost_rows: What everybody counts as charged for rows that were lost.
        letter: ε, ρ or ε(a).
    """

    measure: str
    caps: tuple[str, ...]
    charges: tuple[PatientCharge, ...]
    charged_by_lost_rows: str
    letter: Annotated[str, ASIDE]


def statement(
    dataset: Path,
    ids: Callable[[], Sequence[str]],
    *,
    reason: str,
    officers: Sequence[Path] | None = None,
) -> Statement:
    """Return what one patient was charged by each release; the look is recorded first.

    Args:
        dataset: A dataset.yaml.
        ids: Reads the id of one patient, once the officers' keys are read.
        reason: Why; it is recorded for good.
        officers: Keys of those who look.

    Raises:
        ContractError: If it is not the id of one patient, or patients are not left out.
    """
    by, given = officers_of(officers), ids()
    if len(given) != 1:
        raise ContractError("Expected the id of one patient.", hint="Write it on the only line.")
    with open_site(dataset) as site:
        of = site.declared.dataset
        if not of.patients:
            raise ContractError(
                "This data set leaves no patients out, so every charge is everybody's.",
                hint="See: confide ledger show",
            )
        identity = site.engine().identity(given[0])
        if identity is None:
            raise ContractError("That cannot be a person id of this source.")
        site.ledger.desk.note_access(
            of.lineage,
            patient="".join(f"{word:016x}" for word in identity),
            officer=login(),
            reason=reason,
            officers=by,
        )
        require_not_withdrawn(site.folder, ledger=site.ledger, words=identity)
        told = site.patients().statement(site.ledger, identity=identity)
        lost = site.ledger.counting_now(of.lineage, window=CapWindow.LIFETIME.value).lost
        measure = site.ledger.counted_in(of.lineage)
    letter = letter_of_patients(measure)
    return Statement(
        measure=measure.value,
        caps=tuple(_cap(cap, dataset=of, measure=measure) for cap in of.patients),
        charges=tuple(_charge(entry, paid=paid) for entry, paid in told),
        charged_by_lost_rows=_lost(lost, measure=measure),
        letter=letter,
    )


def _cap(cap: PatientCap, *, dataset: Dataset, measure: LedgerMeasure) -> str:
    limit = f"{decimal_text(cap.nano, per_one=NANO)} {measure.letter}"
    if isinstance(measure, Mixed):
        bound = enforced(cap, adjacency=dataset.adjacency, measure=measure)
        letter = letter_of_patients(measure)
        limit += f", which is {decimal_text(bound, per_one=FEMTO)} {letter},"
    return f"{limit} by {cap.window.value}"


def _lost(units: int, *, measure: LedgerMeasure) -> str:
    """Return what rows that are lost charged; "all" in a mixed ledger, where it may be anything."""
    if isinstance(measure, Mixed) and units:
        return "all"
    return decimal_text(units, per_one=NANO)


def _charge(entry: Entry, *, paid: int | None) -> PatientCharge:
    return PatientCharge(
        entry=entry.number,
        at=entry.at,
        study=entry.study,
        state=entry.state.value,
        left_out=paid is None,
        charged=decimal_text(paid or 0, per_one=FEMTO),
    )
