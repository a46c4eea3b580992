"""Doctor: what a question about an installation needs, and nothing of the data."""

import os
import platform
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from confide.budget.stores.place import SQLitePlace
from confide.errors import ConfideError
from confide.files.public.private_places import WORKSPACE
from confide.release.certificate.software import software
from confide.release.site.incidents import incidents, older
from confide.service.opening import open_ledger

LAST = 5
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What runs.

    Attributes:
        confide: Its version.
        source_sha256: Digest of its source.
        python: Version of the interpreter.
        platform: Of the machine.
        libraries: Versions by name.
    """

    confide: str
    source_sha256: str
    python: str
    platform: str
    libraries: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A workspace, of which no row was read.

    Attributes:
        ledger: Its kind; "" if it cannot be opened.
        state: How it is, in a sentence.
        open_to_others: What others may read or write.
        writable: Whether this user may write.
    """

    ledger: str
    state: str
    open_to_others: tuple[str, ...]
    writable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PastFailure:
    """A failure on record, without what it said.

    Attributes:
        at: When.
        incident: Its random id.
        kinds: Of errors.
        places: Lines of programs.
    """

    at: str
    incident: str
    kinds: tuple[str, ...]
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What a question about an installation needs.

    Attributes:
        software: What runs.
        workspace: What is known of it; None where there is no dataset.yaml.
        incidents: The last failures.
    """

    software: Installed
    workspace: Seen | None
    incidents: tuple[PastFailure, ...]


def diagnose(dataset: Path, *, logs: Sequence[Path]) -> Diagnosis:
    """Return versions, who may read the workspace, the ledger's state, and past failures.

    Args:
        dataset: A dataset.yaml, which need not be there.
        logs: Of failures, beside that of the workspace.
    """
    seen = _seen(dataset) if dataset.exists() else None
    beside = () if seen is None else (dataset.parent / WORKSPACE / "incidents.log",)
    failures = [
        each for log in (*logs, *beside) for name in (older(log), log) for each in incidents(name)
    ]
    return Diagnosis(
        software=_installed(),
        workspace=seen,
        incidents=tuple(
            PastFailure(
                at=each.at,
                incident=each.incident,
                kinds=tuple(each.kinds),
                places=tuple(each.places),
            )
            for each in sorted(failures, key=lambda each: each.at)[-LAST:]
        ),
    )


def _installed() -> Installed:
    found = software()
    return Installed(
        confide=found.version,
        source_sha256=found.source_sha256,
        python=found.python,
        platform=platform.platform(),
        libraries=found.libraries,
    )


def _seen(dataset: Path) -> Seen:
    """Return what is known of a workspace without reading a row."""
    folder = dataset.parent / WORKSPACE
    kind, state = _ledger(dataset)
    return Seen(
        ledger=kind,
        state=state,
        open_to_others=tuple(sorted(_open_to_others(folder))),
        writable=os.access(folder if folder.exists() else dataset.parent, os.W_OK),
    )


def _ledger(dataset: Path) -> tuple[str, str]:
    """Return the kind of a ledger and how it is, in a sentence."""
    try:
        with open_ledger(dataset) as (held, declared):
            rows = held.head().number
            kind = "SQLite" if isinstance(declared.ledger, SQLitePlace) else "PostgreSQL"
            return kind, f"whole as far as was looked at, {rows} rows"
    except ConfideError as error:
        return "", str(error).removesuffix(error.hint).strip()


def _open_to_others(folder: Path) -> Iterator[str]:
    """Yield what others may read or write of a workspace; nothing of a folder they cannot enter."""
    if not folder.exists() or not folder.stat().st_mode & _OTHERS:
        return
    for place in (folder, *folder.rglob("*")):
        if not place.is_symlink() and place.lstat().st_mode & _OTHERS:
            yield str(place.relative_to(folder.parent))
