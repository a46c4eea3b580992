"""What the audit asks of count."""

from confide.plans.contribution import Counted, PerPatient
from confide.statistics.audited import HIGH, Audited
from confide.statistics.count.spec import Count
from confide.tables.filter import Not

AUDITED = Audited(
    patients=(
        Count(id="patients", table="events"),
        Count(id="patients-with", table="events", where=HIGH),
        Count(id="patients-without", table="events", where=Not(of=HIGH)),
        Count(id="persons", table="patients"),
        Count(id="rows", table="events", counted=Counted.EVENTS, per_patient=PerPatient(rows=3)),
    ),
    events=(Count(id="rows", table="events", where=HIGH, counted=Counted.EVENTS),),
)
