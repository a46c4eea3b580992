"""``confide synth evaluate``: criteria are part of the plan, their share is charged once."""

import json

import pytest

import confide as product
from command_line import confide
from confide.plans.canonical import encode
from synth_clinic import clinic

ACCEPT = {
    "share": "1/5",
    "pairs": "0.2",
    "associations": [
        {"of": ["stage", "died"], "within": "0.4"},
        {"of": ["sex", "died"], "measure": "odds-ratio", "levels": ["M", "yes"], "within": "3"},
    ],
    "predictions": [{"outcome": "died", "level": "yes", "at-least": "0.55"}],
    "never": [{"sex": "M", "stage": "IV"}],
    "order": [],
    "implausible": "0.9",
}


def made(folder, **given):
    """Write a clinic with criteria; run its synthesis."""
    file = clinic(folder, **{"accept": ACCEPT, "spend": {"epsilon": "2"}} | given)
    assert confide("synth", "run", file, "--out", folder / "out").code == 0
    return file


@pytest.mark.parametrize("measure", ["pure", "zcdp", "mixed"])
def test_the_share_is_charged_once_and_the_verdict_verifies(tmp_path, measure):
    file = clinic(tmp_path, measure=measure, lifetime="2", accept=ACCEPT, spend={"epsilon": "2"})
    planned = confide("synth", "plan", file, "--json").json
    assert planned["fits"]  # both together are what the cap allows
    assert confide("synth", "run", file, "--out", tmp_path / "out").code == 0
    found = confide("synth", "evaluate", file, "--out", tmp_path / "verdict", "--json")
    assert (found.code, found.json["charged"], found.json["verdict"]) == (0, True, "met")
    assert found.json["loss"] == planned["check"]["loss"]
    checked = confide(
        "verify", tmp_path / "verdict", "--ledger", tmp_path / "dataset.yaml", "--json"
    )
    assert (checked.code, checked.json["holds"], checked.json["rebuilt"]) == (0, True, True)
    again = confide("synth", "evaluate", file, "--out", tmp_path / "again", "--json")
    assert again.json["charged"] is False
    assert again.json["criteria"] == found.json["criteria"]
    page = (tmp_path / "verdict" / "report.html").read_text()
    assert "Fit for what was agreed" in page
    assert page.count("<figure") == 4
    told = json.loads((tmp_path / "verdict" / "evaluation.json").read_text())
    assert told["of"] == found.json["of"]


def test_criteria_cannot_be_changed_after_the_table_is_there(tmp_path):
    made(tmp_path)
    easier = clinic(tmp_path, accept=ACCEPT | {"pairs": "0.9"}, spend={"epsilon": "2"})
    found = confide("synth", "evaluate", easier, "--out", tmp_path / "verdict")
    assert found.code == 7
    assert "not with these criteria: nothing was charged" in found.err
    none = clinic(tmp_path)
    found = confide("synth", "evaluate", none, "--out", tmp_path / "verdict")
    assert found.code == 7
    assert "No criteria were agreed on" in found.err
    assert not (tmp_path / "verdict").exists()


def test_a_synthesis_without_criteria_has_the_plan_that_it_had(tmp_path):
    file = clinic(tmp_path)
    with product.open(tmp_path / "dataset.yaml") as ws:
        asked = ws.synthesis(file)
        assert asked.check == 0
        assert '"accept"' not in json.dumps(encode(asked.job))
        with pytest.raises(ValueError, match="No criteria"):
            ws.evaluate(asked)


def test_a_check_that_does_not_fit_is_refused_before_a_row_is_read(tmp_path):
    given = {"measure": "pure", "lifetime": "2"}
    made(tmp_path, spend={"epsilon": "1"}, **given)  # which leaves 0.2 for the check
    clinic(tmp_path, spend={"epsilon": "1.2"}, **given)  # and this takes it
    assert confide("synth", "run", tmp_path / "synth.yaml", "--out", tmp_path / "two").code == 0
    file = clinic(tmp_path, accept=ACCEPT, spend={"epsilon": "1"}, **given)
    found = confide("synth", "evaluate", file, "--out", tmp_path / "verdict")
    assert found.code == 5
    assert "Requested ε=0.2" in found.err
    assert not (tmp_path / "verdict").exists()


def test_plausibility_alone_costs_nothing(tmp_path):
    accept = {"never": ACCEPT["never"], "implausible": "0.05"}
    file = made(tmp_path, accept=accept)
    found = confide("synth", "evaluate", file, "--out", tmp_path / "verdict", "--json")
    assert (found.code, found.json["charged"], found.json["loss"]) == (0, False, None)
    assert found.json["verdict"] == "not met"
    assert not (tmp_path / "verdict" / "certificate.json").exists()
    assert "cost nothing" in (tmp_path / "verdict" / "report.html").read_text()
    again = confide("synth", "evaluate", file, "--out", tmp_path / "out")
    assert again.code == 7


def test_a_workspace_evaluates_as_the_command_does(tmp_path):
    file = made(tmp_path, missing="level")
    with product.open(tmp_path / "dataset.yaml") as ws:
        found = ws.evaluate(ws.synthesis(file))
        assert found.verdict.met.value == "met"
        place = found.save(tmp_path / "verdict")
    assert confide("verify", place).code == 0
    told = confide("synth", "evaluate", file, "--out", place)
    assert told.code == 0
    assert "Delivered again" in told.out


@pytest.mark.parametrize(
    ("accept", "told"),
    [
        ({"share": "1/5"}, "1 to 20 criteria, got 0"),
        ({"pairs": "0.1"}, "has to have a share"),
        (ACCEPT | {"associations": [{"of": ["stage"], "within": "1"}]}, "names two columns"),
        (ACCEPT | {"associations": [{"of": ["stage", "dies"], "within": "1"}]}, "dies"),
        (
            ACCEPT | {"associations": [{"of": ["sex", "died"], "levels": ["M", "yes"],
                                        "within": "1"}]},
            "a correlation none",
        ),
        (
            ACCEPT | {"predictions": [{"outcome": "died", "level": "ja", "at-least": "0.6"}]},
            "'ja'",
        ),
        (ACCEPT | {"predictions": [{"outcome": "word", "level": "1", "at-least": "0.6"}]}, "word"),
    ],
)  # fmt: skip
def test_criteria_that_cannot_be_are_refused_before_the_charge(tmp_path, accept, told):
    found = confide("synth", "plan", clinic(tmp_path, accept=accept))
    assert found.code == 7
    assert told in found.err
