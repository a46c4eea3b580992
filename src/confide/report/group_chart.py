"""Dots and bars by group: one number, counts by category, sums, means, keys.

Two groupings are dots in series, or a grid of numbers where there are too many for that.

*Privacy:* drawn from the release alone.
"""

import math
from collections.abc import Sequence

from confide.plans.mechanisms import additive, coordinate, threshold
from confide.report.cells import Cell, hollow_note, labels_of, largest
from confide.report.describe import covers_text, is_over_time, quantity_text
from confide.report.marks import (
    Chart,
    Frame,
    dots,
    heat_map,
    over_time,
    plausible,
    row_of,
    side_by_side,
    threshold_line,
)
from confide.report.numbers import clean, fixed
from confide.report.subject import Drawn, Subject, distinct

MOST_CELLS = 40
_MOST_SERIES = 5
_MOST_TIMES = 400
_HEAT_ACROSS = 12
_POINTS = 160


def one_number(subject: Subject) -> Drawn:
    """Return a single count over the counts that its noise leaves plausible."""
    cell = subject.cells[0]
    row = row_of(cell, group="")
    frame = Frame(groups=("",), x_title=subject.axis([cell]))
    values = subject.release.noisy.values
    names = [(m.statistic, m.name) for m in subject.release.plan.measurements]
    raw = coordinate(values[names.index((subject.statistic.id, "count"))], 0)
    noise = additive(subject.release.plan.mechanisms(subject.statistic.id)["count"])
    reach = max(4, math.ceil(4.2 * math.sqrt(noise.variance())))
    step = max(1, 2 * reach // _POINTS)
    peak = noise.pmf(0)
    curve = [
        (float(count), noise.pmf(raw - count) / peak)
        for count in range(max(0, raw - reach), max(0, raw + reach) + step, step)
    ]
    return plausible(curve, row=row, frame=frame), (subject.words.say("chart.plausible"),)


def histogram(subject: Subject) -> Drawn:
    """Return counts as bars, over time as a line, two-way as a grid where there are many."""
    statistic, cells = subject.statistic, subject.cells
    axis = subject.axis(cells)
    if is_over_time(statistic, plan=subject.release.plan) and len(cells) <= _MOST_TIMES:
        rows = [row_of(cell, group=clean(cell.key[0])) for cell in cells]
        periods = tuple(row["group"] for row in rows)
        frame = Frame(groups=periods, x_title=subject.names[0])
        return over_time(rows, frame=frame, y_title=axis), ()
    if is_grid(cells):
        return _grid(subject), hollow_note(subject.cells, words=subject.words)
    return groups(subject, cells, bars=True)


def is_grid(cells: Sequence[Cell]) -> bool:
    """Return whether a crosstab is better read as a grid of numbers than as dots."""
    if len(cells[0].key) != 2:
        return False
    down, across = (len({cell.key[axis] for cell in cells}) for axis in (0, 1))
    grouped = across <= _MOST_SERIES and down * across <= MOST_CELLS
    return not grouped and across <= _HEAT_ACROSS and down <= MOST_CELLS


def _grid(subject: Subject) -> Chart:
    rows = []
    for cell in subject.cells:
        row = row_of(cell, group=clean(cell.key[0]), series=clean(cell.key[1]))
        row["text"] = "–" if cell.value is None else fixed(cell.value, decimals=0)
        rows.append(row)
    frame = Frame(
        groups=distinct(row["group"] for row in rows),
        series=distinct(row["series"] for row in rows),
        x_title="",
    )
    return heat_map(rows, frame=frame, titles=(subject.names[0], subject.names[1]))


def by_group(subject: Subject) -> Drawn:
    """Return a dot a group."""
    return groups(subject, subject.cells, bars=False)


def sums(subject: Subject) -> Drawn:
    """Return sums: bars by group, a dot where there is one."""
    return groups(subject, subject.cells, bars=bool(subject.cells[0].key))


def selected(subject: Subject) -> Drawn:
    """Return the selected keys and the threshold that their counts passed."""
    chart, notes = groups(subject, subject.cells, bars=True)
    mechanisms = subject.release.plan.mechanisms(subject.statistic.id)
    tau = threshold(mechanisms["keys"]).threshold()
    text = subject.words.say("chart.threshold", threshold=fixed(tau, decimals=0))
    return chart + threshold_line(float(tau), text=text), notes


def moments(subject: Subject) -> Drawn:
    """Return one panel a quantity, side by side."""
    charts, notes = [], []
    for quantity in distinct(cell.quantity for cell in subject.cells):
        cells = [cell for cell in subject.cells if cell.quantity == quantity]
        chart, said = groups(subject, cells, bars=False)
        covers = covers_text(cells[0].covers, words=subject.words)
        name = quantity_text(quantity, words=subject.words)
        charts.append((subject.words.say("chart.panel", quantity=name, covers=covers), chart))
        notes += [note for note in said if note not in notes]
    return side_by_side(charts), tuple(notes)


def groups(subject: Subject, cells: Sequence[Cell], *, bars: bool) -> Drawn:
    """Return dots by group, two-way where the last grouping is small enough to be a series."""
    words = subject.words
    shown, notes = largest(cells, most=MOST_CELLS, words=words)
    last = distinct(cell.key[-1] for cell in shown) if len(shown[0].key) > 1 else ()
    two_way = len(shown) == len(cells) and 1 < len(last) <= _MOST_SERIES
    missing = {flag: words.say(f"flag.{flag}.short") for cell in shown for flag in cell.flags}
    rows = []
    labels = labels_of([cell.key[:-1] if two_way else cell.key for cell in shown], words=words)
    for cell in shown:
        named = cell.key[:-1] if two_way else cell.key
        rows.append(
            row_of(
                cell,
                group=labels[named],
                series=clean(cell.key[-1]) if two_way else "",
                missing=words.say("comma").join(missing[flag] for flag in cell.flags),
            )
        )
    frame = Frame(
        groups=distinct(row["group"] for row in rows),
        series=distinct(row["series"] for row in rows) if two_way else (),
        x_title=subject.axis(shown),
        zero=bars,
        bars=bars and not two_way,
    )
    return dots(rows, frame=frame), (*notes, *hollow_note(shown, words=words))
