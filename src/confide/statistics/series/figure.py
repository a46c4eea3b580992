"""The figure of a series: the values over time, and below them how many rows each period has."""

from confide.drawing.cells import hollow_note
from confide.drawing.charts.over_time import Panel, stacked
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.numbers import clean


def draw(subject: Subject) -> Drawn:
    """Return the line of values and, below it, how many rows each period has; and notes."""
    cells, words = subject.cells, subject.words
    values = [cell for cell in cells if cell.quantity != "count"]
    rows = [cell for cell in cells if cell.quantity == "count"]
    panels = [Panel(cells=values, title=subject.axis(values), low=True)]
    if rows:
        panels.append(Panel(cells=rows, title=clean(words.unit(rows[0].unit))))
    gaps = any(cell.value is None for cell in values)
    notes = (words.say("chart.gaps"),) if gaps else ()
    chart = stacked(panels, x_title=subject.names[-1], unit=subject.time_unit(), words=words)
    return chart, (*notes, *hollow_note(cells, words=words))
