"""MEDS 0.4, the medical event data standard: one stream of events of subjects.

Rows lie in Parquet files below ``data``: ``subject_id``, ``time``, ``code``, ``numeric_value``.  A
number has no unit but what its code says, so each code is declared with the unit that it stands in.

*Privacy:* from the standard and public code lists; ``metadata/codes.parquet`` lists codes that
occur in the data, and is not read.

References:
    [MEDS] Medical Event Data Standard 0.4. https://github.com/Medical-Event-Data-Standard/meds
"""

import datetime as dt
from collections.abc import Sequence

from confide.rows.clinical_ranges import ClinicalRange
from confide.rows.sources.day_column import day_column
from confide.rows.sources.icu.declared import (
    code_text,
    coded_items,
    coded_table,
    coded_units,
)
from confide.tables.by_code import Accepted
from confide.tables.schema import Table

_DEATHS = ("MEDS_DEATH",)
_WRITTEN = {
    "/min": ("bpm", "insp/min"), "mm[Hg]": ("mmHg", "mm Hg"), "meq/L": ("mEq/L",), "U/L": ("IU/L",),
    "10*3/uL": ("K/uL",), "10*6/uL": ("m/uL",), "Cel": ("°C",), "[degF]": ("°F",), "s": ("sec",),
    "u[IU]/mL": ("uIU/mL",), "L/min": ("L/min",), "cm[H2O]": ("cmH2O",),
}  # fmt: skip
"""How MIMIC-IV writes units, which stand in its codes: ``LAB//50912//mg/dL``."""


def meds_tables(
    *, since: dt.date, until: dt.date, measured: Sequence[ClinicalRange]
) -> tuple[Table, ...]:
    """Return all events, deaths, and the measurements by LOINC code and by item of MIMIC-IV."""
    at = day_column("day", "time", since=since, until=until)
    return (
        Table(
            name="events",
            source="data",
            columns=(code_text("code", "code", because="MEDS."), at),
        ),
        Table(
            name="deaths",
            source="data",
            columns=(at,),
            only=(Accepted(source="code", codes=_DEATHS),),
        ),
        *(
            coded_table(
                each,
                source="data",
                code="code",
                value="numeric_value",
                known=coded_units(each, _codes(each), of="mimic"),
                beside=(at,),
            )
            for each in measured
        ),
    )


def _codes(measured: ClinicalRange) -> dict[str, str]:
    """Return the codes of a measurement with their units; that of a LOINC code is its range's."""
    loinc = {f"LOINC{sign}{measured.loinc}": measured.unit for sign in ("/", "//")}
    items = coded_items("mimic").get(measured.key, {})
    return loinc | {
        f"LAB//{item}//{written}": unit
        for item, unit in items.items()
        for written in _WRITTEN.get(unit, (unit,))
    }
