"""What ``confide audit --json`` prints, and how documents that tell of it read it back."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confide.errors import ContractError
from confide.regular_file import read_bytes, write_text
from confide.report.legal.audited import AuditResults

SCHEMA = "confide.audit/1"
_LAYERS = ("L1", "L2", "L3", "L4", "L5", "L6")


def write_audit(body: Mapping[str, Any], path: Path) -> None:
    """Write the results of an audit, without the schema, to a file."""
    text = json.dumps({"schema": SCHEMA, **body}, ensure_ascii=False, indent=2)
    write_text(path, text + "\n")


def read_audit(path: Path) -> AuditResults:
    """Return the results in a file.

    Raises:
        ContractError: If it is not what ``confide audit --json`` prints.
    """
    try:
        body = json.loads(read_bytes(path))
        checks = [(str(each["layer"]), str(each["name"]), each["holds"]) for each in body["checks"]]
        schema, quick, holds = body["schema"], body["quick"], body["holds"]
    except (OSError, ValueError, KeyError, TypeError):
        raise ContractError(
            f"{path.name} holds no audit results.", hint="Run: confide audit --json > audit.json"
        ) from None
    layers = Counter(layer for layer, _, _ in checks)
    sound = all(isinstance(flag, bool) for flag in (quick, holds, *(ok for _, _, ok in checks)))
    if schema != SCHEMA or not checks or not sound or set(layers) - set(_LAYERS):
        raise ContractError(f"{path.name} holds no audit results of this version.")
    failed = tuple(name for _, name, ok in checks if not ok)
    if holds != (not failed):
        raise ContractError(f"{path.name} contradicts itself: its checks and its sum differ.")
    return AuditResults(
        file=path.name,
        quick=quick,
        holds=holds,
        checks=tuple((layer, layers[layer]) for layer in _LAYERS if layers[layer]),
        failed=failed,
    )
