"""Rates and weighted statistics over the generated tables, for the sensitivity search."""

from fractions import Fraction

from confide.plans.contribution import PerPatient
from confide.plans.plan import Statistic
from confide.plans.public_numbers import PublicNumber
from confide.statistics import (
    SMR,
    Incidence,
    StandardizedRate,
    WeightedMean,
    WeightedProportion,
)
from confide.tables.expression import ColumnOf, ValueOf
from confide.tables.filter import Between, IsIn

_HIGH = Between(of=ColumnOf(table="events", column="amount"), lower=50)
_CODED = IsIn(of=ColumnOf(table="events", column="code"), values=(0, 2))
_WOMEN = IsIn(of=ColumnOf(table="patients", column="sex"), values=(0,))
_SEEN = IsIn(of=ValueOf(name="any"), values=(1,))  # told of everybody


def _public(*labels: str) -> tuple[PublicNumber, ...]:
    return tuple(PublicNumber(keys=(label,), value=Fraction(1)) for label in labels)


_BANDS = _public("0-9", "10-59", "60-100")
_ANY = _public("no", "yes")


def rates_of_patients() -> tuple[Statistic, ...]:
    """Return every kind of rate, with the patient as the unit."""
    two = PerPatient(rows=2)
    return (
        Incidence(id="incidence", table="events", time="span", of=_HIGH, per_patient=two),
        Incidence(id="visits-per-day", table="patients", time="span", events="many", by=("sex",)),
        StandardizedRate(
            id="adjusted-share",
            table="events",
            of=_CODED,
            strata=("band",),
            standard=_BANDS,
            per_patient=two,
        ),
        StandardizedRate(
            id="adjusted-rate",
            table="patients",
            of=_WOMEN,
            strata=("any",),
            standard=_ANY,
            time="span",
            by=("sex",),
        ),
        StandardizedRate(
            id="adjusted-cases",
            table="events",
            of=_CODED,
            strata=("band",),
            standard=_BANDS,
            population=_BANDS,
            per_patient=two,
        ),
        SMR(
            id="smr",
            table="events",
            of=_CODED,
            strata=("band",),
            reference=_BANDS,
            by=("quarter",),
            per_patient=two,
        ),
        SMR(
            id="smr-of-time",
            table="patients",
            of=_SEEN,
            strata=("any",),
            reference=_ANY,
            time="span",
        ),
        WeightedProportion(id="weighted-share", table="events", of=_CODED, per_patient=two),
        WeightedMean(id="weighted-mean", table="events", column="change", per_patient=two),
        WeightedMean(id="weighted-latest", table="patients", column="latest", by=("sex",)),
    )
