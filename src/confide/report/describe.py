"""What a statistic is, in words: its kind, title, unit, and the numbers that sum it up.

*Privacy:* reads plan and noisy payload.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from confide.errors import UnsupportedError
from confide.plans.estimates import Covers
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Measurement, Plan, Statistic
from confide.release.noisy import NoisyAggregates
from confide.report.cells import Cell
from confide.report.conditions import condition_text, expression_text, label
from confide.report.findings import RATIOS
from confide.report.numbers import clean, decimals_for, fixed, percent
from confide.report.words import Words
from confide.statistics import STATISTICS
from confide.statistics.area_rate.spec import AreaRate
from confide.statistics.data_quality import DataQuality
from confide.statistics.hierarchy.spec import Hierarchy
from confide.statistics.histogram import Histogram
from confide.statistics.hypothesis_tests.trend import TrendTest
from confide.statistics.hypothesis_tests.two_proportions import TwoProportionsTest
from confide.statistics.logistic.multinomial import MultinomialRegression
from confide.statistics.logistic.regression import LogisticRegression
from confide.statistics.person_time.hazard import HazardRegression
from confide.statistics.person_time.poisson import PoissonRegression
from confide.statistics.proportion import Proportion
from confide.statistics.regression.linear import LinearRegression
from confide.statistics.running_counts import RunningCounts
from confide.statistics.series import Series
from confide.statistics.survival import Survival
from confide.statistics.table_one import TableOne
from confide.statistics.top_category import TopCategory
from confide.statistics.top_features import TopFeatures
from confide.statistics.weighted_proportion import WeightedProportion
from confide.tables.aggregate import Aggregate, MomentAggregate, Ones, moment_range
from confide.tables.bound_contributions import CellBound, OneEvent, RowBound
from confide.tables.expression import BinOf, Expression
from confide.tables.filter import Everything
from confide.tables.pooled import PooledAggregate
from confide.tables.relation import domain, resolve
from confide.tables.schema import Dataset

_NAMING_GROUPS = ("histogram", "chi-squared-test", "running-counts", "series", "top-category")
"""Kinds whose title names their groups already."""


def kind_of(statistic: Statistic) -> str:
    """Return the word that study files use for a statistic's kind.

    Raises:
        UnsupportedError: If it is not one of the registered kinds.

    Example:
        >>> from confide.statistics.count import Count
        >>> kind_of(Count(id="diabetes", table="person"))
        'count'
    """
    for kind, spec in STATISTICS.items():
        if type(statistic) is spec:
            return kind
    raise UnsupportedError(f"{type(statistic).__name__} is not a registered statistic.")


def title_of(statistic: Statistic, *, plan: Plan, words: Words) -> str:
    """Return the given title of a statistic, or one made from what it asks."""
    given = str(getattr(statistic, "title", ""))
    if given:
        return clean(given, most=120)
    title = _made(statistic, plan=plan, words=words)
    others = [other for other in plan.statistics if other.id != statistic.id]
    if all(getattr(o, "title", "") or _made(o, plan=plan, words=words) != title for o in others):
        return title
    return words.say("title.same", title=title, id=clean(statistic.id))


def _made(statistic: Statistic, *, plan: Plan, words: Words) -> str:
    """Return what a statistic asks, with its groups and its condition."""
    where = getattr(statistic, "where", Everything())
    condition = condition_text(where, dataset=plan.dataset, words=words, brief=True)
    subject = _subject(statistic, condition=condition, plan=plan, words=words)
    by, kind = getattr(statistic, "by", ()), kind_of(statistic)
    if by and kind not in _NAMING_GROUPS:
        groups = words.listed([label(name) for name in by])
        subject = words.say("title.by", subject=subject, groups=groups)
    if condition and kind != "count":
        subject = words.say("title.with", subject=subject, condition=condition)
    return clean(subject, most=160)


def _subject(statistic: Statistic, *, condition: str, plan: Plan, words: Words) -> str:
    kind = kind_of(statistic)
    table = label(str(getattr(statistic, "table", "")))
    by = [label(name) for name in getattr(statistic, "by", ())]
    groups = words.listed(by) if by else ""
    match kind:
        case "count" if condition:
            return words.say(f"title.whom.{_counted(statistic)}", condition=condition)
        case "count":
            return words.say(f"title.count.{_counted(statistic)}", table=table)
        case "histogram":
            return words.say(f"title.histogram.{_counted(statistic)}", groups=groups)
        case "chi-squared-test":
            return words.say("title.chi-squared-test", groups=groups)
        case "incidence" | "standardized-rate" | "smr":
            return words.say(f"title.{kind}", condition=_events(statistic, plan=plan, words=words))
        case "degree-histogram":
            return words.say("title.degree-histogram", column=table)
        case "hierarchy" if isinstance(statistic, Hierarchy):
            levels = words.listed([label(n) for n in plan.dataset.spine(statistic.spine).levels])
            return words.say(f"title.hierarchy.{_counted(statistic)}", levels=levels)
        case "area-rate" if isinstance(statistic, AreaRate):
            rate = condition_text(statistic.of, dataset=plan.dataset, words=words, brief=True)
            rate = rate or words.say(f"title.rate.{_counted(statistic)}")
            area = label(statistic.key_names[0])
            return words.say("title.area-rate", rate=rate, area=area)
        case "running-counts":
            return words.say(f"title.running-counts.{_counted(statistic)}", groups=groups)
        case "series" if isinstance(statistic, Series):
            column = label(statistic.column)
            return words.say(f"title.series.{statistic.of.value}", column=column)
        case "key-selection":
            return words.say("title.key-selection", key=label(str(getattr(statistic, "key", ""))))
        case _:
            return _shared_subject(statistic, kind=kind, plan=plan, words=words)


def _shared_subject(statistic: Statistic, *, kind: str, plan: Plan, words: Words) -> str:
    """Return what a statistic of a condition, of several columns or of one column asks."""
    match statistic:
        case TableOne(table=table) | DataQuality(table=table):
            return words.say(f"title.{kind}", table=label(table))
        case TopCategory(by=by, size=size):
            groups = words.listed([label(name) for name in by])
            return _best(kind, size, words=words, groups=groups)
        case TopFeatures(outcome=outcome, size=size):
            return _best(kind, size, words=words, outcome=label(outcome))
        case Proportion(of=of) | WeightedProportion(of=of) | TwoProportionsTest(of=of):
            share = condition_text(of, dataset=plan.dataset, words=words, brief=True)
            return words.say(f"title.{kind}", condition=share)
        case TrendTest(of=of):
            share = condition_text(of, dataset=plan.dataset, words=words, brief=True)
            return words.say(f"title.{kind}", condition=share)
        case Survival(time=time, status=status):
            return words.say(f"title.{kind}", time=label(time), status=label(status))
        case (
            LogisticRegression(of=of, covariates=covariates)
            | HazardRegression(of=of, covariates=covariates)
        ):
            names = words.listed([label(name) for name in covariates])
            share = condition_text(of, dataset=plan.dataset, words=words, brief=True)
            return words.say(f"title.{kind}", condition=share, covariates=names)
        case PoissonRegression(events=events, covariates=covariates):
            names = words.listed([label(name) for name in covariates])
            return words.say(f"title.{kind}", events=label(events), covariates=names)
        case (
            LinearRegression(outcome=outcome, covariates=covariates)
            | MultinomialRegression(outcome=outcome, covariates=covariates)
        ):
            names = words.listed([label(name) for name in covariates])
            return words.say(f"title.{kind}", outcome=label(outcome), covariates=names)
        case _:
            column = label(str(getattr(statistic, "column", "")))
            return words.say(f"title.{kind}", column=column)


def _events(statistic: Statistic, *, plan: Plan, words: Words) -> str:
    """Return what the events of a rate are: a column, or what rows must be."""
    of = getattr(statistic, "of", Everything())
    column = label(str(getattr(statistic, "events", "")))
    condition = condition_text(of, dataset=plan.dataset, words=words, brief=True)
    return column or condition or words.say("title.events")


def _best(kind: str, size: int, /, *, words: Words, **among: str) -> str:
    if size == 1:
        return words.say(f"title.{kind}", **among)
    return words.say(f"title.several-{kind}", count=str(size), **among)


def _counted(statistic: Statistic) -> str:
    counted = getattr(statistic, "counted", None)
    return "events" if counted is not None and counted.value == "events" else "patients"


def group_titles(statistic: Statistic, *, plan: Plan, words: Words) -> tuple[str, ...]:
    """Return the names of a statistic's groups, for axes and table heads."""
    if kind_of(statistic) == "key-selection":
        return (label(str(getattr(statistic, "key", ""))),)
    if isinstance(statistic, TableOne | DataQuality):
        return tuple(words.say(f"head.{name}") for name in statistic.key_names)
    if isinstance(statistic, MultinomialRegression):
        return words.say("head.term"), words.say("head.classes")
    if isinstance(
        statistic,
        LinearRegression | LogisticRegression | PoissonRegression | HazardRegression,
    ):
        return (words.say("head.term"),)
    if kind_of(statistic) == "degree-histogram":
        return (words.say("axis.degree"),)
    if isinstance(statistic, Hierarchy | AreaRate):
        return tuple(label(name) for name in statistic.key_names)
    if kind_of(statistic) == "top-features":
        return (words.say("head.feature"),)
    table = str(getattr(statistic, "table", ""))
    names = []
    if isinstance(statistic, Series | RunningCounts):
        axes = statistic.axes(plan.dataset)
        return tuple(_axis_title(axis, dataset=plan.dataset, words=words) for axis in axes)
    for name in getattr(statistic, "by", ()):
        expression = resolve(name, table=table, dataset=plan.dataset)
        known = {derived.name for derived in plan.dataset.derived}
        shown = label(name) if name in known else None
        names.append(_axis_title(expression, shown, dataset=plan.dataset, words=words))
    if isinstance(statistic, Survival):
        unit = clean(words.unit(statistic.time_domain(plan.dataset).unit))
        time = words.say("head.time-unit", unit=unit) if unit else words.say("head.time")
        names += [words.say("head.event"), time]
    return tuple(names)


def _axis_title(
    axis: Expression, name: str | None = None, *, dataset: Dataset, words: Words
) -> str:
    """Return the name of a grouping; of bins with their unit, which their labels leave out."""
    shown = expression_text(axis, dataset=dataset, words=words) if name is None else name
    unit = domain(axis.of, dataset=dataset).unit if isinstance(axis, BinOf) else "1"
    told = clean(words.unit(unit))
    return words.say("axis.column", column=shown, unit=told) if told else shown


def value_title(statistic: Statistic, *, unit: str, words: Words) -> str:
    """Return the title of a value axis: what is measured, with its unit."""
    kind = kind_of(statistic)
    shown = clean(words.unit(unit))
    if kind in (
        "count",
        "histogram",
        "key-selection",
        "degree-histogram",
        "hierarchy",
        "incidence",
        "running-counts",
        "standardized-rate",
    ):
        return shown
    if kind == "area-rate":
        return words.say("axis.rate", unit=shown)
    if kind == "smr":
        return words.say("quantity.smr")
    if kind in RATIOS:
        return words.say(f"quantity.{RATIOS[kind]}-ratio")
    if kind == "linear-regression":
        return label(str(getattr(statistic, "outcome", "")))
    if kind in (
        "proportion",
        "weighted-proportion",
        "chi-squared-test",
        "two-proportions-test",
        "trend-test",
    ):
        return words.say("axis.share", unit=shown) if shown else words.say("quantity.share")
    column = label(str(getattr(statistic, "column", "")))
    if not shown or shown == column:
        return column
    return words.say("axis.column", column=column, unit=shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """How many were counted over all groups, by the noisy counts.

    Attributes:
        value: Sum of the noisy counts.
        deviation: Standard deviation of its noise.
        once: Whether a privacy unit is in at most one cell with one row, so that it is a number of
            units.
    """

    value: int
    deviation: float
    once: bool


def total_of(noisy: NoisyAggregates, statistic: Statistic) -> Total | None:
    """Return the least noisy total of a statistic's counts; None when it counts nothing."""
    if isinstance(statistic, TableOne | DataQuality):
        return None  # its own total is published
    found: list[Total] = []
    for measurement, values in zip(noisy.plan.measurements, noisy.values, strict=True):
        each = _worth(measurement, noisy.plan.dataset)
        if measurement.statistic != statistic.id or each is None:
            continue
        numbers = vector(values)
        spread = math.sqrt(len(numbers) * additive(measurement.mechanism).variance()) / each
        total = round(Fraction(sum(numbers), each))
        found.append(Total(value=total, deviation=spread, once=_once(measurement)))
    least = min(found, key=lambda each: each.deviation, default=None)
    house = noisy.plan.study.small_cells
    return None if least is None or (house and least.value < house.rule.least) else least


def _worth(measurement: Measurement, dataset: Dataset) -> int | None:
    """Return what one row adds to the sum of all coordinates; None if that depends on the row."""
    match measurement.aggregate:
        case Aggregate(value=Ones()) | PooledAggregate(weights=()):
            return 1
        case MomentAggregate() as moments:
            return moment_range(moments, dataset=dataset).magnitude
        case _:
            return None


def _once(measurement: Measurement) -> bool:
    match measurement.aggregate.bounds:
        case CellBound(max_cells=1, max_rows_per_cell=1) | RowBound(max_rows=1) | OneEvent():
            return True
        case _:
            return False


def total_text(total: Total) -> str:
    """Return a total to as many digits as its noise leaves.

    Example:
        >>> total_text(Total(value=6003, deviation=14.2, once=True))
        '6,000'
    """
    step = 10 ** max(0, math.floor(math.log10(max(1.0, total.deviation))))
    return fixed(round(max(0, total.value) / step) * step, decimals=0)


def quantity_text(quantity: str, *, words: Words) -> str:
    r"""Return what a published quantity is called.

    Example:
        >>> from confide.report.words import load_words
        >>> quantity_text("quantile 0.25", words=load_words("en"))
        '25\xa0% quantile'
    """
    rolling = quantity.removeprefix("rolling ")
    if rolling != quantity:
        return words.say("quantity.rolling", periods=rolling)
    kind, _, share = quantity.partition("quantile ")
    if kind or not share:
        return words.say(f"quantity.{quantity.replace(' ', '-')}")
    if float(share) == 0.5:
        return words.say("quantity.median")
    return words.say("quantity.quantile", share=percent(float(share)))


def covers_text(covers: Covers, *, words: Words) -> str:
    """Return which randomness an interval covers."""
    return words.say(f"covers.{covers.name.lower().replace('_', '-')}")


def digits(cells: Sequence[Cell]) -> int:
    """Return the decimals that suit all cells of a quantity: those of the narrowest interval."""
    widths = [cell.half_width for cell in cells if cell.value is not None and cell.half_width > 0]
    if all(cell.unit in ("persons", "rows") for cell in cells):
        return 0
    if not widths:  # a p-value and its statistic have no interval
        return 3 if all(cell.outer is None and cell.unit == "1" for cell in cells) else 0
    return decimals_for(min(widths))


def is_over_time(statistic: Statistic, *, plan: Plan) -> bool:
    """Return whether a histogram counts by calendar parts alone."""
    from confide.tables.expression import PartOf

    if not isinstance(statistic, Histogram) or len(statistic.by) != 1:
        return False
    axis = resolve(statistic.by[0], table=statistic.table, dataset=plan.dataset)
    return isinstance(axis, PartOf)
