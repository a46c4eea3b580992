"""What the audit asks of logistic."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import HIGH, Audited, Worst
from confide.statistics.logistic.regression import LogisticRegression

LOGISTIC = Audited(
    patients=(
        LogisticRegression(
            id="odds",
            table="events",
            of=HIGH,
            covariates=("change", "whole"),
            per_patient=PerPatient(rows=1),
        ),
    ),
    worst=Worst.CORNER,
)

MULTINOMIAL = Audited(
    worst=Worst.LIKE_ANOTHER,
)
