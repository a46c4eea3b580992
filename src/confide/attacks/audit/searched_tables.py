"""Tables of many variables over the generated tables, for the sensitivity search."""

from confide.plans.contribution import PerPatient
from confide.plans.plan import Statistic
from confide.statistics import Characteristic, DataQuality, Summary, TableOne


def tables_of_patients() -> tuple[Statistic, ...]:
    """Return Table 1 and data quality under every kind of bound, with the patient as the unit."""
    persons = (
        Characteristic(column="age", show=tuple(Summary), bins=4),
        Characteristic(column="latest"),
        Characteristic(column="visits"),
    )
    rows = (
        Characteristic(column="band"),
        Characteristic(column="change", show=tuple(Summary), bins=6),
        Characteristic(column="strict"),
        Characteristic(column="sex"),
    )
    two = PerPatient(rows=2)
    return (
        TableOne(id="persons-1", table="patients", by=("sex",), variables=persons),
        TableOne(id="table-1", table="events", by=("code",), variables=rows, per_patient=two),
        DataQuality(id="quality-of-persons", table="patients", fields=("age", "sex"), by=("any",)),
        DataQuality(
            id="quality",
            table="events",
            fields=("amount", "code", "day", "note"),
            by=("code",),
            per_patient=two,
        ),
    )


def tables_of_events() -> tuple[Statistic, ...]:
    """Return both with the event as the unit."""
    variables = (Characteristic(column="strict"), Characteristic(column="code"))
    return (
        TableOne(id="table-1", table="events", by=("quarter",), variables=variables),
        DataQuality(id="quality", table="events", fields=("whole", "code"), by=("band",)),
    )
