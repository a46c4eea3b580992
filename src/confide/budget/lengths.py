"""How long what people write may be, in bytes of UTF-8; checked before a row is made.

A name stands in counters, heads and anchors as well as in its row, and is there for good.

*Privacy:* refused before anything is charged or read, whatever way the text came in.
"""

from collections.abc import Mapping
from typing import Any

from confide.budget.plan_text import require_plan
from confide.errors import InvalidParameterError
from confide.plans.canonical import SURROGATE
from confide.plans.plan import NAME_BYTES, REMARK_BYTES

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
    """Refuse a row in which a text is too long or cannot be stored, or a plan not be read again."""
    for name, value in fields.items():
        if isinstance(value, str):
            require_text(name, value)
            most = NAME_BYTES if name in _NAMES else REMARK_BYTES if name in _REMARKS else TEXT
            require_bytes(name, value, most=most)
    if "plan" in fields:
        require_plan("plan", fields["plan"])


def is_text(value: object) -> bool:
    """Return whether somebody wrote something that can be stored."""
    return isinstance(value, str) and bool(value.strip()) and not SURROGATE.search(value)


def require_text(name: str, text: str) -> None:
    """Refuse half of a character, as of bytes that a terminal could not read: no chain holds it."""
    if SURROGATE.search(text):
        raise InvalidParameterError(
            f"Expected {name} as text, got bytes that are no UTF-8: {text[:40]!r}.",
            hint="Type it anew, or set the terminal to UTF-8.",
        )


def require_reason(reason: str, *, what: str) -> None:
    """Refuse to go on without a reason to record, or with one that is too long."""
    if not reason.strip():
        raise InvalidParameterError(f"Expected a reason for {what}, got none.")
    require_short({"reason": reason})
