"""Units of clinical measurements: which convert into which, and by what.

*Law:* a number x in a unit of t base units (whose zero lies p base units above that of the base) is
t·x + p in base units.  Mass and amount of substance convert by the molar mass of the analyte,
amount and charge by the charges of its ion; HbA1c in per cent and in mmol/mol by the master
equation.  Everything is exact in fractions.

*Privacy:* public facts; no data are looked at.

References:
    [UCUM] Schadow, McDonald. The unified code for units of measure. https://ucum.org
    [SI] BIPM. The International System of Units, 9th edition. 2019.
        https://doi.org/10.59161/AUEZ1291
"""

import functools
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from confide.errors import UnknownNameError
from confide.regular_file import own_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ClinicalUnit:
    """A unit of measure.

    Attributes:
        unit: UCUM code.
        of: What it measures.
        times: Base units in one.
        plus: Base units at its zero.
        omop: Concepts of the OMOP vocabulary that stand for it.
    """

    unit: str
    of: str
    times: Fraction
    plus: Fraction
    omop: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyte:
    """What is measured, as far as units depend on it.

    Attributes:
        mole: Grams in a mole; None where mass and amount do not convert.
        charges: Of the ion; None of what is none.
        percent: Of HbA1c: per cent a unit of mol/mol, and at zero.
    """

    mole: Fraction | None = None
    charges: Fraction | None = None
    percent: tuple[Fraction, Fraction] | None = None


@functools.cache
def clinical_units() -> dict[str, ClinicalUnit]:
    """Return every known unit by its UCUM code."""
    return {
        unit: ClinicalUnit(
            unit=unit,
            of=entry["of"],
            times=Fraction(entry["times"]),
            plus=Fraction(entry.get("plus", 0)),
            omop=tuple(entry["omop"]),
        )
        for unit, entry in _table()["units"].items()
    }


def analyte(name: str) -> Analyte:
    """Return what is known of an analyte.

    Raises:
        UnknownNameError: If nothing is.
    """
    known = _table()["analytes"]
    if name not in known:
        raise UnknownNameError("analyte", name, known=known)
    entry = known[name]
    mole, charges = (Fraction(entry[key]) if key in entry else None for key in ("mole", "charges"))
    slope = entry.get("percent-per-amount-fraction")
    percent = None if slope is None else (Fraction(slope), Fraction(entry["percent-at-zero"]))
    return Analyte(mole=mole, charges=charges, percent=percent)


def conversion(
    unit: str, *, to: str, of: Analyte | None = None
) -> tuple[Fraction, Fraction] | None:
    """Return factor and offset from one unit to another; None where no factor is known.

    Args:
        unit: UCUM code of the unit in which a number stands.
        to: UCUM code of the unit in which it is wanted.
        of: What is measured, where the factor depends on it.

    Example:
        >>> factor, offset = conversion("mmol/L", to="mg/dL", of=analyte("glucose"))
        >>> float(factor), float(offset)
        (18.0156, 0.0)
        >>> factor, offset = conversion("[degF]", to="Cel")
        >>> float(98 * factor + offset)
        36.666666666666664
        >>> conversion("mmol/L", to="mg/dL") is None
        True
    """
    if unit == to:
        return Fraction(1), Fraction(0)
    known = clinical_units()
    if unit not in known or to not in known:
        return None
    start, end = known[unit], known[to]
    step = _step(start.of, end.of, of=of or Analyte())
    if step is None:
        return None
    times, plus = step
    return start.times * times / end.times, (start.plus * times + plus - end.plus) / end.times


def _step(start: str, end: str, *, of: Analyte) -> tuple[Fraction, Fraction] | None:
    """Return factor and offset between base units of two kinds."""
    if start == end:
        return Fraction(1), Fraction(0)
    in_a_mole = {
        "amount concentration": Fraction(1),
        "mass concentration": of.mole,
        "charge concentration": of.charges,
    }
    ours, theirs = in_a_mole.get(start), in_a_mole.get(end)
    if ours is not None and theirs is not None:
        return theirs / ours, Fraction(0)
    if of.percent is not None:
        slope, zero = (part / 100 for part in of.percent)
        if (start, end) == ("amount fraction", "fraction"):
            return slope, zero
        if (start, end) == ("fraction", "amount fraction"):
            return 1 / slope, -zero / slope
    return None


@functools.cache
def _table() -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = tomllib.loads(
        own_text("confide.tables", "clinical_units.toml")
    )
    return found
