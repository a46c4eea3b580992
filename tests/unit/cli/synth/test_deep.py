"""``method: vae`` and ``gan``: labelled baselines, charged once, resumable, refused with a reason."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import csv

import confide as product
from command_line import confide
from confide.errors import ContractError, VerificationError
from confide.files.synth import trained
from confide.jobs.synthesis.deep import training
from pages import ROOT
from synth_clinic import clinic as of_marginals

pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("safetensors", reason="needs the extra `learning`")


def clinic(folder, *, method="vae", **given):
    """A clinic whose synth.yaml asks for a generator."""
    file = of_marginals(folder, method=method, **given)
    asked = json.loads(file.read_text())
    asked.pop("tables")
    file.write_text(json.dumps(asked))
    return file


@pytest.fixture
def short(monkeypatch):
    """Trainings of twenty steps instead of two hundred."""
    monkeypatch.setattr(trained, "EPOCHS", 2)


def nothing_charged(folder):
    with product.open(folder / "dataset.yaml") as ws:
        return ws.ledger.entries("clinic") == ()


def ran(folder, *words, **given):
    return confide("synth", "run", clinic(folder, **given), "--out", folder / "out", *words)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(("method", "measure"), [("vae", "zcdp"), ("gan", "zcdp"), ("vae", "pure")])
def test_a_baseline_costs_what_it_was_planned_at_says_that_it_is_one_and_verifies(
    tmp_path, method, measure, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "200")  # heads of a table in one line
    file = clinic(tmp_path, method=method, measure=measure, lifetime="2")
    if measure == "pure":
        dataset = json.loads((tmp_path / "dataset.yaml").read_text())
        dataset["accounting"]["delta"] = "1e-6"
        (tmp_path / "dataset.yaml").write_text(json.dumps(dataset))
    planned = confide("synth", "plan", file, "--json").json
    assert planned["baseline"]["method"] == method
    assert "A baseline" in planned["warnings"][0]
    told = confide("synth", "plan", file).out
    assert "A baseline" in told
    assert "lifetime, charged δ" in told
    assert "key selection" not in told
    made = confide("synth", "run", file, "--out", tmp_path / "out", "--json")
    assert (made.code, made.json["charged"], made.json["verifies"]) == (0, True, True)
    assert made.json["loss"] == planned["loss"]
    assert "A baseline" in made.json["baseline"]
    assert float(made.json["loss"]["epsilon"]) <= 1.001
    checked = confide("verify", tmp_path / "out", "--ledger", tmp_path / "dataset.yaml", "--json")
    assert (checked.code, checked.json["holds"]) == (0, True)
    out = tmp_path / "out"
    assert "A baseline" in json.loads((out / "synthetic.json").read_text())["baseline"]
    page = (out / "report.html").read_text()
    assert "A baseline" in page
    assert "What it is not fit for" in page
    certificate = json.loads((out / "certificate.json").read_text())
    (event,) = certificate["events"]
    job = json.loads((out / "job.json").read_text().splitlines()[0])["plan"]["spec"]
    assert event["poisson-sampling-rate"] == json.loads(job)["rate"] == "1/10"
    assert event["uses"] == "20"
    assert float(planned["baseline"]["noise-multiplier"]) > 1
    assert json.loads(job)["clip"] == {"vae": "2", "gan": "3"}[method]
    table = csv.read_csv(out / "synthetic.csv")
    assert table.num_rows == made.json["rows"] == 3000
    assert not list(out.glob("*.parquet"))


@pytest.mark.usefixtures("short")
def test_running_a_baseline_again_is_free_and_gives_the_same_table(tmp_path):
    ran(tmp_path)
    again = confide("synth", "run", tmp_path / "synth.yaml", "--out", tmp_path / "again", "--json")
    assert again.json["charged"] is False
    for name in ("model.safetensors", "synthetic.csv"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


@pytest.mark.usefixtures("short")
def test_a_training_of_a_generator_that_was_killed_goes_on_at_no_charge(tmp_path):
    file = clinic(tmp_path, lifetime="1")
    words = [sys.executable, Path(__file__).parent / "deep_worker.py", tmp_path, "step 10 of 20"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    died = subprocess.run([*words, tmp_path / "out"], env=environment, check=False)
    assert died.returncode == -signal.SIGKILL
    seen = confide("synth", "plan", file, "--json").json
    assert (seen["begun"], seen["released"], seen["fits"]) == (True, False, True)
    for out in ("out", "again"):
        assert confide("synth", "run", file, "--out", tmp_path / out).code == 0
    assert (tmp_path / "out" / "synthetic.csv").read_bytes() == (
        tmp_path / "again" / "synthetic.csv"
    ).read_bytes()
    assert confide("verify", tmp_path / "out", "--ledger", tmp_path / "dataset.yaml").code == 0
    # The cap is what one training costs, so a second charge would have been refused.


@pytest.mark.usefixtures("short")
def test_combining_a_baseline_is_refused_with_the_reason(tmp_path):
    ran(tmp_path)
    share = product.ShareIn(column="died", value="yes")
    with pytest.raises(ContractError, match="measured no table of columns"):
        product.combine(tmp_path / "out", share)


@pytest.mark.usefixtures("short")
def test_criteria_of_a_baseline_are_checked_and_the_steward_may_examine_it(tmp_path):
    accept = {"share": "1/5", "pairs": "0.9", "never": [{"stage": "I", "ward": "C"}]}
    assert ran(tmp_path, accept=accept).code == 0
    found = confide("synth", "evaluate", tmp_path / "synth.yaml", "--out", tmp_path / "v", "--json")
    assert found.code == 0
    assert found.json["charged"]
    pairs = found.json["criteria"][0]
    assert (pairs["verdict"], pairs["accepted"]) == ("met", "at most 0.9")
    assert confide("verify", tmp_path / "v", "--ledger", tmp_path / "dataset.yaml").code == 0
    examined = confide(
        "synth",
        "examine",
        tmp_path / "out",
        "--table",
        tmp_path / "people.csv",
        "--outcome",
        "died",
        "--out",
        tmp_path / "steward-only",
        "--json",
    )
    assert examined.code == 0
    assert 0 < examined.json["marginals"][0]["mean"] < 0.5


@pytest.mark.usefixtures("short")
def test_rules_hold_in_every_row_of_a_baseline(tmp_path):
    never = [{"stage": "I", "died": "yes"}, {"ward": ["A", "B"], "sex": "M"}]
    assert ran(tmp_path, never=never).code == 0
    rows = csv.read_csv(tmp_path / "out" / "synthetic.csv").to_pylist()
    assert len(rows) == 3000
    assert not any(row["stage"] == "I" and row["died"] == "yes" for row in rows)
    assert not any(row["ward"] in "AB" and row["sex"] == "M" for row in rows)
    assert len({row["stage"] for row in rows}) == 4


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"target": "died"}, "takes no target"),
        ({"together": [["sex", "died"]]}, "nothing is measured together"),
        ({"columns": {"age": {"bins": "charged"}, "sex": {}}}, "finds no bins"),
        ({"rows": "1"}, "1 patients are too few"),
        ({"rows": "200"}, "Noise would drown the training"),
        ({"spend": {"epsilon": "0.01"}}, "No noise brings 200 steps"),
        ({"spend": {"epsilon": "1", "delta": "1e-5"}}, "more than the data set keeps"),
        ({"never": [{"sex": ["F", "M"], "died": ["no", "yes"]}]}, "No cell is left"),
    ],
)
def test_what_no_generator_can_learn_is_refused_before_the_charge(tmp_path, asked, told):
    refused = ran(tmp_path, **asked)
    assert refused.code not in (0, None)
    assert told in refused.err + refused.out
    assert not (tmp_path / "out").exists()
    assert nothing_charged(tmp_path)


def test_a_refusal_of_a_training_names_the_rows_that_would_do(tmp_path):
    refused = ran(tmp_path, rows="200").err
    enough = int(refused.split("budget ")[1].split(" rows")[0].replace(",", ""))
    assert confide("synth", "plan", clinic(tmp_path, rows=str(enough + 50))).code == 0


def test_a_data_set_of_patients_who_are_replaced_has_no_generator(tmp_path):
    file = clinic(tmp_path)
    dataset = json.loads((tmp_path / "dataset.yaml").read_text())
    dataset["protects"]["adjacency"] = "substitute"
    (tmp_path / "dataset.yaml").write_text(json.dumps(dataset))
    refused = confide("synth", "plan", file)
    assert "no bound is proved" in refused.err
    assert "method: tree" in refused.err


@pytest.mark.parametrize(
    ("measure", "told"), [("pure", "ε holds at a δ alone"), ("mixed", "mixed ledger")]
)
def test_ledgers_that_have_no_delta_for_samples_are_told(tmp_path, measure, told):
    refused = confide("synth", "plan", clinic(tmp_path, measure=measure))
    assert refused.code != 0
    assert told in refused.err


def test_a_delta_beside_a_tree_is_refused(tmp_path):
    file = of_marginals(tmp_path, spend={"epsilon": "1", "delta": "1e-8"})
    refused = confide("synth", "plan", file)
    assert "draws no sample" in refused.err


def test_without_the_extra_a_generator_is_refused_before_the_charge(tmp_path, monkeypatch):
    file = clinic(tmp_path)
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    refused = confide("synth", "run", file, "--out", tmp_path / "out")
    assert refused.code != 0
    assert "pip install '.[learning]'" in refused.err
    assert nothing_charged(tmp_path)


@pytest.mark.usefixtures("short")
def test_weights_that_were_changed_are_found(tmp_path):
    ran(tmp_path)
    place = tmp_path / "out" / training.MODEL
    place.write_bytes(place.read_bytes()[:-1] + b"\x01")
    with pytest.raises(VerificationError):
        product.combine(tmp_path / "out", product.ShareIn(column="died", value="yes"))
    assert confide("verify", tmp_path / "out").code != 0


def test_python_asks_for_a_baseline_as_the_command_does(tmp_path, monkeypatch):
    monkeypatch.setattr(trained, "EPOCHS", 2)
    file = clinic(tmp_path)
    with product.open(tmp_path / "dataset.yaml") as ws:
        asked = ws.synthesis(file)
        assert ws.foresee(asked).baseline.parameters > 100
        made = ws.synthesize(asked)
        assert made.table(rows=7).num_rows == 7
        with pytest.raises(ContractError, match="baseline"):
            made.refitted(1)
        with pytest.raises(ContractError, match="OMOP"):
            made.warehouse()
