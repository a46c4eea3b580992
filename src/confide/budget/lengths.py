"""How long what people write may be, in bytes of UTF-8; checked before a row is made.

A name stands in counters, heads and anchors as well as in its row, and is there for good.

*Privacy:* refused before anything is charged or read, whatever way the text came in.
"""

from collections.abc import Mapping
from typing import Any

from confide.errors import InvalidParameterError

NAME = 256
REMARK = 4096
TEXT = 64 * 2**20

_NAMES = frozenset(
    {"analyst", "lineage", "planned", "project", "release", "request-key", "role", "tier"}
)
_REMARKS = frozenset({"note", "reason"})


def require_bytes(name: str, text: str, *, most: int) -> None:
    """Refuse a text that is longer than ``most`` bytes."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > most:
        raise InvalidParameterError(
            f"Expected {name} of at most {most} bytes in UTF-8, got {size}: {text[:40]!r}...",
            hint="Write a shorter one; most letters outside ASCII take 2 to 4 bytes.",
        )


def require_short(fields: Mapping[str, Any]) -> None:
    """Refuse a row in which a name, a remark or any other text is too long."""
    for name, value in fields.items():
        if isinstance(value, str):
            most = NAME if name in _NAMES else REMARK if name in _REMARKS else TEXT
            require_bytes(name, value, most=most)


def require_reason(reason: str, *, what: str) -> None:
    """Refuse to go on without a reason to record, or with one that is too long."""
    if not reason.strip():
        raise InvalidParameterError(f"Expected a reason for {what}, got none.")
    require_short({"reason": reason})
