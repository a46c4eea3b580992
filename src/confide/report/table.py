"""Result tables: typed Arrow and Parquet for computing, HTML for reading.

The Arrow table has the columns of the published CSV (see ``release/export.py``).  The HTML table
shows one row a cell with ±, the interval and flags; Great Tables escapes every text it is given.
"""

import io
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confide.plans.plan import Statistic
from confide.release.export import distinct_names
from confide.release.quiet import no_warnings
from confide.release.release import Release
from confide.report.cells import Cell, cells_of
from confide.report.choice import CHOICES
from confide.report.describe import digits, group_titles, kind_of, quantity_text
from confide.report.findings import bare_text
from confide.report.markup import Html, tag, trusted
from confide.report.numbers import clean, fixed, percent
from confide.report.survival_table import cited
from confide.report.words import Words
from confide.statistics.hierarchy.spec import Hierarchy
from confide.statistics.logistic.held_out import BY_RISK
from confide.statistics.logistic.regression import LogisticRegression
from confide.statistics.survival import Survival

if TYPE_CHECKING:
    import pyarrow as pa

MOST_ROWS = 60
_DENSE = 7
"""Tables with more columns are set smaller."""
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_BOX = re.compile(r'(<div id="[^"]*") style="[^"]*"')


def frame(release: Release, statistic: Statistic) -> "pa.Table":
    """Return every published number of one statistic, one row a number, as a typed Arrow table."""
    import pyarrow as pa

    estimates = release.of(statistic)
    width = max((len(estimate.key) for estimate in estimates), default=0)
    text, number = pa.string(), pa.float64()
    columns: dict[str, pa.Array] = {
        "quantity": pa.array([e.quantity for e in estimates], type=text)
    }
    for place, name in enumerate(distinct_names(statistic, width=width)):
        columns[name] = pa.array([e.key[place] for e in estimates], type=text)
    for name in ("value", "standard_error", "lower", "upper", "level"):
        columns[name] = pa.array([getattr(e, name) for e in estimates], type=number)
    columns["covers"] = pa.array([e.covers.value for e in estimates], type=text)
    columns["unit"] = pa.array([e.unit for e in estimates], type=text)
    columns["flags"] = pa.array(["; ".join(e.flags) for e in estimates], type=text)
    return pa.table(columns)


def parquet_bytes(table: "pa.Table") -> bytes:
    """Return an Arrow table as Parquet; the same bytes for the same table and library version."""
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A table as readers see it: texts only.

    Attributes:
        head: Column titles; equal ones are told apart by position.
        rows: One a cell.
        text_columns: How many columns at the left are labels.
        numbers: How many columns after them are numbers.
        notes: Footnotes.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: int
    numbers: int
    notes: tuple[str, ...] = ()


def shown(release: Release, statistic: Statistic, *, words: Words) -> Shown:
    """Return the table of one statistic for readers; of a survival question what one cites."""
    if kind_of(statistic) in CHOICES:
        return _chosen(release, statistic, words=words)
    cells = _told_once(cells_of(release.of(statistic)))
    if isinstance(statistic, Survival):
        cells = cited(cells)
    if isinstance(statistic, LogisticRegression):  # figures show them, and the file holds them
        cells = [cell for cell in cells if not cell.key[0].startswith(BY_RISK)]
    if isinstance(statistic, Hierarchy):  # the file holds all three numbers of an area
        cells = [cell for cell in cells if cell.quantity == "count"]
    groups = group_titles(statistic, plan=release.plan, words=words) if _keyed(cells) else ()
    used = [any(cell.key[place] for cell in cells) for place in range(len(groups))]
    several = len({cell.quantity for cell in cells}) > 1
    level = percent(cells[0].level) if cells else ""
    inner = any(cell.inner is not None for cell in cells)
    flagged = any(cell.flags for cell in cells)
    head = list(itertools.compress(groups, used))
    head += [words.say("head.quantity")] if several else []
    labels = len(head)
    units = list(dict.fromkeys(clean(words.unit(cell.unit)) for cell in cells))
    shared = units[0] if len(units) == 1 else None
    head += [
        words.say("head.estimate-unit", unit=shared) if shared else words.say("head.estimate"),
        words.say("head.half"),
    ]
    head += [words.say("head.interval", level=level)]
    head += [words.say("head.noise-interval", level=level)] if inner else []
    head += [] if shared is not None else [words.say("head.unit")]
    head += [words.say("head.flags")] if flagged else []
    alike: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        alike.setdefault((cell.quantity, cell.unit), []).append(cell)
    decimals = {kind: digits(same) for kind, same in alike.items()}
    rows = []
    for cell in cells:
        places = decimals[cell.quantity, cell.unit]
        row = [clean(part) for part in itertools.compress(cell.key, used)]
        row += [quantity_text(cell.quantity, words=words)] if several else []
        row += _numbers(cell, places=places, words=words)
        row += [_interval(cell.inner, places=places)] if inner else []
        row += [] if shared is not None else [clean(words.unit(cell.unit))]
        row += ["; ".join(words.say(f"flag.{f}.short") for f in cell.flags)] if flagged else []
        rows.append(tuple(row))
    numbers = 4 if inner else 3
    return Shown(head=tuple(head), rows=tuple(rows), text_columns=labels, numbers=numbers)


def _chosen(release: Release, statistic: Statistic, *, words: Words) -> Shown:
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
        return [words.say("table.withheld"), "", _interval(cell.outer, places=places)]
    if cell.outer is None:
        return [bare_text(cell, words=words), "", ""]
    value = fixed(cell.value, decimals=places)
    half = fixed(cell.half_width, decimals=places)
    if "below zero" in cell.flags and cell.outer is not None:  # half of a cut interval is too small
        half = words.say("table.at-most", upper=fixed(cell.outer[1], decimals=places))
    return [value, half, _interval(cell.outer, places=places)]


def _interval(ends: tuple[float, float] | None, *, places: int) -> str:
    if ends is None:
        return ""
    return f"{fixed(ends[0], decimals=places)} – {fixed(ends[1], decimals=places)}"


def html_table(table: Shown, *, name: str, words: Words, most: int = MOST_ROWS) -> Html:
    """Return a table for the page; its first ``most`` rows, with a note when there are more.

    Args:
        table: What to show.
        name: Id of the element, unique in the page.
        words: Language of the note.
        most: Rows shown at most.
    """
    body = great_table(table, name=name, rows=table.rows[:most])
    notes = list(table.notes)
    if len(table.rows) > most:
        rows = f"{len(table.rows):,}"
        notes.append(words.say("page.rows-left-out", shown=str(most), rows=rows))
    return tag("div", body, [tag("p", note, class_="note") for note in notes]) if notes else body


def great_table(table: Shown, *, name: str, rows: Sequence[Sequence[str]]) -> Html:
    """Return rows of texts as a Great Tables table without its style sheet; the page has one."""
    import great_tables as gt
    import pyarrow as pa

    fields = [f"c{place}" for place in range(len(table.head))]
    data = pa.table(
        {field: pa.array([row[i] for row in rows], pa.string()) for i, field in enumerate(fields)}
    )
    with no_warnings():  # "PyArrow Table support is currently experimental."
        built = (
            gt.GT(data, id=name)
            .cols_label(dict(zip(fields, table.head, strict=True)))
            .cols_align("left", columns=fields)
        )
        numeric = fields[table.text_columns : table.text_columns + table.numbers]
        built = built.cols_align("right", columns=numeric)
        markup = built.as_raw_html()
    kind = "table dense" if len(table.head) > _DENSE else "table"
    return trusted(_BOX.sub(rf'\1 class="{kind}"', _STYLE.sub("", markup)))
