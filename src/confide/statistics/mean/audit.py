"""What the audit asks of mean."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import Audited
from confide.statistics.mean.spec import Mean

AUDITED = Audited(
    patients=(
        Mean(
            id="mean", table="events", column="change", by=("code",), per_patient=PerPatient(rows=3)
        ),
        Mean(id="ages", table="patients", column="age"),
    ),
    events=(Mean(id="mean", table="events", column="change", by=("quarter",)),),
)
