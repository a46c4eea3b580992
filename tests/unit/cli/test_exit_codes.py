"""Errors are one line, a hint and an exit code; never a traceback."""

import re
import subprocess
import sys
import time

import pytest

import confide as package
from command_line import confide
from confide.cli.border import exit_code
from confide.errors import (
    BudgetExhaustedError,
    BurnedError,
    ContractError,
    EngineError,
    LedgerFrozenError,
    MissingExtraError,
    PolicyError,
    ReleaseFailedError,
    UnknownNameError,
    VerificationError,
)
from small_clinic import CANARY, make_clinic


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ContractError("x"), 7),
        (UnknownNameError("column", "x", known=[]), 7),
        (PolicyError("x"), 3),
        (BurnedError("x"), 3),
        (BudgetExhaustedError("x", cap="c", requested=1, remaining=0), 5),
        (VerificationError("x"), 6),
        (LedgerFrozenError("x"), 6),
        (MissingExtraError("x", extra="demo"), 2),
        (ReleaseFailedError("1"), 1),
        (EngineError("x"), 1),
    ],
)
def test_each_kind_of_error_has_its_exit_code(error, code):
    assert exit_code(error) == code


@pytest.mark.parametrize("words", [("plam",), ("plan",), ("run", "x"), ("plan", "x", "--foo")])
def test_usage_errors_are_two_lines_that_name_the_help(words):
    ran = confide(*words)
    assert ran.code == 2
    assert ran.err.count("\n") == 2
    assert "--help" in ran.err


def test_a_missing_study_breaks_its_contract_and_says_what_to_do(tmp_path):
    ran = confide("plan", tmp_path / "study.yaml", "--json")
    assert ran.code == 7
    assert ran.json["schema"] == "confide.error/1"
    assert ran.json["hint"].endswith("make one: confide init FOLDER")


def test_a_study_that_passes_a_cap_exits_with_5_and_charges_nothing(tmp_path):
    clinic = make_clinic(tmp_path)
    text = clinic.study.read_text().replace("within: 20", "within: 2")
    clinic.study.write_text(text)
    plan = confide("plan", clinic.study, "--json")
    assert plan.code == 5
    assert plan.json["fits"] is False
    ran = confide("run", clinic.study, "--out", tmp_path / "out")
    assert ran.code == 5
    assert "remaining ρ=" in ran.err
    assert not (tmp_path / "out").exists()
    body = confide("ledger", "show", clinic.dataset, "--json").json
    assert [cap["spent"] for cap in body["caps"]] == ["0"] * 4


def test_a_changed_table_does_not_verify_and_is_not_shown(tmp_path):
    clinic = make_clinic(tmp_path)
    confide("run", clinic.study, "--out", tmp_path / "out")
    table = tmp_path / "out" / "tables" / "by_sex.csv"
    table.write_text(table.read_text().replace("male", "mail"))
    ran = confide("verify", tmp_path / "out")
    assert ran.code == 6
    assert "✗ tables/by_sex.csv: was changed" in ran.out
    assert confide("show", tmp_path / "out").code == 6


def test_another_signer_than_the_pinned_one_does_not_verify(tmp_path):
    clinic, other = make_clinic(tmp_path / "a"), make_clinic(tmp_path / "b")
    confide("run", clinic.study, "--out", tmp_path / "out")
    confide("plan", other.study)
    key = other.folder / ".confide" / "signing.pub"
    assert confide("verify", tmp_path / "out", "--key", key).code == 6


def test_a_frozen_ledger_exits_with_6_until_an_officer_unfreezes_it(tmp_path):
    clinic = make_clinic(tmp_path)
    confide("run", clinic.study, "--out", tmp_path / "out")
    ledger = clinic.folder / ".confide" / "ledger.sqlite"
    old = ledger.read_bytes()
    confide("run", clinic.study, "--out", tmp_path / "two", "--request", "two")
    ledger.write_bytes(old)  # an older copy was put back
    assert confide("plan", clinic.study).code == 6
    assert confide("ledger", "verify", clinic.dataset).code == 6
    assert confide("ledger", "unfreeze", clinic.dataset, "--reason", "restored by hand").code == 0
    assert confide("plan", clinic.study).code == 0


def test_a_deleted_ledger_is_restored_and_not_unfrozen(tmp_path):
    clinic = make_clinic(tmp_path)
    confide("run", clinic.study, "--out", tmp_path / "out")
    ledger = clinic.folder / ".confide" / "ledger.sqlite"
    kept = ledger.read_bytes()
    ledger.unlink()
    for words in (("plan", clinic.study), ("ledger", "show", clinic.dataset)):
        ran = confide(*words)
        assert ran.code == 6
        assert "missing or empty, though the anchor knows them" in ran.err
        assert "confide ledger restore" in ran.err
        assert "unfreeze" not in ran.err
    assert confide("ledger", "unfreeze", clinic.dataset, "--reason", "anew").code == 6
    ledger.write_bytes(kept)
    assert confide("plan", clinic.study).code == 0


def test_caps_may_be_edited_until_the_first_charge_and_then_are_named(tmp_path):
    clinic = make_clinic(tmp_path)
    assert confide("plan", clinic.study).code == 0
    text = clinic.dataset.read_text()
    lifetime = re.compile(r"lifetime: \{epsilon: [0-9.]+\}")
    clinic.dataset.write_text(lifetime.sub("lifetime: {epsilon: 7}", text))
    assert confide("run", clinic.study, "--out", tmp_path / "out").code == 0
    clinic.dataset.write_text(lifetime.sub("lifetime: {epsilon: 9}", text))
    ran = confide("plan", clinic.study)
    assert ran.code == 3
    assert "other caps: lifetime " in ran.err
    assert "confide ledger amend-caps" in ran.err
    assert confide("ledger", "amend-caps", clinic.dataset, "--reason", "board").code == 0
    assert confide("plan", clinic.study).code == 0


def test_a_file_that_cannot_be_used_is_named_without_its_folder(tmp_path):
    clinic = make_clinic(tmp_path)
    (tmp_path / "plain").write_text("")
    ran = confide("run", clinic.study, "--out", tmp_path / "plain" / "out")
    assert ran.code == 2
    assert "Cannot use plain" in ran.err
    assert str(tmp_path) not in ran.err


def test_a_bug_shows_an_incident_and_keeps_its_text_in_a_private_log(tmp_path, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError(CANARY)

    monkeypatch.setattr("confide.files.study.read_yaml", broken)
    ran = confide("plan", make_clinic(tmp_path).study)
    assert ran.code == 1
    assert CANARY not in ran.out + ran.err
    assert "Traceback" not in ran.out + ran.err
    log = tmp_path / "state" / "confide" / "incidents.log"
    assert CANARY in log.read_text()
    assert log.stat().st_mode & 0o077 == 0
    incident = ran.err.partition("incident ")[2].partition(")")[0]
    assert incident in log.read_text()


def _run(*words):
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=60, check=False
    )
    return done, time.perf_counter() - begin


def test_the_module_runs_as_a_program_and_starts_fast(record_property):
    help_, took = _run("-m", "confide", "--help")
    assert help_.returncode == 0
    assert "Usage: confide" in help_.stdout
    record_property("confide_help_seconds", round(took, 3))
    wrong, _ = _run("-m", "confide", "nonsense")
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr


def test_help_loads_no_engine_and_no_numbers():
    code = (
        "import sys, confide.cli; confide.cli.app; "
        "print([m for m in ('numpy', 'duckdb', 'pydantic', 'altair', 'sqlglot', 'cryptography') "
        "if m in sys.modules])"
    )
    done, _ = _run("-c", code)
    assert done.stdout.strip() == "[]", done.stderr


def test_importing_the_package_loads_nothing_heavy(record_property):
    done, took = _run("-c", "import sys, confide; print('numpy' in sys.modules)")
    record_property("import_confide_seconds", round(took, 3))
    assert done.stdout.strip() == "False"
    assert package.__version__


@pytest.mark.parametrize("level", ["0", "1", "2", "-0.5"])
def test_a_level_that_is_no_probability_is_refused_before_anything_is_charged(tmp_path, level):
    clinic = make_clinic(tmp_path)
    clinic.study.write_text(
        "study: {id: s}\n"
        f"statistics: [{{id: n, kind: count, table: patients, level: {level}}}]\n"
        "spend: {at-most: {epsilon: 0.1}}\n"
    )
    ran = confide("run", clinic.study, "--out", tmp_path / "out")
    assert ran.code == 7
    assert "between 0 and 1" in ran.err


def test_a_refusal_under_zcdp_is_told_in_epsilon_too(tmp_path):
    clinic = make_clinic(tmp_path)
    text = clinic.dataset.read_text()
    clinic.dataset.write_text(text.replace("release: {epsilon: 1}", "release: {epsilon: 0.01}"))
    ran = confide("run", clinic.study, "--out", tmp_path / "out")
    assert ran.code == 5
    assert re.search(r"in ε: requested 0\.\d+, remaining 0\.01;", ran.err)
    assert "split the study" not in ran.err


def test_a_second_delivery_names_the_snapshot(tmp_path):
    clinic = make_clinic(tmp_path)
    confide("run", clinic.study, "--out", tmp_path / "out")
    assert (
        "Delivered again from snapshot '1'"
        in confide("run", clinic.study, "--out", tmp_path / "out").out
    )
