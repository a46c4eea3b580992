"""A legal document: numbered parts of automatic fields, fields for people, tables and figures.

An automatic field says where it came from.  A field for a person is empty until that person has
written something, and a document with an empty field is not complete; :meth:`LegalDocument.missing`
lists them.
"""

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from confide.drawing.markup import Html


class Kind(enum.Enum):
    """Which document."""

    DPIA = "dpia"
    LEGAL_BASIS = "legal-basis"
    IDENTIFIABILITY = "identifiability"
    HIPAA = "hipaa"
    EHDS = "ehds"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedField:
    """An automatic field.

    Attributes:
        label: What it is.
        texts: One paragraph, or the items of a list.
        source: Where it came from.
    """

    label: str
    texts: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedField:
    """A field for a person.

    Attributes:
        id: Its name in legal.yaml; of a signature or of a site's field, for anchors alone.
        label: What is asked.
        who: Who answers.
        answer: Paragraphs that they wrote; empty until then.
        source: Where the answer stands.
        choices: Boxes to tick while there is no answer.
        signature: Whether it is a signature, which no file gives.
    """

    id: str
    label: str
    who: str
    answer: tuple[str, ...] = ()
    source: str = ""
    choices: tuple[str, ...] = ()
    signature: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Plain sentences: what the law asks here, or how to read what follows."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table of texts; columns after the first ``labels`` are numbers.

    Attributes:
        name: Which table, for its style.
        title: What it shows.
        head: Column titles.
        rows: As wide as the head.
        source: Where its numbers came from.
        labels: How many columns at the left are texts.
    """

    name: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    source: str
    labels: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A figure: its SVG, and the sentence that says the same."""

    name: str
    svg: Html
    caption: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauges:
    """Bars of budget used against caps, as label, bar and text."""

    rows: tuple[tuple[str, Html, str], ...]
    source: str


PartItem: TypeAlias = StatedField | AskedField | Note | TextTable | Picture | Gauges


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedPart:
    """A numbered part; its number is the law's or the template's."""

    number: str
    title: str
    items: tuple[PartItem, ...] = ()
    parts: tuple["NumberedPart", ...] = ()

    def everything(self) -> Iterator["NumberedPart"]:
        """Yield this part and all within, in reading order."""
        yield self
        for part in self.parts:
            yield from part.everything()


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalDocument:
    """One document in one language.

    Attributes:
        kind: Which.
        language: Code of its sentences.
        what: The kind, in words.
        title: What it is about.
        facts: Label and text of what stands on top.
        basis: The provisions that it answers to.
        parts: In order.
        sources: Laws, guidelines and papers that it refers to.
    """

    kind: Kind
    language: str
    what: str
    title: str
    facts: tuple[tuple[str, str], ...]
    basis: str
    parts: tuple[NumberedPart, ...]
    sources: tuple[str, ...]

    def everything(self) -> Iterator[NumberedPart]:
        """Yield every part, in reading order."""
        for part in self.parts:
            yield from part.everything()

    def missing(self) -> tuple[tuple[NumberedPart, AskedField], ...]:
        """Return the fields that a person has still to fill, signatures apart."""
        return tuple(
            (part, item)
            for part in self.everything()
            for item in part.items
            if isinstance(item, AskedField) and not item.answer and not item.signature
        )

    def signatures(self) -> tuple[AskedField, ...]:
        """Return the signatures that it needs."""
        return tuple(
            item
            for part in self.everything()
            for item in part.items
            if isinstance(item, AskedField) and item.signature
        )
