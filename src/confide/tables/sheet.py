"""Where in a workbook a table stands: its sheet, the row of names, and the first row of patients.

Declared, never guessed: a reader that looks for the header lets cells of patients decide what is
read.  Rows have the numbers that a spreadsheet shows, from 1.

*Privacy:* public facts; no data are looked at.
"""

from dataclasses import dataclass

from confide.errors import ContractError


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A sheet of a workbook.

    Attributes:
        name: Of the sheet; "" where the workbook has one alone.
        header: Number of the row that names the columns.
        rows_from: Number of the first row below that is one of the table; None for the next.
    """

    name: str = ""
    header: int = 1
    rows_from: int | None = None

    def __post_init__(self) -> None:
        if self.rows_from is not None and self.rows_from <= self.header:
            raise ContractError(
                f"sheet → rows-from: expected a row below {self.header}, got {self.rows_from}.",
                hint="Rows have the numbers that the spreadsheet shows.",
            )

    @property
    def first(self) -> int:
        """Return the number of the first row of the table."""
        return self.header + 1 if self.rows_from is None else self.rows_from


FIRST_ROW = Sheet()
"""The only sheet, with its names in the first row."""
