"""Whether a source was checked as it is: a mark in the workspace, without a word of what was found.

The mark holds a hash of what is declared and of the state of the files (path, size, times), made
when a check ended.  It is the same whatever the check found.

*Privacy:* so a refusal or remark that depends on it tells whether somebody looked at these files,
and nothing of their rows.
"""

import contextlib
import hashlib
import json
import os
from pathlib import Path

from confide.plans.canonical import encode
from confide.regular_file import descriptor, read_bytes
from confide.rows.copies.manifest import put_in_place
from confide.rows.sources.fingerprint import SourceState
from confide.tables.schema import Dataset

CHECKED = "checked"


def was_checked(folder: Path, *, dataset: Dataset, state: SourceState) -> bool:
    """Return whether a check of these files, declared like this, ended in this workspace."""
    if not state.files:
        return True  # in memory there is nothing to come back to
    with contextlib.suppress(OSError):
        return read_bytes(folder / CHECKED).strip() == _hash(dataset, state=state).encode()
    return False


def mark_checked(folder: Path, *, dataset: Dataset, state: SourceState) -> None:
    """Put down that a check of these files ended, as a whole and durably."""
    part = folder / f"{CHECKED}.part"
    with contextlib.suppress(FileNotFoundError):
        part.unlink()
    file = descriptor(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with os.fdopen(file, "w", encoding="ascii") as out:
        out.write(_hash(dataset, state=state) + "\n")
    put_in_place(part, folder / CHECKED)


def _hash(dataset: Dataset, *, state: SourceState) -> str:
    body = [encode(dataset.tables), encode(dataset.unit), state.fingerprints]
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
