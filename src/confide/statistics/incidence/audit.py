"""What the audit asks of incidence."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import HIGH, Audited
from confide.statistics.incidence.spec import Incidence

AUDITED = Audited(
    patients=(
        Incidence(
            id="incidence", table="events", time="span", of=HIGH, per_patient=PerPatient(rows=2)
        ),
        Incidence(id="visits-per-day", table="patients", time="span", events="many", by=("sex",)),
    ),
)
