"""eICU-CRD: stays in intensive care units of many hospitals.

A row of ``patient`` is a stay; the patient is ``uniquepid``, who may have several.  Other tables
name the stay alone, ``patientunitstayid``: a stay is not a patient, so that id is refused.  Put the
patient's id into them first, in a DuckDB file; then measurements are declared too.

*Privacy:* from the public documentation; no data are looked at.
"""

from collections.abc import Sequence

from confide.rows.clinical_ranges import ClinicalRange
from confide.rows.sources.icu.declared import (
    bounded_number,
    coded_items,
    coded_table,
    coded_units,
    documented,
)
from confide.tables.schema import Outside, Table

_WHY = "Documentation of eICU-CRD."
_MINUTES = 60 * 24 * 365
_STAY = 60 * 24 * 30
"""A longer stay counts as one of 30 days: a wider range would be more noise for nearly all."""
_ALIVE = {"Alive": "alive", "Expired": "died"}
_SEX = {"Female": "female", "Male": "male"}
_UNITS = (
    "Cardiac ICU", "CCU-CTICU", "CSICU", "CTICU", "MICU", "Med-Surg ICU", "Neuro ICU", "SICU",
)  # fmt: skip


def eicu_tables(*, measured: Sequence[ClinicalRange]) -> tuple[Table, ...]:
    """Return the stays, and the laboratory's measurements by name.

    Raises:
        UnknownNameError: If no name of a measurement is known.
    """
    decades = (f"{year // 10 * 10}-{year // 10 * 10 + 9}" for year in range(90))
    ages = {str(year): decade for year, decade in enumerate(decades)} | {"> 89": "90 or older"}
    stay = (
        documented("sex", "gender", _SEX, because=_WHY),
        documented("age", "age", ages, because=_WHY),
        documented("unit", "unittype", {each: each for each in _UNITS}, because=_WHY),
        documented("left_unit", "unitdischargestatus", _ALIVE, because=_WHY),
        documented("left_hospital", "hospitaldischargestatus", _ALIVE, because=_WHY),
        bounded_number("unit_minutes", "unitdischargeoffset", 0, _STAY, unit="min", because=_WHY),
        bounded_number(
            "height", "admissionheight", 100, 230, unit="cm", because=_WHY, outside=Outside.DROP
        ),
        bounded_number(
            "weight", "admissionweight", 20, 300, unit="kg", because=_WHY, outside=Outside.DROP
        ),
    )
    return (
        Table(name="stays", source="patient", columns=stay),
        *(
            coded_table(
                each,
                source="lab",
                code="labname",
                value="labresult",
                known=coded_units(each, coded_items("eicu").get(each.key, {}), of="eicu"),
                beside=(
                    bounded_number(
                        "minute", "labresultoffset", -_MINUTES, _MINUTES, unit="min", because=_WHY
                    ),
                ),
            )
            for each in measured
        ),
    )
