"""What the audit asks of logistic."""

from fractions import Fraction

from confide.plans.contribution import PerPatient
from confide.statistics.audited import HIGH, Audited, Worst
from confide.statistics.logistic.multinomial import MultinomialRegression
from confide.statistics.logistic.rare_classes import ClassFit
from confide.statistics.logistic.regression import LogisticRegression, Method

LOGISTIC = Audited(
    patients=(
        LogisticRegression(
            id="odds",
            table="events",
            of=HIGH,
            covariates=("change", "whole"),
            per_patient=PerPatient(rows=1),
        ),
        LogisticRegression(
            id="odds-of-many-terms",
            table="events",
            of=HIGH,
            covariates=("change", "whole"),
            per_patient=PerPatient(rows=3),
            method=Method.WIDE,
            expect=Fraction(1000),
        ),
    ),
    worst=Worst.CORNER,
)

MULTINOMIAL = Audited(
    patients=(
        MultinomialRegression(
            id="odds-of-a-rare-class",
            table="events",
            outcome="code",
            covariates=("change", "whole"),
            per_patient=PerPatient(rows=3),
            method=ClassFit.WIDE,
            expect=Fraction(1000),
        ),
    ),
    worst=Worst.CORNER,
)
