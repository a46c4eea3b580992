"""Roll-ups by a public vocabulary, types of visits and cohorts of a site: described, run, verified.

At ε = 150 a count's noise is not 0 with probability below 1e-30.
"""

import pytest

import confide as package
from command_line import confide

duckdb = pytest.importorskip("duckdb")
DIABETES, HYPERTENSION, TYPE_2, FOOT = 201820, 316866, 201826, 443729
CAPS = "caps: {release: {epsilon: 1}, calendar-year: {epsilon: 3}, lifetime: {epsilon: 10}}"


def vocabulary(folder, *, below=((DIABETES, TYPE_2), (DIABETES, FOOT), (TYPE_2, FOOT))):
    folder.mkdir(parents=True)
    head = "concept_id\tconcept_name\tdomain_id\tvocabulary_id\n"
    rows = [
        (DIABETES, "Diabetes mellitus", "Condition"),
        (HYPERTENSION, 'Hypertensive "disorder"', "Condition"),
        (TYPE_2, "Type 2 diabetes", "Condition"),
        (32037, "Intensive Care", "Visit"),
    ]
    text = "".join(f"{a}\t{b}\t{c}\tSNOMED\n" for a, b, c in rows)
    (folder / "CONCEPT.csv").write_text(head + text + "cut short\t1\n")
    lines = "".join(f"{a}\t{b}\t0\t1\n" for a, b in below)
    (folder / "CONCEPT_ANCESTOR.csv").write_text(
        "ancestor_concept_id\tdescendant_concept_id\tmin_levels\tmax_levels\n" + lines
    )
    return folder


@pytest.fixture
def site(tmp_path):
    with duckdb.connect(str(tmp_path / "cdm.duckdb")) as cdm:
        cdm.execute(
            "CREATE TABLE condition_occurrence (person_id BIGINT, condition_concept_id INTEGER, condition_start_date DATE)"
        )
        for first, concept, number in (
            (0, TYPE_2, 10),
            (10, FOOT, 20),
            (30, HYPERTENSION, 5),
            (35, 77, 9),
            (44, DIABETES, 1),
        ):
            cdm.execute(
                f"INSERT INTO condition_occurrence SELECT i, {concept}, DATE '2020-01-01' FROM range({first}, {first + number}) t(i)"
            )
        cdm.execute(
            "CREATE TABLE visit_occurrence (person_id BIGINT, visit_concept_id INTEGER, visit_start_date DATE, visit_end_date DATE)"
        )
        cdm.execute(
            "INSERT INTO visit_occurrence SELECT i, 32037, DATE '2020-01-01', DATE '2020-01-05' FROM range(7) t(i)"
        )
        cdm.execute(
            "CREATE TABLE cohort (subject_id BIGINT, cohort_definition_id INTEGER, cohort_start_date DATE, cohort_end_date DATE)"
        )
        cdm.execute(
            "INSERT INTO cohort SELECT i, 12 + i % 2, DATE '2020-01-01', DATE '2020-02-01' FROM range(20) t(i)"
        )
    vocabulary(tmp_path / "athena")
    return tmp_path


def described(site, *more):
    return confide(
        "describe",
        "--model",
        "omop",
        "--source",
        site / "cdm.duckdb",
        "--measurements",
        "none",
        "--quiet",
        *more,
    )


def counts(path, table, by):
    asked = {
        "id": "h",
        "kind": "histogram",
        "table": table,
        "by": [by],
        "per-patient": {"cells": 1},
    }
    with package.open(path) as ws:
        found = ws.release(ws.plan(asked, epsilon="150")).estimates
    return {e.key[0]: round(e.value) for e in found if e.quantity == "count" and round(e.value)}


def test_diagnoses_are_rolled_up_and_visits_and_cohorts_have_their_names(site):
    ran = described(
        site, "--vocabulary", site / "athena", "--roll-up", f"{DIABETES},{HYPERTENSION}",
        "--visits", "32037", "--cohorts", "12=diabetes, 13=controls",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    path = site / "dataset.yaml"
    path.write_text(
        ran.out.replace(CAPS, "caps: {lifetime: {epsilon: 600}}").replace(
            "measure: mixed, delta: 1e-6", "measure: pure"
        )
    )
    assert counts(path, "condition_occurrence", "group") == {
        "Diabetes mellitus": 31,
        'Hypertensive "disorder"': 5,
    }
    assert counts(path, "visit_occurrence", "visit") == {"Intensive Care": 7}
    assert counts(path, "cohort", "cohort") == {"diabetes": 10, "controls": 10}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--roll-up", "201820"], "--vocabulary"),
        (["--vocabulary", "athena", "--roll-up", "201820,x"], "whole numbers"),
        (["--vocabulary", "athena", "--roll-up", "4711"], "4711"),
        (["--vocabulary", "athena", "--roll-up", f"{DIABETES},{TYPE_2}"], "lies below"),
        (["--vocabulary", "athena", "--roll-up", "32037"], "domain Visit"),
        (["--vocabulary", "nowhere", "--visits", "32037"], "no file CONCEPT.csv"),
        (["--cohorts", "diabetes"], "a name"),
    ],
)
def test_what_cannot_be_rolled_up_is_refused_with_what_helps(site, more, told, monkeypatch):
    monkeypatch.chdir(site)
    ran = described(site, *more)
    assert ran.code != 0
    assert told in ran.err


def test_the_vocabulary_of_a_warehouse_names_no_concept(tmp_path):
    """It may hold the concepts alone that somebody has."""
    cdm = tmp_path / "cdm"
    vocabulary(cdm / "vocabulary")
    ran = confide(
        "describe",
        "--model",
        "omop",
        "--source",
        cdm,
        "--vocabulary",
        cdm / "vocabulary",
        "--roll-up",
        str(DIABETES),
    )
    assert ran.code != 0
    assert "lies in the source" in ran.err
    assert "Diabetes" not in ran.out + ran.err


def test_concepts_that_a_program_rewrote_are_refused(site):
    """201820.0 is no text of the vocabulary, and would have nothing below it in silence."""
    path = site / "athena" / "CONCEPT_ANCESTOR.csv"
    path.write_text(path.read_text().replace(f"{DIABETES}\t", f"{DIABETES}.0\t"))
    ran = described(site, "--vocabulary", site / "athena", "--roll-up", str(DIABETES))
    assert ran.code != 0
    assert "no whole number" in ran.err
