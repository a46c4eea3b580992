"""Measurements in one table, told apart by concept and unit; through the command line."""

import json
import random
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest

import confide as product
from command_line import confide
from confide.errors import ContractError
from confide.rows.clinical_ranges import clinical_range
from confide.tables.clinical_units import analyte, clinical_units, conversion

GLUCOSE, PRESSURE, HBA1C, WEIGHT = 3004501, 3004249, 3004410, 3025315
MG_DL, MMOL_L, MM_HG, PERCENT, MMOL_MOL, KG, POUND = 8840, 8753, 8876, 8554, 9579, 9529, 8739
PATIENTS = 300
TRUE_GLUCOSE = 144.6


def warehouse(folder, *, unconverted=0, without_unit=0):
    """A CDM in which each patient's glucose is near 144.6 mg/dL, half of it written in mmol/L."""
    folder.mkdir(exist_ok=True)
    chance, rows = random.Random(7), []
    for person in range(1, PATIENTS + 1):
        apart = chance.uniform(-40, 40)
        for sign in (-1, 1):
            mass = TRUE_GLUCOSE + sign * apart
            rows.append((person, GLUCOSE, mass, MG_DL))
            rows.append((person, GLUCOSE, mass / 18.0156, MMOL_L))
        rows.append((person, PRESSURE, 130.0, MM_HG))
        rows.append((person, HBA1C, 6.5, PERCENT))
        rows.append((person, HBA1C, 47.5, MMOL_MOL))
        rows.append((person, WEIGHT, 70.0, KG))
        rows.append((person, WEIGHT, 154.3, POUND))
    rows += [(i % PATIENTS + 1, GLUCOSE, 900.0, PERCENT) for i in range(unconverted)]
    rows += [(i % PATIENTS + 1, GLUCOSE, 900.0, None) for i in range(without_unit)]
    drugs = [(person, concept) for person in range(1, PATIENTS + 1) for concept in (0, 1125315)]
    with duckdb.connect(str(folder / "cdm.duckdb")) as cdm:
        tables = {
            "measurement": ("measurement_concept_id", "value_as_number", "unit_concept_id"),
            "drug_exposure": ("drug_concept_id",),
        }
        days = {"measurement": "measurement_date", "drug_exposure": "drug_exposure_start_date"}
        for (name, columns), found in zip(tables.items(), (rows, drugs), strict=True):
            given = pa.table(
                dict(zip(("person_id", *columns), zip(*found, strict=True), strict=True))
            )
            cdm.register("given", given)
            cdm.execute(
                f"CREATE TABLE {name} AS SELECT *, DATE '2020-01-01' AS {days[name]} FROM given"
            )
    described = confide(
        "describe", "--model", "omop", "--measurements", "glucose,systolic,hba1c,weight",
        "--until", "2026-10-31",
    ).out  # fmt: skip
    caps = "caps: {lifetime: {epsilon: 500}}"
    lines = [caps if line.startswith("caps:") else line for line in described.splitlines()]
    named = "        from: drug_concept_id"
    lines[lines.index(named)] += "\n        names: {1125315: acetaminophen}"
    (folder / "dataset.yaml").write_text("\n".join(lines) + "\n")
    return folder


def asked(folder, *statistics):
    study = {
        "study": {"id": "s", "title": "Concepts"},
        "statistics": list(statistics),
        "spend": {"at-most": {"epsilon": 400}},
    }
    (folder / "study.yaml").write_text(json.dumps(study))
    return folder / "study.yaml"


def mean(table):
    return {
        "id": table, "kind": "mean", "table": table, "column": "value",
        "per-patient": {"rows": 8}, "expect": {"count": 1200},
    }  # fmt: skip


DRUGS = {
    "id": "drugs", "kind": "key-selection", "table": "drug_exposure", "key": "concept",
    "per-patient": {"cells": 2},
}  # fmt: skip


def shown(folder, *statistics):
    """What the command line shows of a release of some statistics."""
    ran = confide("run", asked(folder, *statistics), "--out", folder / "out", "--quiet")
    assert ran.code == 0, ran.err
    return {each["id"]: each for each in confide("show", folder / "out", "--json").json["tables"]}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = warehouse(tmp_path_factory.mktemp("cdm"), unconverted=500, without_unit=700)
    return folder, shown(folder, *map(mean, ("glucose", "systolic", "hba1c", "weight")), DRUGS)


@pytest.mark.parametrize(
    ("table", "truth", "off"),
    [("glucose", 144.6, 4), ("systolic", 130, 3), ("hba1c", 6.5, 0.2), ("weight", 70, 3)],
)
def test_a_described_table_holds_its_own_concept_in_one_unit(released, table, truth, off):
    _, tables = released
    assert abs(float(tables[table]["rows"][0][1]) - truth) < off


def test_concept_0_is_no_drug_and_codes_carry_their_names(released):
    folder, tables = released
    assert [row[1] for row in tables["drugs"]["rows"]] == ["acetaminophen (1125315)"]
    assert "acetaminophen (1125315)" in (folder / "out" / "report.html").read_text("utf-8")
    assert "acetaminophen (1125315)" in (folder / "out" / "tables" / "drugs.csv").read_text("utf-8")
    assert "acetaminophen (1125315)" in (folder / "out" / "figures" / "drugs.svg").read_text(
        "utf-8"
    )


def test_exposures_to_concept_0_are_not_counted(tmp_path):
    count = {
        "id": "n", "kind": "count", "table": "drug_exposure", "count": "events",
        "per-patient": {"rows": 5},
    }  # fmt: skip
    value = float(shown(warehouse(tmp_path / "cdm"), count)["n"]["rows"][0][1])
    assert abs(value - PATIENTS) < 20


def test_the_certificate_says_which_codes_units_and_factors_were_read(released):
    folder, _ = released
    certificate = json.loads((folder / "out" / "certificate.json").read_text())
    facts = {f["name"]: f["value"] for f in certificate["data"]["facts-taken-as-public"]}
    assert facts["glucose: rows"] == "measurement_concept_id in [3004501]"
    assert "mmol/L (8753) times 18.0156" in facts["glucose.value"]
    assert "rows in other units, or in none, left out" in facts["glucose.value"]
    assert facts["drug_exposure.concept"] == "no value is public; missing where [0]; 1 codes named"


def test_the_report_says_which_concept_and_units_a_table_is_made_of(released):
    folder, _ = released
    page = (folder / "out" / "report.html").read_text("utf-8")
    assert "made of the records whose measurement concept id is 3004501." in page
    assert "Records in any other unit, or in none, are not part of glucose" in page


@pytest.mark.parametrize(
    "asked",
    [
        {"id": "n", "kind": "count", "table": "glucose"},
        {
            "id": "n",
            "kind": "proportion",
            "table": "drug_exposure",
            "of": {"ever_glucose": ["yes"]},
            "per-patient": {"rows": 5},
        },
    ],
    ids=["a count", "a value of patients"],
)
def test_whoever_counts_a_table_of_units_is_told_who_is_left_out(tmp_path, asked):
    folder = warehouse(tmp_path / "cdm")
    path = folder / "dataset.yaml"
    path.write_text(path.read_text() + "per-patient: {ever_glucose: {any: glucose}}\n")
    shown(folder, asked)
    page = (folder / "out" / "report.html").read_text("utf-8")
    assert "in any other unit, or in none, are not part of glucose: a patient who has no" in page


def test_rows_in_no_known_unit_are_counted_for_the_steward_and_change_no_plan(released, tmp_path):
    folder, _ = released
    facts = confide("prepare", folder / "dataset.yaml", "--json", "--quiet").json["tables"]
    (glucose,) = (each for each in facts if each["table"] == "glucose")
    assert (glucose["other-units"], glucose["without-person"]) == (1200, 0)
    assert glucose["other-codes"] == 5 * PATIENTS
    (drugs,) = (each for each in facts if each["table"] == "drug_exposure")
    assert (drugs["rows"], drugs["other-codes"]) == (2 * PATIENTS, PATIENTS)  # without: [0]
    assert glucose["patients"] == PATIENTS
    assert confide("prepare", folder / "dataset.yaml", "--check", "--json").json["same"]
    clean = warehouse(tmp_path / "clean")
    plans = [
        confide("plan", asked(each, mean("glucose"), DRUGS), "--json").json
        for each in (folder, clean)
    ]
    assert plans[0]["digest"] == plans[1]["digest"]
    assert plans[0]["statistics"] == plans[1]["statistics"]


FRAMES = {
    "dataset": {"id": "d", "lineage": "d", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
    "accounting": {"measure": "pure"},
    "caps": {"lifetime": {"epsilon": "1000"}},
}


def declared(**column):
    value = {"kind": "number", "lower": 0, "upper": 500, "unit": "mg/dL", **column}
    return FRAMES | {"tables": {"t": {"columns": {"value": value}}}}


def test_a_unit_without_a_known_factor_is_refused_before_anything_is_read():
    with pytest.raises(ContractError, match="no factor is known from 'mmol/L' to 'mg/dL'") as why:
        product.open(declared(units={"from": "u", "known": {"x": "mmol/L"}}), frames={})
    assert "name the analyte" in why.value.hint
    with pytest.raises(ContractError, match="no unit of its own"):
        product.open(declared(unit="", units={"from": "u", "known": {"x": "mmol/L"}}), frames={})
    with pytest.raises(ContractError, match="Unknown analyte 'glucoze'"):
        product.open(
            declared(units={"from": "u", "analyte": "glucoze", "known": {"x": "mmol/L"}}), frames={}
        )
    with pytest.raises(ContractError, match="so it has no units"):
        product.open(
            FRAMES
            | {
                "tables": {
                    "t": {
                        "columns": {
                            "c": {"categories": ["a"], "units": {"from": "u", "known": {"x": "g"}}}
                        }
                    }
                }
            },
            frames={},
        )


def test_units_written_as_text_and_factors_of_ones_own_convert_too(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    units = {
        "from": "unit",
        "analyte": "glucose",
        "known": {
            "mg/dl": "mg/dL",
            "mmol/l": "mmol/L",
            "odd": {"unit": "odd", "times": "2", "plus": "100"},
        },
    }
    rows = pd.DataFrame(
        {
            "pid": range(900),
            "value": [180.156, 10.0, 40.0] * 300,
            "unit": ["mg/dl", "mmol/l", "odd"] * 300,
        }
    )
    with product.open(declared(units=units), frames={"t": rows}, folder=tmp_path) as ws:
        plan = ws.plan(
            {"id": "m", "kind": "mean", "table": "t", "column": "value", "per-patient": {"rows": 1},
             "expect": {"count": 900}},
            epsilon="600",
        )  # fmt: skip
        assert abs(ws.release(plan).of("m")[0].value - 180) < 1


@pytest.mark.parametrize(
    ("unit", "to", "of", "number", "converted"),
    [
        ("mmol/L", "mg/dL", "glucose", 8, 144.1248),
        ("mmol/L", "mg/dL", "cholesterol", 5, 193.33),
        ("umol/L", "mg/dL", "creatinine", 88.4, 1.0),
        ("umol/L", "mg/dL", "bilirubin", 17.1, 1.0),
        ("mmol/L", "mg/dL", "triglycerides", 1, 88.57),
        ("mmol/mol", "%", "hba1c", 48, 6.54),
        ("meq/L", "mg/dL", "calcium", 5, 10.02),
        ("g/L", "g/dL", "haemoglobin", 140, 14),
        ("mmol/L", "g/dL", "haemoglobin", 8.7, 14.02),
        ("[degF]", "Cel", None, 98.6, 37),
        ("K", "Cel", None, 310.15, 37),
        ("[lb_av]", "kg", None, 154.3, 69.99),
        ("[in_i]", "cm", None, 70, 177.8),
        ("kPa", "mm[Hg]", None, 16, 120.01),
        ("10*9/L", "10*3/uL", None, 7, 7),
        ("u[IU]/mL", "m[IU]/L", None, 2, 2),
        ("ug/dL", "nmol/L", "cortisol", 10, 275.9),
        ("ug/dL", "nmol/L", "thyroxine", 8, 102.97),
        ("ng/mL", "nmol/L", "folate", 5, 11.33),
        ("pg/mL", "pmol/L", "vitamin_b12", 300, 221.3),
        ("ng/mL", "nmol/L", "vitamin_d", 20, 49.92),
        ("umol/L", "mg/dL", "creatinine", 88.4, 1),
        ("cm[H2O]", "mm[Hg]", None, 10, 7.356),
        ("/uL", "10*3/uL", None, 350, 0.35),
    ],
)
def test_factors_between_units_are_those_of_the_textbooks(unit, to, of, number, converted):
    factor, offset = conversion(unit, to=to, of=analyte(of) if of else None)
    assert abs(float(number * factor + offset) / converted - 1) < 2e-3


def test_a_conversion_back_is_the_inverse():
    for start in clinical_units():
        for end in clinical_units():
            for name in (None, "glucose", "calcium", "hba1c"):
                of = None if name is None else analyte(name)
                there, back = conversion(start, to=end, of=of), conversion(end, to=start, of=of)
                assert (there is None) == (back is None)
                if there is not None and back is not None:
                    at = Fraction(37)
                    assert (at * there[0] + there[1]) * back[0] + back[1] == at


def test_no_concept_stands_for_two_units_and_ranges_name_known_analytes():
    concepts = [concept for unit in clinical_units().values() for concept in unit.omop]
    assert len(set(concepts)) == len(concepts)
    assert analyte(clinical_range("creatinine").analyte).mole is not None


@pytest.mark.parametrize("of", [{}, {"missing": []}])
def test_a_text_of_concepts_of_a_hand_written_omop_file_has_no_concept_0(tmp_path, of):
    folder = warehouse(tmp_path / "cdm")
    drug = {"from": "drug_concept_id", "kind": "text", **of}
    body = FRAMES | {
        "source": {"kind": "omop", "version": "5.4", "path": "cdm.duckdb"},
        "protects": {"unit": "patient", "id": "person_id", "adjacency": "add-remove"},
        "accounting": {"measure": "zcdp", "delta": "1e-6"},
        "tables": {"drug_exposure": {"columns": {"concept": drug}}},
    }
    (folder / "dataset.yaml").write_text(json.dumps(body))
    assert [row[1] for row in shown(folder, DRUGS)["drugs"]["rows"]] == ["1125315"]
