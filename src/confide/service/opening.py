"""Opening what a file names: a data set, a study with its data set, or a ledger alone."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from confide.budget.chained_ledger import ChainedLedger
from confide.budget.per_patient.caps import patient_caps
from confide.budget.stores.place import exists
from confide.errors import ContractError
from confide.files.dataset import DeclaredDataset, declared_by, read_dataset
from confide.files.public.private_places import WORKSPACE
from confide.files.study import DeclaredStudy, read_study
from confide.release.on_record import on_record
from confide.release.site.ledger_pin import make_keys, may_begin
from confide.release.site.rotation import signing_key
from confide.release.site.site_ledger import ANCHOR, site_ledger
from confide.service.site import Site


def initialise(folder: Path) -> Path:
    """Make the workspace folder with its keys, unless it exists; return its path."""
    inside = folder / WORKSPACE
    make_keys(inside)
    inside.chmod(0o700)
    return inside


def declared_in(
    dataset: str | Path | Mapping[str, Any], *, folder: str | Path | None
) -> DeclaredDataset:
    """Return a data set whose workspace has its keys.

    Args:
        dataset: Path of a dataset.yaml, its text, or its content as a mapping.
        folder: Where ``.confide`` is, when ``dataset`` is not a path.

    Raises:
        ContractError: If the description breaks its contract.
    """
    declared = declared_by(dataset, folder=folder)
    initialise(declared.base)
    return declared


def open_site(dataset: Path, *, spends: bool = True) -> Site:
    """Open the data set of a dataset.yaml; reads no rows.

    Args:
        dataset: A dataset.yaml.
        spends: Whether caps and policy have to be those in force, as for whatever is charged.

    Raises:
        ContractError: If the description breaks its contract.
        LedgerFrozenError: If the ledger does not match its chain or anchor.
    """
    return Site(declared_in(dataset, folder=None), spends=spends)


def study_in(path: Path, *, period: str | None) -> DeclaredStudy:
    """Return a study whose data set's workspace has its keys.

    Raises:
        ContractError: If the study or the data set breaks its contract.
    """
    study = read_study(path, period=period)
    initialise(study.declared.base)
    return study


def known_to(site: Site, study: DeclaredStudy) -> DeclaredStudy:
    """Return a study that is planned as it was released, else as fits under what is left."""
    return replace(study, declared=site.declared, record=on_record(site.ledger))


def open_study(path: Path, *, period: str | None = None) -> tuple[Site, DeclaredStudy]:
    """Open the data set that a study.yaml names, with the study; reads no rows.

    Args:
        path: The study.
        period: Which run of a study that repeats: "2026-10".

    Raises:
        ContractError: If the study or the data set breaks its contract.
        LedgerFrozenError: If the ledger does not match its chain or anchor.
    """
    study = study_in(path, period=period)
    site = Site(study.declared)
    return site, known_to(site, study)


@contextlib.contextmanager
def open_ledger(dataset: str | Path) -> Iterator[tuple[ChainedLedger, DeclaredDataset]]:
    """Open the ledger of a dataset.yaml for an officer, even if it is frozen or its caps differ.

    Raises:
        ContractError: If the description breaks its contract, or there is no ledger yet.
    """
    declared = read_dataset(Path(dataset))
    folder = declared.base / WORKSPACE
    may_be = exists(declared.ledger, folder=folder) or (declared.anchor or folder / ANCHOR).exists()
    if not may_be and (may_begin(folder) or not folder.exists()):
        raise ContractError(
            "There is no ledger yet.", hint="It is made when a study is planned or run."
        )
    ledger = site_ledger(
        folder,
        signer=signing_key(folder, place=declared.ledger),
        place=declared.ledger,
        anchor=declared.anchor,
    )
    try:
        yield ledger, declared
    finally:
        ledger.close()


@contextlib.contextmanager
def open_measured(dataset: str | Path) -> Iterator[tuple[ChainedLedger, DeclaredDataset]]:
    """Open the ledger of a dataset.yaml whose words say what its amounts mean.

    Caps that leave patients out are those in force, whatever the file of the policy says by now.

    Raises:
        MismatchError: If it has another unit, adjacency or measure than what was charged.
    """
    with open_ledger(dataset) as (ledger, declared):
        ledger.require_measured(declared.terms())
        held = patient_caps(ledger.desk.policy(declared.dataset.lineage))
        yield ledger, replace(declared, dataset=replace(declared.dataset, patients=held))
