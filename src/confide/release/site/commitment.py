"""A hiding commitment to the snapshot that was read: the steward can open it, nobody else.

The value is SHA-256(nonce ‖ d), where d is the SHA-256 of the snapshot's files and the nonce is 32
fresh bytes of the operating system.  It *binds*: finding other files with the same value means a
collision of SHA-256.  It *hides*: without the nonce the value is as good as random.

*Privacy:* a bare digest of the data would confirm a guess of all rows but one, and equal digests
would tell that nobody's record changed between two releases.  A fresh nonce each time prevents
both; so a nonce is never used for two releases, and nonce and digest stay in the steward's folder
(0600), never in the ledger, in a certificate or in a message.

*Utility:* a file is digested once as long as its fingerprint (path, device, number, size and times)
stays the same; in a thread of its own while the rows are read.

References:
    [HM96] Halevi, Micali. Practical and provably-secure commitment schemes from collision-free
        hashing. CRYPTO 1996. https://doi.org/10.1007/3-540-68697-5_16
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from confide.errors import ContractError
from confide.plans.canonical import canonical_bytes
from confide.regular_file import (
    descriptor,
    read_bytes,
    reading,
    replace_durable,
    require_regular,
    write_all,
)
from confide.rows.sources.fingerprint import SourceState

SCHEME = "SHA-256(32-byte nonce ‖ SHA-256 of the snapshot)"
OPENINGS, DIGESTS = "commitments.jsonl", "snapshots.json"
NONCE = 32
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Opening:
    """What the steward keeps; it prints as the entry alone.

    Attributes:
        entry: Hash of the ledger's entry.
        nonce: 32 secret bytes.
        snapshot: SHA-256 of the files, 32 bytes.
    """

    entry: str
    nonce: bytes
    snapshot: bytes

    def value(self) -> str:
        """Return the commitment, 64 hexadecimal digits."""
        return hashlib.sha256(self.nonce + self.snapshot).hexdigest()

    def __repr__(self) -> str:
        return f"Opening(entry={self.entry[:16]!r})"


def require_place(folder: Path) -> None:
    """Refuse a folder in which a commitment could not be kept, before anything is charged.

    Raises:
        NotAFileError: If something else stands in the place of one of the two files.
    """
    for name in (OPENINGS, DIGESTS):
        with contextlib.suppress(FileNotFoundError):
            require_regular(folder / name)


def snapshot_digest(state: SourceState, *, folder: Path) -> bytes | None:
    """Return the SHA-256 of a snapshot's files; None if there are none or they are others by now.

    Args:
        state: Of the source's files, when somebody opened them.
        folder: The steward's, where digests of files are kept.
    """
    if not state.fingerprints or not state.holds():
        return None
    known = _known(folder)
    fresh = {}
    for path, *of in state.fingerprints:
        held = known.get(path, [])
        fresh[path] = held if held[:-1] == of else [*of, _digest(Path(path))]
    if not state.holds():
        return None
    if any(known.get(path) != each for path, each in fresh.items()):
        replace_durable(folder / DIGESTS, json.dumps(known | fresh).encode())
    named = [[Path(path).name, each[-1]] for path, each in sorted(fresh.items())]
    return hashlib.sha256(canonical_bytes(named)).digest()


def _digest(path: Path) -> str:
    with reading(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _known(folder: Path) -> dict[str, list[int | str]]:
    with contextlib.suppress(OSError, ValueError, RecursionError):
        held = json.loads(read_bytes(folder / DIGESTS))
        if isinstance(held, dict):
            return {path: each for path, each in held.items() if _is_known(each)}
    return {}


def _is_known(each: object) -> bool:
    """Return whether it is what was kept of a file: its fingerprint, and its digest at the end."""
    return (
        isinstance(each, list)
        and bool(each)
        and all(isinstance(part, int | str) for part in each)
        and isinstance(each[-1], str)
        and _SHA256.fullmatch(each[-1]) is not None
    )


def commit(folder: Path, *, entry: str, snapshot: bytes) -> Opening:
    """Draw a nonce for a release and keep it, on disk before this returns.

    Raises:
        ContractError: If that entry has one: a second value for one release would say nothing.
    """
    if opening_of(folder, entry=entry) is not None:
        raise ContractError("This release is committed to already.")
    opening = Opening(entry=entry, nonce=os.urandom(NONCE), snapshot=snapshot)
    line = {
        "entry": entry,
        "nonce": opening.nonce.hex(),
        "snapshot-sha256": snapshot.hex(),
        "value": opening.value(),
    }
    _append(folder, b"\n" + json.dumps(line).encode() + b"\n")  # after a torn line, if any
    return opening


def opening_of(folder: Path, *, entry: str) -> Opening | None:
    """Return what is kept for an entry; None if it was never committed to."""
    for line in _lines(folder):
        with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
            held: Mapping[str, str] = json.loads(line)
            if held["entry"] == entry:
                return Opening(
                    entry=entry,
                    nonce=bytes.fromhex(held["nonce"]),
                    snapshot=bytes.fromhex(held["snapshot-sha256"]),
                )
    return None


def saved(folder: Path) -> dict[str, bytes]:
    """Return what a backup keeps, by name: without the nonces no commitment can be opened again."""
    return {
        name: read_bytes(folder / name, largest=None)
        for name in (OPENINGS, DIGESTS)
        if (folder / name).exists()
    }


def put_back(folder: Path, files: Mapping[str, bytes]) -> int:
    """Put back what a backup kept; an opening that is there stays as it is.

    Returns:
        How many openings, and files of digests, were missing.
    """
    known = {line for line in _lines(folder) if line.strip()}
    missing = [
        line for line in files.get(OPENINGS, b"").splitlines() if line.strip() and line not in known
    ]
    if missing:
        _append(folder, b"".join(b"\n" + line + b"\n" for line in missing))
    lacks = DIGESTS in files and not (folder / DIGESTS).exists()
    if lacks:
        replace_durable(folder / DIGESTS, files[DIGESTS])
    return len(missing) + lacks


def _lines(folder: Path) -> list[bytes]:
    try:
        return read_bytes(folder / OPENINGS, largest=None).splitlines()
    except FileNotFoundError:
        return []


def _append(folder: Path, lines: bytes) -> None:
    """Add lines, on disk before this returns."""
    file = descriptor(folder / OPENINGS, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        write_all(file, lines)
        os.fsync(file)
    finally:
        os.close(file)
