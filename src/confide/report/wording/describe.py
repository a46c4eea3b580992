"""What a statistic is, in words: its title, the names of its groups, and how many it counts.

*Privacy:* reads plan and noisy payload.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, TypeAlias

from confide.drawing.asking import Asking, by_axes
from confide.drawing.charts.periods import told_periods
from confide.drawing.conditions import condition_text
from confide.drawing.numbers import clean, decimals_for, fixed
from confide.drawing.words import Words
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Grouped, Measurement, Plan, Statistic
from confide.release.noisy import NoisyAggregates
from confide.statistics.registry import kind_of
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.shapes import Totalled
from confide.tables.bound_contributions import CellBound, OneEvent, RowBound
from confide.tables.conditions.unknown import beyond
from confide.tables.expression import BinOf
from confide.tables.relation import domain
from confide.tables.schema import Dataset

CountedRows: TypeAlias = tuple[object, ...]
"""What decides which rows a measurement counts."""


def title_of(statistic: Statistic, *, plan: Plan, words: Words) -> str:
    """Return the given title of a statistic, or one made from what it asks."""
    given = statistic.title
    if given:
        return clean(given, most=120)
    title = _made(statistic, plan=plan, words=words)
    others = [other for other in plan.statistics if other.id != statistic.id]
    if all(o.title or _made(o, plan=plan, words=words) != title for o in others):
        return title
    return words.say("title.same", title=title, id=clean(statistic.id))


def _made(statistic: Statistic, *, plan: Plan, words: Words) -> str:
    """Return what a statistic asks, with its groups and its condition."""
    kind, asking = kind_of(statistic), _asking(statistic, plan=plan, words=words)
    subject = kind.title(statistic, asking)
    by = statistic.by if isinstance(statistic, Grouped) else ()
    if by and not kind.titled_with_groups:
        subject = words.say("title.by", subject=subject, groups=asking.listed(by))
    if asking.condition and not kind.titled_with_condition:
        subject = words.say("title.with", subject=subject, condition=asking.condition)
    return clean(subject, most=160)


def _asking(statistic: Statistic, *, plan: Plan, words: Words) -> Asking:
    where = statistic.where
    condition = condition_text(where, dataset=plan.dataset, words=words, brief=True)
    return Asking(dataset=plan.dataset, words=words, condition=condition)


def words_on(statistic: Statistic, *, plan: Plan, words: Words) -> Words:
    """Return the words for one question, in which periods are hours rather than minutes."""
    words = words.on(statistic)
    axis = _time_axis(statistic, dataset=plan.dataset)
    if axis is None:
        return words
    labels = [label for (label,) in cell_keys((axis,), dataset=plan.dataset)]
    periods, unit = told_periods(
        labels, unit=domain(axis.of, dataset=plan.dataset).unit, words=words
    )
    return replace(words, look=replace(words.look, periods=periods, unit=unit))


def _time_axis(statistic: Any, *, dataset: Dataset) -> BinOf | None:
    """Return the bins of time of a question over time; None of every other question."""
    if kind_of(statistic).groups is not by_axes:
        return None
    last = statistic.axes(dataset)[-1]
    return last if isinstance(last, BinOf) else None


def group_titles(statistic: Statistic, *, plan: Plan, words: Words) -> tuple[str, ...]:
    """Return the names of a statistic's groups, for axes and table heads."""
    asking = _asking(statistic, plan=plan, words=words)
    names = kind_of(statistic).groups(statistic, asking)
    axis = _time_axis(statistic, dataset=plan.dataset) if words.look.unit else None
    if axis is None:
        return names
    declared = words.unit(domain(axis.of, dataset=plan.dataset).unit)
    return (*names[:-1], names[-1].replace(declared, words.unit(words.look.unit)))


def value_title(statistic: Statistic, *, unit: str, words: Words) -> str:
    """Return the title of a value axis: what is measured, with its unit."""
    return kind_of(statistic).axis(statistic, clean(words.unit(unit)), words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """How many were counted over all groups, by the noisy counts.

    Attributes:
        value: Sum of the noisy counts.
        deviation: Standard deviation of its noise.
        once: Whether a privacy unit is in at most one cell with one row, so that it is a number of
            units.
        ruled: Whether a house rule rounded it.
    """

    value: int
    deviation: float
    once: bool
    ruled: bool = False


def total_of(noisy: NoisyAggregates, statistic: Statistic) -> Total | None:
    """Return the total of a statistic's counts; None when it counts nothing.

    Questions that count the same rows have one total: the mean of theirs, weighted by the variance
    of their noise, which is drawn for each by itself.  A house rule is about each number as it was
    published, so under one each question has its own.
    """
    own = _least(noisy, statistic)
    if own is None:
        return None
    total, rows = own
    house = noisy.plan.study.small_cells
    if house is not None:
        if total.value < house.rule.least:
            return None
        return replace(total, value=house.rule.rounded(total.value), ruled=True)
    each = [_least(noisy, other) for other in noisy.plan.statistics]
    alike = [found for found, of in filter(None, each) if of == rows and found.deviation > 0]
    if len(alike) < 2:
        return total
    weights = [1 / found.deviation**2 for found in alike]
    mean = sum(w * found.value for w, found in zip(weights, alike, strict=True)) / sum(weights)
    return replace(total, value=round(mean), deviation=1 / math.sqrt(sum(weights)))


def _least(noisy: NoisyAggregates, statistic: Statistic) -> tuple[Total, CountedRows] | None:
    """Return the least noisy total of a statistic by itself, and of which rows it is."""
    if kind_of(statistic).own_total:
        return None
    found: list[tuple[Total, CountedRows]] = []
    for measurement, values in zip(noisy.plan.measurements, noisy.values, strict=True):
        each = _worth(measurement, noisy.plan.dataset)
        if measurement.statistic != statistic.id or each is None:
            continue
        numbers = vector(values)
        spread = math.sqrt(len(numbers) * additive(measurement.mechanism).variance()) / each
        total = round(Fraction(sum(numbers), each))
        rows = _rows(measurement, dataset=noisy.plan.dataset)
        found.append((Total(value=total, deviation=spread, once=_once(measurement)), rows))
    return min(found, key=lambda each: each[0].deviation, default=None)


def _rows(measurement: Measurement, *, dataset: Dataset) -> CountedRows:
    """Return what decides which rows are counted: equal only where these are the same."""
    aggregate = measurement.aggregate
    read = frozenset(
        each.of if isinstance(each, BinOf) and not beyond(each, dataset=dataset) else each
        for each in aggregate.reads
    )
    return (aggregate.relation, aggregate.bounds, read)


def _worth(measurement: Measurement, dataset: Dataset) -> int | None:
    """Return what one row adds to the sum of all coordinates; None if that depends on the row."""
    aggregate = measurement.aggregate
    return aggregate.worth(dataset) if isinstance(aggregate, Totalled) else None


def _once(measurement: Measurement) -> bool:
    match measurement.aggregate.bounds:
        case CellBound(max_cells=1, max_rows_per_cell=1) | RowBound(max_rows=1) | OneEvent():
            return True
        case _:
            return False


def total_text(total: Total, *, words: Words) -> str:
    """Return a total with how far its noise may be, to two digits of that.

    Example:
        >>> from confide.drawing.words import load_words
        >>> total_text(Total(value=6003, deviation=14.2, once=True), words=load_words("en"))
        'n = 6,003 ± 28'
    """
    value = max(0, total.value)
    half = NormalDist().inv_cdf(0.975) * total.deviation
    if total.ruled or half < 1:
        return words.say("chart.n-about", total=fixed(value, decimals=0))
    places = min(0, decimals_for(half))
    parts = {"total": fixed(value, decimals=places), "half": fixed(half, decimals=places)}
    return words.say("chart.n", **parts)
