"""Table 1 as readers know it: variables down, groups across, what is uncertain in one note.

*Privacy:* rearranges published numbers.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from confide.drawing.asking import Asking
from confide.drawing.cells import Cell, key_part, span_text
from confide.drawing.numbers import clean, fixed, percent
from confide.drawing.quantities import digits
from confide.drawing.shown import Shown
from confide.drawing.words import Words
from confide.statistics.table_one.lines import LineVector, MeasuredLine
from confide.statistics.table_one.spec import TableOne
from confide.tables.relation import MISSING, OVERALL

_Cells: TypeAlias = Mapping[tuple[str, tuple[str, ...]], Cell]
_INDENT = "\u2003"
_YES_OR_NO = ("no", "yes")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """What the rows of the table are made of."""

    cells: _Cells
    groups: tuple[str, ...]
    pairs: tuple[str, ...]
    words: Words

    def places(self, quantity: str, *, variable: str = "") -> int:
        """Return the decimals of a quantity, the same for all groups."""
        alike = [
            cell
            for (kind, key), cell in self.cells.items()
            if kind == quantity and (not variable or key[0] == variable)
        ]
        most = 1 if quantity == "share" else self.words.labels.digits.get(variable, 2)
        return min(digits(alike, words=self.words), most)


def table(statistic: TableOne, found: Sequence[Cell], asking: Asking) -> Shown:
    """Return the table: a row a label or number, a column a group, one a difference."""
    words, dataset = asking.words, asking.dataset
    cells = {(cell.quantity, cell.key): cell for cell in found}
    groups = (*statistic.group_labels(dataset), OVERALL)
    pairs = tuple(dict.fromkeys(cell.key[2] for cell in found if cell.quantity == "smd"))
    layout = _Layout(cells=cells, groups=groups, pairs=pairs, words=words)
    head = [words.say("head.characteristic")]
    for group in groups:
        total = cells["count", ("", "", group)]
        head.append(
            words.say(
                "table-1.group",
                group=words.say("table-1.overall")
                if group == OVERALL
                else key_part(group, words=words),
                count=fixed(total.value or 0.0, decimals=0),
            )
        )
    head += [
        words.say("table-1.smd") if len(pairs) == 1 else words.say("table-1.smd-of", pair=pair)
        for pair in pairs
    ]
    told: set[str] = set()
    rows: list[tuple[str, ...]] = []
    for line in statistic.lines(dataset):
        rows += _rows(line, layout, missing=line.missing and line.variable not in told)
        told.add(line.variable)
    level = percent(found[0].level)
    reach = _reaches(statistic.lines(dataset), layout)
    notes = words.each("table-1.notes", level=level, reach=reach)
    if pairs:
        notes = (*notes, words.say("table-1.smd-note", pair=clean(pairs[0]), level=level))
    if any(cell.flags for cell in found):
        notes = (*notes, words.say("table-1.flag-note"))
    return Shown(
        head=tuple(head),
        rows=tuple(rows),
        text_columns=1,
        numbers=len(head) - 1,
        notes=notes,
    )


def _rows(line: MeasuredLine, layout: _Layout, *, missing: bool) -> Iterator[tuple[str, ...]]:
    words = layout.words
    name = words.named(line.variable)
    unit = clean(words.unit(line.domain.unit)) if line.domain.unit else ""
    title = words.say("table-1.with-unit", name=name, unit=unit) if unit else name
    differences = [_difference(line, pair, layout) for pair in layout.pairs]
    match line.way:
        case LineVector.COUNTS if line.domain.keys == _YES_OR_NO:
            title = words.say("table-1.share", name=words.say("table-1.yes", name=title))
            yield (title, *_counted(line.variable, "yes", layout), *differences)
        case LineVector.COUNTS:
            blank = ("",) * len(layout.groups)
            yield (words.say("table-1.share", name=title), *blank, *differences)
            for key in line.domain.keys:
                yield _under(
                    key_part(key, words=words), _counted(line.variable, key, layout), layout
                )
        case LineVector.MOMENTS:
            title = words.say("table-1.mean", name=title)
            yield (title, *_pairs(line.variable, ("mean", "sd"), layout), *differences)
        case LineVector.HISTOGRAM | LineVector.VALUES:
            quartiles = ("quantile 0.5", "quantile 0.25", "quantile 0.75")
            title = words.say("table-1.median", name=title)
            yield (title, *_pairs(line.variable, quartiles, layout), *differences)
    if missing:
        name = words.say("table-1.missing")
        yield _under(name, _counted(line.variable, MISSING, layout), layout)


def _under(name: str, numbers: Iterable[str], layout: _Layout) -> tuple[str, ...]:
    return (_INDENT + name, *numbers, *("" for _ in layout.pairs))


def _counted(variable: str, key: str, layout: _Layout) -> Iterator[str]:
    """Return n (%) in every group."""
    places = layout.places("share", variable=variable)
    for group in layout.groups:
        count = layout.cells["count", (variable, key, group)]
        share = layout.cells["share", (variable, key, group)]
        yield layout.words.say(
            "table-1.two",
            first=fixed(count.value or 0.0, decimals=0),
            second=_number(share, places=places),
        ) + _mark(share)


def _pairs(variable: str, quantities: Sequence[str], layout: _Layout) -> Iterator[str]:
    """Return mean (SD), or median [quartiles], in every group."""
    for group in layout.groups:
        cells = [
            cell
            for name in quantities
            if (cell := layout.cells.get((name, (variable, "", group)))) is not None
        ]
        if not cells:  # a value alone, of which there is none for all groups together
            yield "–"
            continue
        places = [layout.places(name, variable=variable) for name in quantities]
        parts = [_number(cell, places=p) for cell, p in zip(cells, places, strict=True)]
        if len(quantities) == 2:
            text = layout.words.say(
                "table-1.two", first=parts[0], second=parts[1] + _mark(cells[1])
            )
            yield text + _mark(cells[0])
        else:
            low, high = parts[1:]
            text = layout.words.say("table-1.three", first=parts[0], low=low, high=high)
            yield text + _mark(cells[0])


def _difference(line: MeasuredLine, pair: str, layout: _Layout) -> str:
    cell = layout.cells.get(("smd", (line.variable, "", pair)))
    if cell is None or line.way in (LineVector.HISTOGRAM, LineVector.VALUES):
        return ""
    if cell.value is None or cell.outer is None:
        return _number(cell, places=2)
    ends = span_text(cell.outer, decimals=2, words=layout.words)
    value = fixed(cell.value, decimals=2)
    return layout.words.say("table-1.interval", value=value, ends=ends) + _mark(cell)


def _reaches(lines: Iterable[MeasuredLine], layout: _Layout) -> str:
    """Return how far the ends of intervals are from their numbers, at most, by what they are of."""
    words, counted = layout.words, (("count", "count"), ("share", "share"))
    told = [
        words.say(f"table-1.reach-{name}", reach=_reach(quantity, "", layout))
        for name, quantity in counted
        if any(kind == quantity for kind, _ in layout.cells)
    ]
    middle = {
        LineVector.MOMENTS: ("table-1.reach-mean", "mean"),
        LineVector.HISTOGRAM: ("table-1.reach-median", "quantile 0.5"),
    }
    for line in lines:
        if line.way in middle:
            key, quantity = middle[line.way]
            reach = _reach(quantity, line.variable, layout)
            told.append(words.say(key, name=words.named(line.variable), reach=reach))
    return words.listed(told)


def _reach(quantity: str, variable: str, layout: _Layout) -> str:
    """Return the largest distance of an end from its number, rounded up to its decimals."""
    places = layout.places(quantity, variable=variable)
    far = [
        max(cell.value - cell.outer[0], cell.outer[1] - cell.value)
        for (kind, key), cell in layout.cells.items()
        if kind == quantity and cell.value is not None and cell.outer is not None
        if not variable or key[0] == variable
    ]
    step = 10.0**-places
    return fixed(math.ceil(max(far, default=0.0) / step - 1e-9) * step, decimals=max(0, places))


def _number(cell: Cell, *, places: int) -> str:
    return "–" if cell.value is None else fixed(cell.value, decimals=places)


def _mark(cell: Cell) -> str:
    return "*" if cell.flags else ""
