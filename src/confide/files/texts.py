"""Types of single values in files: exact numbers, dates, words; and errors that name the place."""

import datetime as dt
import difflib
import re
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, WithJsonSchema

from confide.errors import ContractError

_NUMBER = re.compile(
    r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?|[0-9]{1,18}/[0-9]{1,18}"
)


def exact(value: object) -> Fraction:
    """Return the exact number that a text or int writes; floats are refused.

    Example:
        >>> exact("0.1")
        Fraction(1, 10)
    """
    if isinstance(value, bool) or not isinstance(value, str | int | Fraction):
        raise ValueError("expected an exact number such as 0.5 or 1e-6, as text in Python")  # noqa: TRY004
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        raise ValueError("expected an exact number such as 0.5, 1e-6 or 1/3")
    try:
        return Fraction(value)
    except ZeroDivisionError:
        raise ValueError("expected a number, got a division by zero") from None


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
    """Return the text of a number with or without its unit; floats are refused."""
    return value if isinstance(value, str) else str(exact(value))


_NUMBER_SCHEMA = {"type": ["string", "number"], "description": "An exact number: 0.5, 1e-6, 1/3."}

Exact = Annotated[Fraction, BeforeValidator(exact), WithJsonSchema(_NUMBER_SCHEMA)]
Positive = Annotated[Fraction, BeforeValidator(_positive), WithJsonSchema(_NUMBER_SCHEMA)]
Level = Annotated[Fraction, BeforeValidator(_level), WithJsonSchema(_NUMBER_SCHEMA)]
Whole = Annotated[int, BeforeValidator(_whole), WithJsonSchema({"type": ["integer", "string"]})]
Counting = Annotated[
    int, BeforeValidator(_count), WithJsonSchema({"type": ["integer", "string"], "minimum": 1})
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
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _contract_error(error, model=model, value=value, name=name) from None


def _contract_error(
    error: ValidationError, *, model: type[Section], value: object, name: str
) -> ContractError:
    found = error.errors(include_url=False, include_context=False)
    strange = [each for each in found if each["type"] == "extra_forbidden"]
    first = (strange or found)[0]  # a key that is unknown explains one that is missing
    words = _place(first["loc"], value=value)
    place = " → ".join(words) or "top level"
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    if strange:
        absent = [str(each["loc"][-1]) for each in found if each["type"] == "missing"]
        more = f"; missing: {', '.join(absent)}" if absent else more
        allowed = _allowed(model, first["loc"][:-1])
        near = difflib.get_close_matches(words[-1], allowed, n=1, cutoff=0.65)
        hint = f"Allowed: {', '.join(allowed)}."
        if near:
            hint = f"Did you mean {near[0]!r}? {hint}"
        return ContractError(f"{name}: unknown key at {place}{more}.", hint=hint)
    message = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] in ("model_type", "model_attributes_type"):
        message = f"expected keys such as {_some_keys(model, first['loc'])}"
    if first["type"] == "dict_type":
        message = "expected a mapping of names"
    hint = _SHAPES.get(first["type"], "").format(key=words[-1] if words else name)
    return ContractError(f"{name}: {place}: {message}{more}.", hint=hint)


def _some_keys(model: type[Section], loc: tuple[int | str, ...]) -> str:
    """Return the first keys of the section at a place."""
    return " or ".join(_allowed(model, loc)[:3]) or "its own"


_SHAPES = {
    "model_type": "Write a mapping, in braces: {key}: {{name: value}}.",
    "model_attributes_type": "Write a mapping, in braces: {key}: {{name: value}}.",
    "list_type": "Write a list, in brackets: {key}: [a, b].",
    "dict_type": "Write a mapping, in braces: {key}: {{name: value}}.",
    "missing": "Add {key}: to it.",
}


def _place(loc: tuple[int | str, ...], *, value: object) -> list[str]:
    """Return the words of a place; an item of a list is called by its id, where it has one."""
    words, inside, tagged = [], value, False
    for word in loc:
        if isinstance(word, str) and word.startswith("function-"):
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


def _allowed(model: type[BaseModel], place: tuple[Any, ...]) -> list[str]:
    """Return the keys that the section at ``place`` knows, as far as it can be told."""
    sections: list[type[BaseModel]] = [model]
    for word in place:
        kinds = [section for section in sections if word in _kinds(section)]
        inner = [field for key, field in sections[0].model_fields.items() if _kebab(key) == word]
        if kinds:
            sections = kinds
        elif inner:
            sections = _sections_of(inner[0].annotation) or sections
    return sorted(_kebab(key) for key in sections[0].model_fields)


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
