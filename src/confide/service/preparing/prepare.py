"""Prepare: copies of a source that make every later answer one cheap pass; for the steward.

*Privacy:* what is counted here is exact; no release, plan or policy sees it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from confide.errors import ContractError
from confide.files.dataset import read_dataset
from confide.release.consent import order_key, who_withdrew
from confide.service.dump import ASIDE
from confide.service.opening import initialise

if TYPE_CHECKING:
    from confide.rows.copies.manifest import TableFacts
    from confide.rows.prepared.build import Preparation
    from confide.rows.prepared.database import DatabasePreparation


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCounts:
    """Exact counts of a table, for the steward alone; None where they were not asked.

    Attributes:
        table: Which.
        unread_lines: Lines of too few or too many fields.
        rows: That can be counted.
        unreadable_rows: With text that is not in the declared encoding.
        other_codes: With codes that are not declared.
        other_units: With units that are not declared.
        without_person: Without a person id.
        patients: With a row.
        most_rows: Of a patient.
        repeated: Rows that are there twice.
        complete_patients: Without a missing value.
        patients_elsewhere: With a row in another table.
    """

    table: str
    unread_lines: int | None
    rows: int | None
    unreadable_rows: int | None
    other_codes: int | None
    other_units: int | None
    without_person: int | None
    patients: int | None
    most_rows: int | None
    repeated: int | None
    complete_patients: int | None
    patients_elsewhere: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Copies of a source.

    Attributes:
        tables: What was counted on the way.
        bytes: Size of the copies.
        unread: Declared tables that no study can read, and why.
        strangers: Tables of which no patient has a row in any other.
    """

    tables: tuple[TableCounts, ...]
    bytes: int
    unread: Mapping[str, str]
    strangers: Annotated[tuple[str, ...], ASIDE]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Copies and their source, side by side.

    Attributes:
        same: Whether they give the same integers.
        differing: Tables that do not.
        unread: Declared tables that no study can read, and why.
    """

    same: bool
    differing: tuple[str, ...]
    unread: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """Copies that are no more.

    Attributes:
        were_in_use: Whether there were any.
    """

    were_in_use: bool


def prepare(
    work: "Preparation | DatabasePreparation", *, progress: Callable[[str], None]
) -> Prepared:
    """Write the prepared copies of a source; spends nothing.

    Args:
        work: By :func:`preparation`, which says how much room it takes.
        progress: Told the name of each table.

    Raises:
        ContractError: If the source changes meanwhile, or lacks what is declared.
    """
    manifest = work.prepare(progress=progress)
    return Prepared(
        tables=tuple(_counts(each) for each in manifest.facts),
        bytes=sum(manifest.sizes.values()),
        unread=dict(work.problems()),
        strangers=tuple(strangers(manifest.facts)),
    )


def check_copies(work: "Preparation | DatabasePreparation") -> Compared:
    """Compare the copies of a source with it, integer by integer."""
    differing = tuple(work.differing())
    return Compared(same=not differing, differing=differing, unread=dict(work.problems()))


def drop_copies(work: "Preparation | DatabasePreparation") -> Dropped:
    """Delete the prepared copies of a source; spends nothing.

    Raises:
        ContractError: If copies are being written, or who connects may not drop them.
    """
    return Dropped(were_in_use=work.drop())


def preparation(dataset: str | Path, *, role: str = "") -> "Preparation | DatabasePreparation":
    """Return the preparation of the source of a dataset.yaml, for the steward; reads no rows.

    Args:
        dataset: Its path.
        role: Who connects to a PostgreSQL database, in place of whom its URL or PGUSER names.

    Raises:
        ContractError: If the description breaks its contract.
    """
    from confide.rows.copies.copies import PREPARED
    from confide.rows.prepared.build import Preparation

    declared = read_dataset(Path(dataset))
    inside = initialise(declared.base)
    withdrawn = who_withdrew(inside, ledger=None)
    if declared.source.in_postgres:
        from confide.rows.prepared.database import DatabasePreparation

        return DatabasePreparation(
            source=declared.source,
            dataset=declared.dataset,
            hash_key=order_key(inside, under=withdrawn.key),
            folder=inside / PREPARED,
            withdrawn=withdrawn.hashes,
            role=role,
        )
    if role:
        raise ContractError(
            "--role: only a PostgreSQL database is connected to.",
            hint="Leave it out: files are read and written by who runs this.",
        )
    return Preparation(
        source=declared.source,
        base=declared.base,
        dataset=declared.dataset,
        hash_key=order_key(inside, under=withdrawn.key),
        folder=inside / PREPARED,
        threads=declared.threads,
        memory_limit=declared.memory_limit,
        withdrawn=withdrawn.hashes,
    )


def strangers(facts: "Sequence[TableFacts]") -> list[str]:
    """Return the tables of which no patient has a row in any other, where others have patients."""
    peopled = [each for each in facts if each.patients]
    return [each.table for each in peopled if len(peopled) > 1 and each.elsewhere == 0]


def _counts(each: "TableFacts") -> TableCounts:
    return TableCounts(
        table=each.table,
        unread_lines=each.unread_lines,
        rows=each.rows,
        unreadable_rows=each.unreadable_rows,
        other_codes=each.other_codes,
        other_units=each.other_units,
        without_person=each.without_person,
        patients=each.patients,
        most_rows=each.most_rows,
        repeated=each.repeated,
        complete_patients=each.complete,
        patients_elsewhere=each.elsewhere,
    )
