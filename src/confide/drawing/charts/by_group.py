"""Dots and bars by group; two groupings are dots in series.

*Privacy:* drawn from the release alone.
"""

from collections.abc import Sequence

from confide.drawing.cells import Cell, hollow_note, key_part, labels_of, largest
from confide.drawing.charts.marks import Frame, dots, row_of, side_by_side
from confide.drawing.charts.subject import Drawn, Subject, distinct
from confide.drawing.quantities import covers_text, quantity_text

MOST_CELLS, MOST_SERIES = 30, 5


def by_group(subject: Subject) -> Drawn:
    """Return a dot a group."""
    return groups(subject, subject.cells, bars=False)


def sums(subject: Subject) -> Drawn:
    """Return sums: bars by group, a dot where there is one."""
    return groups(subject, subject.cells, bars=bool(subject.cells[0].key))


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


def groups(subject: Subject, cells: Sequence[Cell], *, bars: bool, most: int = MOST_CELLS) -> Drawn:
    """Return dots by group, two-way where the last grouping is small enough to be a series."""
    words = subject.words
    shown, notes = largest(cells, most=most, words=words)
    last = distinct(cell.key[-1] for cell in shown) if len(shown[0].key) > 1 else ()
    two_way = len(shown) == len(cells) and 1 < len(last) <= MOST_SERIES
    missing = {flag: words.say(f"flag.{flag}.short") for cell in shown for flag in cell.flags}
    rows = []
    labels = labels_of([cell.key[:-1] if two_way else cell.key for cell in shown], words=words)
    for cell in shown:
        named = cell.key[:-1] if two_way else cell.key
        rows.append(
            row_of(
                cell,
                group=labels[named],
                series=key_part(cell.key[-1], words=words) if two_way else "",
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
