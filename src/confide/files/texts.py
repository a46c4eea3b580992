"""Types of single values in files: exact numbers, dates, words; and errors that name the place."""

import contextlib
import datetime as dt
import difflib
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails

from confide.errors import ContractError, in_file
from confide.plans.canonical import require_whole
from confide.statistics.section import exact

MOST_DIGITS = 6
"""Decimals that a number is shown with at most."""


def _positive(value: object) -> Fraction:
    number = exact(value)
    if number <= 0:
        raise ValueError("expected a number > 0")
    return number


def _level(value: object) -> Fraction:
    number = exact(value)
    if not 0 < number < 1:
        raise ValueError("expected a level between 0 and 1, such as 0.95")
    return number


def _whole(value: object) -> int:
    number = exact(value)
    if number.denominator != 1:
        raise ValueError("expected a whole number")
    return int(number)


def _count(value: object) -> int:
    number = _whole(value)
    if number < 1:
        raise ValueError("expected a whole number ≥ 1")
    return number


def _digits(value: object) -> int:
    number = _whole(value)
    if not 0 <= number <= MOST_DIGITS:
        raise ValueError(f"expected a number of decimals from 0 to {MOST_DIGITS}")
    return number


def _date(value: object) -> dt.date:
    if isinstance(value, dt.date):
        return value
    try:
        return dt.date.fromisoformat(str(value))
    except ValueError:
        raise ValueError("expected a date such as 2026-01-31") from None


def _bound(value: object) -> Fraction | dt.date:
    """Return a number or a date; a text that is neither is told of both."""
    if isinstance(value, dt.date):
        return value
    try:
        return exact(value)
    except ValueError:
        if not isinstance(value, str):
            raise
    try:
        return _date(value)
    except ValueError:
        kinds = "a date such as 2025-01-31, or a number such as 0.5 or 1e-6"
        raise ValueError(f"expected {kinds}, got {value[:40]!r}") from None


def _quantity(value: object) -> str:
    """Return the text of a number with or without its unit."""
    return value if isinstance(value, str) else str(exact(value))


_NUMBER_SCHEMA = {"type": ["string", "number"], "description": "An exact number: 0.5, 1e-6, 1/3."}

Exact = Annotated[Fraction, BeforeValidator(exact), WithJsonSchema(_NUMBER_SCHEMA)]
Positive = Annotated[Fraction, BeforeValidator(_positive), WithJsonSchema(_NUMBER_SCHEMA)]
Level = Annotated[Fraction, BeforeValidator(_level), WithJsonSchema(_NUMBER_SCHEMA)]
Whole = Annotated[int, BeforeValidator(_whole), WithJsonSchema({"type": ["integer", "string"]})]
Counting = Annotated[
    int, BeforeValidator(_count), WithJsonSchema({"type": ["integer", "string"], "minimum": 1})
]
Digits = Annotated[
    int,
    BeforeValidator(_digits),
    WithJsonSchema({"type": ["integer", "string"], "minimum": 0, "maximum": MOST_DIGITS}),
]
Quantity = Annotated[
    str,
    BeforeValidator(_quantity),
    WithJsonSchema(
        {"type": ["string", "number"], "description": 'A number, with its unit or %: 10, "2 %".'}
    ),
]
Bound = Annotated[
    Fraction | dt.date,
    BeforeValidator(_bound),
    WithJsonSchema({"anyOf": [_NUMBER_SCHEMA, {"type": "string", "format": "date"}]}),
]
Day = Annotated[
    dt.date, BeforeValidator(_date), WithJsonSchema({"type": "string", "format": "date"})
]


def _kebab(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


class Section(BaseModel):
    """A mapping of a file: unknown keys are refused, names are written with hyphens."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=_kebab,
        populate_by_name=False,
        arbitrary_types_allowed=True,
    )
    instead: ClassVar[Mapping[str, str]] = {}
    """What to write in place of keys that people look for here and that it does not have."""

    def unread(self, *fields: str) -> list[str]:
        """Return the keys that say something and are none of ``fields``, as they are written."""
        return [
            each.alias or _kebab(name)
            for name, each in type(self).model_fields.items()
            if name not in fields
            and getattr(self, name) != each.get_default(call_default_factory=True)
        ]


S = TypeVar("S", bound=Section)


def read_section(model: type[S], value: object, *, name: str) -> S:
    """Return the section, or refuse it, saying where it is wrong and what is allowed there.

    Raises:
        ContractError: With the place of the first mistake.
    """
    with in_file(name), contextlib.suppress(RecursionError):  # of which the model says more
        _require_whole(value)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _contract_error(error, model=model, value=value, name=name) from None


def _require_whole(value: object) -> None:
    """Refuse half of a character in a text or a name, as Python may hold one."""
    match value:
        case str():
            require_whole(value)
        case Mapping():
            for key, held in value.items():
                _require_whole(key)
                _require_whole(held)
        case list() | tuple():
            for held in value:
                _require_whole(held)


def _contract_error(
    error: ValidationError, *, model: type[Section], value: object, name: str
) -> ContractError:
    found = error.errors(include_url=False, include_context=False)
    strange = [each for each in found if each["type"] == "extra_forbidden"]
    places = [_place(each["loc"], value=value) for each in found]
    wordless = [each for each in found if _is_wordless(each)]
    first = (wordless or strange or found)[0]  # such a key explains one that is missing
    words = _place(first["loc"], value=value)
    if first["type"] in _SHAPES:  # one of several forms; the one that was meant is told
        meant = (each for each, at in zip(found, places, strict=True) if at == words)
        inner = (e for e, at in zip(found, places, strict=True) if at[: len(words)] == words != at)
        first = next((e for e in (*meant, *inner) if e["type"] not in _SHAPES), first)
        words = _place(first["loc"], value=value)
    place = " → ".join(words) or "top level"
    others = len({tuple(at) for at in places}) - 1
    more = f" ({others} more)" if others else ""
    if strange and not wordless:
        absent = [str(each["loc"][-1]) for each in found if each["type"] == "missing"]
        more = f"; missing: {', '.join(absent)}" if absent else more
        hint = _hint_of_key(words[-1], *_sections_at(model, first["loc"][:-1]))
        return ContractError(f"{name}: unknown key at {place}{more}.", hint=hint)
    message = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] in ("model_type", "model_attributes_type"):
        message = f"expected keys such as {_some_keys(model, first['loc'])}"
    if first["type"] == "dict_type":
        message = "expected a mapping of names"
    if wordless:
        place = " → ".join(word for word in words[:-1] if word != "None") or "top level"
        message = "a key must be a word, and one here is none (null, a number or the like)"
    if first["type"] == "union_tag_invalid":
        message = "expected one word as kind"
    hint = _HINTS.get(first["type"], "").format(key=words[-1] if words else name)
    return ContractError(f"{name}: {place}: {message}{more}.", hint=hint)


def _is_wordless(error: ErrorDetails) -> bool:
    """Return whether an error is of a key that is no text."""
    return error["type"] == "invalid_key" or error["loc"][-1:] == ("[key]",)


_OTHER_KEYS = {
    **dict.fromkeys(("group", "groups", "group-by", "group_by", "grouped-by", "per-group"), "by"),
    **dict.fromkeys(("filter", "condition", "only", "subset"), "where"),
    **dict.fromkeys(("variable", "field", "value"), "column"),
    **dict.fromkeys(("features", "predictors"), "covariates"),
}
"""What else a key may be called by who guesses it."""
_FEW = 6


def _hint_of_key(word: str, section: type[BaseModel], siblings: Sequence[type[BaseModel]]) -> str:
    """Return what may have been meant: a key of a like name, or another kind that has the key."""
    allowed = _keys(section)
    meant = _OTHER_KEYS.get(word, word)
    near = [meant] if meant in allowed else []
    near = near or difflib.get_close_matches(word, allowed, n=1, cutoff=0.65)
    instead = section.instead if issubclass(section, Section) else {}
    having = [kind for each in siblings if meant in _keys(each) for kind in _kinds(each)]
    told = f"Allowed: {', '.join(allowed)}."
    if meant in instead:
        return f"{instead[meant]} {told}"
    if near:
        return f"Did you mean {near[0]!r}? {told}"
    if having:
        more = f" and {len(having) - _FEW} more" if len(having) > _FEW else ""
        return f"Other kinds have {meant}: {', '.join(having[:_FEW])}{more}. {told}"
    return told


def _some_keys(model: type[Section], loc: tuple[int | str, ...]) -> str:
    """Return the first keys of the section at a place."""
    section, _ = _sections_at(model, loc)
    return " or ".join(_keys(section)[:3]) or "its own"


_SHAPES = {
    "model_type": "Write a mapping, in braces: {key}: {{name: value}}.",
    "model_attributes_type": "Write a mapping, in braces: {key}: {{name: value}}.",
    "list_type": "Write a list, in brackets: {key}: [a, b].",
    "dict_type": "Write a mapping, in braces: {key}: {{name: value}}.",
    "missing": "Add {key}: to it.",
}
_HINTS = {**_SHAPES, "string_type": 'Write one text; of a number, in Python, its text: "1", not 1.'}


_FORM = re.compile(r"function-|(dict|list|tuple|literal)\[|str$|[A-Z]\w*Section$")
"""What pydantic calls one of several forms of a value; no key of a file."""


def _has(inside: object, word: str) -> bool:
    return isinstance(inside, dict) and word in inside


def _place(loc: tuple[int | str, ...], *, value: object) -> list[str]:
    """Return the words of a place; an item of a list is called by its id, where it has one."""
    words, inside, tagged = [], value, False
    for word in loc:
        if isinstance(word, str) and _FORM.match(word) and not _has(inside, word):
            continue
        if isinstance(inside, dict) and not tagged and inside.get("kind") == word:
            tagged = True  # not a key: which of several kinds of section was read
            continue
        if isinstance(inside, dict):
            inside = inside.get(word)
        elif isinstance(inside, list | tuple) and isinstance(word, int) and word < len(inside):
            inside = inside[word]
        else:
            inside = None
        tagged = False
        named = inside.get("id") if isinstance(word, int) and isinstance(inside, dict) else None
        words.append(f"{word} ({named})" if isinstance(named, str) else str(word))
    return words


def _keys(section: type[BaseModel]) -> list[str]:
    """Return the keys that a section knows, as they are written."""
    return sorted(_kebab(key) for key in section.model_fields)


def _sections_at(
    model: type[BaseModel], place: tuple[Any, ...]
) -> tuple[type[BaseModel], list[type[BaseModel]]]:
    """Return the section at ``place``, as far as it can be told, and those of other kinds."""
    sections: list[type[BaseModel]] = [model]
    siblings: list[type[BaseModel]] = []
    for word in place:
        kinds = [section for section in sections if word in _kinds(section)]
        inner = [field for key, field in sections[0].model_fields.items() if _kebab(key) == word]
        if kinds:
            siblings = [section for section in sections if section not in kinds]
            sections = kinds
        elif inner:
            sections, siblings = _sections_of(inner[0].annotation) or sections, []
    return sections[0], siblings


def _kinds(section: type[BaseModel]) -> tuple[Any, ...]:
    """Return the words that a section's ``kind`` may be, if only some may."""
    kind = section.model_fields.get("kind")
    return () if kind is None else tuple(getattr(kind.annotation, "__args__", ()))


def _sections_of(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return [annotation]
    return [s for part in getattr(annotation, "__args__", ()) for s in _sections_of(part)]


def beside(path: str, *, of: Path) -> Path:
    """Return a path that a file names, relative to the file's folder."""
    return (of.parent / path).resolve() if not Path(path).is_absolute() else Path(path)
