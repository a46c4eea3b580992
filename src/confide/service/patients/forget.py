"""Forget: take out persons who withdrew consent, for good, and make copies anew without them."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from confide.errors import ContractError
from confide.release.consent import Lost
from confide.service.dump import ASIDE
from confide.service.ledger.officers import officers_of
from confide.service.opening import open_site
from confide.service.patients.withdraw import withdraw
from confide.service.preparing.prepare import preparation

Stages: TypeAlias = Callable[[], AbstractContextManager[Callable[[str], None]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Persons who were taken out.

    Attributes:
        patients: How many, whether or not the data hold them.
        copies_made_anew: Whether copies were there, and are made without them.
        ledger_row: That says that it was done, and not who.
        budgets_of_a_lost_key: Data sets whose budgets are kept under a key that is lost.
        incidents: Whether a log of failures may still hold values of theirs.
    """

    patients: int
    copies_made_anew: bool
    ledger_row: int
    budgets_of_a_lost_key: int
    incidents: Annotated[bool, ASIDE]


def forget(
    dataset: Path,
    ids: Callable[[], Iterable[str]],
    *,
    lost: str = "",
    officers: Sequence[Path] | None = None,
    ending: Callable[[int], None] = lambda _: None,
    stages: Stages,
) -> Taken:
    """Take persons who withdrew consent out of copies, records and every later release, for good.

    Args:
        dataset: A dataset.yaml.
        ids: Reads person ids as the source has them, once the officers' keys are read.
        lost: Why these are all who ever withdrew; empty if lists of before hold.
        officers: Keys of those who say so.
        ending: Told how many lists of before end, before they do.
        stages: Entered while copies are made anew.

    Raises:
        ContractError: If one cannot be a person id; nothing was done.
    """
    by, given = officers_of(officers), ids()
    with open_site(dataset, spends=False) as site:
        why = Lost(reason=lost, officers=by) if lost else None
        if why is not None:
            ending(len(site.ledger.desk.consent.withdrawals()))
        done = withdraw(site, given, lost=why)
        incidents = (site.folder / "incidents.log").exists()
    if done.copies:
        _copy_anew(dataset, row=done.row, stages=stages)
    return Taken(
        patients=done.patients,
        copies_made_anew=done.copies,
        ledger_row=done.row,
        budgets_of_a_lost_key=done.lost,
        incidents=incidents,
    )


def _copy_anew(dataset: Path, *, row: int, stages: Stages) -> None:
    """Make copies without who withdrew consent.

    Raises:
        ContractError: If they cannot be made, as by a role that may not write them: says what is
            done all the same.
    """
    try:
        with stages() as progress:
            preparation(dataset).prepare(progress=progress)
    except ContractError as error:
        raise ContractError(
            f"Done: row {row} of the ledger, and no later release counts them. Not done: copies "
            f"without them. {error}",
            hint="`confide prepare`, or `--drop`, takes out what is left; until then nobody reads "
            "the copies.",
        ) from None
