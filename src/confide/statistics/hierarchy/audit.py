"""What the audit asks of hierarchy."""

from confide.plans.contribution import Counted, PerPatient
from confide.statistics.audited import Audited
from confide.statistics.hierarchy.spec import Hierarchy

AUDITED = Audited(
    patients=(
        Hierarchy(id="blocks", per_patient=PerPatient(cells=2), table="events", spine="place"),
        Hierarchy(
            id="block-rows",
            counted=Counted.EVENTS,
            per_patient=PerPatient(cells=2, rows=2),
            table="events",
            spine="place",
        ),
        Hierarchy(
            id="block-any",
            counted=Counted.EVENTS,
            per_patient=PerPatient(rows=3),
            table="events",
            spine="place",
        ),
    ),
    events=(Hierarchy(id="blocks", table="events", spine="place", counted=Counted.EVENTS),),
)
