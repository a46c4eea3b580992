"""Person ids longer than 64 bits, or of types of which not every value, or none, is an id."""

import duckdb
import numpy as np
import pytest

from command_line import confide
from confide.errors import ContractError
from confide.learning import DPLogisticRegression

PEOPLE = 300
DATASET = """\
dataset: {{id: t, lineage: t, snapshot: "1"}}
source: {source}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: zcdp, delta: "1e-6"}}
caps: {{lifetime: {{epsilon: 50}}}}
tables:
  people: {{rows-per-patient: 1, columns: {{sex: {{categories: [f, m]}}}}}}
  visits: {{columns: {{ward: {{categories: [a, b]}}}}}}
"""
STUDY = """\
study: {id: s}
statistics:
  - {id: n, kind: count, table: people}
  - {id: of_f, kind: count, table: visits, where: {people.sex: [f]}}
spend: {at-most: {epsilon: "20"}}
"""
LONG = {
    "UBIGINT": "18446744073709551615::UBIGINT - i::UBIGINT",
    "HUGEINT": "170141183460469231731687303715884105::HUGEINT - i",
    "UHUGEINT": "340282366920938463463374607431768211455::UHUGEINT - i::UHUGEINT",
    "DECIMAL(38,0)": "(99999999999999999999 + i)::DECIMAL(38,0)",
    "DECIMAL(19,0)": "(9999999999999990000 - i)::DECIMAL(19,0)",
}
IN_PART = {"DOUBLE": "i * 1e17", "FLOAT": "(i + 0.5)::FLOAT", "DECIMAL(9,2)": "i + 0.25"}
NOBODYS = {"BOOLEAN": "i % 2 = 0", "DATE": "'2020-01-01'::DATE", "INTEGER[]": "[i]"}


def stored(folder, *, people, visits, kind="duckdb"):
    """Write two tables of a row of everybody; return the study."""
    file = folder / "source.duckdb"
    with duckdb.connect(file if kind == "duckdb" else ":memory:") as db:
        for table, pid, more in (("people", people, "sex"), ("visits", visits, "ward")):
            value = "'f'" if more == "sex" else "'a'"
            of = f"SELECT {pid} AS pid, {value} AS {more} FROM range({PEOPLE}) r(i)"
            if kind == "duckdb":
                db.execute(f"CREATE TABLE {table} AS {of}")
            else:
                db.execute(f"COPY ({of}) TO '{folder / table}.parquet' (FORMAT parquet)")
    path = file.name if kind == "duckdb" else "."
    (folder / "dataset.yaml").write_text(DATASET.format(source=f"{{kind: {kind}, path: {path}}}"))
    (folder / "study.yaml").write_text(STUDY)
    return folder / "study.yaml"


@pytest.mark.parametrize("visits", ["same", "text"])
@pytest.mark.parametrize(
    ("type_name", "kind"),
    [(name, "duckdb") for name in LONG]
    + [(name, "parquet") for name in ("UBIGINT", "DECIMAL(38,0)", "DECIMAL(19,0)")],
)
def test_nobody_is_lost_whose_id_is_longer_than_64_bits(tmp_path, type_name, kind, visits):
    pid = f"({LONG[type_name]})::{type_name}"
    other = pid if visits == "same" else f"({pid})::VARCHAR"
    study = stored(tmp_path, people=pid, visits=other, kind=kind)
    assert confide("run", study, "--out", tmp_path / "out").code == 0
    tables = confide("show", tmp_path / "out", "--json").json["tables"]
    for table in tables:
        value = float(table["rows"][0][table["columns"].index("value")])
        assert abs(value - PEOPLE) < 30, table


@pytest.mark.parametrize("type_name", IN_PART)
def test_a_plan_says_of_which_type_some_values_are_nobodys(tmp_path, type_name):
    pid = f"({IN_PART[type_name]})::{type_name}"
    study = stored(tmp_path, people=pid, visits="i::BIGINT")
    told = [each for each in confide("plan", study, "--json").json["reading"] if "ids" in each]
    (remark,) = told
    assert "somebody's, in 'people': other rows are left out" in remark
    whole = stored_again(tmp_path, people="i::BIGINT", visits="i::DECIMAL(18,0)")
    assert "somebody's" not in " ".join(confide("plan", whole, "--json").json["reading"])


def stored_again(folder, **ids):
    (folder / "again").mkdir()
    return stored(folder / "again", **ids)


@pytest.mark.parametrize("type_name", NOBODYS)
def test_ids_of_a_type_that_is_never_one_are_refused_before_the_charge(tmp_path, type_name):
    study = stored(tmp_path, people=NOBODYS[type_name], visits="i::BIGINT")
    refused = confide("run", study, "--out", tmp_path / "out")
    assert refused.code == 7
    assert "cannot identify a person" in refused.err
    assert confide("ledger", "show", tmp_path / "dataset.yaml", "--json").json["entries"] == []


@pytest.mark.parametrize(
    "ids",
    [
        np.arange(200) % 2 == 0,
        np.arange(200) + 1j,
        np.arange("2020-01-01", 200, dtype="datetime64[D]"),
        np.arange(200).astype("timedelta64[s]"),
    ],
    ids=["booleans", "complex", "moments", "durations"],
)
def test_an_estimator_refuses_ids_of_a_type_that_is_never_one_before_the_charge(tmp_path, ids):
    rows = np.linspace(0, 1, 200)[:, None]
    model = DPLogisticRegression(bounds={"x0": (0, 1)}, epsilon=1, workspace=tmp_path / "w")
    with pytest.raises(ContractError, match="which cannot identify a person"):
        model.fit(rows, (rows[:, 0] > 0.5).astype(int), patients=ids)
    assert not list(tmp_path.rglob("ledger.sqlite"))
