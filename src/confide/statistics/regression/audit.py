"""What the audit asks of linear regression."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import Audited
from confide.statistics.regression.linear import LinearRegression

AUDITED = Audited(
    patients=(
        LinearRegression(
            id="line",
            table="events",
            outcome="change",
            covariates=("amount", "code", "sex"),
            per_patient=PerPatient(rows=1),
        ),
        LinearRegression(
            id="line-by-subgroups",
            table="events",
            outcome="change",
            covariates=("amount",),
            subgroups=("sex",),
            per_patient=PerPatient(rows=1),
        ),
    ),
    events=(
        LinearRegression(
            id="line", table="events", outcome="change", covariates=("amount", "code")
        ),
    ),
)
