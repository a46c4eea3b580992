"""Cohort definitions of ATLAS: who is in them, and that nobody is in one because of others."""

import datetime as dt
import json
import random

import pytest

from command_line import confide
from confide.errors import ContractError, InvalidParameterError
from confide.rows import cohort_definitions
from confide.service.preparing.cohort import fill_cohorts

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("duckcdm", reason="pip install '.[cohorts]'")

DIABETES, TYPE_2, FOOT, METFORMIN = 201820, 201826, 443729, 1503297
LIMITS = ("First", "Last", "All")


def definition(*, limit="First", criteria=("ConditionOccurrence",), rules=False, end=None):
    """Return a definition as ATLAS exports it."""
    sets = [
        {
            "id": number,
            "name": "a set",
            "expression": {
                "items": [{"concept": {"CONCEPT_ID": concept}, "includeDescendants": True}]
            },
        }
        for number, concept in enumerate((DIABETES, METFORMIN))
    ]
    codes = {"ConditionOccurrence": 0, "DrugExposure": 1}
    later = {
        "name": "metformin within a year",
        "expression": {
            "Type": "ALL",
            "CriteriaList": [
                {
                    "Criteria": {"DrugExposure": {"CodesetId": 1}},
                    "StartWindow": {
                        "Start": {"Days": 0, "Coeff": -1},
                        "End": {"Days": 365, "Coeff": 1},
                        "UseEventEnd": False,
                    },
                    "RestrictVisit": True,
                    "Occurrence": {"Type": 2, "Count": 1},
                }
            ],
            "DemographicCriteriaList": [],
            "Groups": [],
        },
    }
    return {
        "ConceptSets": sets,
        "PrimaryCriteria": {
            "CriteriaList": [{name: {"CodesetId": codes[name]}} for name in criteria],
            "ObservationWindow": {"PriorDays": 0, "PostDays": 0},
            "PrimaryCriteriaLimit": {"Type": limit},
        },
        "QualifiedLimit": {"Type": limit},
        "ExpressionLimit": {"Type": limit},
        "InclusionRules": [later] if rules else [],
        "EndStrategy": end or {"DateOffset": {"DateField": "EndDate", "Offset": 3}},
        "CensoringCriteria": [],
        "CollapseSettings": {"CollapseType": "ERA", "EraPad": 0},
        "CensorWindow": {},
    }


ERAS = {"CustomEra": {"DrugCodesetId": 1, "GapDays": 3, "Offset": 0}}
DEFINITIONS = [
    *(definition(limit=limit) for limit in LIMITS),
    *(
        definition(limit=limit, criteria=("ConditionOccurrence", "DrugExposure"))
        for limit in LIMITS
    ),
    *(definition(limit=limit, rules=True) for limit in LIMITS),
    definition(criteria=("DrugExposure",), end=ERAS),
]


def database(path, whose, *, seed=1):
    """Write a CDM whose persons have many records of the same days, each of its own number."""
    persons = list(whose)
    with duckdb.connect(str(path)) as cdm:
        cdm.execute(
            """
            CREATE TABLE person (person_id BIGINT, year_of_birth INTEGER, gender_concept_id INTEGER);
            CREATE TABLE observation_period (observation_period_id BIGINT, person_id BIGINT,
                observation_period_start_date DATE, observation_period_end_date DATE);
            CREATE TABLE condition_occurrence (condition_occurrence_id BIGINT, person_id BIGINT,
                condition_concept_id INTEGER, condition_start_date DATE, condition_end_date DATE,
                visit_occurrence_id BIGINT);
            CREATE TABLE drug_exposure (drug_exposure_id BIGINT, person_id BIGINT,
                drug_concept_id INTEGER, drug_exposure_start_date DATE,
                drug_exposure_end_date DATE, days_supply INTEGER, visit_occurrence_id BIGINT,
                refills INTEGER, quantity DOUBLE, drug_source_concept_id INTEGER);
            """
        )
        conditions, drugs = [], []
        for person in persons:
            chance = random.Random(person)
            for number in range(chance.choice([1, 3, 8])):
                start = dt.date(2020, 3, 1) + dt.timedelta(days=chance.randrange(3))
                end, visit = start + dt.timedelta(days=chance.randrange(20)), chance.randrange(3)
                record, code = person * 100 + number, chance.choice([TYPE_2, FOOT])
                conditions.append([record, person, code, start, end, visit])
                drugs.append([record, person, METFORMIN, start, end, 5, visit, 0, 1.0, 0])
        for listed in (persons, conditions, drugs):
            random.Random(seed).shuffle(listed)  # a database has no order
        people = [[person, 1960, 8507] for person in persons]
        periods = [[person, person, "2020-01-01", "2021-12-31"] for person in persons]
        for table, listed in (
            ("person", people),
            ("observation_period", periods),
            ("condition_occurrence", conditions),
            ("drug_exposure", drugs),
        ):
            marks = ", ".join("?" * len(listed[0]))
            cdm.executemany(f"INSERT INTO {table} VALUES ({marks})", listed)
    return path


@pytest.fixture
def athena(tmp_path):
    folder = tmp_path / "athena"
    folder.mkdir()
    (folder / "CONCEPT.csv").write_text(
        "concept_id\tconcept_name\tinvalid_reason\n"
        + "".join(f'{c}\tsome "name\t\n' for c in (DIABETES, TYPE_2, METFORMIN))
        + f"{FOOT}\tupdated\tU\n"
    )
    below = [(DIABETES, DIABETES), (DIABETES, TYPE_2), (DIABETES, FOOT), (METFORMIN, METFORMIN)]
    (folder / "CONCEPT_ANCESTOR.csv").write_text(
        "ancestor_concept_id\tdescendant_concept_id\n" + "".join(f"{a}\t{b}\n" for a, b in below)
    )
    return folder


def written(folder, content, *, name="diabetes.json"):
    path = folder / name
    path.write_text(json.dumps(content))
    return path


def rows(cdm):
    with duckdb.connect(str(cdm), read_only=True) as connection:
        return connection.execute(
            "SELECT cohort_definition_id, subject_id, cohort_start_date, cohort_end_date"
            " FROM cohort ORDER BY ALL"
        ).fetchall()


def filled(cdm, definitions, *, folder, athena):
    paths = [
        f"{number}={written(folder, each, name=f'{number}.json')}"
        for number, each in enumerate(definitions, start=1)
    ]
    return fill_cohorts(cdm, definitions=paths, vocabulary=athena)


def test_the_rows_of_a_person_in_a_cohort_depend_on_that_persons_records_alone(tmp_path, athena):
    persons = list(range(1, 41))
    cdm = database(tmp_path / "cdm.duckdb", persons)
    filled(cdm, DEFINITIONS, folder=tmp_path, athena=athena)
    together = rows(cdm)
    assert {number for number, *_ in together} == set(range(1, len(DEFINITIONS) + 1))
    for some, seed in ((persons[::7], 2), (persons[3::9], 3), ([17], 4)):
        few = database(tmp_path / f"cdm{seed}.duckdb", some, seed=seed)
        filled(few, DEFINITIONS, folder=tmp_path, athena=athena)
        assert rows(few) == [row for row in together if row[1] in some]


def test_no_order_of_circe_is_left_to_the_database(tmp_path):
    for number, each in enumerate(DEFINITIONS):
        path = written(tmp_path, each, name=f"{number}.json")
        query = cohort_definitions.cohort_query(cohort_definitions.cohort_definition(1, path))
        for loose in cohort_definitions._ORDERS:
            if not loose.endswith("ordinal"):
                assert loose not in query
        assert "order by pe.start_date" in query
        assert query.count("event_id)") >= 2


def test_a_count_of_a_cohort_is_released_from_its_definition_in_four_commands(
    tmp_path, athena, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    database(tmp_path / "cdm.duckdb", list(range(1, 41)))
    path = written(tmp_path, definition())
    done = confide("cohort", "cdm.duckdb", "--definition", f"12={path}", "--vocabulary", athena,
                   "--json")  # fmt: skip
    assert done.code == 0, done.err
    (found,) = done.json["cohorts"]
    expected = len({row[1] for row in rows(tmp_path / "cdm.duckdb")})
    assert found["patients"] == expected > 20
    assert '--cohorts "12=diabetes"' in done.err
    drafted = confide("describe", "--model", "omop", "--source", "cdm.duckdb", "--measurements",
                      "none", "--cohorts", "12=diabetes")  # fmt: skip
    draft = drafted.out
    caps = "caps: {release: {epsilon: 1}, calendar-year: {epsilon: 3}, lifetime: {epsilon: 10}}"
    (tmp_path / "dataset.yaml").write_text(draft.replace(caps, "caps: {lifetime: {epsilon: 300}}"))
    (tmp_path / "study.yaml").write_text(
        "study: {id: cohort}\n"
        "statistics:\n"
        "  - {id: n, kind: histogram, table: cohort, by: [cohort], per-patient: {cells: 1}}\n"
        "spend: {at-most: {epsilon: 150}}\n"
    )
    assert confide("run", "study.yaml", "--out", "release").code == 0
    cells = confide("show", "release", "--only", "n", "--json").json
    assert str(expected) in json.dumps(cells)


def test_cohorts_are_written_anew_and_others_stay(tmp_path, athena):
    cdm = database(tmp_path / "cdm.duckdb", [1, 2, 3])
    filled(cdm, DEFINITIONS[:2], folder=tmp_path, athena=athena)
    before = rows(cdm)
    path = written(tmp_path, DEFINITIONS[2])
    fill_cohorts(cdm, definitions=[f"2={path}"], vocabulary=athena)
    after = rows(cdm)
    assert [row for row in after if row[0] == 1] == [row for row in before if row[0] == 1]
    fill_cohorts(cdm, definitions=[f"2={path}"], vocabulary=athena)
    assert rows(cdm) == after


@pytest.mark.parametrize(
    "hostile",
    [
        "DELETE FROM source.main.person",
        "CREATE TABLE source.main.mine (a INTEGER)",
        "COPY source.main.person TO '{folder}/out.csv'",
        "SELECT * FROM read_text('{folder}/secret.txt')",
        "ATTACH '{folder}/new.duckdb' AS fresh",
        "SET enable_external_access = true",
        "INSTALL httpfs",
    ],
)
def test_a_definition_that_somebody_sent_selects_persons_and_does_nothing_else(
    tmp_path, athena, monkeypatch, hostile
):
    cdm = database(tmp_path / "cdm.duckdb", [1, 2, 3])
    (tmp_path / "secret.txt").write_text("secret")
    before = cdm.read_bytes()
    query = hostile.format(folder=tmp_path)
    monkeypatch.setattr(cohort_definitions, "cohort_query", lambda _: query)
    path = written(tmp_path, definition())
    there = set(tmp_path.iterdir())
    with pytest.raises(ContractError) as refused:
        fill_cohorts(cdm, definitions=[f"1={path}"], vocabulary=athena)
    assert "secret" not in str(refused.value) + refused.value.hint.replace("secret.txt", "")
    assert cdm.read_bytes() == before
    assert set(tmp_path.iterdir()) == there


BREAKS_OUT = (
    "OR EXISTS (SELECT 1 FROM source.main.condition_occurrence z WHERE z.person_id = 17) "
    "OR C.stop_reason like "
)


def with_texts(first, second):
    """Return a definition two of whose criteria look at the reason of a stop."""

    def criterion(text):
        stopped = {"Text": text, "Op": "contains"}
        return {"ConditionOccurrence": {"CodesetId": 0, "StopReason": stopped}}

    sent = definition()
    sent["PrimaryCriteria"]["CriteriaList"].append(criterion(first))
    sent["AdditionalCriteria"] = {
        "Type": "ALL",
        "CriteriaList": [
            {
                "Criteria": criterion(second),
                "StartWindow": {
                    "Start": {"Days": 0, "Coeff": -1},
                    "End": {"Days": 0, "Coeff": 1},
                },
                "Occurrence": {"Type": 2, "Count": 1},
            }
        ],
        "DemographicCriteriaList": [],
        "Groups": [],
    }
    return sent


PLACES = ("@eventTable", "@criteriaQuery", "@cdm_database_schema", "{@x}?{a}:{b}", "'", "\\'", "--")


@pytest.mark.parametrize("place", PLACES)
def test_no_text_of_a_definition_is_more_than_a_text(tmp_path, athena, place):
    persons = list(range(1, 21))
    cdm = database(tmp_path / "cdm.duckdb", persons)
    with duckdb.connect(str(cdm)) as connection:
        connection.execute("ALTER TABLE condition_occurrence ADD COLUMN stop_reason VARCHAR")
        said = "UPDATE condition_occurrence SET stop_reason = ? WHERE person_id <= 5"
        connection.execute(said, [f"because {place} of it"])
        expected = connection.execute(
            "SELECT DISTINCT n, person_id FROM condition_occurrence, (VALUES (0), (5)) asked (n)"
            f" WHERE person_id <= 5 AND condition_concept_id = {TYPE_2}"
        ).fetchall()
    for number, (first, second) in enumerate([(BREAKS_OUT, place), (place, BREAKS_OUT)]):
        path = written(tmp_path, with_texts(first, second), name=f"sent{number}.json")
        fill_cohorts(cdm, definitions=[f"{number}={path}"], vocabulary=athena)
    path = written(tmp_path, with_texts(place, place), name="sent.json")
    fill_cohorts(cdm, definitions=[f"5={path}"], vocabulary=athena)
    assert {(number, person) for number, person, *_ in rows(cdm)} == set(expected)
    assert expected


@pytest.mark.parametrize("key", ["Type", "Op", "CodesetId", "Count"])
def test_a_text_where_none_belongs_is_refused(tmp_path, athena, key):
    sent = json.dumps(definition(rules=True) | {"more": {key: "1 OR 1 = 1"}})
    cdm = database(tmp_path / "cdm.duckdb", [1])
    (tmp_path / "sent.json").write_text(sent)
    with pytest.raises(ContractError, match=r"sent\.json holds a text"):
        fill_cohorts(cdm, definitions=[f"1={tmp_path / 'sent.json'}"], vocabulary=athena)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"PrimaryCriteria": 3}', "\ud800", "[" * 9000])
def test_what_is_no_definition_is_refused_and_nothing_written(tmp_path, athena, content):
    cdm = database(tmp_path / "cdm.duckdb", [1])
    before = cdm.read_bytes()
    path = tmp_path / "odd.json"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(ContractError, match=r"odd\.json"):
        fill_cohorts(cdm, definitions=[f"1={path}"], vocabulary=athena)
    assert cdm.read_bytes() == before


def test_numbers_and_files_that_do_not_fit_are_refused(tmp_path, athena):
    path = written(tmp_path, definition())
    cdm = database(tmp_path / "cdm.duckdb", [1])
    for wrong in ([], [str(path)], [f"x={path}"], [f"1={path}", f"1={path}"]):
        with pytest.raises(InvalidParameterError):
            fill_cohorts(cdm, definitions=wrong, vocabulary=athena)
    with pytest.raises(ContractError, match="no file"):
        fill_cohorts(tmp_path / "none.duckdb", definitions=[f"1={path}"], vocabulary=athena)
    with pytest.raises(ContractError, match=r"CONCEPT\.csv"):
        fill_cohorts(cdm, definitions=[f"1={path}"], vocabulary=tmp_path)


def test_a_concept_that_the_vocabulary_does_not_have_is_named(tmp_path, athena):
    body = definition()
    body["ConceptSets"][0]["expression"]["items"].append({"concept": {"CONCEPT_ID": 999}})
    paths = [written(tmp_path, definition(), name="known.json")]
    paths.append(written(tmp_path, body, name="unk.json"))
    cdm = database(tmp_path / "cdm.duckdb", range(1, 9))
    asked = [word for i, path in enumerate(paths) for word in ("--definition", f"{i}={path}")]
    ran = confide("cohort", cdm, *asked, "--vocabulary", athena)
    assert ran.code == 0, ran.err
    assert "unk.json names concepts that CONCEPT.csv does not have: 999." in ran.err
    assert "known.json names" not in ran.err
