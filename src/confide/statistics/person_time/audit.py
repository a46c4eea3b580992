"""What the audit asks of person time."""

from fractions import Fraction

from confide.plans.contribution import PerPatient
from confide.statistics.audited import CODED, Audited, Worst
from confide.statistics.person_time.few_events import HazardFit
from confide.statistics.person_time.hazard import HazardRegression
from confide.statistics.person_time.poisson import PoissonRegression

POISSON = Audited(
    patients=(
        PoissonRegression(
            id="rates-of-few-events",
            table="events",
            events="amount",
            covariates=("change", "whole"),
            per_patient=PerPatient(rows=3),
            method=HazardFit.WIDE,
            expect=Fraction(1000),
        ),
    ),
    worst=Worst.CORNER,
)

HAZARD = Audited(
    patients=(
        HazardRegression(
            id="hazards-of-few-events",
            table="events",
            time="amount",
            of=CODED,
            covariates=("change", "whole"),
            edges=(Fraction(0), Fraction(50), Fraction(100)),
            per_patient=PerPatient(rows=1),
            method=HazardFit.WIDE,
            expect=Fraction(1000),
        ),
    ),
    worst=Worst.CORNER,
)
