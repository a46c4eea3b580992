"""What the audit asks of variance."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import Audited
from confide.statistics.variance.spec import Variance

AUDITED = Audited(
    patients=(
        Variance(
            id="variance",
            table="events",
            column="change",
            by=("code",),
            per_patient=PerPatient(cells=2, rows=1),
        ),
        Variance(id="big-variance", table="events", column="big", per_patient=PerPatient(rows=1)),
    ),
    events=(Variance(id="variance", table="events", column="amount"),),
    wide=("big-variance",),
)
