"""Which rows of the source are rows of a declared table, by codes that stand in them.

Common data models keep every measurement in one table: what was measured and in which unit are
codes of the row.  A table of one measurement takes the rows with its codes, converts the units
whose factor is public, and leaves every other row out, those without a unit too: a number in
another unit is another number.

*Privacy:* codes, factors and offsets are declared, and a row is judged by its own cells alone, so
the rows of a patient are a function of that patient's rows.  How many were left out is for the
steward (``confide prepare``), and part of no plan, release or refusal.
"""

from dataclasses import dataclass
from fractions import Fraction

from confide.errors import ContractError, InvalidParameterError


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A column of the source, and the codes of which a row of the table has one.

    Attributes:
        source: Name of the column in the data.
        codes: As the data write them; integers as plain digits.
    """

    source: str
    codes: tuple[str, ...]

    def __post_init__(self) -> None:
        _require_codes(self.source, self.codes)


@dataclass(frozen=True, slots=True, kw_only=True)
class InUnit:
    """A unit in which a number may stand, and how it is converted.

    Attributes:
        code: As the data write the unit.
        unit: UCUM code.
        times: Factor to the unit of the column.
        plus: What is added after it, in the unit of the column.
    """

    code: str
    unit: str
    times: Fraction = Fraction(1)
    plus: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.times <= 0:
            raise InvalidParameterError(
                f"Unit {self.unit!r}: expected a factor > 0, got {self.times}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """Where the unit of a number stands, and the units that are read.

    Rows in another unit are left out; where it stands behind the number, such a cell is missing.

    Attributes:
        source: Name of the column in the data that holds the unit; "" where it stands in the cell.
        known: Units with their conversions; with the code "" that of a cell without one.
    """

    source: str
    known: tuple[InUnit, ...]

    def __post_init__(self) -> None:
        if not self.in_cell:
            _require_codes(self.source, self.codes)
        elif len({code.strip() for code in self.codes}) < max(len(self.codes), 1):
            raise ContractError(
                "Units in the cell: expected each unit once.",
                hint='List them: known: {kg: kg, lb: "[lb_av]"}.',
            )

    @property
    def in_cell(self) -> bool:
        """Whether the unit stands in the cell, behind the number."""
        return not self.source

    @property
    def codes(self) -> tuple[str, ...]:
        """Every code of a unit that is read."""
        return tuple(each.code for each in self.known)


def _require_codes(source: str, codes: tuple[str, ...]) -> None:
    if not codes or not all(codes):
        raise ContractError(
            f"Column {source!r} of the data: expected the codes of the rows to keep.",
            hint="List them: [3004501].",
        )
    if len(set(codes)) != len(codes):
        raise ContractError(f"Column {source!r} of the data: a code is listed twice.")
