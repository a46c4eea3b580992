"""What the audit asks of top category."""

from confide.plans.contribution import Counted, PerPatient
from confide.statistics.audited import Audited, Worst
from confide.statistics.top_category.spec import TopCategory

AUDITED = Audited(
    patients=(
        TopCategory(
            id="top-codes", table="events", by=("code",), per_patient=PerPatient(cells=2), size=2
        ),
    ),
    events=(TopCategory(id="top-code", table="events", by=("code",), counted=Counted.EVENTS),),
    worst=Worst.CHOICE,
)
