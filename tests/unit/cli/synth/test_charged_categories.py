"""``categories: charged``: texts that nobody listed become levels at a charge and a δ."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import confide as product
from category_search import of_texts, selecting
from command_line import confide
from confide.jobs.synthesis.examining.own_rows import read_own_rows
from confide.plans.canonical import encode
from confide.service.synthesis.combining import synthetic_in
from pages import ROOT
from synth_clinic import clinic
from synthesis_world import frame, job, people

COLUMNS = {"diagnosis": {"categories": "charged", "missing": "level"}, "sex": {}, "died": {}}
NOT_TRAINED = {"together", "tables"}
TOGETHER = {"together": [["diagnosis", "died"]]}
COMMON = ("gout", "flu", "asthma")
HOSTILE = (
    "=cmd|' /C calc'!A0", '"quoted", and\nbroken', "\u202edesrever", "<b>bold</b>", "other",
    "missing", "missing (no value)", "Cafe\u0301", "x" * 5000, "it's", "@SUM(1)",
)  # fmt: skip


def written(folder, texts=None, *, rows_of_one=1, selection="5e-7", **asked):
    """Write a clinic with a column of texts; return the path of its synth.yaml."""
    asked = {"columns": COLUMNS, "spend": {"epsilon": "20"}, "tables": "2"} | TOGETHER | asked
    measure = asked.pop("measure", "zcdp")
    file = clinic(folder, measure=measure, lifetime="60", **asked)
    values = people()
    texts = diagnoses() if texts is None else texts
    table = frame(values).append_column("diagnosis", pa.array(texts, pa.string()))
    if rows_of_one > 1:
        who = [str(i // rows_of_one) for i in range(table.num_rows)]
        table = table.set_column(0, "patient", pa.array(who))
    csv.write_csv(table, file.parent / "people.csv")
    place = file.parent / "dataset.yaml"
    dataset = json.loads(place.read_text())
    columns = dataset["tables"]["people"]["columns"]
    dataset["tables"]["people"]["columns"] = columns | {"diagnosis": {"kind": "text"}}
    if measure == "pure":
        dataset["accounting"] = {"measure": "pure", "delta": selection}
    else:
        dataset["accounting"]["selection-delta"] = selection
    place.write_text(json.dumps(dataset))
    return file


def diagnoses(names=COMMON, *, many=3000):
    """A few common texts, three hundred of one patient each, and some that are missing."""
    found = [names[i % len(names)] for i in range(many)]
    found[:300] = [f"rare {i}" for i in range(300)]
    found[300:400] = [None] * 100
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The folder of a clinic whose table is in ``out``."""
    folder = tmp_path_factory.mktemp("found")
    assert confide("synth", "run", written(folder), "--out", folder / "out").code == 0
    return folder


@pytest.mark.parametrize("measure", ["pure", "mixed"])
def test_categories_are_found_within_the_charge_and_the_delta_that_were_planned(tmp_path, measure):
    file = written(tmp_path, measure=measure)
    planned = confide("synth", "plan", file, "--json").json
    assert planned["noise"][0]["name"] == "categories"
    assert "above a threshold of" in planned["noise"][0]["mechanism"]
    assert planned["columns"][0]["read"] == ("at most 20 categories, which are found, and 'other'")
    cap = next(each for each in planned["caps"] if "charged δ" in each["cap"])
    assert (cap["limit"], cap["this"]) == ("0.0000005", "0.00000005")
    made = confide("synth", "run", file, "--out", tmp_path / "out", "--json")
    assert (made.code, made.json["charged"], made.json["verifies"]) == (0, True, True)
    assert made.json["loss"] == planned["loss"]
    assert float(made.json["loss"]["epsilon"]) <= 20
    assert confide("verify", tmp_path / "out", "--ledger", tmp_path / "dataset.yaml").code == 0
    (found,) = json.loads((tmp_path / "out" / "marginals.json").read_text())["categories"]
    assert sorted(found["texts"]) == sorted(COMMON)
    assert not any("rare" in path.read_text() for path in (tmp_path / "out").glob("*.[cj]s*"))


def test_a_share_of_a_category_that_was_found_is_combined(found):
    texts, died = np.array(diagnoses(), dtype=object), people()["died"]
    share = product.ShareIn(column="diagnosis", value="gout")
    (told,) = product.combine(found / "out", share, tables=5)
    assert told.value == pytest.approx(np.mean(texts == "gout"), abs=0.02)
    assert told.lower <= told.value <= told.upper
    table = csv.read_csv(found / "out" / "synthetic.csv")
    cells = np.array(table["diagnosis"].to_pylist(), dtype=object)
    assert set(cells) - {"", None} == {*COMMON, "other"}
    assert np.mean(cells == "other") == pytest.approx(0.1, abs=0.02)  # counts are total
    of_gout = np.array(table["died"].to_pylist(), dtype=object)[cells == "gout"] == "yes"
    assert of_gout.mean() == pytest.approx(died[texts == "gout"].mean(), abs=0.04)
    assert "gout" in (found / "out" / "report.html").read_text()


def test_hostile_texts_are_categories_that_the_check_reads_as_the_synthesis_did(tmp_path):
    accept = {"share": "1/4", "pairs": "0.1"}
    file = written(
        tmp_path, diagnoses(HOSTILE), spend={"epsilon": "30"}, accept=accept, method="aim"
    )
    assert confide("synth", "run", file, "--out", tmp_path / "out").code == 0
    (found,) = json.loads((tmp_path / "out" / "marginals.json").read_text())["categories"]
    assert set(found["texts"]) == {*HOSTILE[:7], "Caf\u00e9", *HOSTILE[8:]}
    told = confide("synth", "evaluate", file, "--out", tmp_path / "verdict", "--json")
    assert (told.code, told.json["verdict"]) == (0, "met")  # other levels would be far off
    for cell in csv.read_csv(
        tmp_path / "out" / "synthetic.csv",
        parse_options=csv.ParseOptions(newlines_in_values=True),
    )["diagnosis"].to_pylist():
        assert cell is None or cell[:1] not in {"=", "@"}
    assert "<b>bold" not in (tmp_path / "out" / "report.html").read_text()
    labels = synthetic_in(tmp_path / "out").spec.reads.reads[0]
    assert labels.of.texts == tuple(found["texts"])


def test_rows_of_the_steward_are_read_among_the_categories_that_were_found(found):
    made = synthetic_in(found / "out")
    table = frame(people()).append_column("diagnosis", pa.array(diagnoses(), pa.string()))
    csv.write_csv(table, found / "own.csv")
    rows = read_own_rows(found / "own.csv", spec=made.spec, dataset=made.answer.plan.dataset)
    assert rows.left_out == 0
    labels = [*made.spec.reads.reads[0].of.texts, "other", None]
    told = [labels[level] for level in rows.levels[:, 0]]
    assert told == ["other" if v and "rare" in v else v for v in diagnoses()]


@pytest.mark.parametrize("at", ["one-ways1"])
def test_one_that_was_killed_while_categories_are_found_goes_on_at_no_charge(tmp_path, at):
    columns = COLUMNS | {"age": {"bins": "charged"}}
    file = written(tmp_path, tables="2", columns=columns)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    words = [sys.executable, Path(__file__).parent / "synth_worker.py", tmp_path, at]
    died = subprocess.run([*words, tmp_path / "out"], env=environment, check=False)
    assert died.returncode == -signal.SIGKILL
    seen = confide("synth", "plan", file, "--json").json
    assert (seen["begun"], seen["released"], seen["fits"]) == (True, False, True)
    for out in ("out", "again"):
        assert confide("synth", "run", file, "--out", tmp_path / out).code == 0
    one, other = (tmp_path / each / "marginals.json" for each in ("out", "again"))
    assert one.read_bytes() == other.read_bytes()
    assert {"bins", "categories"} < set(json.loads(one.read_text()))


def test_where_no_text_is_of_enough_patients_all_of_them_are_other(tmp_path):
    file = written(tmp_path, [f"note {i}" for i in range(3000)])
    assert confide("synth", "run", file, "--out", tmp_path / "out").code == 0
    told = csv.read_csv(tmp_path / "out" / "synthetic.csv")["diagnosis"].to_pylist()
    assert told.count("other") > 0.98 * len(told)
    assert "note " not in (tmp_path / "out" / "marginals.json").read_text()


def test_at_most_so_many_categories_are_found_and_a_patient_counts_once_for_each(tmp_path):
    columns = COLUMNS | {"diagnosis": {"categories": "charged", "at-most": "2"}}
    texts = [("flu", "gout", "pox", "lone")[i % 4 if i < 800 else i % 3] for i in range(3000)]
    texts[:40] = ["of one"] * 40  # of the first patient alone
    file = written(
        tmp_path, texts, rows_of_one=40, columns=columns, rows="3000", missing="level",
        spend={"epsilon": "60"}, **{"per-patient": {"rows": "40"}, "categories-share": "4/5"},
    )  # fmt: skip
    planned = confide("synth", "plan", file, "--json")
    assert planned.code == 0, planned.err
    assert "at most 40 texts of a column" in planned.json["noise"][0]["because"]
    assert confide("synth", "run", file, "--out", tmp_path / "out").code == 0
    (found,) = json.loads((tmp_path / "out" / "marginals.json").read_text())["categories"]
    assert len(found["texts"]) <= 2
    assert "of one" not in found["texts"]
    assert all(count < 400 for count in found["patients"])  # 75 patients, 3,000 rows


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"columns": COLUMNS | {"diagnosis": {}}}, "categories: charged"),
        ({"columns": COLUMNS | {"sex": {"categories": "charged"}}}, "is no text"),
        (
            {"columns": COLUMNS | {"diagnosis": {"categories": "charged", "bins": "5"}}},
            "not put into bins",
        ),
        (
            {"columns": COLUMNS | {"diagnosis": {"categories": "charged", "missing": "leave-out"}}},
            "a missing text is a level",
        ),
        (
            {"columns": COLUMNS | {"diagnosis": COLUMNS["diagnosis"] | {"at-most": "200"}}},
            "1 to 100 charged categories",
        ),
        ({"categories-share": "1"}, "categories-share"),
        ({"never": [{"diagnosis": "gout", "sex": "M"}]}, "levels are not known yet"),
        (
            {
                "accept": {
                    "share": "1/4",
                    "predictions": [{"outcome": "diagnosis", "level": "gout", "at-least": "0.6"}],
                }
            },
            "levels are not known yet",
        ),
        ({"selection": "0"}, "The data set allows none"),
        ({"measure": "pure", "selection": "0"}, "The data set allows none"),
        ({"spend": {"epsilon": "4", "delta": "6e-7"}}, "what the data set keeps"),
        ({"method": "vae"}, "finds no categories"),
        ({"categories-share": "1/10000000"}, "No text can be found"),
    ],
)
def test_categories_that_cannot_be_found_are_refused_before_the_charge(tmp_path, given, told):
    file = written(tmp_path, **given)
    if "method" in given:  # which measures nothing together
        asked = json.loads(file.read_text())
        file.write_text(json.dumps({k: v for k, v in asked.items() if k not in NOT_TRAINED}))
    refused = confide("synth", "plan", file)
    assert refused.code == 7, refused.out
    assert told in refused.err


@pytest.mark.parametrize("adjacency", ["add-remove", "substitute"])
@pytest.mark.parametrize("most", [1, 3])
def test_a_selection_is_charged_for_the_texts_of_one_patient_and_two_columns_share_it(
    adjacency, most
):
    of, spec = of_texts(adjacency=adjacency), selecting(most=most)
    event = spec.events(of)[0]
    assert event.event.epsilon() == event.noise.epsilon
    assert (event.l1, event.event.delta) == (
        most * (2 if adjacency == "substitute" else 1),
        spec.categories_delta,
    )
    assert event.event.rho() <= spec.categories_share * spec.rho
    one, two = (spec.selection(of.adjacency), _twice(spec).selection(of.adjacency))
    assert two.delta == one.delta / 2
    assert float(one.epsilon / two.epsilon) == pytest.approx(2**0.5, rel=1e-4)
    assert sum(e.event.delta for e in _twice(spec).events(of)) == spec.categories_delta


def _twice(spec):
    """A job that finds the categories of a second column."""
    reads = spec.reads
    return replace(
        spec,
        columns=("diagnosis", "again"),
        reads=replace(reads, reads=(reads.reads[0],) * 2, texts=reads.texts * 2),
        categories=(*spec.categories, replace(spec.categories[0], column="again")),
    )


def test_a_job_of_declared_categories_is_written_as_it_was():
    names = {"categories", "categories_share", "categories_delta"}
    assert not names & set(encode(job()))
    assert "texts" not in encode(job())["reads"]
