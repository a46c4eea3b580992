"""The mistakes of people who point Confide at their first CSV file, each made on purpose.

A mistake is a function from the good file to the bad one, or another line of dataset.yaml.  What it
must lead to is said beside it: what a check calls it, or what it is refused with, free of charge.
"""

import dataclasses
import gzip
import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DATASET = """\
dataset: {id: first, lineage: first, snapshot: "1"}
source: {kind: csv, path: data}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 100}}
tables:
  patients:
    from: patients.csv
    rows-per-patient: 1
    columns:
      sex: {categories: [female, male]}
      town: {categories: [Köln, Ulm]}
      age: {kind: number, lower: 0, upper: 110, unit: a}
      creatinine: {kind: number, lower: 20, upper: 2000, unit: umol/L}
      weight: {kind: number, lower: 20, upper: 250, step: 0.1, unit: kg}
      admitted: {kind: date, lower: 2010-01-01, upper: 2026-12-31}
"""
HEAD = ["pid", "sex", "town", "age", "creatinine", "weight", "admitted"]
MANY = 60


def good() -> list[list[str]]:
    """The file as it should be: a header and 60 patients."""
    rows = [
        [
            f"p{i:03}",
            ("female", "male")[i % 2],
            ("Köln", "Ulm")[i % 3 == 0],
            str(20 + i),
            str(60 + i),
            f"{50 + i}.5",
            f"20{10 + i % 15}-{1 + i % 12:02}-{1 + i % 28:02}",
        ]
        for i in range(MANY)
    ]
    return [HEAD, *rows]


def text(rows: list[list[str]], *, by: str = ",") -> str:
    return "\n".join(by.join(row) for row in rows) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One mistake.

    Attributes:
        name: For people.
        made: The bytes of the file; None where there is no file.
        what: What a check calls it; "" where a check finds nothing to count.
        cells: How many cells or rows it is; None where the whole file is.
        fix: Part of the line that helps.
        declared: What dataset.yaml says.
        refused: Whether a run is refused, free of charge.
        file: Name of the file.
    """

    name: str
    made: bytes | None
    what: str
    cells: int | None = None
    fix: str = ""
    declared: str = DATASET
    refused: bool = False
    file: str = "patients.csv"

    def store(self, folder: Path) -> Path:
        """Write the files, and return where dataset.yaml is."""
        (folder / "data").mkdir(parents=True)
        if self.made is not None:
            (folder / "data" / self.file).write_bytes(self.made)
        (folder / "dataset.yaml").write_text(self.declared)
        (folder / "study.yaml").write_text(
            "study: {id: s, title: By sex, purpose: test}\n"
            "statistics:\n  - {id: n, kind: histogram, by: [sex], error: {within: 20}}\n"
        )
        return folder / "dataset.yaml"


def _column(name: str, change: Callable[[int, str], str], *, by: str = ",") -> bytes:
    """Return the file with another spelling of a column, told the place of each patient."""
    rows = good()
    at = HEAD.index(name)
    for i, row in enumerate(rows[1:]):
        row[at] = change(i, row[at])
    return text(rows, by=by).encode()


def _rows(change: Callable[[list[list[str]]], list[list[str]]]) -> bytes:
    return text(change(good())).encode()


def _few(said: str, *, of: int = 7) -> Callable[[int, str], str]:
    """Return a change of the first patients' cells alone."""
    return lambda i, cell: said if i < of else cell


def _german(i: int, day: str) -> str:
    year, month, date = day.split("-")
    return f"{date}.{month}.{year}"


def _slashed(i: int, day: str) -> str:
    year, month, date = day.split("-")
    return f"{month}/{date}/{year}"


def _workbook() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("xl/workbook.xml", "<workbook/>")
    return file.getvalue()


_IDS = DATASET.replace("id: pid,", "id: patient_id,")
_OTHER_NAME = DATASET.replace("      age:", "      alter:")
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_SEMICOLONS = 'dialect: {separator: ";"}'

MISTAKES = (
    # the file
    Mistake(name="no file", made=None, what="cannot be read", refused=True, fix="`from`"),
    Mistake(name="empty file", made=b"", what="empty file", refused=True),
    Mistake(name="header alone", made=text([HEAD]).encode(), what="no rows", cells=0),
    Mistake(
        name="no header",
        made=text(good()[1:]).encode(),
        what="cannot be read",
        refused=True,
        fix="header",
    ),
    Mistake(
        name="workbook", made=_workbook(), what="another kind of file", refused=True, fix="CSV"
    ),
    Mistake(
        name="old workbook",
        made=b"\xd0\xcf\x11\xe0" + b"\0" * 600,
        what="another kind of file",
        refused=True,
        fix="CSV",
    ),
    Mistake(
        name="page called Excel",
        made=b"<html><table><tr><td>pid</td></tr></table></html>",
        what="another kind of file",
        refused=True,
    ),
    Mistake(
        name="packed under another name",
        made=gzip.compress(text(good()).encode()),
        what="another kind of file",
        refused=True,
        fix=".csv.gz",
    ),
    Mistake(
        name="blank line first",
        made=b"\n" + text(good()).encode(),
        what="cannot be read",
        refused=True,
        fix="Delete it",
    ),
    Mistake(
        name="line of Excel first",
        made=b"sep=,\n" + text(good()).encode(),
        what="cannot be read",
        refused=True,
        fix="Delete it",
    ),
    Mistake(
        name="index of pandas",
        made=_rows(lambda rows: [[str(i - 1) if i else "", *r] for i, r in enumerate(rows)]),
        what="cannot be read",
        refused=True,
        fix="index=False",
    ),
    Mistake(
        name="carriage returns",
        made=text(good()).replace("\n", "\r").encode(),
        what="cannot be read",
        refused=True,
        fix="line feeds",
    ),
    Mistake(
        name="semicolons",
        made=text(good(), by=";").encode(),
        what="another separator",
        refused=True,
        fix='separator: ";"',
    ),
    Mistake(
        name="tabs",
        made=text(good(), by="\t").encode(),
        what="another separator",
        refused=True,
        fix="separator: tab",
    ),
    Mistake(
        name="Latin-1",
        made=text(good()).encode("latin-1"),
        what="another encoding",
        fix="windows-1252",
    ),
    Mistake(
        name="UTF-16",
        made=text(good()).encode("utf-16"),
        what="another encoding",
        refused=True,
        fix="utf-16",
    ),
    Mistake(
        name="damaged twice",
        made=text(good()).encode().decode("latin-1").encode(),
        what="damaged letters",
        cells=40,
    ),
    Mistake(
        name="open quotation mark",
        made=_column("town", lambda i, cell: '"Ulm' if i == 40 else cell),
        what="open quotation mark",
    ),
    Mistake(
        name="comma at the end of every line",
        made=_rows(lambda rows: [rows[0], *([*row, ""] for row in rows[1:])]),
        what="too many fields",
        cells=MANY,
    ),
    Mistake(
        name="lines cut off",
        made=_rows(lambda rows: [*rows[:50], *(row[:3] for row in rows[50:])]),
        what="too few fields",
        cells=11,
    ),
    # names and ids
    Mistake(
        name="capitals of a column",
        made=_rows(lambda rows: [[each.title() for each in rows[0]], *rows[1:]]),
        what="cannot be read",
        refused=True,
        fix="'Sex'",
    ),
    Mistake(
        name="blank before a column",
        made=_rows(lambda rows: [[rows[0][0], *(f" {each}" for each in rows[0][1:])], *rows[1:]]),
        what="cannot be read",
        refused=True,
        fix="' sex'",
    ),
    Mistake(
        name="another name of a column",
        made=text(good()).encode(),
        declared=_OTHER_NAME,
        what="cannot be read",
        fix="from",
        refused=True,
    ),
    Mistake(
        name="another name of the id",
        made=text(good()).encode(),
        declared=_IDS,
        what="cannot be read",
        fix="protects",
        refused=True,
    ),
    Mistake(
        name="column twice",
        made=_rows(lambda rows: [[*rows[0], "Sex"], *([*row, "x"] for row in rows[1:])]),
        what="cannot be read",
        refused=True,
        fix="name of its own",
    ),
    Mistake(name="no id", made=_column("pid", _few("")), what="no person id", cells=7),
    Mistake(
        name="ids twice",
        made=_rows(lambda rows: [*rows, *rows[1:11]]),
        what="repeated ids",
        cells=10,
        fix="rows-per-patient",
    ),
    Mistake(
        name="rows twice",
        made=_rows(lambda rows: [*rows, *rows[1:11]]),
        declared=DATASET.replace("    rows-per-patient: 1\n", ""),
        what="rows that are there twice",
        cells=10,
    ),
    Mistake(
        name="rows that differ in a date out of bounds",
        made=_rows(
            lambda rows: [
                *rows,
                *([*r[:-1], f"{y}-01-01"] for r in rows[1:4] for y in (1985, 1986)),
            ]
        ),
        declared=DATASET.replace("    rows-per-patient: 1\n", ""),
        what="rows that look alike",
        cells=3,
        fix="too narrow",
    ),
    Mistake(
        name="ids in other capitals",
        made=_rows(lambda rows: [*rows, *(["P" + r[0][1:], *r[1:]] for r in rows[1:6])]),
        what="ids that differ in blanks, capitals or zeros",
        cells=5,
    ),
    Mistake(
        name="ids of a spreadsheet",
        made=_column("pid", lambda i, cell: "1.23457E+11" if i < 9 else cell),
        what="ids that a spreadsheet rounded",
        cells=9,
        fix="as text",
    ),
    # numbers
    Mistake(
        name="decimal commas in quotes",
        made=_column("weight", lambda _, cell: '"' + cell.replace(".", ",") + '"'),
        what="decimal comma",
        cells=MANY,
        fix='decimal: ","',
    ),
    Mistake(
        name="decimal commas in some cells",
        made=_column("weight", lambda i, _: f'"{50 + i},5"' if i % 3 == 0 else f"{50 + i}.5"),
        what="decimal comma",
        cells=20,
        fix="40 others have a point",
    ),
    Mistake(
        name="decimal points where a comma is declared",
        made=_column("weight", lambda i, _: f"{50 + i},5" if i % 3 else f"{50 + i}.5", by=";"),
        declared=DATASET.replace(
            "    rows-per", '    dialect: {separator: ";", decimal: ","}\n    rows-per'
        ),
        what="decimal point",
        cells=20,
    ),
    Mistake(
        name="decimal commas without",
        made=_column("weight", lambda _, cell: cell.replace(".", ",")),
        what="too many fields",
        cells=MANY,
        fix='decimal: ","',
    ),
    Mistake(
        name="German numbers",
        made=re.sub(
            rb";(\d+)\.(\d);",  # weights, which the same comma reads
            rb";\1,\2;",
            _column("creatinine", lambda i, _: f"1.{i:03},0", by=";"),
        ),
        declared=DATASET.replace("    rows-per", f"    {_SEMICOLONS}\n    rows-per"),
        what="thousands and decimal comma",
        cells=MANY,
        fix='thousands: "."',
    ),
    Mistake(
        name="thousands",
        made=_column("creatinine", lambda i, _: f'"1,{i:03}"'),
        what="decimal comma",
        cells=MANY,
    ),
    Mistake(
        name="unit in the cell",
        made=_column("weight", lambda _, cell: f"{cell} kg"),
        what="unit in the cell",
        cells=MANY,
        fix="units",
    ),
    Mistake(
        name="below a limit",
        made=_column("creatinine", _few("<20")),
        what="sign of a limit",
        cells=7,
    ),
    Mistake(
        name="a code for missing",
        made=_column("age", _few("999")),
        what="code for missing",
        cells=7,
        fix="missing: [999]",
    ),
    Mistake(
        name="a word for missing",
        made=_column("age", _few("NA")),
        what="word for missing",
        cells=7,
        fix='missing: ["NA"]',
    ),
    Mistake(
        name="another unit",
        made=_column("creatinine", lambda _, cell: f"{float(cell) / 88.42:.2f}"),
        what="another unit",
        cells=MANY,
        fix='unit: "mg/dL"',
    ),
    Mistake(
        name="two units",
        made=_column("creatinine", lambda i, cell: cell if i % 2 else f"{float(cell) / 88.42:.2f}"),
        what="another unit",
        cells=30,
        fix="units: {from",
    ),
    Mistake(
        name="grams",
        made=_column("weight", lambda i, _: str(1000 * (50 + i))),
        what="another unit",
        cells=MANY,
        fix='unit: "g"',
    ),
    # dates
    Mistake(
        name="German dates",
        made=_column("admitted", _german),
        what="dates as DD.MM.YYYY",
        cells=MANY,
        fix="dates: DD.MM.YYYY",
    ),
    Mistake(
        name="American dates",
        made=_column("admitted", _slashed),
        what="dates as MM/DD/YYYY",
        cells=MANY,
        fix="dates: MM/DD/YYYY",
    ),
    Mistake(
        name="dates in digits",
        made=_column("admitted", lambda _, cell: cell.replace("-", "")),
        what="dates as YYYYMMDD",
        cells=MANY,
        fix="dates: YYYYMMDD",
    ),
    Mistake(
        name="days of a spreadsheet",
        made=_column("admitted", lambda i, _: str(43831 + i)),
        what="dates as EXCEL",
        cells=MANY,
        fix="dates: EXCEL",
    ),
    Mistake(
        name="months in letters",
        made=_column(
            "admitted", lambda _, cell: f"{cell[8:]}-{_MONTHS[int(cell[5:7]) - 1]}-{cell[:4]}"
        ),
        what="dates as DD-MON-YYYY",
        cells=MANY,
        fix="dates: DD-MON-YYYY",
    ),
    Mistake(
        name="dates of two forms",
        made=_column("admitted", lambda i, cell: _german(i, cell) if i % 3 else cell),
        what="dates as DD.MM.YYYY",
        cells=40,
        fix="dates: [YYYY-MM-DD, DD.MM.YYYY]",
    ),
    Mistake(
        name="dates of a form that was forgotten",
        made=_column("admitted", lambda i, cell: _german(i, cell) if i % 3 else cell),
        declared=DATASET.replace("    rows-per", "    dialect: {dates: DD.MM.YYYY}\n    rows-per"),
        what="dates as YYYY-MM-DD",
        cells=20,
        fix="dates: [DD.MM.YYYY, YYYY-MM-DD]",
    ),
    Mistake(
        name="days that are none in a declared form",
        made=_column("admitted", lambda i, cell: "31.02.2025" if i < 7 else _german(i, cell)),
        declared=DATASET.replace("    rows-per", "    dialect: {dates: DD.MM.YYYY}\n    rows-per"),
        what="day that is none",
        cells=7,
    ),
    Mistake(
        name="years of two digits",
        made=_column("admitted", lambda _, cell: f"{cell[8:]}.{cell[5:7]}.{cell[2:4]}"),
        what="years of two digits",
        cells=MANY,
    ),
    Mistake(
        name="days that are none",
        made=_column("admitted", _few("2025-02-30")),
        what="day that is none",
        cells=7,
    ),
    Mistake(
        name="a day for missing",
        made=_column("admitted", _few("1900-01-01")),
        what="code for missing",
        cells=7,
        fix="missing: [",
    ),
    # categories
    Mistake(
        name="capitals of a category",
        made=_column("sex", lambda _, cell: cell.title()),
        what="capitals of a category",
        cells=MANY,
        fix='"Female": "female"',
    ),
    Mistake(
        name="blanks around a category",
        made=_column("sex", lambda _, cell: f" {cell} "),
        what="blanks around a category",
        cells=MANY,
    ),
    Mistake(
        name="umlauts written out",
        made=_column("town", lambda _, cell: cell.replace("ö", "oe")),
        what="spelling of a category",
        cells=40,
        fix='"Koeln": "Köln"',
    ),
    Mistake(
        name="codes for labels",
        made=_column("sex", lambda i, _: str(1 + i % 2)),
        what="no category",
        cells=MANY,
        fix="code book",
    ),
    Mistake(
        name="codes as decimals",
        made=_column("sex", lambda i, _: f"{1 + i % 2}.0"),
        declared=DATASET.replace("[female, male]", "{1: female, 2: male}"),
        what="number of a category written otherwise",
        cells=MANY,
        fix="1.0: ",
    ),
    Mistake(
        name="empty column",
        made=_column("age", lambda *_: ""),
        what="no value",
        cells=MANY,
    ),
)

GOOD = Mistake(name="none", made=text(good()).encode(), what="")


def required(mistake: Mistake) -> Mistake:
    """Return a mistake in a data set that asks for a check."""
    asked = mistake.declared.replace("path: data}", "path: data, checked: required}")
    return dataclasses.replace(mistake, declared=asked)
