"""What the audit asks of running counts."""

from confide.plans.contribution import Counted, PerPatient
from confide.statistics.audited import Audited
from confide.statistics.running_counts.spec import RunningCounts
from confide.tables.expression import DatePart

AUDITED = Audited(
    patients=(
        RunningCounts(
            id="running",
            table="events",
            over="quarter",
            counted=Counted.EVENTS,
            per_patient=PerPatient(cells=2, rows=3),
        ),
        RunningCounts(
            id="running-by-sex",
            table="events",
            over="day",
            every=DatePart.QUARTER,
            groups=("sex",),
            per_patient=PerPatient(cells=2),
        ),
    ),
    events=(RunningCounts(id="running", table="events", over="quarter", counted=Counted.EVENTS),),
)
