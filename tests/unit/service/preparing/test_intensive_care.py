"""MIMIC, eICU and MEDS: described, opened, planned, run and verified, in five commands each.

At the shares of ε = 90 below, a count's noise is not 0 with probability below 1e-12; means are held
to what their noise reaches with probability below 1e-9.
"""

import csv

import pytest

import confide as package
from command_line import confide
from confide.errors import ContractError
from intensive_care import PATIENTS, write_eicu, write_meds, write_mimic

CAPS = "caps: {release: {epsilon: 1}, calendar-year: {epsilon: 3}, lifetime: {epsilon: 10}}"
STUDY = """\
study: {{id: first, title: First study, purpose: test}}
spend: {{at-most: {{epsilon: 90}}}}
statistics:
  - {{id: sexes, kind: histogram, {sexes}, share: "0.4"}}
  - {{id: mean, kind: mean, {mean}, share: "0.6"}}
"""
MEAN = "table: {}, column: value, per-patient: {{rows: 1}}"


def mimic(version):
    return lambda folder: write_mimic(folder, version=version)


CASES = {
    "mimic-iv": (mimic("4"), "table: patients, by: [sex]", "table: icustays, column: los, per-patient: {rows: 1}", (3.2, 11)),
    "mimic-iii": (mimic("3"), "table: patients, by: [sex]", MEAN.format("heart_rate"), (70, 90)),
    "eicu": (write_eicu, "table: stays, by: [sex], per-patient: {cells: 1}", "table: stays, column: unit_minutes, per-patient: {rows: 1}", (0, 60000)),
    "meds": (write_meds, "", MEAN.format("heart_rate"), (70, 90)),
}  # fmt: skip


def done(*words):
    ran = confide(*words)
    assert ran.code == 0, ran.err
    return ran


def table(out, name):
    with (out / "tables" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def described(folder, model, *more):
    """Save what describe writes, with caps at which numbers are exact."""
    text = done("describe", "--model", model, "--source", folder / "rows", "--quiet", *more).out
    assert CAPS in text
    text = text.replace(CAPS, "caps: {lifetime: {epsilon: 600}}").replace(
        "measure: mixed, delta: 1e-6", "measure: pure"
    )
    path = folder / "dataset.yaml"
    path.write_text(text.replace(f'"{folder / "rows"}"', "rows"))
    return path


ASKED = ("--measurements", "heart_rate,creatinine,temperature,systolic", "--since", "2100-01-01", "--until", "2199-12-31")  # fmt: skip


@pytest.mark.parametrize("model", CASES)
def test_a_first_study_takes_five_commands(model, tmp_path):
    if model == "meds":
        pytest.importorskip("pyarrow", reason="writes the shards")
    write, sexes, mean, (low, high) = CASES[model]
    write(tmp_path / "rows")
    study, out = tmp_path / "study.yaml", tmp_path / "out"
    study.write_text(
        STUDY.format(
            sexes=sexes or "table: heart_rate, by: [band], per-patient: {cells: 1}", mean=mean
        )
    )
    dataset = described(tmp_path, model, *ASKED)  # 1
    if model == "meds":  # no table says a sex
        dataset.write_text(
            dataset.read_text() + "derived: {band: {of: heart_rate.value, bins: [20, 80, 250]}}\n"
        )
    done("init", tmp_path)  # 2
    done("plan", study)  # 3
    done("run", study, "--out", out)  # 4
    done("verify", out / "certificate.json")  # 5
    counts = [row["value"] for row in table(out, "sexes")]
    assert [int(float(each)) for each in counts] == [PATIENTS // 2, PATIENTS // 2]
    row = table(out, "mean")[0]
    assert low < float(row["value"]) < high


def asked_mean(path, table, column="value"):
    statistic = {
        "id": "m",
        "kind": "mean",
        "table": table,
        "column": column,
        "per-patient": {"rows": 1},
    }
    with package.open(path) as ws:
        found = ws.release(ws.plan(statistic, epsilon="150")).estimates
    (value,) = (e.value for e in found if e.quantity == "mean")
    return value


@pytest.mark.parametrize("model", ["mimic-iv", "mimic-iii", "meds"])
def test_an_item_tells_its_unit(model, tmp_path):
    """98.6 °F are 37 °C, by the item alone; rows of items that are not listed are none."""
    if model == "meds":
        pytest.importorskip("pyarrow", reason="writes the shards")
    CASES[model][0](tmp_path / "rows")
    path = described(tmp_path, model, *ASKED)
    assert asked_mean(path, "temperature") == pytest.approx(37, abs=0.5)
    assert asked_mean(path, "creatinine") == pytest.approx(1.5, abs=0.5)


def test_the_length_of_a_stay_is_counted_within_its_row(tmp_path):
    write_mimic(tmp_path / "rows", version="4")
    path = described(tmp_path, "mimic-iv", "--measurements", "none")
    value = {
        "id": "h",
        "kind": "histogram",
        "table": "admissions",
        "by": ["long"],
        "count": "events",
        "per-patient": {"rows": 2},
    }
    path.write_text(path.read_text() + "  long: {of: hospital_days, bins: [0, 3, 4, 10, 100]}\n")
    with package.open(path) as ws:
        found = ws.release(ws.plan(value, epsilon="150")).estimates
    assert [round(e.value) for e in found if e.quantity == "count"] == [0, PATIENTS, 0, 10]


@pytest.mark.parametrize(
    "name", ["hadm_id", "STAY_ID", "icustay_id", "patientUnitStayID", "visit_occurrence_id"]
)
def test_a_stay_is_no_patient(name, tmp_path):
    write_mimic(tmp_path / "rows", version="4")
    path = described(tmp_path, "mimic-iv", "--measurements", "none")
    text = path.read_text()
    path.write_text(text.replace("id: subject_id", f"id: {name}"))
    with pytest.raises(ContractError, match="a patient may have several"):
        package.open(path)
    path.write_text(text.replace("  admissions:\n", f"  admissions:\n    id: {name}\n"))
    with pytest.raises(ContractError, match="a patient may have several"):
        package.open(path)
    event = text.replace("id: subject_id", f"id: {name}").replace("unit: patient", "unit: event")
    path.write_text(event)  # a row is protected by itself, and says so
    package.open(path).close()


QUERIES = (
    "SELECT stay_id AS subject_id, los FROM raw",
    "SELECT r.Stay_ID AS SUBJECT_ID, r.los AS los FROM raw AS r",
    "SELECT 'stay ' || (s.stay_id) AS subject_id, los FROM raw",
    "SELECT doc ->> '$.encounter.reference' AS subject_id, los FROM raw",
)
OF_A_FILE = """\
dataset: {id: icu, lineage: icu, snapshot: "1"}
source: {kind: duckdb, path: icu.duckdb}
protects: {unit: patient, id: subject_id, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 4}}
tables:
  stays: {query: "...", columns: {los: {kind: number, unit: d, lower: 0, upper: 10}}}
"""


@pytest.mark.parametrize("query", QUERIES)
def test_a_stay_is_no_patient_under_another_name(query, tmp_path):
    path = tmp_path / "dataset.yaml"
    path.write_text(OF_A_FILE.replace("...", query))
    with pytest.raises(ContractError, match=r"query: .* identifies a stay"):
        package.open(path)
    path.write_text(OF_A_FILE.replace("...", query).replace("unit: patient", "unit: event"))
    package.open(path).close()
    fine = "SELECT subject_id, stay_id AS stay, los FROM raw WHERE stay_id <> ''"
    path.write_text(OF_A_FILE.replace("...", fine))
    package.open(path).close()


def test_a_stay_is_no_second_person_either(tmp_path):
    text = OF_A_FILE.replace('query: "..."', "other-id: hadm_id")
    path = tmp_path / "dataset.yaml"
    path.write_text(text)
    with pytest.raises(ContractError, match="other-id: 'hadm_id' identifies a stay"):
        package.open(path)


@pytest.mark.parametrize(("kind", "patient"), [("fhir", "person"), ('meds, version: "0.4"', "subject_id")])  # fmt: skip
def test_where_a_standard_names_the_patient_no_other_id_is_one(kind, patient, tmp_path):
    text = OF_A_FILE.replace("kind: duckdb, path: icu.duckdb", f"kind: {kind}, path: rows")
    text = text.replace('query: "..."', "from: data")
    path = tmp_path / "dataset.yaml"
    for name in ("id", "encounter", "code"):
        path.write_text(text.replace("id: subject_id", f"id: {name}"))
        with pytest.raises(ContractError, match="identifies no patient"):
            package.open(path)
    path.write_text(text.replace("id: subject_id", f"id: {patient}"))
    package.open(path).close()


def test_results_of_eicu_are_declared_where_they_can_name_the_patient(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    write_eicu(tmp_path / "rows")
    path = described(tmp_path, "eicu", *ASKED)
    assert "labname" not in path.read_text()
    with duckdb.connect(str(tmp_path / "eicu.duckdb")) as to:
        rows = tmp_path / "rows"
        to.execute(f"CREATE TABLE patient AS FROM '{rows}/patient.csv.gz'")
        to.execute(
            "CREATE TABLE lab AS SELECT uniquepid, l.* FROM "
            f"'{rows}/lab.csv.gz' l JOIN patient USING (patientunitstayid)"
        )
    text = done(
        "describe",
        "--model",
        "eicu",
        "--source",
        tmp_path / "eicu.duckdb",
        "--measurements",
        "creatinine",
        "--quiet",
    ).out
    path.write_text(
        text.replace(CAPS, "caps: {lifetime: {epsilon: 600}}").replace(
            "measure: mixed, delta: 1e-6", "measure: pure"
        )
    )
    assert asked_mean(path, "creatinine") == pytest.approx(1.5, abs=0.5)


def test_every_shard_below_data_is_read_and_nothing_beside_it(tmp_path):
    pytest.importorskip("pyarrow", reason="writes the shards")
    write_meds(tmp_path / "rows")
    (tmp_path / "rows" / "data" / "_left").mkdir()
    (tmp_path / "rows" / "data" / "_left" / "0.parquet").write_bytes(b"no rows")
    (tmp_path / "rows" / "data" / "round").symlink_to(tmp_path / "rows" / "data")
    path = described(tmp_path, "meds", *ASKED)
    count = {
        "id": "n",
        "kind": "count",
        "table": "systolic",
        "count": "events",
        "per-patient": {"rows": 2},
    }
    with package.open(path) as ws:
        (found,) = (
            e for e in ws.release(ws.plan(count, epsilon="150")).estimates if e.quantity == "count"
        )
    assert round(found.value) == PATIENTS
    path.write_text(path.read_text().replace('version: "0.4"', 'version: "0.3"'))
    with pytest.raises(ContractError, match="MEDS version"):
        package.open(path)


@pytest.mark.parametrize("model", ["mimic-iv", "eicu"])
def test_a_measurement_without_a_code_is_left_out_and_said(model, tmp_path):
    CASES[model][0](tmp_path / "rows")
    text = described(tmp_path, model, "--measurements", "creatinine,bmi").read_text()
    (told,) = [line for line in text.splitlines() if line.startswith("# left out")]
    assert "bmi" in told
    assert ("creatinine" in told) is (model == "eicu")
