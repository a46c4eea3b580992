"""A key that its kind does not read is refused: its answer would be of other rows than it says."""

import pytest

from confide.errors import ContractError
from confide.files.columns import ColumnSection
from confide.files.dataset import read_dataset
from confide.files.values import PerPatientSection

DATASET = """\
dataset: {{id: t, lineage: t, snapshot: "1"}}
source: {{kind: csv, path: .}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 1}}}}
tables:
  v:
    from: v.csv
    columns:
      day: {{kind: date, lower: 2015-01-01, upper: 2025-12-31}}
      column: {{{column}}}
per-patient:
  a: {{first: day, of: v}}
  value: {{{value}}}
"""
VALUES = {
    "first": "first: day, of: v",
    "last": "last: day, of: v",
    "any": "any: v",
    "count": "count: v, at-most: 3",
    "days-between": "days-between: [a, a], lower: 0, upper: 9",
}
OF_VALUES = {
    "of": "v",
    "by": "day",
    "where": "{day: known}",
    "before": "a",
    "at-most": "3",
    "lower": "1",
    "upper": "3",
}
READ_BY_VALUES = {
    "first": {"of", "by", "where", "before"},
    "last": {"of", "by", "where", "before"},
    "any": {"where"},
    "count": {"where", "at-most"},
    "days-between": {"lower", "upper"},
}
COLUMNS = {
    "number": "kind: number, lower: 0, upper: 9",
    "year": "kind: year, lower: 1900, upper: 2020",
    "date": "kind: date, lower: 2015-01-01, upper: 2025-12-31",
    "category": "categories: [a, b]",
    "text": "kind: text",
}
NUMBER = {"lower", "upper", "step", "unit", "units", "nulls", "outside"}
READ_BY_COLUMNS = {
    "number": NUMBER,
    "year": NUMBER,
    "date": {"lower", "upper"},
    "category": {"categories", "nulls", "other"},
    "text": {"names"},
}
OF_COLUMNS = {
    "lower": "1",
    "upper": "3",
    "step": "0.5",
    "unit": "kg",
    "units": "{from: u, known: {1: kg}}",
    "categories": "[a, b]",
    "nulls": "a",
    "other": "a",
    "outside": "drop",
    "names": "{a: b}",
}
OF_REPORTS = {"label"}
"""No part of a plan: reports alone read it, whatever the kind."""
COMMON = {"from", "kind", "missing", "source"}


def read(folder, *, value="any: v", column="kind: text"):
    path = folder / "dataset.yaml"
    path.write_text(DATASET.format(value=value, column=column))
    return read_dataset(path)


def test_every_key_is_tried():
    kinds = {name.replace("-", "_") for name in VALUES}
    keys = kinds | OF_REPORTS | {k.replace("-", "_") for k in OF_VALUES}
    assert keys == set(PerPatientSection.model_fields)
    named = {name.rstrip("_") for name in ColumnSection.model_fields}
    assert OF_COLUMNS.keys() | COMMON | OF_REPORTS | {"digits"} == named


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("key", OF_VALUES)
def test_a_per_patient_value_reads_every_key_that_it_takes(tmp_path, kind, key):
    if f"{key}:" in VALUES[kind]:
        return  # it stands there, and is read
    value = f"{VALUES[kind]}, {key}: {OF_VALUES[key]}"
    if key in READ_BY_VALUES[kind]:
        found, without = (read(tmp_path, value=each) for each in (value, VALUES[kind]))
        told, other = (each.dataset.value("value") for each in (found, without))
        assert told != other or key == "by"
        return
    with pytest.raises(
        ContractError, match=f"'value' is of kind {kind}, which does not read {key}"
    ):
        read(tmp_path, value=value)


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("key", OF_COLUMNS)
def test_a_column_reads_every_key_that_it_takes(tmp_path, kind, key):
    if f"{key}:" in COLUMNS[kind] or key in READ_BY_COLUMNS[kind]:
        return
    with pytest.raises(ContractError) as refused:
        read(tmp_path, column=f"{COLUMNS[kind]}, {key}: {OF_COLUMNS[key]}")
    assert "Column 'column'" in str(refused.value)


def test_any_before_a_date_is_shown_another_way_and_that_way_is_read(tmp_path):
    with pytest.raises(ContractError) as refused:
        read(tmp_path, value="any: v, before: a")
    assert "value: {last: DATE, of: TABLE, before: a}" in refused.value.hint
    read(tmp_path, value="last: day, of: v, before: a")
