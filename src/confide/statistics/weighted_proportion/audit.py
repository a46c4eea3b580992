"""What the audit asks of weighted proportion."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import CODED, Audited
from confide.statistics.weighted_proportion.spec import WeightedProportion

AUDITED = Audited(
    patients=(
        WeightedProportion(
            id="weighted-share", table="events", of=CODED, per_patient=PerPatient(rows=2)
        ),
    ),
)
