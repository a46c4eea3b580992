"""The figure of counts of areas that add up: a panel a level, largest areas first."""

from dataclasses import replace

from confide.drawing.charts.by_group import MOST_CELLS, groups
from confide.drawing.charts.marks import one_below_another
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.conditions import label


def draw(subject: Subject) -> Drawn:
    """Return a panel a level."""
    charts, notes = [], []
    counts = [cell for cell in subject.cells if cell.quantity == "count"]
    levels = list(dict.fromkeys(cell.key[0] for cell in counts))
    most = min(MOST_CELLS, MOST_CELLS * 6 // (5 * len(levels)))  # all panels fit one sheet
    for level in levels:
        own = [replace(c, key=c.key[1:]) for c in counts if c.key[0] == level]
        chart, said = groups(subject, own, bars=True, most=most)
        name = label(level)
        charts.append((name, chart))
        notes += [subject.words.say("map.level-note", level=name, note=note) for note in said]
    return one_below_another(charts), tuple(notes)
