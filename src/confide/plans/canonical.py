"""Canonical JSON of the frozen nouns, and back: what digests, ledger and certificates refer to.

Encoding is driven by the dataclasses themselves: a dataclass becomes an object with its class name
under ``is`` and its fields, leaving out those equal to their default (so that a new optional field
changes no old digest; where nouns made before it had another value than its default, that one is
its metadata's :data:`ABSENT`, and is what is left out); a Fraction becomes "5/2"; an enum its
value; a tuple a list; an integer beyond ±(2⁵³−1), which JSON readers would round, its decimal text.
Decoding is driven by the declared types and refuses an unknown class, field or kind of value.
Bytes are RFC 8785 (JCS), so equal nouns have equal digests on every machine.

References:
    [RFC8785] Rundgren, Jordan, Erdtman. JSON canonicalization scheme. 2020.
        https://www.rfc-editor.org/rfc/rfc8785
"""

import contextlib
import dataclasses
import enum
import functools
import hashlib
import json
import re
import sys
import types
import typing
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeAlias, Union

from confide.errors import ContractError, UnsupportedError

Json: TypeAlias = Any
"""Objects, lists, texts, integers, booleans and null, as the json module reads them."""

LARGEST_JSON = 2**53 - 1
ABSENT = "absent"
"""Key of a field's metadata: its value in nouns that do not state it."""
SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a character, which no JSON text holds."""
_LEAST_PLAIN, _MOST_PLAIN = 1e-4, 1e16  # beyond them Python writes a power of ten
_plain = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":")
).encode
_RATIO = re.compile(r"-?[0-9]{1,999}(/[0-9]{1,999})?", re.ASCII)  # never 1e999999999
_WIDE = re.compile(r"-?[1-9][0-9]{15,999}")


def encode(noun: object) -> Json:
    """Return the JSON value of a noun.

    Raises:
        ContractError: If it holds half of a character.
        UnsupportedError: If it holds anything but dataclasses, tuples, fractions, enums and plain
            values; floats are refused, because they have no one canonical meaning.
    """
    match noun:
        case str():
            require_whole(noun)
            return noun
        case None | bool():
            return noun
        case int():
            return noun if abs(noun) <= LARGEST_JSON else str(noun)
        case Fraction():
            return str(noun)
        case enum.Enum():
            return noun.value
        case tuple():
            return [encode(item) for item in noun]
        case _ if dataclasses.is_dataclass(noun) and not isinstance(noun, type):
            body: dict[str, Json] = {"is": type(noun).__name__}
            for field in _fields(type(noun)):
                value = getattr(noun, field.name)
                if not _is_default(field, value):
                    body[field.name] = encode(value)
            return body
        case _:
            raise UnsupportedError(f"A {type(noun).__name__} has no canonical JSON form.")


def require_whole(text: str) -> None:
    """Refuse a text with half of a character.

    Raises:
        ContractError: If it has one.
    """
    if not text.isascii() and SURROGATE.search(text):
        raise ContractError(
            f"Half of a character stands in {text[:40]!r}, which no file holds.",
            hint="Write the character itself, or \\U and its eight digits.",
        )


@functools.cache
def _fields(kind: type) -> "tuple[dataclasses.Field[Any], ...]":
    return dataclasses.fields(kind)


def _is_default(field: "dataclasses.Field[Any]", value: object) -> bool:
    if ABSENT in field.metadata:
        return bool(field.metadata[ABSENT] == value)
    if field.default is not dataclasses.MISSING:
        return bool(field.default == value)
    if field.default_factory is not dataclasses.MISSING:
        return bool(field.default_factory() == value)
    return False


def canonical_bytes(value: Json) -> bytes:
    """Return the RFC 8785 bytes of a JSON value."""
    if _is_plain(value):  # nearly all are: then the json module writes the same, three times faster
        with contextlib.suppress(UnicodeEncodeError, RecursionError):
            return _plain(value).encode()
    import rfc8785

    return rfc8785.dumps(value)


def _is_plain(value: Json) -> bool:
    """Return whether the json module, with sorted keys, writes a value as RFC 8785 does.

    It sorts keys by code points and not by UTF-16, writes 1.0 for 1 and powers of ten in its own
    way, and has integers of any size.
    """
    parts = [value]
    for part in parts:  # which grows
        kind = type(part)
        if kind is dict:
            if not all(type(name) is str and name.isascii() for name in part):
                return False
            parts.extend(part.values())
        elif kind is list:
            parts.extend(part)
        elif kind is int:
            if abs(part) > LARGEST_JSON:
                return False
        elif kind is float:
            if part.is_integer() or not _LEAST_PLAIN <= abs(part) < _MOST_PLAIN:
                return False
        elif kind is not str and kind is not bool and part is not None:
            return False
    return True


def digest(value: Json) -> str:
    """Return the SHA-256 of the canonical bytes, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def decode(hint: Any, value: Json, *, names: Mapping[str, Any]) -> Any:
    """Return the noun of type ``hint`` that ``value`` encodes.

    Args:
        hint: A dataclass, or a type built of dataclasses, tuples, unions and plain types.
        value: What :func:`encode` returned.
        names: Classes and aliases that forward references in the nouns may name.

    Raises:
        ContractError: If the value does not have that type, or has an unknown field.
    """
    if isinstance(hint, str):
        hint = eval(hint, {}, dict(names))  # noqa: S307 - annotations of our own source
    if isinstance(hint, typing.ForwardRef):
        return decode(hint.__forward_arg__, value, names=names)
    origin = typing.get_origin(hint)
    if origin in (Union, types.UnionType):
        return _decode_union(hint, value, names=names)
    if origin is tuple:
        return _decode_tuple(hint, value, names=names)
    if dataclasses.is_dataclass(hint):
        return _decode_dataclass(hint, value, names=names)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _checked(hint, value, enum_of=hint)
    return _decode_plain(hint, value)


def _checked(hint: Any, value: Json, *, enum_of: type[enum.Enum]) -> enum.Enum:
    try:
        return enum_of(value)
    except ValueError:
        raise ContractError(f"Expected a {hint.__name__}, got another word.") from None


def _decode_plain(hint: Any, value: Json) -> Any:
    if hint is Fraction and isinstance(value, str) and _RATIO.fullmatch(value):
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise ContractError("Expected a fraction such as 5/2.") from None
    if hint is int and isinstance(value, str) and _WIDE.fullmatch(value):
        wide = int(value)
        if abs(wide) > LARGEST_JSON:  # one noun has one text
            return wide
    if hint is None or hint is type(None):
        if value is None:
            return None
    elif isinstance(hint, type) and hint in (int, str, bool) and type(value) is hint:
        return value
    raise ContractError(f"Expected {getattr(hint, '__name__', hint)}, got {type(value).__name__}.")


def _decode_tuple(hint: Any, value: Json, *, names: Mapping[str, Any]) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ContractError("Expected a list.")
    inner = typing.get_args(hint)
    if len(inner) == 2 and inner[1] is Ellipsis:
        return tuple(decode(inner[0], item, names=names) for item in value)
    if len(inner) != len(value):
        raise ContractError(f"Expected {len(inner)} items, got {len(value)}.")
    return tuple(decode(h, item, names=names) for h, item in zip(inner, value, strict=True))


def _decode_union(hint: Any, value: Json, *, names: Mapping[str, Any]) -> Any:
    arms = [
        names[arm.__forward_arg__] if isinstance(arm, typing.ForwardRef) else arm
        for arm in typing.get_args(hint)
    ]
    if isinstance(value, dict):
        for arm in arms:
            if typing.get_origin(arm) in (Union, types.UnionType):
                with_name = [a for a in typing.get_args(arm) if a.__name__ == value.get("is")]
                if with_name:
                    return decode(with_name[0], value, names=names)
            elif dataclasses.is_dataclass(arm) and _name(arm) == value.get("is"):
                return decode(arm, value, names=names)
        raise ContractError(f"Unknown kind {value.get('is')!r}.")
    for arm in arms:
        if not dataclasses.is_dataclass(arm):
            try:
                return decode(arm, value, names=names)
            except ContractError:
                continue
    raise ContractError("The value has none of the allowed types.")


def _name(arm: Any) -> str:
    return str(arm.__name__)


@functools.cache
def _absent(hint: Any) -> dict[str, Any]:
    fields = dataclasses.fields(hint)
    return {field.name: field.metadata[ABSENT] for field in fields if ABSENT in field.metadata}


@functools.cache
def _hints(hint: type) -> dict[str, Any]:
    return {field.name: field.type for field in dataclasses.fields(hint)}


def _decode_dataclass(hint: Any, value: Json, *, names: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict) or value.get("is") != hint.__name__:
        raise ContractError(f"Expected a {hint.__name__}.")
    hints = _hints(hint)
    unknown = value.keys() - hints.keys() - {"is"}
    if unknown:
        raise ContractError(f"A {hint.__name__} has no field {min(unknown)!r}.")
    scope = vars(sys.modules[hint.__module__]) | dict(names)
    fields = {
        name: decode(hints[name], item, names=scope) for name, item in value.items() if name != "is"
    }
    try:
        return hint(**{**_absent(hint), **fields})
    except TypeError:
        raise ContractError(f"A {hint.__name__} lacks a required field.") from None
