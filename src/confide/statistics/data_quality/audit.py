"""What the audit asks of data quality."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import Audited
from confide.statistics.data_quality.spec import DataQuality

AUDITED = Audited(
    patients=(
        DataQuality(id="quality-of-persons", table="patients", fields=("age", "sex"), by=("any",)),
        DataQuality(
            id="quality",
            table="events",
            fields=("amount", "code", "day", "note"),
            by=("code",),
            per_patient=PerPatient(rows=2),
        ),
    ),
    events=(DataQuality(id="quality", table="events", fields=("whole", "code"), by=("band",)),),
)
