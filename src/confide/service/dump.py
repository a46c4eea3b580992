"""A result as JSON: the names of its fields with hyphens, in their order.

Results are frozen dataclasses whose texts, numbers and lists are what is published; exact amounts
are texts already, so nothing is rounded here.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final


class How(Enum):
    """How a field that is annotated with it is written."""

    OMITTED = "left out where it is None"
    SPREAD = "its own fields stand in its place"
    ASIDE = "for people, and not in JSON"


OMITTED: Final = How.OMITTED
SPREAD: Final = How.SPREAD
ASIDE: Final = How.ASIDE


def dump(value: object) -> Any:
    """Return what :func:`json.dumps` takes; keys of mappings stay as they are.

    Raises:
        TypeError: If a value is of a kind that has no form in JSON.

    Example:
        >>> from dataclasses import dataclass
        >>> from typing import Annotated
        >>> @dataclass(frozen=True, slots=True, kw_only=True)
        ... class Charged:
        ...     study: Path
        ...     ledger_rows: tuple[int, ...]
        ...     epsilon: Annotated[str | None, OMITTED] = None
        >>> dump(Charged(study=Path("study.yaml"), ledger_rows=(3, 4)))
        {'study': 'study.yaml', 'ledger-rows': [3, 4]}
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Enum():
            return value.value
        case Path():
            return str(value)
        case Mapping():
            return {str(key): dump(inner) for key, inner in value.items()}
        case list() | tuple():
            return [dump(inner) for inner in value]
        case _ if is_dataclass(value) and not isinstance(value, type):
            return _fields(value)
        case _:
            raise TypeError(f"Expected a result, got a {type(value).__name__}.")


def _fields(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in fields(result):
        value = getattr(result, each.name)
        match next(iter(getattr(each.type, "__metadata__", ())), None):
            case How.ASIDE:
                pass
            case How.OMITTED if value is None:
                pass
            case How.SPREAD:
                found |= dump(value)
            case _:
                found[each.name.replace("_", "-")] = dump(value)
    return found
