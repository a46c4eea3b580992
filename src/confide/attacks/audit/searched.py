"""What the sensitivity search looks at: every kind of statistic under every kind of bound.

*Privacy:* a kind or a bound that is left out here is one whose claim nothing tries to refute.
"""

from fractions import Fraction
from typing import Any

from confide.attacks.audit.searched_rates import rates_of_patients
from confide.attacks.audit.searched_tables import tables_of_events, tables_of_patients
from confide.plans.contribution import Counted, PerPatient
from confide.plans.plan import Statistic
from confide.statistics import (
    AreaRate,
    ChiSquaredTest,
    Count,
    Hierarchy,
    Histogram,
    KeySelection,
    LinearRegression,
    Mean,
    Proportion,
    Quantiles,
    RunningCounts,
    Series,
    Sum,
    Survival,
    TopCategory,
    TopFeatures,
    TrendTest,
    TwoMeansTest,
    TwoProportionsTest,
    Variance,
)
from confide.statistics.area_rate.spec import Denominator
from confide.statistics.series import SeriesOf
from confide.statistics.survival import Method
from confide.tables.expression import ColumnOf, DatePart, ValueOf
from confide.tables.filter import AnyOf, Between, IsIn, Not
from confide.tables.ranked import About

TOO_WIDE = {"big", "big-variance"}
"""So wide that in some accounting no noise of theirs can be drawn: only the sums are searched."""


def statistics_of_patients() -> tuple[Statistic, ...]:
    """Return every kind of statistic under every kind of bound, with the patient as the unit."""
    amount = ColumnOf(table="events", column="amount")
    whole = ColumnOf(table="events", column="whole")
    high = Between(of=amount, lower=50)
    events, rows = Counted.EVENTS, PerPatient
    return (
        Count(id="patients", table="events"),
        Count(id="patients-with", table="events", where=high),
        Count(id="patients-without", table="events", where=Not(of=high)),
        Count(id="persons", table="patients"),
        Count(id="rows", table="events", counted=events, per_patient=rows(rows=3)),
        Histogram(id="codes", table="events", by=("code",), per_patient=rows(cells=2)),
        Histogram(
            id="code-rows",
            table="events",
            by=("code",),
            counted=events,
            per_patient=rows(cells=2, rows=2),
        ),
        Histogram(
            id="any-rows", table="events", by=("code",), counted=events, per_patient=rows(rows=3)
        ),
        Histogram(id="listed", table="events", by=("listed",), per_patient=rows(cells=2)),
        Histogram(id="all-codes", table="events", by=("code",), per_patient=rows(cells=9)),
        Histogram(
            id="quarters",
            table="events",
            by=("code", "quarter"),
            counted=events,
            per_patient=rows(cells=2, rows=2),
        ),
        Histogram(id="sexes", table="patients", by=("sex",)),
        Histogram(id="sex-codes", table="events", by=("code", "sex"), per_patient=rows(cells=2)),
        Histogram(id="visits", table="patients", by=("visits", "any")),
        Histogram(id="stays", table="events", by=("stay",)),
        Sum(id="amounts", table="events", column="amount", per_patient=rows(rows=3)),
        Sum(
            id="changes",
            table="events",
            column="change",
            by=("code",),
            per_patient=rows(cells=2, rows=2),
        ),
        Sum(id="big", table="events", column="big", per_patient=rows(rows=2)),
        Sum(
            id="strict",
            table="events",
            column="strict",
            by=("code",),
            where=AnyOf(of=(Not(of=IsIn(of=whole, values=(1,))), Between(of=ValueOf(name="span")))),
            per_patient=rows(cells=2, rows=1),
        ),
        Sum(id="latest", table="patients", column="latest"),
        Sum(id="whole", table="events", column="whole", per_patient=rows(rows=8)),
        Mean(id="mean", table="events", column="change", by=("code",), per_patient=rows(rows=3)),
        Mean(id="ages", table="patients", column="age"),
        Variance(
            id="variance",
            table="events",
            column="change",
            by=("code",),
            per_patient=rows(cells=2, rows=1),
        ),
        Variance(id="big-variance", table="events", column="big", per_patient=rows(rows=1)),
        Proportion(id="share", table="events", of=high, per_patient=rows(rows=2)),
        Proportion(id="share-of-persons", table="patients", of=Between(of=ValueOf(name="first"))),
        Quantiles(
            id="quantiles", table="events", column="change", bins=6, per_patient=rows(rows=2)
        ),
        KeySelection(id="notes", table="events", key="note", per_patient=rows(cells=2)),
        *tables_of_patients(),
        TopCategory(
            id="top-codes", table="events", by=("code",), per_patient=rows(cells=2), size=2
        ),
        TopFeatures(
            id="top-features",
            table="events",
            features=("amount", "change", "strict"),
            outcome="whole",
            about=About.CENTRES,
            per_patient=rows(rows=1),
        ),
        *rates_of_patients(),
        Survival(
            id="exits",
            table="patients",
            time="age",
            status="any",
            censored=("no",),
            by=("sex",),
            bins=6,
            until=Fraction(60),
        ),
        Survival(
            id="stays-until-any",
            table="events",
            time="span",
            status="any",
            censored=("no",),
            bins=4,
            method=Method.PER_TIME_POINT,
        ),
        ChiSquaredTest(
            id="independence", table="events", by=("code", "band"), per_patient=rows(rows=1)
        ),
        TwoProportionsTest(
            id="two-shares", table="events", of=high, by=("sex",), per_patient=rows(rows=1)
        ),
        TrendTest(id="trend", table="events", of=high, by=("code",), per_patient=rows(rows=1)),
        TwoMeansTest(
            id="two-means", table="events", column="change", by=("sex",), per_patient=rows(rows=1)
        ),
        LinearRegression(
            id="line",
            table="events",
            outcome="change",
            covariates=("amount", "code", "sex"),
            per_patient=rows(rows=1),
        ),
        Series(
            id="series",
            table="events",
            column="change",
            over="day",
            every=DatePart.QUARTER,
            per_patient=rows(cells=2, rows=2),
        ),
        Series(
            id="series-of-sums",
            table="events",
            column="amount",
            over="quarter",
            of=SeriesOf.SUM,
            per_patient=rows(cells=2, rows=1),
        ),
        RunningCounts(
            id="running",
            table="events",
            over="quarter",
            counted=events,
            per_patient=rows(cells=2, rows=3),
        ),
        RunningCounts(
            id="running-by-sex",
            table="events",
            over="day",
            every=DatePart.QUARTER,
            groups=("sex",),
            per_patient=rows(cells=2),
        ),
        *_of_areas(high),
    )


def _of_areas(high: Between) -> tuple[Statistic, ...]:
    place: dict[str, Any] = {"table": "events", "spine": "place"}
    return (
        Hierarchy(id="blocks", per_patient=PerPatient(cells=2), **place),
        Hierarchy(
            id="block-rows",
            counted=Counted.EVENTS,
            per_patient=PerPatient(cells=2, rows=2),
            **place,
        ),
        Hierarchy(id="block-any", counted=Counted.EVENTS, per_patient=PerPatient(rows=3), **place),
        AreaRate(id="rates", of=high, per_patient=PerPatient(cells=2), **place),
        AreaRate(id="fair", same_error_above=10, per_patient=PerPatient(cells=2), **place),
        AreaRate(id="block-rate", area="block", per_patient=PerPatient(cells=1), **place),
        AreaRate(
            id="block-shares",
            area="block",
            of=high,
            denominator=Denominator.ROWS,
            same_error_above=30,
            per_patient=PerPatient(rows=2),
            **place,
        ),
    )


def statistics_of_events() -> tuple[Statistic, ...]:
    """Return every kind of statistic with the event as the unit."""
    high = Between(of=ColumnOf(table="events", column="amount"), lower=50)
    other = IsIn(of=ColumnOf(table="events", column="code"), values=(3,))
    return (
        Count(id="rows", table="events", where=high, counted=Counted.EVENTS),
        Histogram(id="codes", table="events", by=("code", "band"), counted=Counted.EVENTS),
        Histogram(id="listed", table="events", by=("listed",), counted=Counted.EVENTS),
        Sum(id="amounts", table="events", column="amount", where=Not(of=other)),
        Sum(id="changes", table="events", column="change", by=("code",)),
        Mean(id="mean", table="events", column="change", by=("quarter",)),
        Variance(id="variance", table="events", column="amount"),
        Proportion(id="share", table="events", of=high),
        TopCategory(id="top-code", table="events", by=("code",), counted=Counted.EVENTS),
        Quantiles(id="quantiles", table="events", column="amount", bins=5, at=(Fraction(1, 2),)),
        *tables_of_events(),
        Survival(id="exits", table="events", time="amount", status="code", censored=("D",), bins=4),
        ChiSquaredTest(id="independence", table="events", by=("code", "band")),
        LinearRegression(
            id="line", table="events", outcome="change", covariates=("amount", "code")
        ),
        Hierarchy(id="blocks", table="events", spine="place", counted=Counted.EVENTS),
        AreaRate(
            id="fair", table="events", spine="place", counted=Counted.EVENTS, same_error_above=10
        ),
        Series(id="series", table="events", column="change", over="day", every=DatePart.QUARTER),
        RunningCounts(id="running", table="events", over="quarter", counted=Counted.EVENTS),
    )
