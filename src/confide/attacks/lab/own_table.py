"""The steward's own table: columns of text, one row a patient, held in memory for the lab alone.

*Privacy:* exact rows.  They come from a file that the steward names, are never printed, and no
error says more of them than the number of a line.
"""

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from confide.arrays import Ints
from confide.errors import ContractError, UnknownNameError
from confide.public_csv import csv_lines
from confide.regular_file import reading, reading_text
from confide.tables.dialect import Separator
from confide.tables.encoding import Encoding

FEWEST_PATIENTS = 20
_LARGEST = 2**30
_PARQUET = (".parquet", ".pq")
_WITH_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileForm:
    """How a CSV file is written; a Parquet file says so itself.

    Attributes:
        separator: Between cells.
        decimal: "." or ",": before the places of a number.
        encoding: Of its text.
    """

    separator: Separator = Separator.COMMA
    decimal: str = "."
    encoding: Encoding = Encoding.UTF_8

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise ContractError(
                "Expected a point or a comma before decimals.", hint='Write --decimal ",".'
            )


USUAL_FORM = FileForm()
"""Commas, points, UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Coded:
    """A column as ranks of its values.

    Attributes:
        codes: Rank of each patient's value, from 0; shape (patients,).
        labels: The values, in rising order.
        ordered: Whether they are numbers.
    """

    codes: Ints
    labels: tuple[str, ...]
    ordered: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OwnTable:
    """Rows of patients, as what an attacker knows of them and what is secret.

    Attributes:
        quasi: Quasi-identifiers, by name: what others know of a patient.
        sensitive: What they want to know.
        sensitive_name: Its column.
        made_up: Whether the patients are, so that anybody may see what comes out.
    """

    quasi: Mapping[str, Coded]
    sensitive: Coded
    sensitive_name: str
    made_up: bool = False

    @property
    def patients(self) -> int:
        """How many there are."""
        return len(self.sensitive.codes)

    def known(self) -> Ints:
        """Return the codes of the quasi-identifiers; shape (patients, columns)."""
        return np.stack([column.codes for column in self.quasi.values()], axis=1)

    def groups(self) -> Ints:
        """Return which patients share all quasi-identifiers: a number each; shape (patients,)."""
        _, found = np.unique(self.known(), axis=0, return_inverse=True)
        return np.asarray(found, dtype=np.int64).ravel()


def read_own_table(
    path: Path, *, quasi: Sequence[str], sensitive: str, form: FileForm = USUAL_FORM
) -> OwnTable:
    """Return a CSV or Parquet file with a line of names and a line a patient.

    Args:
        path: The file; Parquet where it is called so.
        quasi: Columns that others know of a patient.
        sensitive: Column that they want to know.
        form: How a CSV file is written.

    Raises:
        ContractError: If the file is no such table, or columns are named twice; UnknownNameError
            for a column that it does not have.
    """
    head, *lines = _lines(path, form=form)
    if len(set(head)) < len(head):
        raise ContractError(f"{path.name} has two columns of one name.", hint="Rename one.")
    wanted = [*quasi, sensitive]
    if not quasi or len(set(wanted)) < len(wanted):
        raise ContractError(
            "Expected quasi-identifiers and a sensitive column, each named once.",
            hint="Write --quasi age,sex,zip --sensitive condition.",
        )
    for name in wanted:
        if name not in head:
            raise UnknownNameError(
                "column",
                name,
                known=(),  # a file without a line of names begins with a patient
                hint=f"The first line of {path.name} has to name its columns.",
            )
    if len(lines) < FEWEST_PATIENTS:
        raise ContractError(f"Expected at least {FEWEST_PATIENTS} patients, got {len(lines)}.")
    columns = dict(zip(head, zip(*lines, strict=True), strict=True))
    return OwnTable(
        quasi={name: coded(columns[name]) for name in quasi},
        sensitive=coded(columns[sensitive]),
        sensitive_name=sensitive,
    )


def coded(values: Sequence[str]) -> Coded:
    """Return texts as ranks: of numbers where all that is not empty is one, else of letters.

    An empty text is a value of its own, the least.

    Example:
        >>> coded(["9", "10", "", "9"]).codes.tolist()
        [1, 2, 0, 1]
        >>> coded(["flu", "asthma"]).labels
        ('asthma', 'flu')
    """
    different = set(values)
    ordered = all(_is_number(each) for each in different if each) and different != {""}
    labels = sorted(different, key=lambda text: (_rank(text), text) if ordered else (0.0, text))
    place = {text: code for code, text in enumerate(labels)}
    return Coded(
        codes=np.array([place[text] for text in values], dtype=np.int64),
        labels=tuple(labels),
        ordered=ordered,
    )


def _lines(path: Path, *, form: FileForm) -> list[list[str]]:
    """Return the names of the columns, and the cells of each patient as texts."""
    if path.suffix.lower() in _PARQUET:
        return _parquet_lines(path)
    if form == USUAL_FORM:
        return csv_lines(path, largest=_LARGEST)
    encoding = "utf-8-sig" if form.encoding is Encoding.UTF_8 else form.encoding.value
    try:
        with reading_text(path, encoding=encoding, largest=_LARGEST) as file:
            found = [
                cells
                for cells in csv.reader(file, delimiter=form.separator.sign, strict=True)
                if any(cell.strip() for cell in cells)
            ]
    except (OSError, UnicodeError, csv.Error):
        raise ContractError(
            f"{path.name} cannot be read as it is said to be written.",
            hint="Look at --separator and --encoding.",
        ) from None
    if not found:
        raise ContractError(f"{path.name} is empty.", hint="Write a line for each patient.")
    for place, cells in enumerate(found, start=1):
        if len(cells) != len(found[0]):
            raise ContractError(
                f"{path.name}: line {place} has {len(cells)} columns, and the first one "
                f"{len(found[0])}.",
                hint="Look at --separator.",
            )
    if form.decimal == ",":
        found[1:] = [[_with_point(cell) for cell in cells] for cells in found[1:]]
    return found


def _parquet_lines(path: Path) -> list[list[str]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with reading(path) as file:
            found = pq.read_table(file)
    except (OSError, pa.ArrowException):
        raise ContractError(f"{path.name} cannot be read as Parquet.") from None
    columns = [
        ["" if value is None else str(value) for value in column.to_pylist()]
        for column in found.columns
    ]
    return [list(found.column_names), *map(list, zip(*columns, strict=True))]


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if _WITH_COMMA.fullmatch(cell) else cell


def _rank(text: str) -> float:
    return float(text) if text else -math.inf


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
