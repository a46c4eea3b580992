"""The text of a plan as a row holds it: canonical JSON, nested so deep and no deeper.

What a text says is read the same by every process, however deep in calls it is when it reads it,
and whatever its limits are: a row that one could write and another could not read would leave a
ledger that nobody can open.  One object has one text, so no name stands twice with two values.

*Privacy:* refused before anything is charged or recorded.
"""

import functools
import json
import re

from confide.errors import InvalidParameterError
from confide.plans.canonical import Json, canonical_bytes

DEEPEST = 100
"""Lists and objects inside one another; plans have about a dozen."""

_DIGITS = 600  # of one number; every setting of Python reads 640
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[][{}]|[0-9]+', re.DOTALL)
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}


def require_plain(name: str, text: str) -> None:
    """Refuse a text that is nested too deep, or holds a number that is too long, to be read again.

    Raises:
        InvalidParameterError: If it is.
    """
    if not _is_plain(text):
        raise InvalidParameterError(
            f"Expected {name} nested at most {DEEPEST} deep, with numbers of at most {_DIGITS} "
            "digits."
        )


def require_plan(name: str, text: str) -> None:
    """Refuse anything but the canonical text of an object.

    Raises:
        InvalidParameterError: If it is something else.

    Example:
        >>> require_plan("plan_json", '{"study":{"id":"ages"}}')
    """
    require_plain(name, text)
    try:
        value = json.loads(text)
        is_canonical = isinstance(value, dict) and canonical_bytes(value) == text.encode()
    except ValueError:  # rfc8785 refuses numbers that readers would round
        is_canonical = False
    if not is_canonical:
        raise InvalidParameterError(
            f"Expected {name} as the canonical JSON of a plan (RFC 8785), got another text.",
            hint="Make it with the plan's own to_json and canonical_bytes.",
        )


@functools.lru_cache(maxsize=4)  # a row of a release asks several times, and the next one again
def plan_in(text: str) -> Json:
    """Return what a recorded plan says; None where it is no JSON, or nested too deep.

    Nobody may change what is returned.

    Example:
        >>> plan_in('{"a":1}'), plan_in("[" * 500 + "]" * 500)
        ({'a': 1}, None)
    """
    try:
        return json.loads(text) if _is_plain(text) else None
    except ValueError:
        return None


def _is_plain(text: str) -> bool:
    is_shallow = text.count("[") + text.count("{") <= DEEPEST
    if is_shallow and not any(map(str.isdigit, text[::_DIGITS])):  # longer numbers have one there
        return True
    depth = 0
    for token in _TOKEN.findall(text):
        depth += _STEP.get(token, 0)
        if depth > DEEPEST or (token[0].isdigit() and len(token) > _DIGITS):
            return False
    return True
