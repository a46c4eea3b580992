"""What the audit asks of quantiles."""

from fractions import Fraction

from confide.plans.contribution import PerPatient
from confide.statistics.audited import Audited
from confide.statistics.quantiles.spec import QuantileInterval, Quantiles

AUDITED = Audited(
    patients=(
        Quantiles(
            id="quantiles", table="events", column="change", bins=6, per_patient=PerPatient(rows=2)
        ),
        Quantiles(
            id="quantiles-in-two-rounds",
            table="events",
            column="amount",
            per_patient=PerPatient(rows=2),
        ),
        Quantiles(
            id="quantile-points",
            table="events",
            column="whole",
            at=(Fraction(1, 4), Fraction(1, 2)),
            interval=QuantileInterval.NONE,
            per_patient=PerPatient(rows=2),
        ),
    ),
    events=(
        Quantiles(id="quantiles", table="events", column="amount", bins=5, at=(Fraction(1, 2),)),
    ),
    wide=("quantiles-in-two-rounds", "quantile-points"),
)
