"""Lines of a certificate: where two differ, and what a line means to who reads it."""

from collections.abc import Iterator
from dataclasses import dataclass

from confide.plans.canonical import Json
from confide.release.certificate.signed_words import in_languages_of

_LONGEST = 60

MEANING = {
    "release": "what the release is for, and whom",
    "data": "which data set, and what was taken as public",
    "guarantee.unit": "whom the promise protects",
    "guarantee.adjacency": "which data sets the promise compares",
    "guarantee.spend": "the promise itself: a smaller loss would be a stronger promise",
    "guarantee.equivalent": "the promise as ε and δ",
    "guarantee.by-itself": "what this release alone loses; budgets are charged more",
    "guarantee.noise-because": "why it has its kind of noise",
    "guarantee.groups": "what the promise is worth to several people",
    "guarantee": "what is promised",
    "plan": "which plan was priced",
    "mechanisms": "what was measured, and the noise on it",
    "outputs": "which files were published, and how wrong their numbers are",
    "limits": "what the numbers are fit for",
    "hazards": "where the release stands on a known hazard",
    "small-cells": "the house rule and its mistakes",
    "certificate": "the version of this format",
    "answers": "which earlier answers the numbers are made of",
}
"""By the start of a line's name; the longest that fits counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One line that is not the same on both sides.

    Attributes:
        line: Its name: ``mechanisms[0].sensitivity.l1``.
        one: What one side says; "nothing" where it has no such line.
        other: What the other side says.
    """

    line: str
    one: str
    other: str


def differences(one: Json, other: Json, *, line: str = "") -> Iterator[Difference]:
    """Yield the leaves in which two JSON values differ, in the order of ``other``."""
    match one, other:
        case dict(), dict():
            for name in [*other, *(n for n in one if n not in other)]:
                path = f"{line}.{name}" if line else str(name)
                yield from differences(
                    one.get(name, _Nothing), other.get(name, _Nothing), line=path
                )
        case list(), list():
            for place in range(max(len(one), len(other))):
                left = one[place] if place < len(one) else _Nothing
                right = other[place] if place < len(other) else _Nothing
                yield from differences(left, right, line=f"{line}[{place}]")
        case _:
            if type(one) is not type(other) or one != other:
                yield Difference(line=line, one=_said(one), other=_said(other))


def first_difference(stated: Json, *, follows: Json, line: str) -> Difference | None:
    """Return the first leaf of a part of a certificate that does not follow; None if all do.

    Sentences are compared in the languages that the certificate was signed with.
    """
    return next(differences(stated, in_languages_of(stated, follows=follows), line=line), None)


class _Nothing:
    """A line that is not there."""


def _said(value: Json) -> str:
    if value is _Nothing:
        return "nothing"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def meaning(line: str) -> str:
    """Return what a line is about.

    Example:
        >>> meaning("guarantee.spend.rho")
        'the promise itself: a smaller loss would be a stronger promise'
    """
    names = [name for name in MEANING if line == name or line.startswith((f"{name}.", f"{name}["))]
    return MEANING[max(names, key=len)] if names else "a statement of the issuer"


def told(found: Difference) -> str:
    """Return a difference between what is stated and what follows, as one sentence.

    Example:
        >>> told(Difference(line="guarantee.unit", one="event", other="patient"))
        "guarantee.unit says 'event', 'patient' follows (whom the promise protects)"
    """
    about = meaning(found.line)
    return f"{found.line} says {found.one!r}, {found.other!r} follows ({about})"
