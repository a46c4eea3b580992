"""OMOP CDM 5.3 and 5.4, in a DuckDB file or a folder of Parquet or CSV files.

Names of tables and columns are matched without regard to case.  Person ids are integers by
specification, yet warehouses hash or pad them: they are read as the type of their column is, text
as text.  :func:`omop_tables` declares the CDM's clinical tables from its public specification and
vocabulary alone: no row is read.

*Privacy:* source values, free text, exact birth dates, addresses and device or provider numbers are
blocked by default: they identify people, and nothing about them is public.

References:
    [OMOP] OHDSI. OMOP Common Data Model 5.3, 5.4. https://ohdsi.github.io/CommonDataModel/
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from confide.errors import ContractError
from confide.rows.cells.layout import source_names
from confide.rows.clinical_ranges import ClinicalRange
from confide.rows.sources.day_column import day_column
from confide.rows.sources.delimited import csv_scan
from confide.rows.sources.opened import Found, Opened, Scan, from_scans
from confide.rows.sources.parquet import parquet_scan
from confide.tables.by_code import Accepted, InUnit, Units
from confide.tables.clinical_units import analyte, clinical_units, conversion
from confide.tables.dialect import AS_USUAL
from confide.tables.encoding import Encoding
from confide.tables.schema import Column, Dataset, Kind, Outside, Table
from confide.tables.source_files import PARQUET, fits

_VOCABULARY = "OMOP standard vocabulary"

SEX = {"8507": "male", "8532": "female"}
RACE = {
    "8527": "White",
    "8516": "Black or African American",
    "8515": "Asian",
    "8657": "American Indian or Alaska Native",
    "8557": "Native Hawaiian or Other Pacific Islander",
}
ETHNICITY = {"38003563": "Hispanic or Latino", "38003564": "Not Hispanic or Latino"}
VISIT = {
    "9201": "inpatient",
    "9202": "outpatient",
    "9203": "emergency room",
    "262": "emergency room and inpatient",
    "42898160": "non-hospital institution",
    "581476": "home",
    "5083": "telehealth",
}
_BLOCKED_NAMES = {
    "birth_datetime": "an exact date of birth",
    "month_of_birth": "part of a date of birth",
    "day_of_birth": "part of a date of birth",
    "zip": "a place of residence",
    "address_1": "a place of residence",
    "address_2": "a place of residence",
    "latitude": "a place of residence",
    "longitude": "a place of residence",
    "note_text": "free text",
    "note_title": "free text",
    "value_as_string": "free text",
    "sig": "free text",
    "lot_number": "an identifying number",
    "unique_device_id": "an identifying number",
    "provider_name": "a name",
    "npi": "an identifying number",
    "dea": "an identifying number",
}


def blocked(column: str) -> str:
    """Return why a column of the CDM is not declared by default; empty when it may be.

    Example:
        >>> blocked("gender_source_value")
        'a source value, which may be anything'
        >>> blocked("gender_concept_id")
        ''
    """
    name = column.lower()
    if name.endswith("_source_value"):
        return "a source value, which may be anything"
    return _BLOCKED_NAMES.get(name, "")


def from_omop(found: Found, *, attach: Path | None, dataset: Dataset) -> Opened:
    """Return how the CDM's tables are read, in a DuckDB file or in Parquet or CSV files.

    Raises:
        ContractError: If a blocked column is declared, or an encoding of what is no text.
    """
    refuse_blocked(dataset)
    if attach is not None:
        for table in dataset.tables:
            _refuse_encoding(table)
        return Opened(attach=attach, fold_case=True)
    scans: dict[str, Scan] = {}
    missing: dict[str, str] = {}
    for table in dataset.tables:
        places = found[table.name]
        if len(places) != 1:
            why = "in several files" if places else "in no file"
            missing[table.name] = f"Table {table.name!r}: {table.source!r} is {why} of the source."
            continue
        parts = places[0]
        if fits(parts[0], endings=PARQUET):
            _refuse_encoding(table)
            scans[table.name] = parquet_scan(parts, table=table)
        else:
            declared = source_names(table, dataset=dataset)
            scans[table.name] = csv_scan(parts, table=table, declared=declared)
    return replace(from_scans(scans, missing=missing), fold_case=True)


def refuse_blocked(dataset: Dataset) -> None:
    """Refuse columns of the CDM that identify people.

    Raises:
        ContractError: If one is declared.
    """
    for table in dataset.tables:
        for source in sorted(table.sources()):
            why = blocked(source)
            if why:
                raise ContractError(
                    f"Column {source!r} of table {table.name!r} is {why}.",
                    hint="Leave it out; concepts and dates answer most questions.",
                )


def _refuse_encoding(table: Table) -> None:
    if table.encoding is not Encoding.UTF_8:
        raise ContractError(
            f"Table {table.name!r}: only CSV files have an encoding, and it lies in none.",
            hint="Leave `encoding` out.",
        )
    if table.dialect != AS_USUAL:
        raise ContractError(
            f"Table {table.name!r}: only CSV files have a dialect, and it lies in none.",
            hint="Leave `dialect` out.",
        )


def omop_tables(*, since: dt.date, until: dt.date) -> tuple[Table, ...]:
    """Return the CDM's clinical tables, declared from its public specification.

    Args:
        since: First day that events are counted; public, such as the start of the warehouse.
        until: Last day, such as that of the snapshot.

    Example:
        >>> tables = omop_tables(since=dt.date(2010, 1, 1), until=dt.date(2026, 10, 31))
        >>> [table.name for table in tables][:3]
        ['person', 'death', 'visit_occurrence']
    """

    def day(name: str, source: str) -> Column:
        return day_column(name, source, since=since, until=until)

    def concept(source: str) -> Column:
        return Column(
            name="concept", kind=Kind.TEXT, source=source, because=_VOCABULARY, absent=("0",)
        )

    person = (
        _category("sex", "gender_concept_id", SEX),
        _category("race", "race_concept_id", RACE),
        _category("ethnicity", "ethnicity_concept_id", ETHNICITY),
        Column(
            name="birth_year",
            kind=Kind.NUMBER,
            source="year_of_birth",
            lower=1900,
            upper=until.year,
            unit="a",
            outside=Outside.DROP,
            because="Nobody alive was born before 1900; nobody is born after the snapshot.",
        ),
    )
    events = {
        "visit_occurrence": (
            _category("visit", "visit_concept_id", VISIT),
            day("start", "visit_start_date"),
            day("end", "visit_end_date"),
        ),
        "condition_occurrence": (
            concept("condition_concept_id"),
            day("start", "condition_start_date"),
        ),
        "drug_exposure": (
            concept("drug_concept_id"),
            day("start", "drug_exposure_start_date"),
        ),
        "procedure_occurrence": (concept("procedure_concept_id"), day("date", "procedure_date")),
        "measurement": (concept("measurement_concept_id"), day("date", "measurement_date")),
        "observation": (concept("observation_concept_id"), day("date", "observation_date")),
        "observation_period": (
            day("start", "observation_period_start_date"),
            day("end", "observation_period_end_date"),
        ),
    }
    return (
        Table(name="person", source="person", columns=person, one_row_per_patient=True),
        Table(
            name="death",
            source="death",
            columns=(day("date", "death_date"),),
            one_row_per_patient=True,
        ),
        *(
            Table(name=name, source=name, columns=columns, without=_no_concept(columns))
            for name, columns in events.items()
        ),
    )


def _no_concept(columns: Sequence[Column]) -> tuple[Accepted, ...]:
    """Return that rows of no concept are none of a table: they are no drug and no diagnosis."""
    return tuple(
        Accepted(source=column.source, codes=column.absent) for column in columns if column.absent
    )


def measurement_table(
    measured: ClinicalRange, *, since: dt.date, until: dt.date, same: Sequence[int] = ()
) -> Table:
    """Return the measurements of one thing as a table: ``value`` in its range, and ``date``.

    Its rows are those of the concept (and of ``same``, further concepts of the same thing) in a
    unit that converts to that of the range; others, and those without a unit, are left out.  Where
    a range is in no unit of the vocabulary, such as a score, units are not looked at.
    """
    number = measured.column(name="value", source="value_as_number")
    units = _units(measured)
    return Table(
        name=measured.key,
        source="measurement",
        only=(
            Accepted(
                source="measurement_concept_id", codes=tuple(map(str, (measured.omop, *same)))
            ),
        ),
        columns=(
            replace(number, units=Units(source="unit_concept_id", known=units))
            if units
            else number,
            day_column("date", "measurement_date", since=since, until=until),
        ),
    )


def _units(measured: ClinicalRange) -> tuple[InUnit, ...]:
    """Return the units of the vocabulary that convert to that of a range; none if it has none."""
    of = analyte(measured.analyte) if measured.analyte else None
    if measured.unit not in clinical_units():
        return ()
    found = []
    for each in clinical_units().values():
        factor = conversion(each.unit, to=measured.unit, of=of)
        if factor is not None:
            found += [
                InUnit(code=str(code), unit=each.unit, times=factor[0], plus=factor[1])
                for code in each.omop
            ]
    return tuple(sorted(found, key=lambda known: known.unit != measured.unit))


def _category(name: str, source: str, labels: Mapping[str, str]) -> Column:
    """Return a category of concepts, with one more label for all others and for missing ones."""
    rest = len(labels)
    return Column(
        name=name,
        kind=Kind.CATEGORY,
        source=source,
        keys=(*labels.values(), "other or unknown"),
        codes=tuple((code, index) for index, code in enumerate(labels)),
        nulls=rest,
        other=rest,
        because=_VOCABULARY,
    )
