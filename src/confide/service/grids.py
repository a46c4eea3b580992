"""Tables of texts, and parts with sentences, in results."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from confide.report.policy.policy_words import Part
    from confide.report.wording.explain import TextGrid


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table of texts.

    Attributes:
        title: What it shows.
        columns: Their titles.
        rows: As wide as the columns.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A heading with sentences and a table.

    Attributes:
        title: Empty where it goes on with the part before.
        sentences: In order.
        table: After them.
    """

    title: str
    sentences: tuple[str, ...]
    table: TextTable | None


def text_table(grid: "TextGrid") -> TextTable:
    """Return a table of a report as a result."""
    rows = tuple(tuple(row) for row in grid.rows)
    return TextTable(title=grid.title, columns=tuple(grid.head), rows=rows)


def text_parts(parts: "Iterable[Part]") -> tuple[TextPart, ...]:
    """Return parts of a report as a result."""
    return tuple(
        TextPart(
            title=part.title,
            sentences=tuple(part.sentences),
            table=None if part.grid is None else text_table(part.grid),
        )
        for part in parts
    )
