"""How a CSV file writes its fields, numbers and dates, where that is not as usual.

Declared, never guessed: a reader that guesses lets one patient's row decide how everyone's rows are
read.  A date form is made of ``YYYY``, ``MM`` (or ``MON``, a month in letters), ``DD`` and what
stands between them; ``EXCEL`` is a spreadsheet's number of days since 1899-12-30.

*Privacy:* public facts; no data are looked at.
"""

import enum
import re
from dataclasses import dataclass

from confide.errors import ContractError

USUAL_QUOTE = '"'
ISO = "YYYY-MM-DD"
SERIAL = "EXCEL"
"""Date form of a spreadsheet's day numbers."""
_PARTS = re.compile("YYYY|MON|MM|DD")
_BETWEEN = re.compile(r"[./ -]?")
_SHAPES = {"YYYY": "0000", "MM": "00", "DD": "00", "MON": "a"}


class Separator(enum.Enum):
    """What may stand between two fields; each is one ASCII byte."""

    COMMA = ","
    SEMICOLON = ";"
    TAB = "tab"
    BAR = "bar"

    @property
    def sign(self) -> str:
        """Return the sign itself."""
        return {"tab": "\t", "bar": "|"}.get(self.value, self.value)


class Quote(enum.Enum):
    """What stands around a field that holds a separator or a line end."""

    DOUBLE = "double"
    SINGLE = "single"
    NONE = "none"

    @property
    def sign(self) -> str:
        """Return the sign itself; "" where a quote is a character like others."""
        return {"double": USUAL_QUOTE, "single": "'"}.get(self.value, "")


class Thousands(enum.Enum):
    """What stands between groups of three digits; a space may be one that does not break."""

    NONE = "none"
    COMMA = ","
    POINT = "."
    APOSTROPHE = "apostrophe"
    SPACE = "space"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a CSV file is written.

    Attributes:
        separator: Between fields; None for a tab in .tsv, else a comma.
        quote: Around fields.
        decimal: "." or ",": before the places of a number.
        thousands: Between groups of three digits.
        dates: Forms of dates; ISO when empty.
    """

    separator: Separator | None = None
    quote: Quote = Quote.DOUBLE
    decimal: str = "."
    thousands: Thousands = Thousands.NONE
    dates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise ContractError("dialect → decimal: expected a point or a comma.")
        if self.thousands.value == self.decimal:
            raise ContractError(
                "dialect: decimal and thousands are the same sign.",
                hint='Write decimal: ",", thousands: ".", or leave one out.',
            )
        shapes: dict[str, str] = {}
        for form in self.dates:
            shape = "".join(_SHAPES.get(part, part) for part in date_parts(form))
            if shapes.setdefault(shape, form) != form:
                raise ContractError(
                    f"dialect → dates: {shapes[shape]} and {form} look alike, and 03.04.2025 would "
                    "be two days.",
                    hint="Write the one that the file has.",
                )

    @property
    def plain_numbers(self) -> bool:
        """Whether numbers are written as usual."""
        return self.decimal == "." and self.thousands is Thousands.NONE


AS_USUAL = Dialect()
"""Commas, double quotes, a point, and dates of ISO."""


def date_parts(form: str) -> tuple[str, ...]:
    """Return the parts of a date form, with what stands between them.

    Raises:
        ContractError: If it is none.

    Example:
        >>> date_parts("DD.MM.YYYY")
        ('DD', '.', 'MM', '.', 'YYYY')
    """
    if form == SERIAL:
        return (SERIAL,)
    found, place = [], 0
    for part in _PARTS.finditer(form):
        found += [form[place : part.start()], part[0]]
        place = part.end()
    names = sorted(part.replace("MON", "MM") for part in found[1::2])
    between = found[2::2]
    whole = names == ["DD", "MM", "YYYY"] and place == len(form) and not found[0]
    if not whole or not all(_BETWEEN.fullmatch(each) for each in between):
        raise ContractError(
            f"dialect → dates: {form[:40]!r} is no form of a date.",
            hint="Write DD.MM.YYYY, MM/DD/YYYY, YYYYMMDD, DD-MON-YYYY, or EXCEL for the numbers of "
            "a spreadsheet. A year of two digits leaves the century open: write four in the file.",
        )
    return tuple(each for each in found if each)
