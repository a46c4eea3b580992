"""Quantiles under the published distribution; one panel a quantile for many groups.

*Privacy:* drawn from the release alone.
"""

from dataclasses import replace

from confide.drawing.cells import hollow_note
from confide.drawing.charts.by_group import groups
from confide.drawing.charts.marks import Frame, ridges, row_of, side_by_side
from confide.drawing.charts.style import RIDGE, RIDGE_LINE, RIDGE_NAME
from confide.drawing.charts.subject import Drawn, Subject, distinct
from confide.drawing.charts.vega import Row
from confide.drawing.numbers import clean, percent
from confide.drawing.quantities import quantity_text
from confide.plans.cuts.found import Rounds
from confide.plans.mechanisms import additive
from confide.tables.relation import domain, resolve
from confide.tables.schema import Domain

_MOST_RIDGES = 8


def draw(subject: Subject) -> Drawn:
    """Return each group's distribution with its quantiles below; values alone, on one axis."""
    statistic = subject.statistic
    if statistic.alone:
        return _values_alone(subject)
    keys = distinct(cell.key for cell in subject.cells)
    house = subject.plan.study.small_cells  # bars would show small bins
    if len(keys) > _MOST_RIDGES or house:
        return _many_quantiles(subject)
    series = distinct(cell.quantity for cell in subject.cells)
    names = {quantity: quantity_text(quantity, words=subject.words) for quantity in series}
    bins, rows, labels = [], [], []
    noise = additive(subject.plan.mechanisms(statistic.id)["histogram"])
    found = statistic.rounds(subject.noisy("histogram"), noise=noise, dataset=subject.dataset)
    of = domain(
        resolve(statistic.column, table=statistic.table, dataset=subject.dataset),
        dataset=subject.dataset,
    )
    band = RIDGE_NAME + RIDGE + RIDGE_LINE * (len(series) + 1)
    for place, key in enumerate(keys):
        top = -place * band
        foot = top - RIDGE_NAME - RIDGE
        bins += _bins(found[place], of=of, foot=foot)
        text = subject.words.say("key.joint").join(clean(part) for part in key)
        labels.append({"text": text, "level": top - RIDGE_NAME / 2})
        for cell in subject.cells:
            if cell.key == key:
                row = row_of(cell, group=text, series=names[cell.quantity])
                row["level"] = foot - RIDGE_LINE * (series.index(cell.quantity) + 0.75)
                rows.append(row)
    frame = Frame(
        groups=tuple(str(label["text"]) for label in labels),
        series=tuple(names.values()),
        x_title=subject.axis(subject.cells),
    )
    chart = ridges(bins, rows=rows, frame=frame, labels=labels, height=band * len(keys))
    return chart, (
        subject.words.say("chart.ridges"),
        *hollow_note(subject.cells, words=subject.words),
    )


def subtitle(subject: Subject) -> str:
    """Return that there are no intervals; "" where the usual words on them are right."""
    return subject.words.say("chart.values-alone") if subject.statistic.alone else ""


def _values_alone(subject: Subject) -> Drawn:
    """Return a dot a quantile, and how far in ranks it may be off, which is public."""
    words, statistic = subject.words, subject.statistic
    named = [
        replace(cell, key=(quantity_text(cell.quantity, words=words),)) for cell in subject.cells
    ]
    chart, notes = groups(subject, named, bars=False)
    mechanisms = subject.plan.mechanisms(statistic.id)
    chance = 1 - float(statistic.level)
    ranks = statistic.rank_error(mechanisms, dataset=subject.dataset)
    said = words.say(
        "chart.rank-error", ranks=words.amount(f"{ranks:,}", "rows"), chance=percent(chance)
    )
    return chart, (said, *notes)


def _many_quantiles(subject: Subject) -> Drawn:
    """Return one panel a quantile, for more groups than distributions can be drawn."""
    charts, notes = [], []
    for quantity in distinct(cell.quantity for cell in subject.cells):
        cells = [cell for cell in subject.cells if cell.quantity == quantity]
        chart, said = groups(subject, cells, bars=False)
        charts.append((quantity_text(quantity, words=subject.words), chart))
        notes += [note for note in said if note not in notes]
    return side_by_side(charts), tuple(notes)


def _bins(found: Rounds, *, of: Domain, foot: float) -> list[Row]:
    """Return a bar for each public cell, of even ones where there are others between them."""
    bars = found.bars()
    tallest = max(1.0, *(count for _, _, count in bars))
    return [
        {
            "low": of.physical(low),
            "high": of.physical(high),
            "foot": foot,
            "top": foot + RIDGE * max(0.0, count) / tallest,
        }
        for low, high, count in bars
    ]
