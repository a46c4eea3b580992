"""A stay is not a patient: ids of stays, admissions and encounters protect nobody's records.

With the patient as privacy unit, bounds hold for all records that share an id.  Of somebody who was
admitted ten times, the id of an admission bounds a tenth.  A query that calls such an id another
name is refused as well, and so is whatever is not the patient where a standard names the patient.

*Privacy:* looks at declared names alone.
"""

import re
from collections.abc import Iterable, Iterator

from confide.errors import ContractError
from confide.privacy.unit import Entity, PrivacyUnit
from confide.tables.schema import Table
from confide.tables.source import Source, SourceKind

_PATIENTS = {
    "hadmid": "subject_id",
    "icustayid": "subject_id",
    "stayid": "subject_id",
    "transferid": "subject_id",
    "patientunitstayid": "uniquepid",
    "patienthealthsystemstayid": "uniquepid",
    "visitoccurrenceid": "person_id",
    "visitdetailid": "person_id",
    "encounter": "person",
    "encounterid": "person",
}
"""The patient's id in each data model, by the id of a stay without capitals and signs."""

_OF_STANDARD = {SourceKind.FHIR: "person", SourceKind.MEDS: "subject_id"}
"""The patient's id where rows are read by a standard, under a name that no site chooses."""


def require_patients(tables: Iterable[Table], *, unit: PrivacyUnit, source: Source) -> None:
    """Refuse the id of a stay where patients are protected.

    Raises:
        ContractError: If the id of the unit, or a table's own, is known to be that of a stay, or
            that of a second person is, or a query makes one of them of such an id.
    """
    if unit.entity is not Entity.PATIENT:
        return
    tables = tuple(tables)
    places = [("protects → id", unit.id_column)]
    places += [(f"tables → {table.name} → id", table.id_column) for table in tables]
    of_standard = _OF_STANDARD.get(source.kind)
    for place, name in places:
        if of_standard and name and name != of_standard:
            raise ContractError(
                f"{place}: {name!r} identifies no patient of {source.kind.value}.",
                hint=f"Write id: {of_standard}.",
            )
    places += [(f"tables → {table.name} → other-id", table.other_id) for table in tables]
    for table in tables:
        ids = {table.id_column or unit.id_column, table.other_id} - {""}
        places += [(f"tables → {table.name} → query", word) for word in _made_of(table, ids=ids)]
    for place, name in places:
        patient = _PATIENTS.get("".join(sign for sign in name.lower() if sign.isalnum()))
        if patient is not None:
            raise ContractError(
                f"{place}: {name!r} identifies a stay, and a patient may have several.",
                hint=f"Write id: {patient}. Where a table lacks it, join it once, into a "
                "table of a DuckDB file, and declare that.",
            )


def _made_of(table: Table, *, ids: Iterable[str]) -> Iterator[str]:
    """Yield the words of what a query calls by the name of an id."""
    if not table.query:
        return
    import sqlglot
    from sqlglot.errors import SqlglotError

    named = {each.lower() for each in ids}
    try:
        for query in sqlglot.parse(table.query, read="duckdb"):
            for each in getattr(query, "selects", ()):
                if each.alias_or_name.lower() in named:
                    yield from re.findall(r"\w+", each.unalias().sql("duckdb"))
    except (SqlglotError, ValueError, RecursionError):
        return  # such a query is refused where it is read
