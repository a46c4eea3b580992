"""What the audit asks of weighted mean."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import Audited
from confide.statistics.weighted_mean.spec import WeightedMean

AUDITED = Audited(
    patients=(
        WeightedMean(
            id="weighted-mean", table="events", column="change", per_patient=PerPatient(rows=2)
        ),
        WeightedMean(id="weighted-latest", table="patients", column="latest", by=("sex",)),
    ),
)
