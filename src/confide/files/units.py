"""Codes and units of dataset.yaml: which rows are a table's, and how numbers are converted."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from pydantic import Field

from confide.errors import ContractError
from confide.files.texts import Exact, Positive, Section
from confide.tables.by_code import Accepted, InUnit, Units
from confide.tables.clinical_units import Analyte, analyte, conversion


class ConvertedSection(Section):
    """A unit with its own conversion."""

    unit: str
    times: Positive = Fraction(1)
    plus: Exact = Fraction(0)


class UnitsSection(Section):
    """Where the unit of a number stands, and which units are read."""

    from_: str = Field(default="", alias="from")
    in_: Literal["cell"] | None = Field(default=None, alias="in")
    known: dict[str, str | ConvertedSection]
    analyte: str = ""


def read_codes(section: Mapping[str, list[str]]) -> tuple[Accepted, ...]:
    """Return the codes that a row of a table must have, or must not, by column of the data.

    Raises:
        ContractError: If a list is empty or says a code twice.
    """
    return tuple(Accepted(source=source, codes=tuple(codes)) for source, codes in section.items())


def read_units(name: str, section: UnitsSection, *, unit: str) -> Units:
    """Return the units in which a number is read, each with its conversion.

    Args:
        name: Of the column, for messages.
        section: As written.
        unit: UCUM code of the column.

    Raises:
        ContractError: If no factor is known for a unit, the column has none itself, or it is not
            said where the unit stands.
    """
    if not unit:
        raise ContractError(
            f"Column {name!r} converts units, and says no unit of its own.",
            hint="Write unit: mg/dL.",
        )
    if bool(section.from_) == (section.in_ is not None):
        raise ContractError(
            f"Column {name!r}: expected where its unit stands.",
            hint="Write units: {from: <column of the unit>, ...}, or units: {in: cell, ...}.",
        )
    of = analyte(section.analyte) if section.analyte else None
    return Units(
        source=section.from_,
        known=tuple(
            _known(name, code, each, unit=unit, of=of) for code, each in section.known.items()
        ),
    )


def _known(
    name: str, code: str, section: str | ConvertedSection, *, unit: str, of: Analyte | None
) -> InUnit:
    if isinstance(section, ConvertedSection):
        return InUnit(code=code, unit=section.unit, times=section.times, plus=section.plus)
    found = conversion(section, to=unit, of=of)
    if found is None:
        raise ContractError(
            f"Column {name!r}: no factor is known from {section!r} to {unit!r}.",
            hint="Leave the unit out (its rows are left out and counted by `confide prepare`), "
            "name the analyte, or write {unit: ..., times: ...}.",
        )
    times, plus = found
    return InUnit(code=code, unit=section, times=times, plus=plus)
