"""The steward's own table: columns of text, one row a patient, held in memory for the lab alone.

*Privacy:* exact rows.  They come from a file that the steward names, are never printed, and no
error says more of them than the number of a line.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from confide.arrays import Ints
from confide.errors import ContractError, UnknownNameError
from confide.public_csv import csv_lines

FEWEST_PATIENTS = 20


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


def read_own_table(path: Path, *, quasi: Sequence[str], sensitive: str) -> OwnTable:
    """Return a CSV file with a line of names and a line a patient.

    Args:
        path: The file; UTF-8, commas.
        quasi: Columns that others know of a patient.
        sensitive: Column that they want to know.

    Raises:
        ContractError: If the file is no such table, or columns are named twice; UnknownNameError
            for a column that it does not have.
    """
    head, *lines = csv_lines(path)
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


def _rank(text: str) -> float:
    return float(text) if text else -math.inf


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
