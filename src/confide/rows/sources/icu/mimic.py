"""MIMIC-III and MIMIC-IV: patients, admissions, stays in intensive care, diagnoses, measurements.

Every table names the patient, ``subject_id``.  Dates are shifted into the 22nd century by a number
of days that is one patient's own: days between two dates of a patient are right, and a year, month
or weekday means nothing.

*Privacy:* from the public documentation; no data are looked at.  Free text, days of birth and the
ids of staff are in no table.
"""

import datetime as dt
import enum
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from confide.rows.clinical_ranges import ClinicalRange
from confide.rows.sources.day_column import day_column
from confide.rows.sources.icu.declared import (
    bounded_number,
    code_text,
    coded_items,
    coded_table,
    coded_units,
    documented,
)
from confide.tables.schema import Column, Table

SHIFTED = (dt.date(2080, 1, 1), dt.date(2230, 12, 31))
"""Days between which shifted dates lie, with room at both ends."""
_LABS = range(50_800, 54_000)
_SEX = {"F": "female", "M": "male"}
_FLAG = {"0": "no", "1": "yes"}
_TYPES = {
    "3": ("ELECTIVE", "EMERGENCY", "NEWBORN", "URGENT"),
    "4": (
        "AMBULATORY OBSERVATION", "DIRECT EMER.", "DIRECT OBSERVATION", "ELECTIVE",
        "EU OBSERVATION", "EW EMER.", "OBSERVATION ADMIT", "SURGICAL SAME DAY ADMISSION", "URGENT",
    ),
}  # fmt: skip
_UNITS = {
    "3": ("CCU", "CSRU", "MICU", "NICU", "SICU", "TSICU"),
    "4": (
        "Cardiac Vascular Intensive Care Unit (CVICU)", "Coronary Care Unit (CCU)",
        "Medical Intensive Care Unit (MICU)",
        "Medical/Surgical Intensive Care Unit (MICU/SICU)", "Neuro Intermediate", "Neuro Stepdown",
        "Neuro Surgical Intensive Care Unit (Neuro SICU)", "Surgical Intensive Care Unit (SICU)",
        "Trauma SICU (TSICU)",
    ),
}  # fmt: skip


class Names(enum.Enum):
    """How files and columns are written: those of MIMIC-III come in capitals."""

    CAPITALS = "capitals"
    CAPITAL_FILES = "capitals of files alone"
    SMALL = "small"


def mimic_tables(
    version: str, *, measured: Sequence[ClinicalRange], names: Names, in_folders: bool
) -> tuple[Table, ...]:
    """Return the declared tables of MIMIC.

    Args:
        version: "3" or "4".
        measured: Measurements that become tables.
        names: How files and columns are written.
        in_folders: Whether tables lie in the folders ``hosp`` and ``icu``, as those of MIMIC-IV do.

    Raises:
        UnknownNameError: If no item of a measurement is known.
    """
    because = f"Documentation of MIMIC-{'III' if version == '3' else 'IV'}."

    def shifted(name: str, source: str) -> Column:
        first, last = SHIFTED
        why = "Dates are shifted, by a number of days of each patient."
        return day_column(name, source, since=first, until=last, because=why)

    person = [documented("sex", "gender", _SEX, because=because)]
    if version == "4":
        person.append(bounded_number("age", "anchor_age", 18, 91, unit="a", because=because))
        person.append(shifted("died", "dod"))
    else:
        person.append(documented("died", "expire_flag", _FLAG, because=because))
    admission = (
        documented(
            "type", "admission_type", {each: each for each in _TYPES[version]}, because=because
        ),
        documented("died_there", "hospital_expire_flag", _FLAG, because=because),
        shifted("admitted", "admittime"),
        shifted("discharged", "dischtime"),
    )
    stay = (
        documented(
            "unit", "first_careunit", {each: each for each in _UNITS[version]}, because=because
        ),
        bounded_number("los", "los", 0, 100, unit="d", step=Fraction(1, 10), because=because),
        shifted("admitted_to_unit", "intime"),
        shifted("left_unit", "outtime"),
    )
    diagnosis = [
        code_text("code", "icd_code" if version == "4" else "icd9_code", because="ICD."),
    ]
    if version == "4":
        diagnosis.append(
            documented("version", "icd_version", {"9": "ICD-9", "10": "ICD-10"}, because=because)
        )
    tables = (
        Table(
            name="patients", source="hosp/patients", columns=tuple(person), one_row_per_patient=True
        ),
        Table(name="admissions", source="hosp/admissions", columns=admission),
        Table(name="icustays", source="icu/icustays", columns=stay),
        Table(name="diagnoses", source="hosp/diagnoses_icd", columns=tuple(diagnosis)),
        *(
            table
            for each in measured
            for table in _measured(each, version=version, at=shifted("day", "charttime"))
        ),
    )
    return tuple(_named(table, names=names, in_folders=in_folders) for table in tables)


def _measured(measured: ClinicalRange, *, version: str, at: Column) -> list[Table]:
    """Return the tables of a measurement: of the bedside, and of the laboratory."""
    items = coded_items("mimic").get(measured.key, {})
    known = coded_units(measured, items, of="mimic")
    found: list[Table] = []
    for source, lab in (("icu/chartevents", False), ("hosp/labevents", True)):
        there = [
            each
            for each in known
            if (int(each.code) in _LABS) is lab and (version == "3" or int(each.code) >= _LABS[0])
        ]
        if there:
            table = coded_table(
                measured, source=source, code="itemid", value="valuenum", known=there, beside=(at,)
            )
            found.append(replace(table, name=f"{table.name}_lab") if found else table)
    return found


def _named(table: Table, *, names: Names, in_folders: bool) -> Table:
    """Return a table with files and columns as the release writes them."""
    source = table.source if in_folders else table.source.split("/")[-1]
    if names is Names.SMALL:
        return replace(table, source=source)
    if names is Names.CAPITAL_FILES:
        return replace(table, source=source.upper())
    columns = tuple(
        replace(
            each,
            source=each.source.upper(),
            units=None
            if each.units is None
            else replace(each.units, source=each.units.source.upper()),
        )
        for each in table.columns
    )
    return replace(table, source=source.upper(), columns=columns)
