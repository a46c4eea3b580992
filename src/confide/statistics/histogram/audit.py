"""What the audit asks of histogram."""

from confide.plans.contribution import Counted, PerPatient
from confide.statistics.audited import Audited
from confide.statistics.histogram.spec import Histogram

AUDITED = Audited(
    patients=(
        Histogram(id="codes", table="events", by=("code",), per_patient=PerPatient(cells=2)),
        Histogram(
            id="code-rows",
            table="events",
            by=("code",),
            counted=Counted.EVENTS,
            per_patient=PerPatient(cells=2, rows=2),
        ),
        Histogram(
            id="any-rows",
            table="events",
            by=("code",),
            counted=Counted.EVENTS,
            per_patient=PerPatient(rows=3),
        ),
        Histogram(id="listed", table="events", by=("listed",), per_patient=PerPatient(cells=2)),
        Histogram(id="all-codes", table="events", by=("code",), per_patient=PerPatient(cells=9)),
        Histogram(
            id="quarters",
            table="events",
            by=("code", "quarter"),
            counted=Counted.EVENTS,
            per_patient=PerPatient(cells=2, rows=2),
        ),
        Histogram(id="sexes", table="patients", by=("sex",)),
        Histogram(
            id="sex-codes", table="events", by=("code", "sex"), per_patient=PerPatient(cells=2)
        ),
        Histogram(id="visits", table="patients", by=("visits", "any")),
        Histogram(id="stays", table="events", by=("stay",)),
        Histogram(id="routes", table="events", by=("route",), per_patient=PerPatient(cells=2)),
    ),
    events=(
        Histogram(id="codes", table="events", by=("code", "band"), counted=Counted.EVENTS),
        Histogram(id="listed", table="events", by=("listed",), counted=Counted.EVENTS),
    ),
)
