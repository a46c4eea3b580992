"""Deliberately broken doors for cells, each of which ``test_every_cell`` would reject."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

from confide.errors import EngineError
from confide.files.dataset import declare
from confide.files.yaml_text import parse_yaml
from confide.rows.dialects import duckdb as dialect
from confide.rows.engines.duckdb import open_engine
from confide.rows.prepared.build import Preparation
from confide.rows.sources import parquet
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.aggregates.value import Ones
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.expression import ColumnOf
from confide.tables.filter import Between
from confide.tables.relation import Relation
from rows_world import KEY

pytestmark = pytest.mark.mutant

DATASET = """\
dataset: {{id: t, lineage: t, snapshot: "1"}}
source: {source}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 1}}}}
tables: {{v: {{from: {table}, columns: {{x: {{kind: {kind}}}}}}}}}
"""
ROWS = Relation(table="v")
COUNT = Aggregate(relation=ROWS, axes=(), value=Ones(), bounds=RowBound(max_rows=1))
KEYS = KeyedAggregate(
    relation=ROWS, key=ColumnOf(table="v", column="x"), bounds=CellBound(max_cells=1)
)
COLLATED = "{kind: duckdb, path: d.duckdb}"


def declared(folder, *, source=COLLATED, table="v", kind="text"):
    text = DATASET.format(source=source, table=table, kind=kind)
    return declare(parse_yaml(text, name="d"), path=folder / "dataset.yaml")


def exact(folder, asked, **source):
    found = declared(folder, **source)
    with open_engine(found.source, base=folder, dataset=found.dataset, hash_key=KEY) as engine:
        engine.check((asked,), dataset=found.dataset)
        return engine.aggregate((asked,), dataset=found.dataset).reveal_to_gate()[0]


@pytest.fixture
def collated(tmp_path):
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE v (pid VARCHAR COLLATE NOCASE, x VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO v VALUES ('p', 'a'), ('P', 'A'), ('q', 'a')")
    return tmp_path


def test_a_door_that_keeps_collations_is_seen(collated, monkeypatch):
    assert exact(collated, KEYS) == {"a": 2, "A": 1}
    monkeypatch.setattr(dialect, "text_of_bytes", lambda text: text)
    assert exact(collated, KEYS) != {"a": 2, "A": 1}


def test_prepared_copies_of_a_collated_source_say_what_it_says(collated):
    found = declared(collated)
    work = Preparation(
        source=found.source,
        base=collated,
        dataset=found.dataset,
        hash_key=KEY,
        folder=collated / "prepared",
    )
    assert work.prepare().facts[0].patients == 3
    assert work.differing() == ()


def test_a_reader_that_takes_folders_for_columns_is_seen(tmp_path, monkeypatch):
    folder = tmp_path / "pid=77"
    folder.mkdir()
    pq.write_table(pa.table({"pid": [1, 2], "x": ["a", "b"]}), folder / "v.parquet")
    given = {"source": "{kind: parquet, path: .}", "table": "v.parquet"}
    assert exact(folder, COUNT, **given) == (2,)
    read = parquet.parquet_relation

    def partitioned(*parts):
        relation = read(*parts)
        for option in relation.find_all(exp.PropertyEQ):
            if option.this.name == "hive_partitioning":
                option.set("expression", exp.true())
        return relation

    monkeypatch.setattr(parquet, "parquet_relation", partitioned)
    assert exact(folder, COUNT, **given) != (2,)


def test_a_reader_that_multiplies_milliseconds_is_seen(tmp_path, monkeypatch):
    far = pa.array([2**62], pa.int64()).view(pa.timestamp("ms"))
    pq.write_table(pa.table({"pid": [1], "x": far}), tmp_path / "v.parquet", write_statistics=False)
    monkeypatch.setattr(parquet, "IN_MILLISECONDS", "TIMESTAMP")
    kind = "date, lower: 2026-01-01, upper: 2026-12-31"
    known = Aggregate(
        relation=Relation(table="v", where=Between(of=KEYS.key)),
        axes=(),
        value=Ones(),
        bounds=RowBound(max_rows=1),
    )
    with pytest.raises(EngineError, match="ConversionException"):
        exact(tmp_path, known, source="{kind: parquet, path: .}", table="v.parquet", kind=kind)
