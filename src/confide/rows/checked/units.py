"""Numbers that seem to stand in another unit than is declared: mg/dL in a column of µmol/L.

The cells that lie outside the bounds are converted from every unit that is known; the one from
which most of them lie inside is told, where that is nearly all.

*Privacy:* looks at cells, so what it says is for the steward alone.
"""

from collections.abc import Callable
from fractions import Fraction

from confide.rows.checked.findings import CheckedColumn, Finding
from confide.rows.clinical_ranges import range_called
from confide.tables.clinical_units import Analyte, analyte, clinical_units, conversion
from confide.tables.schema import Column, Table

_SHARE_OUTSIDE = Fraction(1, 20)
_SHARE_EXPLAINED = Fraction(4, 5)
_LEAST = 3
_CALLED = {
    "glucose": ("gluc", "glucose", "glukose", "bz", "blutzucker"),
    "creatinine": ("crea", "krea"),
    "urea": ("urea", "harnstoff"),
    "urea_nitrogen": ("bun", "urea_nitrogen"),
    "uric_acid": ("uric", "harnsäure", "harnsaeure", "urate"),
    "bilirubin": ("bili",),
    "cholesterol": ("chol", "ldl", "hdl"),
    "triglycerides": ("trig", "tg"),
    "haemoglobin": ("hb", "haemoglobin", "hemoglobin", "hgb", "hämoglobin"),
    "hba1c": ("hba1c", "a1c"),
    "calcium": ("calc", "kalz", "ca"),
    "sodium": ("sod", "natrium", "na"),
    "potassium": ("potass", "kalium"),
    "lactate": ("lact", "lakt"),
}


def unit_finding(
    column: Column,
    *,
    table: Table,
    counts: CheckedColumn,
    inside_if: Callable[[list[tuple[Fraction, Fraction]]], list[int]],
) -> Finding | None:
    """Return that the numbers of a column seem to stand in another unit; None if not.

    Args:
        column: A number with a unit.
        table: Whose column it is.
        counts: Of its cells.
        inside_if: How many cells outside the bounds lie inside once they are converted.
    """
    seen = counts.read + counts.outside
    if counts.outside < _LEAST or counts.outside < _SHARE_OUTSIDE * seen or not column.unit:
        return None
    of = _analyte(column, table=table)
    others = {
        unit: found
        for unit in clinical_units()
        if unit != column.unit
        and (found := conversion(unit, to=column.unit, of=of)) is not None
        and found != (Fraction(1), Fraction(0))
    }
    if not others:
        return None
    explained = dict(zip(others, inside_if(list(others.values())), strict=True))
    unit = max(explained, key=lambda each: explained[each])
    if explained[unit] < _SHARE_EXPLAINED * counts.outside:
        return None
    return Finding(
        table=table.name,
        column=column.name,
        what="another unit",
        cells=explained[unit],
        why=f"They lie outside the bounds in {column.unit}, and inside as {unit}; outside they are "
        f"{column.outside.value}ped.",
        fix=_fix(column, unit=unit, by=others[unit], whole=10 * counts.outside >= 9 * seen),
    )


def _fix(column: Column, *, unit: str, by: tuple[Fraction, Fraction], whole: bool) -> str:
    if not whole:
        return (
            f"units: {{from: <column of the unit>, known: {{<its code>: {column.unit}, "
            f'<its code>: "{unit}"}}}}'
        )
    domain, (factor, offset) = column.domain(), by
    lower, upper = (
        float((each * column.scale - offset) / factor) for each in (domain.lower, domain.upper)
    )
    return f'unit: "{unit}", with the bounds in it, lower: {lower:.3g}, upper: {upper:.3g}'


def _analyte(column: Column, *, table: Table) -> Analyte | None:
    """Return what a column seems to measure, by its name or its table's."""
    for name in (column.name.lower(), column.source.lower(), table.name.lower()):
        for key, starts in _CALLED.items():
            if any(name == each or (len(each) > 2 and each in name) for each in starts):
                return analyte(key)
        known = range_called(name)
        if known is not None and known.analyte:
            return analyte(known.analyte)
    return None
