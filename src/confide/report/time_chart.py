"""Values and running counts over time.

*Privacy:* drawn from the release alone.
"""

from confide.report.describe import quantity_text, value_title
from confide.report.numbers import clean
from confide.report.subject import Drawn, Subject, distinct, flag_notes
from confide.report.time_panels import Panel, time_panels

_MOST_SERIES = 5


def series_over_time(subject: Subject) -> Drawn:
    """Return the line of values, and below it how many rows each period has."""
    cells = [cell for cell in subject.cells if cell.quantity != "count"]
    rows = [cell for cell in subject.cells if cell.quantity == "count"]
    panels = [Panel(cells=cells, title=subject.axis(cells), low=True)]
    if rows:
        unit = value_title(subject.statistic, unit=rows[0].unit, words=subject.words)
        panels.append(Panel(cells=rows, title=clean(subject.words.unit(rows[0].unit)) or unit))
    gaps = any(cell.value is None for cell in cells)
    notes = (subject.words.say("chart.gaps"),) if gaps else ()
    return time_panels(panels, x_title=subject.names[-1]), (*notes, *flag_notes(subject))


def running_counts_over_time(subject: Subject) -> Drawn:
    """Return one panel a quantity; of many series the largest few."""
    by_series = {cell.key[:-1]: cell.value or 0.0 for cell in subject.cells}
    chosen = sorted(by_series, key=lambda key: -by_series[key])[:_MOST_SERIES]
    joint = subject.words.say("key.joint")
    panels = []
    for quantity in distinct(cell.quantity for cell in subject.cells):
        cells = [c for c in subject.cells if c.quantity == quantity and c.key[:-1] in chosen]
        names = [joint.join(clean(part) for part in cell.key[:-1]) for cell in cells]
        title = quantity_text(quantity, words=subject.words)
        panels.append(Panel(cells=cells, title=title, series=names))
    notes: tuple[str, ...] = ()
    if len(by_series) > len(chosen):
        parts = {"shown": str(len(chosen)), "cells": f"{len(by_series):,}"}
        notes = (subject.words.say("chart.largest", **parts),)
    return time_panels(panels, x_title=subject.names[-1]), notes
