"""Table 1 as readers know it: variables down, groups across; and its differences as a figure.

*Privacy:* rearranges published numbers.

References:
    [Aus09] Austin. Balance diagnostics for comparing the distribution of baseline covariates
        between treatment groups. Stat Med 28(25), 2009. https://doi.org/10.1002/sim.3697
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from confide.release.release import Release
from confide.report.cells import Cell, cells_of
from confide.report.conditions import label
from confide.report.describe import digits
from confide.report.marks import Chart, Frame, dots, row_of, zone
from confide.report.numbers import clean, fixed, percent
from confide.report.table import Shown
from confide.report.words import Words
from confide.statistics.table_one import TableOne
from confide.statistics.table_one.lines import Line, Way
from confide.tables.relation import MISSING, OVERALL

_Cells: TypeAlias = Mapping[tuple[str, tuple[str, ...]], Cell]
_USUAL = 0.1
"""Differences below it are usually called negligible [Aus09]."""
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
        return min(digits(alike), 2)


def characteristics(release: Release, statistic: TableOne, *, words: Words) -> Shown:
    """Return the table: a row a label or number, two columns a group, one a difference."""
    found = cells_of(release.of(statistic))
    cells = {(cell.quantity, cell.key): cell for cell in found}
    dataset = release.plan.dataset
    groups = (*statistic.group_labels(dataset), OVERALL)
    pairs = tuple(dict.fromkeys(cell.key[2] for cell in found if cell.quantity == "smd"))
    layout = _Layout(cells=cells, groups=groups, pairs=pairs, words=words)
    head = [words.say("head.characteristic")]
    for group in groups:
        total = cells["count", ("", "", group)]
        head.append(
            words.say(
                "table-1.group",
                group=words.say("table-1.overall") if group == OVERALL else clean(group),
                count=fixed(total.value or 0.0, decimals=0),
                half=fixed(total.half_width, decimals=0),
            )
        )
        head.append(words.say("head.half"))
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
    notes = words.each("table-1.notes", level=level)
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


def _rows(line: Line, layout: _Layout, *, missing: bool) -> Iterator[tuple[str, ...]]:
    name, words = label(line.variable), layout.words
    unit = clean(words.unit(line.domain.unit)) if line.domain.unit else ""
    title = words.say("table-1.with-unit", name=name, unit=unit) if unit else name
    differences = [_difference(line, pair, layout) for pair in layout.pairs]
    match line.way:
        case Way.COUNTS if line.domain.keys == _YES_OR_NO:
            title = words.say("table-1.share", name=words.say("table-1.yes", name=title))
            yield (title, *_counted(line.variable, "yes", layout), *differences)
        case Way.COUNTS:
            blank = ("",) * (2 * len(layout.groups))
            yield (words.say("table-1.share", name=title), *blank, *differences)
            for key in line.domain.keys:
                yield _under(clean(key), _counted(line.variable, key, layout), layout)
        case Way.MOMENTS:
            title = words.say("table-1.mean", name=title)
            yield (title, *_pairs(line.variable, ("mean", "sd"), layout), *differences)
        case Way.HISTOGRAM:
            quartiles = ("quantile 0.5", "quantile 0.25", "quantile 0.75")
            title = words.say("table-1.median", name=title)
            yield (title, *_pairs(line.variable, quartiles, layout), *differences)
    if missing:
        name = words.say("table-1.missing")
        yield _under(name, _counted(line.variable, MISSING, layout), layout)


def _under(name: str, numbers: Iterable[str], layout: _Layout) -> tuple[str, ...]:
    return (_INDENT + name, *numbers, *("" for _ in layout.pairs))


def _counted(variable: str, key: str, layout: _Layout) -> Iterator[str]:
    """Return n (%) and its ± in every group."""
    places = layout.places("share", variable=variable)
    for group in layout.groups:
        count = layout.cells["count", (variable, key, group)]
        share = layout.cells["share", (variable, key, group)]
        yield layout.words.say(
            "table-1.two",
            first=fixed(count.value or 0.0, decimals=0),
            second=_number(share, places=places),
        ) + _mark(share)
        yield layout.words.say(
            "table-1.two",
            first=fixed(count.half_width, decimals=0),
            second=fixed(share.half_width, decimals=places),
        )


def _pairs(variable: str, quantities: Sequence[str], layout: _Layout) -> Iterator[str]:
    """Return mean (SD), or median [quartiles], and ± in every group."""
    for group in layout.groups:
        cells = [layout.cells[name, (variable, "", group)] for name in quantities]
        places = [layout.places(name, variable=variable) for name in quantities]
        parts = [_number(cell, places=p) for cell, p in zip(cells, places, strict=True)]
        halves = [fixed(cell.half_width, decimals=p) for cell, p in zip(cells, places, strict=True)]
        if len(quantities) == 2:
            text = layout.words.say("table-1.two", first=parts[0], second=parts[1])
            yield text + _mark(cells[0])
            yield layout.words.say("table-1.two", first=halves[0], second=halves[1])
        else:
            low, high = parts[1:]
            text = layout.words.say("table-1.three", first=parts[0], low=low, high=high)
            yield text + _mark(cells[0])
            yield halves[0]


def _difference(line: Line, pair: str, layout: _Layout) -> str:
    cell = layout.cells.get(("smd", (line.variable, "", pair)))
    if cell is None or line.way is Way.HISTOGRAM:
        return ""
    if cell.value is None or cell.outer is None:
        return _number(cell, places=2)
    low, high = (fixed(end, decimals=2) for end in cell.outer)
    value = fixed(cell.value, decimals=2)
    return layout.words.say("table-1.interval", value=value, lower=low, upper=high) + _mark(cell)


def _number(cell: Cell, *, places: int) -> str:
    return "–" if cell.value is None else fixed(cell.value, decimals=places)


def _mark(cell: Cell) -> str:
    return "*" if cell.flags else ""


def differences(cells: Sequence[Cell], *, words: Words) -> Chart:
    """Return the standardised differences with their intervals; shares where there is one group."""
    found = [cell for cell in cells if cell.quantity == "smd"]
    if found:
        pairs = tuple(dict.fromkeys(clean(cell.key[2]) for cell in found))
        title = words.say("table-1.axis")
    else:
        found = [cell for cell in cells if cell.quantity == "share"]
        found = found or [cell for cell in cells if cell.quantity == "count"]
        pairs, title = ("",), clean(words.unit(found[0].unit))
    several = len(pairs) > 1
    rows = [
        row_of(
            cell,
            group=_name(cell, words=words),
            series=clean(cell.key[2]) if several else "",
            missing=words.say("flag.denominator too small.short"),
        )
        for cell in found
    ]
    frame = Frame(
        groups=tuple(dict.fromkeys(str(row["group"]) for row in rows)),
        series=pairs if several else (),
        x_title=title,
        zero=True,
        bars=found[0].quantity != "smd",
    )
    chart = dots(rows, frame=frame)
    return chart + zone(-_USUAL, _USUAL) if found[0].quantity == "smd" else chart


def _name(cell: Cell, *, words: Words) -> str:
    variable, key, _ = cell.key
    parts = [part for part in (label(variable), clean(key)) if part]
    return words.say("key.joint").join(parts) or words.say("chart.all")
