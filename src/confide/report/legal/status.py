"""What is still missing from a legal document: the summary that stands on top of it."""

from dataclasses import dataclass

from confide.drawing.words import Words
from confide.report.legal.document import AskedField, LegalDocument, NumberedPart


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingField:
    """One field that is missing."""

    id: str
    number: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingFields:
    """What one role has still to fill; ``who`` says how many fields."""

    who: str
    lines: tuple[MissingField, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness:
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
    groups: tuple[MissingFields, ...]


def status_of(document: LegalDocument, *, words: Words) -> Completeness:
    """Return the summary of a document."""
    missing = document.missing()
    signatures = words.say_count("legal.status.signatures", len(document.signatures()))
    if missing:
        headline = words.say_count("legal.status.missing", len(missing))
    else:
        headline = words.say("legal.status.filled")
    return Completeness(
        complete=not missing,
        headline=headline,
        sentences=(signatures, *words.each("legal.status.how")),
        groups=_groups(missing, words=words),
    )


def _groups(
    missing: tuple[tuple[NumberedPart, AskedField], ...], *, words: Words
) -> tuple[MissingFields, ...]:
    by_who: dict[str, list[MissingField]] = {}
    for part, item in missing:
        line = MissingField(id=item.id, number=part.number, label=item.label)
        by_who.setdefault(item.who, []).append(line)
    return tuple(
        MissingFields(
            who=words.say("legal.status.group", who=who, count=str(len(lines))), lines=tuple(lines)
        )
        for who, lines in by_who.items()
    )
