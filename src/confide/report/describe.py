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
from confide.report.numbers import clean, decimals_for, fixed, percent
from confide.report.words import Words
from confide.statistics import STATISTICS
from confide.statistics.histogram import Histogram
from confide.statistics.proportion import Proportion
from confide.tables.aggregate import Aggregate, MomentAggregate, Ones, moment_range
from confide.tables.bound_contributions import CellBound, OneEvent
from confide.tables.filter import Everything
from confide.tables.relation import resolve
from confide.tables.schema import Dataset


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
    if by and kind not in ("histogram", "top-category"):
        groups = words.listed([label(name) for name in by])
        subject = words.say("title.by", subject=subject, groups=groups)
    if condition and kind != "count":
        subject = words.say("title.with", subject=subject, condition=condition)
    return clean(subject, most=160)


def _subject(statistic: Statistic, *, condition: str, plan: Plan, words: Words) -> str:
    kind = kind_of(statistic)
    table = label(str(getattr(statistic, "table", "")))
    match kind:
        case "count" if condition:
            return words.say(f"title.whom.{_counted(statistic)}", condition=condition)
        case "count":
            return words.say(f"title.count.{_counted(statistic)}", table=table)
        case "histogram":
            groups = words.listed([label(name) for name in getattr(statistic, "by", ())])
            return words.say(f"title.histogram.{_counted(statistic)}", groups=groups)
        case "proportion" if isinstance(statistic, Proportion):
            share = condition_text(statistic.of, dataset=plan.dataset, words=words, brief=True)
            return words.say("title.proportion", condition=share)
        case "top-category":
            groups = words.listed([label(name) for name in getattr(statistic, "by", ())])
            size = _size(statistic)
            if size == 1:
                return words.say("title.top-category", groups=groups)
            return words.say("title.top-categories", count=str(size), groups=groups)
        case "top-features":
            outcome = label(str(getattr(statistic, "outcome", "")))
            size = _size(statistic)
            if size == 1:
                return words.say("title.top-feature", outcome=outcome)
            return words.say("title.top-features", count=str(size), outcome=outcome)
        case "key-selection":
            return words.say("title.key-selection", key=label(str(getattr(statistic, "key", ""))))
        case _:
            column = label(str(getattr(statistic, "column", "")))
            return words.say(f"title.{kind}", column=column)


def _size(statistic: Statistic) -> int:
    return int(getattr(statistic, "size", 1))


def _counted(statistic: Statistic) -> str:
    counted = getattr(statistic, "counted", None)
    return "events" if counted is not None and counted.value == "events" else "patients"


def group_titles(statistic: Statistic, *, plan: Plan, words: Words) -> tuple[str, ...]:
    """Return the names of a statistic's groups, for axes and table heads."""
    if kind_of(statistic) == "key-selection":
        return (label(str(getattr(statistic, "key", ""))),)
    if kind_of(statistic) == "top-features":
        return (words.say("head.feature"),)
    table = str(getattr(statistic, "table", ""))
    names = []
    for name in getattr(statistic, "by", ()):
        expression = resolve(name, table=table, dataset=plan.dataset)
        known = {derived.name for derived in plan.dataset.derived}
        names.append(
            label(name)
            if name in known
            else expression_text(expression, dataset=plan.dataset, words=words)
        )
    return tuple(names)


def value_title(statistic: Statistic, *, unit: str, words: Words) -> str:
    """Return the title of a value axis: what is measured, with its unit."""
    kind = kind_of(statistic)
    shown = clean(words.unit(unit))
    if kind in ("count", "histogram", "key-selection"):
        return shown
    if kind == "proportion":
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
    """Return the total of a statistic's noisy counts; None when it counts nothing."""
    for measurement, values in zip(noisy.plan.measurements, noisy.values, strict=True):
        each = _worth(measurement, noisy.plan.dataset)
        if measurement.statistic != statistic.id or each is None:
            continue
        numbers = vector(values)
        spread = math.sqrt(len(numbers) * additive(measurement.mechanism).variance()) / each
        return Total(
            value=round(Fraction(sum(numbers), each)), deviation=spread, once=_once(measurement)
        )
    return None


def _worth(measurement: Measurement, dataset: Dataset) -> int | None:
    """Return what one row adds to the sum of all coordinates; None if that depends on the row."""
    match measurement.aggregate:
        case Aggregate(value=Ones()):
            return 1
        case MomentAggregate() as moments:
            return moment_range(moments, dataset=dataset).magnitude
        case _:
            return None


def _once(measurement: Measurement) -> bool:
    match measurement.aggregate.bounds:
        case CellBound(max_cells=1, max_rows_per_cell=1) | OneEvent():
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
    if not widths or all(cell.unit in ("persons", "rows") for cell in cells):
        return 0
    return decimals_for(min(widths))


def is_over_time(statistic: Statistic, *, plan: Plan) -> bool:
    """Return whether a histogram counts by calendar parts alone."""
    from confide.tables.expression import PartOf

    if not isinstance(statistic, Histogram) or len(statistic.by) != 1:
        return False
    axis = resolve(statistic.by[0], table=statistic.table, dataset=plan.dataset)
    return isinstance(axis, PartOf)
