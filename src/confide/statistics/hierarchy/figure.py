"""The figure of counts of areas that add up: a panel a level, largest areas first."""

from dataclasses import replace

from confide.drawing.charts.by_group import groups
from confide.drawing.charts.marks import one_below_another
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.conditions import label


def draw(subject: Subject) -> Drawn:
    """Return a panel a level."""
    charts, notes = [], []
    counts = [cell for cell in subject.cells if cell.quantity == "count"]
    for level in dict.fromkeys(cell.key[0] for cell in counts):
        own = [replace(c, key=c.key[1:]) for c in counts if c.key[0] == level]
        chart, said = groups(subject, own, bars=True)
        name = label(level)
        charts.append((name, chart))
        notes += [subject.words.say("map.level-note", level=name, note=note) for note in said]
    return one_below_another(charts), tuple(notes)
