"""Result tables: typed Arrow and Parquet for computing, HTML for reading.

The Arrow table has the columns of the published CSV (see ``release/export.py``).  The HTML table
shows one row a cell with its interval and flags.
"""

import io
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from confide.drawing.cells import FEW_WITHHELD, Cell, key_part, readable_cells, span_text
from confide.drawing.findings import bare_text
from confide.drawing.markup import Html, rows_of_texts, tag
from confide.drawing.numbers import clean, fixed, opening, percent
from confide.drawing.quantities import digits, quantity_text
from confide.drawing.shown import Shown
from confide.drawing.words import Words
from confide.plans.estimates import Estimate
from confide.plans.plan import Statistic
from confide.release.export import NUMBERS, distinct_names
from confide.report.wording.describe import group_titles
from confide.report.wording.marks import mark_of, marked_table
from confide.statistics.registry import kind_of

if TYPE_CHECKING:
    import pyarrow as pa

    from confide.report.release import Release

MOST_ROWS = 60
_DENSE = 7
"""Tables with more columns are set smaller."""
_LETTERS = 78
"""So are those whose longest rows would have more letters."""
_TEXTS = ("covers", "unit", "flags")


def frame(release: "Release", statistic: Statistic | None = None) -> "pa.Table":
    """Return every published number, one row a number, as a typed Arrow table.

    Args:
        release: Of which.
        statistic: Of which alone; when None, a first column says of which each row is, and groups
            that a statistic does not have are null.
    """
    import pyarrow as pa

    lead = ("statistic",) if statistic is None else ()
    groups: dict[str, None] = {}
    rows: list[dict[str, str | float | None]] = []
    for each in release.plan.statistics if statistic is None else (statistic,):
        estimates = release.of(each)
        width = max((len(estimate.key) for estimate in estimates), default=0)
        keys = distinct_names(each, width=width, taken=lead)
        groups |= dict.fromkeys(keys)
        rows += [{**dict.fromkeys(lead, each.id), **_row(found, keys=keys)} for found in estimates]
    schema = pa.schema(
        [(name, pa.string()) for name in (*lead, "quantity", *groups)]
        + [(name, pa.float64()) for name in (*NUMBERS, "level")]
        + [(name, pa.string()) for name in _TEXTS]
    )
    made = arrow_table(rows, schema=schema)
    mark = mark_of(release, words=release.words())
    return marked_table(made, mark=mark) if mark else made


def _row(found: Estimate, *, keys: Sequence[str]) -> dict[str, str | float | None]:
    return {
        "quantity": found.quantity,
        **dict(zip(keys, found.key, strict=True)),
        **{name: getattr(found, name) for name in (*NUMBERS, "level")},
        "covers": found.covers.value,
        "unit": found.unit,
        "flags": "; ".join(found.flags),
    }


def arrow_table(
    rows: Sequence[Mapping[str, str | float | None]], *, schema: "pa.Schema"
) -> "pa.Table":
    """Return rows as an Arrow table; ``pyarrow.array`` would import pandas, a third of a second."""
    import pyarrow.json as pj

    if not rows:
        return schema.empty_table()
    lines = "\n".join(json.dumps(row, allow_nan=False) for row in rows).encode()
    read = pj.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    return pj.read_json(io.BytesIO(lines), read, pj.ParseOptions(explicit_schema=schema))


def parquet_bytes(table: "pa.Table") -> bytes:
    """Return an Arrow table as Parquet; the same bytes for the same table and library version."""
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


def shown(release: "Release", statistic: Statistic, *, words: Words) -> Shown:
    """Return the table of one statistic for readers; of a survival question what one cites."""
    kind = kind_of(statistic)
    if kind.chooses:
        return _chosen(release, statistic, words=words)
    cells = kind.cited(_told_once(readable_cells(release.of(statistic))))
    groups = group_titles(statistic, plan=release.plan, words=words) if _keyed(cells) else ()
    used = [any(cell.key[place] for cell in cells) for place in range(len(groups))]
    several = len({cell.quantity for cell in cells}) > 1
    level = percent(cells[0].level) if cells else ""
    inner = any(cell.inner is not None for cell in cells)
    flagged = any(cell.flags for cell in cells)
    named = [cell for cell in cells if cell.value is not None]
    left_out = len(cells) - len(named)
    notes: tuple[str, ...] = ()
    if named and not several and left_out > FEW_WITHHELD:
        count = f"{len(cells):,}"
        notes, cells = (words.say_count("chart.withheld", left_out, cells=count),), named
    head = [opening(name) for name in itertools.compress(groups, used)]
    head += [words.say("head.quantity")] if several else []
    labels = len(head)
    units = list(dict.fromkeys(clean(words.unit(cell.unit)) for cell in cells))
    shared = units[0] if len(units) == 1 else None
    head += [
        words.say("head.estimate-unit", unit=shared) if shared else words.say("head.estimate"),
    ]
    alone = bool(cells) and all(cell.alone for cell in cells)
    head += [] if alone else [words.say("head.interval", level=level)]
    head += [words.say("head.noise-interval", level=level)] if inner else []
    head += [] if shared is not None else [words.say("head.unit")]
    head += [words.say("head.flags")] if flagged else []
    alike: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        alike.setdefault((cell.quantity, cell.unit), []).append(cell)
    decimals = {kind: digits(same, words=words) for kind, same in alike.items()}
    rows = []
    for cell in cells:
        places = decimals[cell.quantity, cell.unit]
        row = [key_part(part, words=words) for part in itertools.compress(cell.key, used)]
        row += [quantity_text(cell.quantity, words=words)] if several else []
        row += _numbers(cell, places=places, words=words)[: 1 if alone else 2]
        row += [_interval(cell.inner, places=places, words=words)] if inner else []
        row += [] if shared is not None else [clean(words.unit(cell.unit))]
        row += ["; ".join(words.say(f"flag.{f}.short") for f in cell.flags)] if flagged else []
        rows.append(tuple(row))
    numbers = 2 - alone + inner
    return Shown(
        head=tuple(head), rows=tuple(rows), text_columns=labels, numbers=numbers, notes=notes
    )


def _chosen(release: "Release", statistic: Statistic, *, words: Words) -> Shown:
    """Return the names of what was chosen: there are no numbers."""
    head = group_titles(statistic, plan=release.plan, words=words)
    rows = tuple(tuple(clean(part) for part in e.key) for e in release.of(statistic))
    return Shown(head=head, rows=rows, text_columns=len(head), numbers=0)


def _told_once(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Leave out a posterior mean that reads like the count itself."""
    counts = {fixed(cell.value or 0.0, decimals=0) for cell in cells if cell.quantity == "count"}
    return [
        cell
        for cell in cells
        if cell.quantity != "posterior mean" or fixed(cell.value or 0.0, decimals=0) not in counts
    ]


def _keyed(cells: Sequence[Cell]) -> bool:
    return any(cell.key for cell in cells)


def _numbers(cell: Cell, *, places: int, words: Words) -> list[str]:
    if cell.value is None:
        return [words.say("table.withheld"), _interval(cell.outer, places=places, words=words)]
    if cell.beginning is not None:
        lower = fixed(cell.beginning, decimals=places)
        return [fixed(cell.value, decimals=places), words.say("table.from", lower=lower)]
    if cell.outer is None:
        return [bare_text(cell, words=words), ""]
    value = fixed(cell.value, decimals=places)
    return [value, _interval(cell.outer, places=places, words=words)]


def _interval(ends: tuple[float, float] | None, *, places: int, words: Words) -> str:
    return "" if ends is None else span_text(ends, decimals=places, words=words)


def html_table(table: Shown, *, name: str, words: Words, most: int = MOST_ROWS) -> Html:
    """Return a table for the page; its first ``most`` rows, with a note when there are more.

    Args:
        table: What to show.
        name: Id of the element, unique in the page.
        words: Language of the note.
        most: Rows shown at most.
    """
    columns_of = zip(table.head, *table.rows[:most], strict=True)
    letters = sum(max(map(len, column)) for column in columns_of)
    dense = len(table.head) > _DENSE or letters > _LETTERS
    kind = "table shown dense" if dense else "table shown"
    columns = table.number_columns
    body = rows_of_texts(table.head, table.rows[:most], numbers=columns, id=name, class_=kind)
    notes = list(table.notes)
    if len(table.rows) > most:
        rows = f"{len(table.rows):,}"
        notes.append(words.say("page.rows-left-out", shown=str(most), rows=rows))
    return tag("div", body, tag("p", " ".join(notes), class_="note")) if notes else body
