"""Numbers that stand with their unit in one cell: read and converted where it is declared."""

import itertools

import duckdb
import pytest

from command_line import confide
from confide.errors import ContractError
from confide.files.dataset import declared_by
from confide.plans.canonical import decode, encode
from confide.tables.by_code import InUnit, Units
from confide.tables.schema import Dataset

DATASET = """\
dataset: {{id: w, lineage: w, snapshot: "1"}}
source: {{kind: {kind}, path: {path}}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 300}}}}
tables:
  t:
    from: {table}{dialect}
    columns:
      weight: {{kind: number, lower: 0, upper: 250, step: 0.1, unit: kg, units: {units}}}
"""
UNITS = '{in: cell, known: {kg: kg, lbs: "[lb_av]", "µg": {unit: ug, times: "0.000000001"}}}'
CELLS = {
    "80 kg": 80.0,
    "80.5kg": 80.5,
    " 7e1  kg ": 70.0,
    "+.5 kg": 0.5,
    "100 lbs": 45.4,
    "-5 kg": 0.0,
    "999 kg": 250.0,
    "80": None,
    "80 Kg": None,
    "80 stone": None,
    "80 kg or so": None,
    "eighty kg": None,
    "kg": None,
    "80,5 kg": None,
    "1.2.3 kg": None,
    "1e400 kg": 250.0,
    "5 \u00b5g": 0.0,
}
"""Texts of a cell, and the weight in kg that each is; None where it is none."""
STUDY = """\
study: {id: s, title: t, purpose: t}
spend: {at-most: {epsilon: 250}}
statistics:
  - {id: total, kind: sum, table: t, column: weight, by: [], per-patient: {rows: 1}, share: "1"}
"""


def stored(folder, cells, *, kind="csv", units=UNITS, dialect=""):
    """Write rows p0, p1, ... with a cell each, and return where dataset.yaml is."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "csv":
        rows = ["pid,weight", *(f'p{i},"{cell}"' for i, cell in enumerate(cells))]
        (folder / "t.csv").write_text("\n".join(rows) + "\n")
        where = {"path": ".", "table": "t.csv"}
    else:
        with duckdb.connect(str(folder / "t.duckdb")) as connection:
            connection.execute("CREATE TABLE t (pid VARCHAR, weight VARCHAR)")
            connection.executemany(
                "INSERT INTO t VALUES (?, ?)", [(f"p{i}", cell) for i, cell in enumerate(cells)]
            )
        where = {"path": "t.duckdb", "table": "t"}
    said = f"\n    dialect: {dialect}" if dialect else ""
    path = folder / "dataset.yaml"
    path.write_text(DATASET.format(kind=kind, units=units, dialect=said, **where))
    return path


def counted(path):
    (table,) = confide("check", path, "--json", "--quiet").json["tables"]
    (column,) = table["columns"]
    return column["read"] + column["outside"], column["unreadable"], column["missing"]


def total(path):
    folder = path.parent
    (folder / "study.yaml").write_text(STUDY)
    confide("init", folder)
    ran = confide("run", folder / "study.yaml", "--out", folder / "out")
    assert ran.code == 0, ran.err
    return float(
        (folder / "out" / "tables" / "total.csv").read_text().splitlines()[1].split(",")[1]
    )


@pytest.mark.parametrize("kind", ["csv", "duckdb"])
def test_a_cell_with_its_unit_is_the_number_in_the_columns_unit(kind, tmp_path):
    path = stored(tmp_path, CELLS, kind=kind)
    known = [weight for weight in CELLS.values() if weight is not None]
    assert counted(path) == (len(known), len(CELLS) - len(known), 0)
    assert abs(total(path) - sum(known)) < 40  # noise of a sum up to 250 at ε 250


def test_each_cell_is_read_alone(tmp_path):
    for number, (cell, weight) in enumerate(list(CELLS.items())[::4]):
        path = stored(tmp_path / str(number), [cell])
        assert counted(path)[:2] == ((1, 0) if weight is not None else (0, 1)), cell


def test_a_bare_number_has_the_unit_that_is_declared_of_none(tmp_path):
    path = stored(
        tmp_path, ["80", "80 kg", "80 stone"], units='{in: cell, known: {kg: kg, "": kg}}'
    )
    assert counted(path) == (2, 1, 0)


def test_a_declared_decimal_comma_is_read_before_the_unit(tmp_path):
    path = stored(tmp_path, ["80,5 kg", "80.5 kg"], dialect='{decimal: ","}')
    assert counted(path) == (1, 1, 0)


def test_a_check_proposes_it_of_cells_that_hold_a_unit(tmp_path):
    path = stored(tmp_path, ["80 stone"] * 3)
    (found,) = confide("check", path, "--json", "--quiet").json["findings"]
    assert (found["what"], found["cells"]) == ("unit in the cell", 3)
    assert found["fix"].startswith("units: {in: cell, known:")


def test_the_certificate_says_which_units_were_read(tmp_path):
    path = stored(tmp_path, CELLS)
    total(path)
    text = (tmp_path / "out" / "certificate.json").read_text()
    assert "cells in other units, or in none, left out" in text
    assert "rows in other units" not in text


def test_where_a_unit_stands_is_said_once():
    for units in (
        "{known: {kg: kg}}",
        "{in: cell, from: unit, known: {kg: kg}}",
        "{in: cell, known: {}}",
    ):
        text = DATASET.format(kind="csv", path=".", table="t", dialect="", units=units)
        with pytest.raises(ContractError, match=r"[Uu]nit"):
            declared_by(text, folder=None)


def test_a_unit_is_listed_once_but_for_blanks():
    for codes in itertools.permutations(["kg", " kg"]):
        with pytest.raises(ContractError, match="once"):
            Units(source="", known=tuple(InUnit(code=code, unit="kg") for code in codes))


def test_it_is_part_of_plans():
    text = DATASET.format(kind="csv", path=".", table="t", dialect="", units=UNITS)
    dataset = declared_by(text, folder=None).dataset
    (table,) = encode(dataset)["tables"]
    assert {each["code"] for each in table["columns"][0]["units"]["known"]} == {"kg", "lbs", "µg"}
    assert decode(Dataset, encode(dataset), names={}) == dataset
