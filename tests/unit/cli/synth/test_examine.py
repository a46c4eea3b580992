"""``confide synth examine``: exact, marked for the steward alone, and apart from releases."""

import json

import pyarrow.csv
import pytest

from command_line import confide
from synth_clinic import clinic
from synthesis_world import frame, people


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clinic")
    file = clinic(folder, target="died", missing="level", spend={"epsilon": "2"})
    assert confide("synth", "run", file, "--out", folder / "out").code == 0
    pyarrow.csv.write_csv(frame(people(1500, start=77)), folder / "held-out.csv")
    return folder


def examined(ran, out, *words):
    found = confide(
        "synth", "examine", ran / "out", "--table", ran / "people.csv", "--out", out, *words
    )
    return found, {path.name: path for path in out.iterdir()} if out.exists() else {}


def test_exact_numbers_are_marked_and_nobody_else_can_read_them(ran, tmp_path):
    def state():
        return {p.name: p.read_bytes() for p in (ran / ".confide").rglob("*") if p.is_file()}

    before = state()
    found, files = examined(ran, tmp_path / "own", "--json", "--holdout", ran / "held-out.csv")
    assert found.code == 0
    assert set(files) == {"STEWARD-ONLY-examination.html", "STEWARD-ONLY-examination.json"}
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files.values())
    page = files["STEWARD-ONLY-examination.html"].read_text()
    assert page.count("For the steward&#x27;s eyes only") >= 3
    assert state() == before  # no ledger was opened
    told = json.loads(files["STEWARD-ONLY-examination.json"].read_text())
    assert [each["columns"] for each in told["marginals"]] == [1, 2, 3]
    assert [each["tables"] for each in told["marginals"]] == [5, 10, 10]
    errors = [each["mean"] for each in told["marginals"]]
    assert errors == sorted(errors)
    assert errors[1] < 0.1
    assert told["copies"]["held-out"]
    assert not told["copies"]["copies"] > told["copies"]["baseline"] + 0.05
    assert told["trained"]["from-rows"] > 0.75
    assert told["trained"]["from-synthetic"] > 0.7


@pytest.mark.parametrize("outside", ["bins", "bounds"])
def test_what_is_missing_to_the_job_is_missing_here(tmp_path, outside):
    """With hardly any noise nothing is off, however many patients are in no bin or out of bounds."""
    columns = {"age": {"bins": [45, 60, 75, 100]}, "sex": {}, "stage": {}}
    if outside == "bounds":
        columns["age"] = {"bins": [60, 75, 90]}
    file = clinic(
        tmp_path, missing="level", columns=columns, spend={"epsilon": "300"}, lifetime="300"
    )
    if outside == "bounds":
        dataset = json.loads((tmp_path / "dataset.yaml").read_text())
        dataset["tables"]["people"]["columns"]["age"] |= {
            "lower": 60,
            "upper": 90,
            "outside": "drop",
        }
        (tmp_path / "dataset.yaml").write_text(json.dumps(dataset))
    assert confide("synth", "run", file, "--out", tmp_path / "out").code == 0
    found, _ = examined(tmp_path, tmp_path / "own", "--json")
    assert found.json["left-out"] == 0
    assert found.json["marginals"][0]["largest"] < 0.02  # of pairs the model may be off


def test_without_a_holdout_rows_are_left_out_in_turn(ran, tmp_path):
    found, _ = examined(ran, tmp_path / "own", "--json", "--outcome", "sex", "--level", "M")
    assert found.code == 0
    assert found.json["holdout"] == 0
    assert not found.json["copies"]["held-out"]
    assert found.json["trained"]["outcome"] == "sex"


def test_it_is_refused_a_place_in_a_release(ran, tmp_path):
    found, _ = examined(ran, ran / "out" / "own")
    assert found.code == 7
    assert "lies in a release" in found.err
    assert not (ran / "out" / "own").exists()
    found, _ = examined(ran, ran / ".confide" / "own")
    assert found.code == 7


def test_no_error_tells_a_value(ran, tmp_path):
    lines = (ran / "people.csv").read_text().splitlines()
    (tmp_path / "odd.csv").write_text("\n".join(lines[:10]))
    words = ("--table", tmp_path / "odd.csv", "--out", tmp_path / "own")
    found = confide("synth", "examine", ran / "out", *words)
    assert found.code == 7
    assert "Fewer than 20 rows" in found.err
    (tmp_path / "odd.csv").write_text("\n".join(lines[1:]))
    found = confide("synth", "examine", ran / "out", *words)
    assert found.code == 7
    assert not any(cell in found.err for cell in lines[1].replace('"', "").split(",")[1:2])
    unknown = confide(
        "synth", "examine", ran / "out", "--table", ran / "people.csv", "--outcome", "dies",
        "--out", tmp_path / "own",
    )  # fmt: skip
    assert "dies" in unknown.err
