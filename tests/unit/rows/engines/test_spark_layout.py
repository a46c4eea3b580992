"""What Spark would read otherwise than other engines is refused from names and types alone."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confide.files.dataset import declare
from confide.files.yaml_text import parse_yaml
from confide.rows.engines.spark.spark_layout import spark_layout

DATASET = """\
dataset: {{id: d, lineage: d, snapshot: "1"}}
source: {{kind: spark, path: .}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 1}}}}
tables: {{v: {{columns: {{x: {{{column}}}}}}}}}
"""


class Types:
    """A session that tells types, and is asked for nothing else."""

    def __init__(self, **types):
        self.types = types

    def read(self, name, files):
        del name, files
        return list(self.types.items())


def problem(folder, column, **types):
    """Return why a table cannot be used whose columns have types of Spark."""
    declared = declare(
        parse_yaml(DATASET.format(column=column), name="d"), path=folder / "dataset.yaml"
    )
    pq.write_table(pa.table({"pid": [1], "x": ["a"]}), folder / "v.parquet")
    layout = spark_layout(
        {"v": (((folder / "v.parquet"),),)},
        dataset=declared.dataset,
        on=Types(**types),
        withdrawn=False,
    )
    return layout.problem(declared.dataset.tables[0], dataset=declared.dataset)


@pytest.mark.parametrize(
    ("column", "kind", "why"),
    [
        ("kind: text", "double", "floating-point numbers"),
        ("kind: text", "date", "dates"),
        ("categories: ['0.5', '1']", "float", "floating-point numbers"),
        ("categories: ['2020-01-01']", "date", "dates"),
        ("kind: number, lower: 0, upper: 9", "decimal(19,2)", "more than 18 digits"),
        ("kind: number, lower: 0, upper: 9, missing: [0.5]", "float", "floating-point numbers"),
        ("kind: text", "binary", "another type"),
        ("kind: text", "array<string>", "another type"),
        ("kind: date, lower: 2020-01-01, upper: 2021-01-01", "interval day", "another type"),
    ],
)
def test_what_spark_reads_otherwise_is_refused_from_types_alone(tmp_path, column, kind, why):
    assert why in problem(tmp_path, column, pid="bigint", x=kind)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("kind: text", "string"),
        ("kind: text", "string collate UNICODE_CI"),
        ("categories: ['0', '1']", "double"),
        ("kind: number, lower: 0, upper: 9", "decimal(18,2)"),
        ("kind: number, lower: 0, upper: 9, missing: [0.5]", "double"),
        ("kind: date, lower: 2020-01-01, upper: 2021-01-01", "timestamp_ntz"),
        ("kind: date, lower: 2020-01-01, upper: 2021-01-01", "timestamp"),
    ],
)
def test_what_spark_reads_alike_is_read(tmp_path, column, kind):
    assert not problem(tmp_path, column, pid="bigint", x=kind)
