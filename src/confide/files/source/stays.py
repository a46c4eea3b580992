"""A stay is not a patient: ids of stays, admissions and encounters protect nobody's records.

With the patient as privacy unit, bounds hold for all records that share an id.  Of somebody who was
admitted ten times, the id of an admission bounds a tenth.

*Privacy:* looks at declared names alone.
"""

from collections.abc import Iterable

from confide.errors import ContractError
from confide.privacy.unit import Entity, PrivacyUnit
from confide.tables.schema import Table

_PATIENTS = {
    "hadmid": "subject_id",
    "icustayid": "subject_id",
    "stayid": "subject_id",
    "transferid": "subject_id",
    "patientunitstayid": "uniquepid",
    "patienthealthsystemstayid": "uniquepid",
    "visitoccurrenceid": "person_id",
    "visitdetailid": "person_id",
}
"""The patient's id in each data model, by the id of a stay without capitals and signs."""


def require_patients(tables: Iterable[Table], *, unit: PrivacyUnit) -> None:
    """Refuse the id of a stay where patients are protected.

    Raises:
        ContractError: If the id of the unit, or a table's own, is known to be that of a stay.
    """
    if unit.entity is not Entity.PATIENT:
        return
    places = [("protects → id", unit.id_column)]
    places += [(f"tables → {table.name} → id", table.id_column) for table in tables]
    for place, name in places:
        patient = _PATIENTS.get("".join(sign for sign in name.lower() if sign.isalnum()))
        if patient is not None:
            raise ContractError(
                f"{place}: {name!r} identifies a stay, and a patient may have several.",
                hint=f"Write id: {patient}. Where a table lacks it, join it once, into a "
                "table of a DuckDB file, and declare that.",
            )
