"""What FHIR resources are read as; that a line makes rows of its own alone; malformed lines."""

import json

import pytest

from command_line import confide
from confide.errors import UnknownNameError
from confide.rows.sources.exported.fhir import FhirExport, fhir_columns
from confide.rows.sources.exported.fhir_resources import RESOURCES, patient_in
from confide.tables.schema import Table
from fhir_files import (
    DATASET,
    LOINC,
    MALFORMED,
    PATIENTS,
    SNOMED,
    concept,
    condition,
    lines,
    patient,
    pressure,
    quantity,
    store,
)

STUDY = """\
study: {id: bp, title: Blood pressure, purpose: test}
spend: {at-most: {epsilon: 150}}
statistics:
  - {id: sexes, kind: histogram, table: patients, by: [gender], share: "0.4"}
  - {id: mean, kind: mean, table: pressure, column: value, per-patient: {rows: 2}, share: "0.6"}
"""


def rows(tmp_path, resource, *written, raw=b""):
    """Rows of a file, as mappings without what is empty."""
    path = tmp_path / f"{resource}.ndjson"
    path.write_bytes(lines(*written) + raw)
    found = FhirExport(resource=resource, read=frozenset(RESOURCES[resource])).lines(path)
    names = next(found)
    return [
        {name: cell for name, cell in zip(names, line, strict=False) if cell}
        if len(line) == len(names)
        else None
        for line in found
    ]


@pytest.mark.parametrize(
    ("reference", "person"),
    [
        ("Patient/12", "12"),
        ("Patient/12/_history/3", "12"),
        ("https://h.example/fhir/Patient/a-b.c", "a-b.c"),
        ("urn:uuid:b9e1221a-6166", "b9e1221a-6166"),
        ("Group/12", ""),
        ("Device/12", ""),
        ("#p1", ""),
        ("12", ""),
        ("Patient?identifier=x", ""),
        (None, ""),
        (12, ""),
        (["Patient/12"], ""),
    ],
)
def test_a_reference_is_that_of_a_patient_however_it_is_written(reference, person):
    assert patient_in(reference) == person


def test_components_are_rows_of_the_panels_patient_and_day_and_the_panel_is_none(tmp_path):
    systolic, diastolic = rows(tmp_path, "Observation", pressure(3, systolic=120.30))
    assert systolic["person"] == diastolic["person"] == "p3"
    assert (systolic["loinc"], diastolic["loinc"]) == ("8480-6", "8462-4")
    assert systolic["code"] == "SYS"  # the first coding, of whichever system
    assert systolic["panel"] == "85354-9"
    assert (systolic["value"], systolic["unit"]) == ("120.3", "mm[Hg]")
    assert systolic["date"] == "2025-06-01T09:00:00+02:00"


def test_an_observation_with_a_value_and_components_is_a_row_beside_them(tmp_path):
    both = pressure(1) | {"valueQuantity": quantity(95)}
    assert [row["loinc"] for row in rows(tmp_path, "Observation", both)] == [
        *("85354-9", "8480-6", "8462-4")
    ]


def test_numbers_are_the_decimals_that_stand_in_the_file(tmp_path):
    for number in ("0.1", "120.30", "1e2", "-0", "12345678901234567890.5"):
        raw = json.dumps(pressure(1, systolic=0.125)).replace("0.125", number).encode() + b"\n"
        assert rows(tmp_path, "Observation", raw=raw)[0]["value"] == number


def test_a_limit_keeps_its_sign_and_words_are_no_numbers(tmp_path):
    below = pressure(1) | {"component": [], "valueQuantity": quantity(0.5, comparator="<")}
    said = pressure(2) | {"component": [], "valueCodeableConcept": concept((SNOMED, "260385009"))}
    first, second = rows(tmp_path, "Observation", below, said)
    assert first["value"] == "<0.5"
    assert "value" not in second
    assert second["value_code"] == "260385009"


def test_a_concept_has_a_code_in_each_of_its_systems(tmp_path):
    (row,) = rows(tmp_path, "Condition", condition(4))
    assert (row["snomed"], row["icd10"], row["code"]) == ("44054006", "E11", "44054006")
    assert row["start"] == "2020-05-01"


def test_of_a_patient_year_sex_and_death_are_read_and_no_name(tmp_path):
    first, second = rows(tmp_path, "Patient", patient(10), patient(11))
    assert first["person"] == "p10"
    assert (first["birth_year"], first["gender"]) == ("1950", "female")
    assert (first["deceased"], second["deceased"]) == ("true", "false")
    assert "Secret" not in str(first)


def test_other_resources_name_their_person_code_and_day(tmp_path):
    subject = {"subject": {"reference": "Patient/7"}}
    for resource, told, code, day in (
        ("MedicationRequest", {"medicationCodeableConcept": concept(("x", "1")), "authoredOn": "2025-01-02"}, "1", "date"),
        ("Procedure", {"code": concept(("x", "1")), "performedPeriod": {"start": "2025-01-02"}}, "1", "start"),
        ("Encounter", {"type": [concept(("x", "1"))], "class": {"code": "IMP"}, "period": {"start": "2025-01-02"}}, "1", "start"),
        ("Immunization", {"patient": {"reference": "Patient/7"}, "vaccineCode": concept(("x", "1")), "occurrenceDateTime": "2025-01-02"}, "1", "date"),
    ):  # fmt: skip
        (row,) = rows(tmp_path, resource, {"resourceType": resource, **subject, **told})
        assert (row["person"], row["code"], row[day]) == ("7", code, "2025-01-02")


ODD = (
    {"resourceType": "Observation"},
    {"resourceType": "Observation", "component": {"a": 1}, "subject": "Patient/1"},
    {"resourceType": "Observation", "component": [None, 1, "x", []], "code": []},
    {"resourceType": "Observation", "code": {"coding": "loinc"}, "subject": {"reference": {}}},
    {"resourceType": "Observation", "code": {"coding": [None, {"system": LOINC}]}, "valueQuantity": 5},
    {"resourceType": "Observation", "valueQuantity": {"value": {}, "code": [1]}, "status": True},
    {"resourceType": "Observation", "valueString": 'a\nb,"c\u0000\ud800', "extension": 3},
)  # fmt: skip


def test_whatever_a_resource_holds_it_becomes_rows_of_texts(tmp_path):
    for each in ODD:
        found = rows(tmp_path, "Observation", each)
        assert all(row is not None for row in found)
    for resource in RESOURCES:
        for odd in ({}, {"code": 1, "class": [], "type": {}, "extension": [1, {"url": 5}]}):
            assert len(rows(tmp_path, resource, {"resourceType": resource, **odd})) == 1


def test_half_a_character_makes_no_id_of_two(tmp_path):
    halves = [
        {"resourceType": "Patient", "id": f"p{half}"} for half in ("\ud800", "\ud801", "\U0001f600")
    ]
    assert [row["person"] for row in rows(tmp_path, "Patient", *halves)] == [
        *("p\ufffd", "p\ufffd", "p\U0001f600")
    ]


def test_a_line_makes_rows_of_its_own_alone_whatever_others_hold(tmp_path):
    written = [lines(each) for each in (*ODD, *map(pressure, range(5)))] + [*MALFORMED]
    alone = [rows(tmp_path, "Observation", raw=each) for each in written]
    whole = rows(tmp_path, "Observation", raw=b"".join(written))
    assert whole == [row for each in alone for row in each]
    assert whole[::-1] != whole


@pytest.mark.parametrize("line", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_line_is_quarantined_and_disturbs_no_other(line, tmp_path):
    found = rows(tmp_path, "Observation", raw=lines(pressure(1)) + line + lines(pressure(2)))
    assert [row and row["person"] for row in found] == ["p1", "p1", None, "p2", "p2"]


def test_a_line_that_is_too_long_is_quarantined(tmp_path, monkeypatch):
    monkeypatch.setattr("confide.rows.sources.exported.fhir.LONGEST_RESOURCE", 4096)
    long = pressure(1) | {"note": "x" * 20_000}
    found = rows(tmp_path, "Observation", pressure(0), long, pressure(2))
    assert [row and row["person"] for row in found] == ["p0", "p0", None, "p2", "p2"]


def test_a_resource_that_is_none_is_refused_with_those_that_are_read():
    with pytest.raises(UnknownNameError, match="Observation"):
        fhir_columns(Table(name="t", source="Observations", columns=()))


def done(*words):
    ran = confide(*words)
    assert ran.code == 0, ran.err
    return ran


@pytest.mark.parametrize("prepared", [False, True])
def test_a_study_is_released_from_it_and_verified(prepared, tmp_path):
    dataset = store(tmp_path, malformed=True)
    (tmp_path / "study.yaml").write_text(STUDY)
    done("init", tmp_path)
    done("plan", tmp_path / "study.yaml")
    if prepared:
        done("prepare", dataset)
    done("run", tmp_path / "study.yaml", "--out", tmp_path / "out")
    done("verify", tmp_path / "out" / "certificate.json")
    sexes, mean = (
        (tmp_path / "out" / "tables" / f"{name}.csv").read_text().splitlines()
        for name in ("sexes", "mean")
    )
    assert [line.split(",")[1:3] for line in sexes[1:]] == [["female", "20"], ["male", "20"]]
    true = sum(100.5 + number for number in range(PATIENTS)) / PATIENTS
    assert abs(float(mean[1].split(",")[1]) - true) < 1


def test_malformed_lines_are_counted_for_the_steward_alone(tmp_path):
    dataset = store(tmp_path, malformed=True)
    told = done("check", dataset, "--json", "--quiet").json
    found = [(each["table"], each["what"], each["cells"]) for each in told["findings"]]
    assert found == [("pressure", "malformed lines", len(MALFORMED))]
    (tmp_path / "study.yaml").write_text(STUDY)
    done("init", tmp_path)
    ran = done("run", tmp_path / "study.yaml", "--out", tmp_path / "out")
    published = "".join(p.read_text("utf-8", "replace") for p in (tmp_path / "out").rglob("*.json"))
    assert "malformed lines" not in ran.out + ran.err + published
    clean = tmp_path / "clean"
    assert done("check", store(clean), "--json", "--quiet").json["findings"] == []


DIASTOLIC = """\
  diastolic:
    from: Observation
    only: {loinc: [8462-4]}
    columns:
      value: {kind: number, lower: 20, upper: 160, unit: "mm[Hg]"}
      value_code: {kind: text}
"""


@pytest.fixture
def times_read(monkeypatch):
    """The files that were gone through, once for each time."""
    seen = []
    whole = FhirExport.lines

    def lines(self, path):
        seen.append(path.name)
        return whole(self, path)

    monkeypatch.setattr(FhirExport, "lines", lines)
    return seen


def test_a_check_goes_through_a_file_once_for_all_tables_of_its_resource(tmp_path, times_read):
    dataset = store(tmp_path)
    dataset.write_text(dataset.read_text() + DIASTOLIC)
    told = done("check", dataset, "--json", "--quiet").json
    assert len(times_read) == len(set(times_read))
    assert sum("Observation" in name for name in times_read) == 2  # both parts of it
    rows = {each["table"]: each["rows"] for each in told["tables"]}
    assert rows["diastolic"] == rows["pressure"] > 0


def test_a_table_that_cannot_be_read_hides_no_other_of_its_file(tmp_path):
    dataset = store(tmp_path)
    wrong = DIASTOLIC.replace("value_code", "no_such_column")
    dataset.write_text(dataset.read_text() + wrong)
    told = done("check", dataset, "--json", "--quiet").json
    found = [(each["table"], each["what"]) for each in told["findings"]]
    assert found == [("diastolic", "cannot be read")]
    rows = {each["table"]: each["rows"] for each in told["tables"]}
    assert rows["diastolic"] is None
    assert rows["pressure"] > 0


def test_observations_are_refused_where_each_row_is_protected_by_itself(tmp_path):
    dataset = store(tmp_path)
    dataset.write_text(
        DATASET.replace("unit: patient", "unit: event").replace("    rows-per-patient: 1\n", "")
    )
    (tmp_path / "study.yaml").write_text(
        "study: {id: s, title: t, purpose: test}\n"
        "statistics: [{id: n, kind: count, table: pressure, count: events, error: {within: 5}}]\n"
    )
    done("init", tmp_path)
    ran = confide("run", tmp_path / "study.yaml", "--out", tmp_path / "out")
    assert ran.code == 7
    assert "components" in ran.err


def test_a_draft_reads_what_it_describes(tmp_path):
    dataset = store(tmp_path)
    text = done(
        "describe", "--model", "fhir", "--source", "data", "--until", "2026-12-31", "--quiet"
    ).out
    assert 'loinc: ["8480-6"]' in text
    for resource in ("Encounter", "MedicationRequest", "Procedure"):
        told = {"resourceType": resource, "subject": {"reference": "Patient/p1"}}
        (tmp_path / "data" / f"{resource}.ndjson").write_bytes(lines(told))
    dataset.write_text(text)
    told = done("check", dataset, "--json", "--quiet").json
    rows_of = {table["table"]: table for table in told["tables"]}
    assert rows_of["patient"]["patients"] == PATIENTS
    (value, _) = rows_of["systolic"]["columns"]
    assert value["read"] == PATIENTS
    assert not [each for each in told["findings"] if each["what"] == "cannot be read"]
