"""What the prepared copies were made from, and whether they still are: ``manifest.json``.

Copies lie in a folder of their *generation*: a digest of the declared tables, unit, snapshot,
lineage and software, of the order key (as a keyed digest), of who withdrew consent (keyed hashes)
and of the fingerprint of every file of the source: path, device, number, size and both times, of
which nobody can set the second.  The manifest names one generation and is replaced as a whole,
last; so a run that is interrupted anywhere leaves the copies of before in use, or none, and the
next run goes on in the folder where it was.  Copies of another generation than the declared one
are not used.

*Privacy:* files are for the steward alone (0600 in a 0700 folder); the manifest holds counts of
rows.  Whether copies exist decides how fast an answer is, never what it is.
"""

import contextlib
import enum
import hashlib
import hmac
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confide.errors import ContractError
from confide.plans.canonical import encode
from confide.regular_file import descriptor, read_bytes, reading, sync_folder
from confide.rows.copies.copies import Copies, TableCopy
from confide.rows.sources.fingerprint import SourceState
from confide.tables.schema import Dataset

FORMAT = 11
MANIFEST = "manifest.json"


class Standing(enum.Enum):
    """Whether prepared copies can answer."""

    CURRENT = "prepared copies"
    OUTDATED = "the source as it is: its prepared copies are out of date, run `confide prepare`"
    UNREADABLE = "the source as it is: who connects may not read its prepared copies, GRANT SELECT"
    ABSENT = "the source as it is: `confide prepare` would make this much faster"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    """What the steward learns of one table; never part of a release.

    Attributes:
        table: Declared name.
        rows: Rows in the source.
        other_codes: Rows that are none of the table, because they have other codes.
        other_units: Rows left out, because their unit is not read, or they have none.
        without_person: Rows left out, because their person id cannot be used.
        patients: Patients with a row.
        most_rows: Most rows of one patient.
        repeated: Rows left out beyond the one a patient that the table declares.
        complete: Patients whose rows have no NULL in a declared column.
        elsewhere: Patients who have a row in another table of the source too; None where there is
            no other.
        unread_lines: Lines of CSV files that are no rows: too few or too many fields.
        unreadable_rows: Rows of CSV files that hold bytes of no text in a declared column.
    """

    table: str
    rows: int
    other_codes: int
    other_units: int
    without_person: int
    patients: int
    most_rows: int
    repeated: int
    complete: int
    elsewhere: int | None = None
    unread_lines: int = 0
    unreadable_rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The copies in use.

    Attributes:
        generation: Digest of everything they depend on.
        lineage: Of the data set; a patient keeps their index within it.
        ids: How person ids are compared.
        patients: File of the dense patient index; "" with the event as privacy unit.
        tables: Files (clustered, ranks, partial) by declared name; "" where there is none.
        texts: Files of numbered texts by declared name and, in digits, index of the column.
        sizes: Bytes of every file, or table of a database.
        stored: Fingerprints of tables of a database, by their name; none of files.
        proved: What proves the ranks of each table, for engines without an order of rows.
        facts: For the steward.
    """

    generation: str
    lineage: str
    ids: str
    patients: str
    tables: Mapping[str, tuple[str, str, str]]
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    stored: Mapping[str, str] = field(default_factory=dict)
    proved: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)
    facts: tuple[TableFacts, ...] = ()


def generation(
    dataset: Dataset, *, state: SourceState, hash_key: bytes, withdrawn: Sequence[str] = ()
) -> str:
    """Return the digest of everything that prepared copies depend on.

    Raises:
        ContractError: If the source is in memory.
    """
    if not state.files:
        raise ContractError(
            "Tables in memory cannot be prepared.",
            hint="Store them as Parquet and declare source: {kind: parquet, path: ...}.",
        )
    return generation_of(dataset, source=state.fingerprints, hash_key=hash_key, withdrawn=withdrawn)


def generation_of(
    dataset: Dataset, *, source: object, hash_key: bytes, withdrawn: Sequence[str]
) -> str:
    """Return the digest of everything that copies of a state of the source depend on.

    Args:
        dataset: Public facts.
        source: What the source is like, as JSON can hold it.
        hash_key: Secret key of the row order.
        withdrawn: Keyed hashes of persons who withdrew consent.
    """
    from confide.version import __version__

    key = hmac.new(hash_key, b"confide prepared copies", hashlib.sha256).hexdigest()
    body: dict[str, Any] = {
        "format": FORMAT,
        "version": __version__,
        "tables": [encode(table) for table in dataset.tables],
        "unit": encode(dataset.unit),
        "snapshot": dataset.snapshot,
        "lineage": dataset.lineage,
        "key": key,
        "source": source,
    }
    if withdrawn:
        body["withdrawn"] = sorted(withdrawn)
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest, or None when there is none that can be read."""
    try:
        body: dict[str, Any] = json.loads(read_bytes(folder / MANIFEST))
        if body.pop("format") != FORMAT:
            return None
        body["tables"] = {name: tuple(files) for name, files in body["tables"].items()}
        body["facts"] = tuple(TableFacts(**facts) for facts in body["facts"])
        return Manifest(**body)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Put a manifest in force, as a whole and durably."""
    body = {name: getattr(manifest, name) for name in Manifest.__slots__}
    body["facts"] = [
        {name: getattr(facts, name) for name in TableFacts.__slots__} for facts in manifest.facts
    ]
    text = json.dumps({"format": FORMAT, **body}, indent=1)
    part = folder / f"{MANIFEST}.part"
    with contextlib.suppress(FileNotFoundError):
        part.unlink()
    file = descriptor(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with os.fdopen(file, "w", encoding="utf-8") as out:
        out.write(text)
    put_in_place(part, folder / MANIFEST)


def put_in_place(part: Path, path: Path) -> None:
    """Give a finished file its name, once its bytes are on disk."""
    part.chmod(0o600)
    with reading(part) as file:
        os.fsync(file.fileno())
    part.replace(path)
    sync_folder(path.parent)


def copies_in(
    folder: Path,
    *,
    dataset: Dataset,
    state: SourceState,
    hash_key: bytes,
    withdrawn: Sequence[str] = (),
) -> tuple[Standing, Copies | None]:
    """Return whether a folder holds copies that answer for the declared source, and these."""
    manifest = read_manifest(folder) if state.files else None
    if manifest is None:
        return Standing.ABSENT, None
    made = generation(dataset, state=state, hash_key=hash_key, withdrawn=withdrawn)
    if manifest.generation != made:
        return Standing.OUTDATED, None
    inside = folder / manifest.generation
    for name, size in manifest.sizes.items():
        path = inside / name
        if not path.is_file() or path.stat().st_size != size:
            return Standing.OUTDATED, None
    return Standing.CURRENT, copies_of(manifest, folder=folder, dataset=dataset)


def copies_of(manifest: Manifest, *, folder: Path, dataset: Dataset) -> Copies:
    """Return the copies that a manifest names."""

    def path(name: str) -> Path | None:
        return (folder / manifest.generation / name).resolve() if name else None

    tables: dict[str, TableCopy] = {}
    for name, (clustered, ranks, partial) in manifest.tables.items():
        file = path(clustered)
        if file is not None:
            own = manifest.texts.get(name, {})
            texts = {int(i): text for i, each in own.items() if (text := path(each)) is not None}
            tables[name] = TableCopy(
                clustered=file, ranks=path(ranks), partial=path(partial), texts=texts
            )
    return Copies(
        dataset=dataset,
        tables=tables,
        patients=path(manifest.patients),
        proved=manifest.proved,
    )
