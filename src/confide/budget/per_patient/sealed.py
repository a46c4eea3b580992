"""Sealed files: columns of integers under a keyed tag, each written once, whole and durably.

::

    confide sealed 1⏎ {"kind": …, "columns": [["paid", "<u4", 3], …]}⏎ columns … tag, 32 bytes

The tag is HMAC-SHA256 of all that stands before it.  A file is written beside its place, synced,
renamed, and its folder synced: after a crash it is there as a whole or not at all.

*Privacy:* mode 0600 in a folder of mode 0700.  A tag is a keyed hash over a fresh nonce, so that
standing in the public ledger it says nothing about the file.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.errors import LedgerFrozenError
from confide.regular_file import descriptor, read_bytes, reading, sync_folder, write_all

_MAGIC = b"confide sealed 1\n"
TAG_OCTETS = 32
SealedColumns: TypeAlias = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """What a sealed file holds.

    Attributes:
        fields: Its header.
        columns: By name.
        tag: As hexadecimal digits.
    """

    fields: Mapping[str, Any]
    columns: SealedColumns
    tag: str


def write_sealed(
    path: Path, *, key: bytes, fields: Mapping[str, Any], columns: SealedColumns
) -> str:
    """Write a file that was not there before, durably; return its tag.

    Raises:
        LedgerFrozenError: If the file exists.
    """
    tag = _write_beside(path, key=key, fields=fields, columns=columns)
    if path.exists():
        raise LedgerFrozenError(f"{path.name} is there already.")
    _put_in_place(path)
    return tag


def rewrite_sealed(
    path: Path, *, key: bytes, fields: Mapping[str, Any], columns: SealedColumns
) -> None:
    """Write a file in the place of the one of before, durably; its bytes are gone."""
    _write_beside(path, key=key, fields=fields, columns=columns)
    _put_in_place(path)


def _write_beside(
    path: Path, *, key: bytes, fields: Mapping[str, Any], columns: SealedColumns
) -> str:
    named = [[name, column.dtype.str, int(column.size)] for name, column in columns.items()]
    header = json.dumps({**fields, "columns": named}, sort_keys=True).encode() + b"\n"
    parts = [memoryview(_MAGIC), memoryview(header), *map(_octets, columns.values())]
    code = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        code.update(part)
    beside = _beside(path)
    beside.unlink(missing_ok=True)
    file = descriptor(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with os.fdopen(file, "wb", buffering=0) as out:
        for part in (*parts, memoryview(code.digest())):
            write_all(out.fileno(), part)
        os.fsync(out.fileno())
    return code.hexdigest()


def _beside(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def _put_in_place(path: Path) -> None:
    _beside(path).replace(path)
    sync_folder(path.parent)


def _octets(column: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(column).view(np.uint8).data


def read_sealed(path: Path, *, key: bytes, kind: str) -> Sealed:
    """Return a file whose tag holds.

    Raises:
        LedgerFrozenError: If it is missing, was changed, or is of another kind or key.
    """
    try:
        content = read_bytes(path, largest=None)
    except OSError:
        raise changed(path) from None
    body, tag = memoryview(content)[:-TAG_OCTETS], content[-TAG_OCTETS:]
    if not hmac.compare_digest(hmac.new(key, body, hashlib.sha256).digest(), tag):
        raise changed(path)
    end = content.index(b"\n", len(_MAGIC)) + 1  # what the tag covers, we wrote
    fields = json.loads(content[len(_MAGIC) : end])
    if fields.get("kind") != kind:
        raise changed(path)
    columns, at = {}, end
    for name, dtype, size in fields.pop("columns"):
        columns[name] = np.frombuffer(content, dtype=dtype, count=size, offset=at)
        at += columns[name].nbytes
    return Sealed(fields=fields, columns=columns, tag=tag.hex())


def read_tag(path: Path) -> str:
    """Return the tag that stands at the end of a file, unchecked; "" where there is none."""
    try:
        with reading(path) as file:
            if file.seek(0, os.SEEK_END) < len(_MAGIC) + TAG_OCTETS:
                return ""
            file.seek(-TAG_OCTETS, os.SEEK_END)
            return file.read(TAG_OCTETS).hex()
    except OSError:
        return ""


def changed(path: Path) -> LedgerFrozenError:
    """Return the refusal of a file that is missing, closed or was changed; names it alone."""
    if os.access(path, os.F_OK) and not os.access(path, os.R_OK):
        return LedgerFrozenError(
            f"The patients' record {path.name} is there and may not be read.",
            hint="Give .confide, and all that is in it, back to the user who runs this. Nothing "
            "else is to be restored.",
        )
    return LedgerFrozenError(
        f"The patients' record {path.name} is missing or was changed.",
        hint="Restore .confide/patients from the backup that belongs to the ledger, "
        "and hash.key if it was replaced.",
    )
