"""The mistakes of people who point Confide at an Excel workbook, made on purpose.

Those that CSV files share are in :mod:`mistakes`; here are those of sheets, and some of both faces.
"""

import dataclasses
import datetime as dt
from collections.abc import Callable

from mistakes import DATASET, HEAD, MANY, Mistake, good
from workbooks import Stored, workbook

DECLARED = DATASET.replace("kind: csv", "kind: excel").replace(".csv", ".xlsx")
Rows = list[list[object]]


def typed() -> Rows:
    """The rows of the good file as Excel stores them."""
    return [
        list(HEAD),
        *(
            [*row[:3], int(row[3]), int(row[4]), float(row[5]), dt.date.fromisoformat(row[6])]
            for row in good()[1:]
        ),
    ]


def _book(change: Callable[[Rows], Rows] = lambda rows: rows, *, merged: tuple[str, ...] = ()):
    return workbook({"Data": change(typed())}, merged=merged)


def _column(name: str, change: Callable[[int, object], object]) -> bytes:
    at = HEAD.index(name)

    def changed(rows: Rows) -> Rows:
        for i, row in enumerate(rows[1:]):
            row[at] = change(i, row[at])
        return rows

    return _book(changed)


def _said(line: str) -> str:
    return DECLARED.replace("    rows-per", f"    {line}\n    rows-per")


_UNITS = [None, None, None, "years", "umol/L", "kg", "day"]
_FILE = "patients.xlsx"

_MADE = (
    Mistake(name="no file", made=None, what="cannot be read", refused=True, fix="`from`"),
    Mistake(name="empty file", made=b"", what="empty file", refused=True),
    Mistake(
        name="CSV called workbook",
        made=b"pid,sex\n1,female\n",
        what="another kind of file",
        refused=True,
        fix="kind: csv",
    ),
    Mistake(
        name="old workbook",
        made=b"\xd0\xcf\x11\xe0" + b"\0" * 600,
        what="another kind of file",
        refused=True,
        fix=".xlsx",
    ),
    Mistake(
        name="page called Excel",
        made=b"<html><table></table></html>",
        what="another kind of file",
        refused=True,
    ),
    Mistake(
        name="several sheets",
        made=workbook({"Data": typed(), "Legend": [["code", "meaning"]]}),
        what="cannot be read",
        refused=True,
        fix="'Data', 'Legend'",
    ),
    Mistake(
        name="another name of the sheet",
        made=_book(),
        declared=_said("sheet: data"),
        what="cannot be read",
        refused=True,
        fix="'Data'",
    ),
    Mistake(
        name="empty first rows",
        made=_book(lambda rows: [[], [], *rows]),
        what="cannot be read",
        refused=True,
        fix="sheet: {header: 3}",
    ),
    Mistake(
        name="title above",
        made=_book(lambda rows: [["Ward 7, export of May"], [], *rows]),
        what="cannot be read",
        refused=True,
        fix="sheet: {header: 3}",
    ),
    Mistake(
        name="no header",
        made=_book(lambda rows: rows[1:]),
        what="cannot be read",
        refused=True,
        fix="sheet: {header:",
    ),
    Mistake(
        name="merged header",
        made=_book(
            lambda rows: [[*HEAD[:4], "labs", None, "admitted"], *rows[1:]], merged=("E1:F1",)
        ),
        what="cannot be read",
        refused=True,
        fix="column F",
    ),
    Mistake(
        name="two header lines",
        made=_book(lambda rows: [rows[0], _UNITS, *rows[1:]]),
        what="second header line",
        cells=1,
        fix="rows-from: 3",
    ),
    Mistake(
        name="column twice",
        made=_book(lambda rows: [[*rows[0], "Sex"], *rows[1:]]),
        what="cannot be read",
        refused=True,
        fix="name of its own",
    ),
    Mistake(
        name="capitals of a column",
        made=_book(lambda rows: [[str(each).title() for each in rows[0]], *rows[1:]]),
        what="cannot be read",
        refused=True,
        fix="'Sex'",
    ),
    Mistake(name="header alone", made=_book(lambda rows: rows[:1]), what="no rows", cells=0),
    Mistake(
        name="row of totals",
        made=_book(lambda rows: [*rows, ["Gesamt:", None, None, 2970, 5370, 4800.0, None]]),
        what="row of totals",
        cells=1,
        fix="Delete",
    ),
    Mistake(
        name="row of averages without an id",
        made=_book(lambda rows: [*rows, [None, None, None, 49.5, 89.5, 80.0, None]]),
        what="no person id",
        cells=1,
    ),
    Mistake(
        name="merged ids",
        made=_book(lambda rows: [*rows[:3], [None, *rows[3][1:]], *rows[4:]], merged=("A3:A4",)),
        what="merged cells",
        cells=1,
        fix="Unmerge",
    ),
    Mistake(
        name="ids that Excel rounded",
        made=_column("pid", lambda i, _: Stored(value=f"{123456789012345678 + 64 * i}")),
        what="ids that a spreadsheet rounded",
        cells=MANY,
        fix="as text",
    ),
    Mistake(
        name="ids twice",
        made=_book(lambda rows: [*rows, *rows[1:11]]),
        what="repeated ids",
        cells=10,
    ),
    Mistake(
        name="numbers typed as text",
        made=_column("weight", lambda i, _: f"{50 + i},5" if i % 3 == 0 else 50 + i + 0.5),
        what="decimal comma",
        cells=20,
        fix='dialect: {decimal: ","}',
    ),
    Mistake(
        name="unit in the cell",
        made=_column("weight", lambda _, cell: f"{cell} kg"),
        what="unit in the cell",
        cells=MANY,
    ),
    Mistake(
        name="below a limit",
        made=_column("creatinine", lambda i, cell: "<20" if i < 7 else cell),
        what="sign of a limit",
        cells=7,
    ),
    Mistake(
        name="number that became a day",
        made=_column("weight", lambda i, cell: dt.date(2026, 5, 6) if i < 7 else cell),
        what="date in a number",
        cells=7,
    ),
    Mistake(
        name="word for missing",
        made=_column("age", lambda i, cell: "n/a" if i < 7 else cell),
        what="word for missing",
        cells=7,
        fix="missing:",
    ),
    Mistake(
        name="days typed as text",
        made=_column(
            "admitted", lambda i, day: f"{day.day:02}.{day.month:02}.{day.year}" if i % 3 else day
        ),
        what="dates as DD.MM.YYYY",
        cells=40,
        fix="dates: [YYYY-MM-DD, DD.MM.YYYY]",
    ),
    Mistake(
        name="days without a format",
        made=_column("admitted", lambda i, _: 43831 + i),
        what="dates as EXCEL",
        cells=MANY,
        fix="dates: EXCEL",
    ),
    Mistake(
        name="capitals of a category",
        made=_column("sex", lambda _, cell: str(cell).title()),
        what="capitals of a category",
        cells=MANY,
    ),
    Mistake(
        name="blanks around a category",
        made=_column("sex", lambda _, cell: f"{cell} "),
        what="blanks around a category",
        cells=MANY,
    ),
    Mistake(
        name="codes for labels",
        made=_column("sex", lambda i, _: 1 + i % 2),
        what="no category",
        cells=MANY,
    ),
    Mistake(
        name="errors of formulas",
        made=_column("age", lambda *_: Stored(value="#N/A", type="e")),
        what="no value",
        cells=MANY,
    ),
)
MISTAKES = tuple(
    dataclasses.replace(
        each, file=_FILE, declared=DECLARED if each.declared is DATASET else each.declared
    )
    for each in _MADE
)
GOOD = Mistake(name="none", made=_book(), what="", declared=DECLARED, file=_FILE)
