"""Columns that databases of intensive care declare, and the codes of what they measure.

*Privacy:* everything is from public documentation and code lists; no data are looked at.

References:
    [Joh23] Johnson et al. MIMIC-IV, a freely accessible electronic health record dataset.
        Scientific Data 10, 2023. https://doi.org/10.1038/s41597-022-01899-x
    [Pol18] Pollard et al. The eICU collaborative research database. Scientific Data 5, 2018.
        https://doi.org/10.1038/sdata.2018.178
"""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from confide.errors import UnknownNameError
from confide.regular_file import own_text
from confide.rows.clinical_ranges import ClinicalRange
from confide.tables.by_code import InUnit, Units
from confide.tables.clinical_units import analyte, conversion
from confide.tables.schema import Column, Kind, Outside, Table


@functools.cache
def coded_items(database: str) -> Mapping[str, Mapping[str, str]]:
    """Return the codes of each measurement with their UCUM units, by its short name."""
    found: dict[str, dict[str, dict[str, str]]] = tomllib.loads(
        own_text("confide.rows.sources.icu", "items.toml")
    )
    return found[database]


def coded_units(
    measured: ClinicalRange, codes: Mapping[str, str], *, of: str
) -> tuple[InUnit, ...]:
    """Return how the numbers of each code become the unit of a range, by the unit of the code.

    Args:
        measured: The range.
        codes: UCUM unit by code.
        of: Name of the code list, for errors.

    Raises:
        UnknownNameError: If the list has no code for it.
    """
    thing = analyte(measured.analyte) if measured.analyte else None
    known = []
    for code, unit in codes.items():
        factor = conversion(unit, to=measured.unit, of=thing)
        if factor is None and unit == "meq/L" and measured.unit == "mmol/L":
            factor = Fraction(1), Fraction(0)  # of ions with one charge, and of gaps between them
        if factor is not None:
            known.append(InUnit(code=code, unit=unit, times=factor[0], plus=factor[1]))
    if not known:
        raise UnknownNameError(f"measurement of {of}", measured.key, known=coded_items(of))
    return tuple(known)


def coded_table(
    measured: ClinicalRange,
    *,
    source: str,
    code: str,
    value: str,
    known: Sequence[InUnit],
    beside: Sequence[Column] = (),
) -> Table:
    """Return the measurements of one thing, of the rows whose code says so, in one unit.

    Args:
        measured: What is measured.
        source: File or table.
        code: Column of the codes.
        value: Column of the numbers.
        known: Codes with their conversions.
        beside: Further columns, such as the day.
    """
    number = measured.column(name="value", source=value)
    return Table(
        name=measured.key,
        source=source,
        columns=(replace(number, units=Units(source=code, known=tuple(known))), *beside),
    )


def documented(name: str, source: str, codes: Mapping[str, str], *, because: str) -> Column:
    """Return a category of documented codes; others are left out."""
    keys = tuple(dict.fromkeys(codes.values()))
    return Column(
        name=name,
        kind=Kind.CATEGORY,
        source=source,
        keys=keys,
        codes=tuple((code, keys.index(label)) for code, label in codes.items()),
        because=because,
    )


def bounded_number(
    name: str,
    source: str,
    lower: int,
    upper: int,
    *,
    unit: str,
    because: str,
    step: Fraction = Fraction(1),
    outside: Outside = Outside.CLIP,
) -> Column:
    """Return a number between bounds that are stated in its unit."""
    return Column(
        name=name,
        kind=Kind.NUMBER,
        source=source,
        lower=int(lower / step),
        upper=int(upper / step),
        scale=step,
        unit=unit,
        outside=outside,
        because=because,
    )


def code_text(name: str, source: str, *, because: str) -> Column:
    """Return codes of a public vocabulary too long to list: for key selection."""
    return Column(name=name, kind=Kind.TEXT, source=source, because=because)
