"""Published tables as CSV: one row a number, the same bytes for the same estimates.

Columns: quantity, one per group, value, standard_error, lower, upper, level, covers, unit, flags.
An empty cell is a number that was withheld or could not be formed; its flags say why.
"""

import csv
import io
from collections.abc import Sequence

from confide.plans.estimates import Estimate
from confide.plans.plan import Plan, Statistic

NUMBERS = ("value", "standard_error", "lower", "upper")
_FIXED = (*NUMBERS, "level", "covers", "unit", "flags")


_FORMULA = tuple("=+-@\t\r\n＝＋－＠")


def group_names(statistic: Statistic, *, width: int) -> tuple[str, ...]:
    """Return the names of a statistic's groups, for the head of a table."""
    names = statistic.key_names
    return names if len(names) == width else tuple(f"group_{i + 1}" for i in range(width))


def distinct_names(
    statistic: Statistic, *, width: int, taken: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the names of the group columns, none of them that of another column of the table."""
    found: list[str] = []
    for name in group_names(statistic, width=width):
        fresh = inert(name)
        while fresh in ("quantity", *_FIXED, *taken, *found):
            fresh += "_"
        found.append(fresh)
    return tuple(found)


def rows(
    statistic: Statistic, estimates: Sequence[Estimate]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the head and the rows of one statistic's table, as texts."""
    width = max((len(estimate.key) for estimate in estimates), default=0)
    head = ("quantity", *distinct_names(statistic, width=width), *_FIXED)
    body = [
        (
            estimate.quantity,
            *estimate.key,
            *(_number(getattr(estimate, name)) for name in NUMBERS),
            _number(estimate.level),
            estimate.covers.value,
            estimate.unit,
            "; ".join(estimate.flags),
        )
        for estimate in estimates
    ]
    return head, body


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def csv_bytes(statistic: Statistic, estimates: Sequence[Estimate]) -> bytes:
    """Return one statistic's table; a text that a spreadsheet would run is quoted with '."""
    head, body = rows(statistic, estimates)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    width = len(head) - len(NUMBERS) - 5
    for row in body:
        writer.writerow([row[0], *map(inert, row[1 : 1 + width]), *row[1 + width :]])
    return out.getvalue().encode()


def lines_of(text: str) -> list[list[str]]:
    """Return the lines of a table that was published; a label may be as long as the table."""
    usual = csv.field_size_limit()
    csv.field_size_limit(max(usual, len(text)))
    try:
        return list(csv.reader(io.StringIO(text)))
    finally:
        csv.field_size_limit(usual)


def inert(text: str) -> str:
    """Return a group label that no spreadsheet takes for a formula."""
    risky = text[:1] in _FORMULA or text.lstrip()[:1] in _FORMULA
    return f"'{text}" if risky else text


def tables(plan: Plan, estimates: Sequence[Estimate]) -> dict[str, bytes]:
    """Return the CSV of every statistic of a plan, by path below the output folder."""
    return tables_of(plan.statistics, estimates)


def tables_of(statistics: Sequence[Statistic], estimates: Sequence[Estimate]) -> dict[str, bytes]:
    """Return the CSV of every statistic, by path below the output folder."""
    return {
        f"tables/{statistic.id}.csv": csv_bytes(
            statistic, [e for e in estimates if e.statistic == statistic.id]
        )
        for statistic in statistics
    }
