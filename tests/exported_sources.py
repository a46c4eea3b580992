"""The good file of :mod:`mistakes`, as each program that people keep data in would store it."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mistakes import DATASET, HEAD, good
from workbooks import workbook


def typed() -> list[list[object]]:
    """Its rows, with numbers that are numbers and days that are days."""
    return [
        [*row[:3], int(row[3]), int(row[4]), float(row[5]), dt.date.fromisoformat(row[6])]
        for row in good()[1:]
    ]


def _excel(path: Path) -> None:
    path.write_bytes(workbook({"Data": [HEAD, *typed()]}))


def _written(writer: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        import pandas as pd
        import pyreadstat

        columns: Any = dict(zip(HEAD, zip(*typed(), strict=True), strict=True))
        columns["sex"] = [1 if sex == "female" else 2 for sex in columns["sex"]]
        more: dict[str, Any] = {"column_labels": {"weight": "Body weight", "sex": "Sex at birth"}}
        if writer != "write_xport":
            more["variable_value_labels"] = {"sex": {1: "female", 2: "male"}}
        getattr(pyreadstat, writer)(pd.DataFrame(columns), str(path), **more)

    return write


STORED = {
    "excel": ("patients.xlsx", _excel),
    "stata": ("patients.dta", _written("write_dta")),
    "spss": ("patients.sav", _written("write_sav")),
    "sas": ("patients.xpt", _written("write_xport")),
}
"""By kind of source: the name of the file, and what writes it."""
CODED = ("stata", "spss", "sas")
"""Kinds in which sex is a number with a label."""


def declared(kind: str) -> str:
    """What dataset.yaml says of it."""
    text = DATASET.replace("kind: csv", f"kind: {kind}").replace("patients.csv", STORED[kind][0])
    if kind in CODED:
        text = text.replace("[female, male]", "{1: female, 2: male}")
    return text


def store(kind: str, folder: Path) -> Path:
    """Write the file and dataset.yaml, and return where that is."""
    (folder / "data").mkdir(parents=True)
    name, write = STORED[kind]
    write(folder / "data" / name)
    (folder / "dataset.yaml").write_text(declared(kind))
    return folder / "dataset.yaml"
