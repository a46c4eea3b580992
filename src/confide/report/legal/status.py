"""What is still missing from a legal document: the summary that stands on top of it."""

from dataclasses import dataclass

from confide.drawing.words import Words
from confide.report.legal.document import Asked, LegalDocument, Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One field that is missing."""

    id: str
    number: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What one role has still to fill; ``who`` says how many fields."""

    who: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The summary.

    Attributes:
        complete: Whether nothing but signatures is missing.
        headline: Whether the document is complete.
        sentences: How to read and complete it.
        groups: Missing fields by who fills them, in the order of the document.
    """

    complete: bool
    headline: str
    sentences: tuple[str, ...]
    groups: tuple[Group, ...]


def status_of(document: LegalDocument, *, words: Words) -> Status:
    """Return the summary of a document."""
    missing = document.missing()
    signatures = words.say_count("legal.status.signatures", len(document.signatures()))
    if missing:
        headline = words.say_count("legal.status.missing", len(missing))
    else:
        headline = words.say("legal.status.filled")
    return Status(
        complete=not missing,
        headline=headline,
        sentences=(signatures, *words.each("legal.status.how")),
        groups=_groups(missing, words=words),
    )


def _groups(missing: tuple[tuple[Part, Asked], ...], *, words: Words) -> tuple[Group, ...]:
    by_who: dict[str, list[Line]] = {}
    for part, item in missing:
        line = Line(id=item.id, number=part.number, label=item.label)
        by_who.setdefault(item.who, []).append(line)
    return tuple(
        Group(
            who=words.say("legal.status.group", who=who, count=str(len(lines))), lines=tuple(lines)
        )
        for who, lines in by_who.items()
    )
