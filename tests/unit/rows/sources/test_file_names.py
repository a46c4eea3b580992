import pytest

from confide.errors import ContractError
from confide.files.dataset import declare
from confide.files.yaml_text import parse_yaml
from confide.rows.engines.duckdb import open_engine

TEXT = """
dataset: {id: d, lineage: d, snapshot: "1"}
source: {kind: csv, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 1}}
tables:
  visits: {columns: {ward: {categories: [a, b]}}}
"""


def opened(folder):
    declared = declare(parse_yaml(TEXT, name="dataset.yaml"), path=folder / "dataset.yaml")
    return open_engine(
        declared.source, base=folder, dataset=declared.dataset, hash_key=b"0123456789abcdef"
    )


def test_a_table_is_found_as_the_file_of_its_name(tmp_path):
    (tmp_path / "visits.csv").write_text("pid,ward\n1,a\n")
    with opened(tmp_path) as engine:
        assert not engine.problems()


def test_a_table_without_a_file_is_named(tmp_path):
    (tmp_path / "visits.parquet").write_text("not of this kind")
    with opened(tmp_path) as engine:
        assert "visits" in str(engine.problems())
        with pytest.raises(ContractError, match="no file 'visits'"):
            engine._layout.located(engine._dataset.tables[0])
