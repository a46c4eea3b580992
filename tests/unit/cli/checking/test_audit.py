"""The audit, as a command."""

from importlib.util import find_spec

import pytest

from command_line import confide
from confide.attacks.audit.run import _parts
from confide.files.audit_results import read_audit
from confide.noise.entropy import SystemEntropy
from confide.tables.aggregates.descent_terms import Family

there = find_spec("confide.attacks.audit.run") is not None


@pytest.mark.skipif(there, reason="this build has the audit")
def test_a_build_without_the_audit_says_so():
    ran = confide("audit", "--quick")
    assert ran.code == 7
    assert "no audit" in ran.err


@pytest.mark.skipif(not there, reason="this build has no audit")
def test_only_attacks_the_part_that_is_named():
    ran = confide("audit", "--quick", "--only", "logistic", "--json")
    assert ran.json["schema"] == "confide.audit/1"
    names = [check["name"] for check in ran.json["checks"]]
    assert names[:2] == [
        "logistic model in rounds, all answers together",
        "logistic model in rounds, a canary patient",
    ]
    assert ran.json["holds"] is True
    both = confide("audit", "model", "--quick", "--only", "sensitivity of a logistic", "--json")
    together = [name for name in names if name.endswith("all answers together")]
    assert [check["name"] for check in both.json["checks"]] == together
    assert confide("audit", "--only", "nothing like it").code == 7
    assert confide("audit", "nothing like it").code == 7


@pytest.mark.skipif(not there, reason="this build has no audit")
def test_audit_model_attacks_models_and_draws_whom_the_attack_finds(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")  # so that no name is broken over two lines
    ran = confide("audit", "model", "--quick", "--only", "membership", "--out", str(tmp_path / "a"))
    assert ran.code == 0
    assert "membership attack on a model in rounds" in ran.out
    assert {file.name for file in (tmp_path / "a").iterdir()} == {
        "audit.json",
        "membership.svg",
        "membership.png",
    }
    told = read_audit(tmp_path / "a" / "audit.json")
    assert told.holds
    assert told.checks == (("L6", 2),)
    drawn = (tmp_path / "a" / "membership.svg").read_text("utf-8")
    assert "the most that ε = 1, δ = 1e-6 allows" in drawn
    assert confide("audit", "--out", str(tmp_path / "a" / "audit.json")).code == 7


def test_the_parts_that_audit_model_runs_are_those_of_models():
    named = [name for name, _ in _parts(quick=True, entropy=SystemEntropy()) if "model" in name]
    for family in Family:
        assert sum(family.value in name for name in named) >= 2
    assert any("canaries" in name for name in named)
    assert any("membership" in name for name in named)
