"""Check: what is wrong with a source, counted exactly, before anything is charged; for the steward.

*Privacy:* what is counted here is exact; no release, plan, ledger or policy sees it.  The workspace
keeps that a check ended, never what it found.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from confide.files.dataset import DeclaredDataset, read_dataset
from confide.files.public.private_places import WORKSPACE
from confide.release.consent import order_key, who_withdrew
from confide.release.site.snapshot import source_state
from confide.service.opening import initialise

if TYPE_CHECKING:
    from confide.rows.checked.findings import CheckedTable, Finding

STEWARD_ONLY = "exact counts, for the steward alone: no part of a release"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was found in a source.

    Attributes:
        secret: What may be done with it.
        clean: Whether nothing was found.
        tables: Counts, table by table.
        findings: What is wrong, in the order of tables and columns.
    """

    secret: str
    clean: bool
    tables: "tuple[CheckedTable, ...]"
    findings: "tuple[Finding, ...]"


def check(dataset: str | Path, *, progress: Callable[[str], None] = lambda _: None) -> Checked:
    """Read a source and say what is wrong with it; spends nothing, stores nothing of it.

    Args:
        dataset: Path of a dataset.yaml.
        progress: Told the name of each table.

    Raises:
        ContractError: If the description breaks its contract, or nothing is where it says.
    """
    from confide.rows.checked.check_source import SourceCheck
    from confide.rows.copies.was_checked import mark_checked

    declared = read_dataset(Path(dataset))
    inside = initialise(declared.base)
    withdrawn = who_withdrew(inside, ledger=None)
    work = SourceCheck(
        source=declared.source,
        base=declared.base,
        dataset=declared.dataset,
        hash_key=order_key(inside, under=withdrawn.key),
        threads=declared.threads,
        memory_limit=declared.memory_limit,
        withdrawn=withdrawn.hashes,
    )
    state = source_state(declared.source, base=declared.base, dataset=declared.dataset)
    found = work.checked(progress=progress)
    same = source_state(declared.source, base=declared.base, dataset=declared.dataset) == state
    if same and not declared.source.in_postgres:  # a database may change unseen
        mark_checked(inside, dataset=declared.dataset, state=state)
    return Checked(
        secret=STEWARD_ONLY,
        clean=not found.findings,
        tables=found.tables,
        findings=found.findings,
    )


def is_checked(declared: DeclaredDataset) -> bool:
    """Return whether the source was checked as it is and is declared now; reads no rows."""
    from confide.rows.copies.was_checked import was_checked

    state = source_state(declared.source, base=declared.base, dataset=declared.dataset)
    return was_checked(declared.base / WORKSPACE, dataset=declared.dataset, state=state)
