"""A table as readers see it."""

from dataclasses import dataclass

from confide.drawing.markup import rows_of_texts, tag


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Shown:
    """A table as readers see it: texts only.

    Attributes:
        head: Column titles; equal ones are told apart by position.
        rows: One a cell.
        text_columns: How many columns at the left are labels.
        numbers: How many columns after them are numbers.
        notes: Footnotes.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: int
    numbers: int
    notes: tuple[str, ...] = ()

    @property
    def number_columns(self) -> range:
        """Which columns are numbers, and stand at the right."""
        return range(self.text_columns, self.text_columns + self.numbers)

    def __repr__(self) -> str:
        lines = (self.head, *self.rows)
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

        def cell(text: str, place: int) -> str:
            number = place in self.number_columns
            return text.rjust(widths[place]) if number else text.ljust(widths[place])

        told = ["  ".join(cell(text, i) for i, text in enumerate(line)).rstrip() for line in lines]
        return "\n".join((*told, *self.notes))

    def _repr_html_(self) -> str:
        body = rows_of_texts(self.head, self.rows, numbers=self.number_columns)
        return tag("div", body, [tag("p", note) for note in self.notes])
