"""The table of a χ² test for readers: a row a group, a column a label, in per cent of the row."""

import itertools
from collections.abc import Sequence

from confide.drawing.asking import Asking, by_names
from confide.drawing.cells import Cell, key_part, span_text
from confide.drawing.findings import bare_text, p_text
from confide.drawing.numbers import clean, fixed, opening
from confide.drawing.quantities import digits
from confide.drawing.shown import Shown
from confide.drawing.words import Words
from confide.statistics.hypothesis_tests.chi_squared import ChiSquaredTest

_MOST_COLUMNS = 5
"""Labels that stand beside one another; more stand below one another."""


def independence_table(statistic: ChiSquaredTest, cells: Sequence[Cell], asking: Asking) -> Shown:
    """Return the share of each label within each group, and what the test says below."""
    words = asking.words
    shares = {cell.key: cell for cell in cells if cell.quantity == "share"}
    groups, labels = (tuple(dict.fromkeys(names)) for names in zip(*shares, strict=True))
    names = tuple(map(opening, by_names(statistic, asking)))
    places = digits(tuple(shares.values()), words=words)
    told = {key: _share(cell, places=places, words=words) for key, cell in shares.items()}
    shown = [key_part(label, words=words) for label in labels]
    if len(labels) <= _MOST_COLUMNS:
        head = (names[0], *(words.say("table.percent", name=name) for name in shown))
        rows = [(key_part(g, words=words), *(told[g, label] for label in labels)) for g in groups]
        texts, numbers = 1, len(labels)
    else:
        head = (*names, words.say("table.percent", name=words.say("quantity.share")))
        pairs = itertools.product(groups, labels)
        rows = [(*(key_part(part, words=words) for part in key), told[key]) for key in pairs]
        texts, numbers = 2, 1
    return Shown(
        head=head,
        rows=tuple(rows),
        text_columns=texts,
        numbers=numbers,
        notes=_notes(cells, flagged=any(c.flags for c in shares.values()), words=words),
    )


def _share(cell: Cell, *, places: int, words: Words) -> str:
    """Return a share with its interval, and a star where it is flagged."""
    if cell.value is None or cell.outer is None:
        return words.say("table.withheld")
    ends = span_text(cell.outer, decimals=places, words=words)
    value = fixed(cell.value, decimals=places)
    told = words.say("table-1.interval", value=value, ends=ends)
    return f"{told}*" if cell.flags else told


def _notes(cells: Sequence[Cell], *, flagged: bool, words: Words) -> tuple[str, ...]:
    """Return what the numbers are, the test, and what a star is."""
    by = {cell.quantity: cell for cell in cells if cell.quantity not in ("share", "departure")}
    notes = [words.say("table.of-rows")]
    p, squared = by["p-value"], by["chi-squared"]
    if p.value is not None and squared.value is not None:
        notes.append(
            words.say(
                "table.tested",
                statistic=bare_text(squared, words=words),
                degrees=clean(bare_text(by["degrees of freedom"], words=words)),
                p=p_text(p.value, words=words),
            )
        )
    return (*notes, *((words.say("table.flagged"),) if flagged else ()))
