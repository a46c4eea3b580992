"""The figure of running counts: one panel a quantity over one time axis."""

from confide.drawing.charts.over_time import Panel, stacked
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.numbers import clean
from confide.drawing.quantities import quantity_text
from confide.statistics.running_counts.spec import RUNNING

_MOST_SERIES = 5


def draw(subject: Subject) -> Drawn:
    """Return one panel a quantity, of many series those that are largest at the end; and notes."""
    cells, words = subject.cells, subject.words
    last = {cell.key[:-1]: cell.value or 0.0 for cell in cells if cell.quantity == RUNNING}
    chosen = sorted(last, key=lambda key: (-last[key], key))[:_MOST_SERIES]
    panels = []
    for quantity in dict.fromkeys(cell.quantity for cell in cells):
        own = [c for c in cells if c.quantity == quantity and c.key[:-1] in chosen]
        names = [words.say("key.joint").join(clean(part) for part in c.key[:-1]) for c in own]
        panels.append(Panel(cells=own, title=quantity_text(quantity, words=words), series=names))
    notes: tuple[str, ...] = ()
    if len(last) > len(chosen):
        notes = (words.say("chart.largest", shown=str(len(chosen)), cells=f"{len(last):,}"),)
    return stacked(panels, x_title=subject.names[-1], unit=subject.time_unit(), words=words), notes
