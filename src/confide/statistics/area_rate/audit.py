"""What the audit asks of area rate."""

from confide.plans.contribution import Counted, PerPatient
from confide.statistics.area_rate.spec import AreaRate, Denominator
from confide.statistics.audited import HIGH, Audited

AUDITED = Audited(
    patients=(
        AreaRate(
            id="rates", of=HIGH, per_patient=PerPatient(cells=2), table="events", spine="place"
        ),
        AreaRate(
            id="fair",
            same_error_above=10,
            per_patient=PerPatient(cells=2),
            table="events",
            spine="place",
        ),
        AreaRate(
            id="block-rate",
            area="block",
            per_patient=PerPatient(cells=1),
            table="events",
            spine="place",
        ),
        AreaRate(
            id="block-shares",
            area="block",
            of=HIGH,
            denominator=Denominator.ROWS,
            same_error_above=30,
            per_patient=PerPatient(rows=2),
            table="events",
            spine="place",
        ),
    ),
    events=(
        AreaRate(
            id="fair", table="events", spine="place", counted=Counted.EVENTS, same_error_above=10
        ),
    ),
)
