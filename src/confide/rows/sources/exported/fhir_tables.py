"""What a data set of FHIR resources declares, from public knowledge: value sets, ranges, units.

*Privacy:* no data are looked at.  Names, addresses, identifiers and days of birth are in no table.
"""

import datetime as dt
from fractions import Fraction

from confide.rows.clinical_ranges import ClinicalRange
from confide.rows.sources.day_column import day_column
from confide.tables.by_code import Accepted, InUnit, Units
from confide.tables.clinical_units import analyte, clinical_units, conversion
from confide.tables.schema import Column, Kind, Outside, Table

_VALUE_SET = "Value set of FHIR R4."
_CLASSES = {
    "AMB": "ambulatory",
    "IMP": "inpatient",
    "EMER": "emergency",
    "HH": "home",
    "VR": "virtual",
}
_EVENTS = {
    "condition": ("Condition", "snomed", "start"),
    "medication": ("MedicationRequest", "rxnorm", "date"),
    "procedure": ("Procedure", "snomed", "start"),
}
"""By name of a table: its resource, the code that is selected, and its day."""
_ERROR = Accepted(source="status", codes=("entered-in-error",))


def fhir_tables(*, since: dt.date, until: dt.date) -> tuple[Table, ...]:
    """Return the tables of patients, encounters, conditions, medications and procedures."""
    patient = (
        _category("gender", "gender", ("female", "male", "other", "unknown")),
        Column(
            name="birth_year",
            kind=Kind.NUMBER,
            source="birth_year",
            lower=1900,
            upper=until.year,
            unit="a",
            outside=Outside.DROP,
            because="Nobody alive was born before 1900; nobody is born after the snapshot.",
        ),
        _category("deceased", "deceased", ("true", "false")),
    )
    encounter = (
        _category("class", "class", tuple(_CLASSES), labels=tuple(_CLASSES.values())),
        day_column("start", "start", since=since, until=until),
        day_column("end", "end", since=since, until=until),
    )
    return (
        Table(name="patient", source="Patient", columns=patient, one_row_per_patient=True),
        Table(name="encounter", source="Encounter", columns=encounter, without=(_ERROR,)),
        *(
            Table(
                name=name,
                source=resource,
                columns=(
                    Column(name=code, kind=Kind.TEXT, source=code),
                    day_column(day, day, since=since, until=until),
                ),
                without=() if resource == "Condition" else (_ERROR,),
            )
            for name, (resource, code, day) in _EVENTS.items()
        ),
    )


def observed_table(measured: ClinicalRange, *, since: dt.date, until: dt.date) -> Table:
    """Return the observations of one thing, by its LOINC code and in units that convert."""
    units = _units(measured)
    number = Column(
        name="value",
        kind=Kind.NUMBER,
        source="value",
        lower=int(measured.lower / measured.step),
        upper=int(measured.upper / measured.step),
        scale=measured.step,
        unit=measured.unit,
        units=Units(source="unit", known=units) if units else None,
        because=measured.because,
    )
    return Table(
        name=measured.key,
        source="Observation",
        columns=(number, day_column("date", "date", since=since, until=until)),
        only=(Accepted(source="loinc", codes=(measured.loinc,)),),
        without=(_ERROR,),
    )


def _units(measured: ClinicalRange) -> tuple[InUnit, ...]:
    """Return the UCUM codes that convert to that of a range; none if it has none."""
    if measured.unit not in clinical_units():
        return ()
    of = analyte(measured.analyte) if measured.analyte else None
    known: list[tuple[str, tuple[Fraction, Fraction]]] = [
        (unit, factor)
        for unit in clinical_units()
        if (factor := conversion(unit, to=measured.unit, of=of)) is not None
    ]
    found = (InUnit(code=unit, unit=unit, times=times, plus=plus) for unit, (times, plus) in known)
    return tuple(sorted(found, key=lambda each: each.unit != measured.unit))


def _category(
    name: str, source: str, codes: tuple[str, ...], *, labels: tuple[str, ...] = ()
) -> Column:
    return Column(
        name=name,
        kind=Kind.CATEGORY,
        source=source,
        keys=labels or codes,
        codes=tuple((code, index) for index, code in enumerate(codes)),
        because=_VALUE_SET,
    )
