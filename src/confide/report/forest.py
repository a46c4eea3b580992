"""Forest plots: effects with their intervals beside a dashed line at no effect.

Coefficients of numbers are drawn per step of a round size, about a fifth of the declared range, so
that all of them are in the unit of the outcome and can be compared by eye.

References:
    [LC01] Lewis, Clarke. Forest plots: trying to see the wood and the trees. BMJ 322, 2001.
        https://doi.org/10.1136/bmj.322.7300.1479
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from confide.plans.plan import Statistic
from confide.report.cells import Cell
from confide.report.conditions import label
from confide.report.describe import quantity_text, value_title
from confide.report.marks import Chart, Frame, dots, row_of, side_by_side
from confide.report.numbers import clean
from confide.report.style import MUTED
from confide.report.words import Words
from confide.statistics.logistic.multinomial import MultinomialRegression
from confide.statistics.logistic.regression import LogisticRegression
from confide.statistics.person_time.hazard import HazardRegression
from confide.statistics.person_time.poisson import PoissonRegression
from confide.statistics.regression.linear import LinearRegression
from confide.tables.relation import domain, resolve
from confide.tables.schema import Dataset

Built = tuple[Chart, tuple[str, ...]]
RatioModel = LogisticRegression | MultinomialRegression | PoissonRegression | HazardRegression


def compared(cells: Sequence[Cell], *, unit: str, words: Words) -> Built:
    """Return the groups' own numbers and, beside them, their difference."""
    groups = [cell for cell in cells if cell.quantity in ("share", "mean")]
    effects = [cell for cell in cells if cell.quantity == "difference" and cell.value is not None]
    left = _plain(groups, title=unit, words=words)
    if not effects:
        return left, ()
    name = quantity_text("difference", words=words)
    right = null_line() + _plain(effects, title=unit, words=words)
    what = quantity_text(groups[0].quantity, words=words)
    return side_by_side([(what, left), (name, right)]), (words.say("chart.forest"),)


def shares(cells: Sequence[Cell], *, unit: str, words: Words) -> Built:
    """Return the share of each ordered category."""
    return _plain([cell for cell in cells if cell.quantity == "share"], title=unit, words=words), ()


def departures(cells: Sequence[Cell], *, unit: str, words: Words) -> Built:
    """Return how far each cell is from independence."""
    chosen = [cell for cell in cells if cell.quantity == "departure" and cell.value is not None]
    if not chosen:
        chosen = [cell for cell in cells if cell.value is not None]
        return _plain(chosen, title=unit, words=words), ()
    title = words.say("axis.column", column=unit, unit=quantity_text("departure", words=words))
    return null_line() + _plain(chosen, title=title, words=words), (words.say("chart.forest"),)


def coefficients(
    cells: Sequence[Cell], *, statistic: Statistic, dataset: Dataset, words: Words
) -> Built:
    """Return the coefficients of a regression, each per step of a round size."""
    chosen = [cell for cell in cells if cell.quantity == "coefficient" and cell.value is not None]
    if not chosen or not isinstance(statistic, LinearRegression):
        return _plain([c for c in cells if c.value is not None], title="", words=words), ()
    scaled = [_scaled(cell, statistic=statistic, dataset=dataset, words=words) for cell in chosen]
    outcome = domain(
        resolve(statistic.outcome, table=statistic.table, dataset=dataset), dataset=dataset
    )
    shown = clean(words.unit(outcome.unit))
    name = label(statistic.outcome)
    change = words.say("axis.change", column=name)
    title = words.say("axis.column", column=change, unit=shown) if shown else change
    notes = [words.say("chart.forest"), words.say("chart.scaled")]
    if all(cell.outer is None for cell in chosen):
        notes.append(words.say("chart.no-intervals"))
    return null_line() + _plain(scaled, title=title, words=words), tuple(notes)


def ratios(cells: Sequence[Cell], *, statistic: Statistic, dataset: Dataset, words: Words) -> Built:
    """Return odds, rate or hazard ratios on a logarithmic axis, each per step of a round size."""
    chosen = [cell for cell in cells if cell.quantity == "coefficient" and cell.value is not None]
    notes = [words.say("chart.forest"), words.say("chart.ratios")]
    if not chosen:  # one look has what predicts, after its intercept
        predicting = [cell for cell in cells if cell.quantity == "prediction coefficient"]
        chosen = [cell for cell in predicting[1:] if cell.value is not None]
        notes.append(words.say("chart.no-intervals"))
    if not chosen or not isinstance(statistic, RatioModel):
        return _plain([c for c in cells if c.value is not None], title="", words=words), ()
    scaled = [
        _exponential(_scaled(cell, statistic=statistic, dataset=dataset, words=words))
        for cell in chosen
    ]
    figure = null_line(1.0) + _plain(
        scaled, title=value_title(statistic, unit="1", words=words), words=words, log=True
    )
    return figure, tuple(notes)


def _exponential(cell: Cell) -> Cell:
    """Return the logarithm of a ratio as the ratio."""

    def power(value: float) -> float:
        return math.exp(max(-30.0, min(30.0, value)))

    ends = None if cell.outer is None else (power(cell.outer[0]), power(cell.outer[1]))
    return replace(cell, value=None if cell.value is None else power(cell.value), outer=ends)


def _scaled(
    cell: Cell,
    *,
    statistic: LinearRegression | RatioModel,
    dataset: Dataset,
    words: Words,
) -> Cell:
    name, *rest = cell.key
    if name not in statistic.covariates:  # a contrast of categories is in the outcome's unit
        return cell
    of = domain(resolve(name, table=statistic.table, dataset=dataset), dataset=dataset)
    step = round_step(float((of.upper - of.lower) * of.scale))
    amount = words.amount(f"{step:g}", of.unit or "1")
    key = words.say("chart.per-step", name=label(name), step=amount)
    ends = None if cell.outer is None else (cell.outer[0] * step, cell.outer[1] * step)
    value = None if cell.value is None else cell.value * step
    return replace(cell, key=(key, *rest), value=value, outer=ends)


def round_step(span: float) -> float:
    """Return a round number, 1, 2 or 5 times a power of ten, of about a fifth of ``span``.

    Example:
        >>> round_step(80.0), round_step(45.0), round_step(1.0)
        (20.0, 10.0, 0.2)
    """
    fifth = span / 5
    power = 10.0 ** math.floor(math.log10(fifth))
    return float(min((factor * power for factor in (1, 2, 5, 10)), key=lambda s: abs(s - fifth)))


def null_line(at: float = 0.0) -> Chart:
    """Return a dashed line across all groups at no effect."""
    import altair as alt

    data = alt.Data(values=[{"value": at}])
    rule = alt.Chart(data).mark_rule(color=MUTED, strokeDash=[4, 4], strokeWidth=1.2)
    return rule.encode(x=alt.X("value:Q"))


def _plain(cells: Sequence[Cell], *, title: str, words: Words, log: bool = False) -> Chart:
    """Return one dot a cell; a second key becomes a series."""
    across = tuple(dict.fromkeys(clean(c.key[-1]) for c in cells if len(c.key) > 1))
    two_way = 1 < len(across) <= 5
    rows = [
        row_of(
            cell,
            group=words.say("key.joint").join(
                clean(part) for part in (cell.key[:-1] if two_way else cell.key)
            ),
            series=clean(cell.key[-1]) if two_way else "",
            missing=words.say("comma").join(words.say(f"flag.{f}.short") for f in cell.flags),
        )
        for cell in cells
    ]
    groups = tuple(dict.fromkeys(row["group"] for row in rows))
    frame = Frame(groups=groups, x_title=title, series=across if two_way else (), log=log)
    return dots(rows, frame=frame)
