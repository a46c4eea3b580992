"""Every command, in this process, on a small clinic."""

import json
import os
import stat

import pytest

from command_line import confide
from confide import __version__
from small_clinic import make_clinic


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    clinic = make_clinic(tmp_path_factory.mktemp("clinic"))
    out = clinic.folder / "out"
    return clinic, out, confide("run", clinic.study, "--out", out, "--json")


def test_version_names_the_program_and_its_version():
    assert confide("--version").out == f"confide {__version__}\n"


def test_no_command_prints_the_help():
    ran = confide()
    assert ran.code == 0
    assert "Usage: confide" in ran.out
    assert "5 budget would be exceeded" in " ".join(ran.out.split())


def test_init_makes_files_that_plan_without_any_data(tmp_path):
    ran = confide("init", tmp_path / "site", "--json")
    assert ran.json["schema"] == "confide.init/1"
    assert ran.json["made"] == ["dataset.yaml", "study.yaml"]
    plan = confide("plan", tmp_path / "site" / "study.yaml", "--json")
    assert plan.code == 0
    assert plan.json["fits"] is True


def test_init_makes_secret_keys_in_a_closed_folder(tmp_path):
    confide("init", tmp_path / "site")
    inside = tmp_path / "site" / ".confide"
    assert stat.S_IMODE(inside.stat().st_mode) == 0o700
    for name in ("signing.key", "hash.key"):
        assert stat.S_IMODE((inside / name).stat().st_mode) == 0o600


def test_init_never_writes_over_a_file(tmp_path):
    (tmp_path / "study.yaml").write_text("mine")
    ran = confide("init", tmp_path, "--json")
    assert ran.json["kept"] == ["study.yaml"]
    assert (tmp_path / "study.yaml").read_text() == "mine"


def test_init_declares_the_named_columns_and_does_not_open_the_source(tmp_path):
    source = tmp_path / "data.parquet"
    os.mkfifo(source)  # opening it would wait for ever
    names = ("--id", "pid", "--columns", "age, sex")
    ran = confide("init", tmp_path / "site", "--source", source, *names)
    assert ran.code == 0
    text = (tmp_path / "site" / "dataset.yaml").read_text()
    assert "kind: parquet" in text
    assert "      age: {kind: text}" in text
    assert confide("plan", tmp_path / "site" / "study.yaml").code == 0


def test_init_refuses_a_name_that_is_no_name(tmp_path):
    ran = confide("init", tmp_path / "site", "--columns", "age: {x}")
    assert ran.code == 7
    assert not (tmp_path / "site").exists()


def test_describe_writes_a_data_set_that_reads_back(tmp_path):
    ran = confide("describe", "--model", "omop", "--until", "2026-10-31", "--measurements", "all")
    (tmp_path / "dataset.yaml").write_text(ran.out)
    (tmp_path / "study.yaml").write_text(
        "study: {id: s}\n"
        "statistics:\n"
        "  - {id: sex, kind: histogram, table: person, by: [sex], error: {within: 20}}\n"
        "  - {id: hba1c, kind: mean, table: hba1c, column: value,\n"
        "     per-patient: {rows: 1}, expect: {count: 500}, error: {within: 1}}\n"
    )
    plan = confide("plan", tmp_path / "study.yaml", "--json")
    assert plan.code == 0, plan.err
    assert len(plan.json["measurements"]) == 3


@pytest.mark.parametrize(
    "blocked", ["source_value", "birth_datetime", "zip", "value_as_string", "note_text"]
)
def test_describe_leaves_identifying_columns_out(blocked):
    assert blocked not in confide("describe", "--model", "omop", "--measurements", "all").out


def test_described_tables_are_the_declared_ones():
    import datetime as dt

    from confide.files.dataset import declare
    from confide.files.dataset_text import dataset_text
    from confide.files.yaml_text import parse_yaml
    from confide.rows.clinical_ranges import clinical_ranges
    from confide.rows.sources.omop import measurement_table

    days = {"since": dt.date(2010, 1, 1), "until": dt.date(2026, 10, 31)}
    tables = tuple(measurement_table(each, **days) for each in clinical_ranges())
    text = dataset_text(tables, id="x", kind="omop", version="5.4", path="x")
    from pathlib import Path

    assert declare(parse_yaml(text, name="x"), path=Path("x")).dataset.tables == tables


def test_plan_shows_sensitivity_noise_error_cost_caps_and_odds_without_the_data(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "160")  # so that no phrase is broken over two lines
    clinic = make_clinic(tmp_path)
    (tmp_path / "patients.csv").unlink()
    ran = confide("plan", clinic.study, "--why")
    assert ran.code == 0
    for word in ("diabetes: The count", "1 patient", "discrete Gaussian", "±20 patients (95 %)"):
        assert word in ran.out
    for word in (
        "count: because a patient keeps",
        "free after",
        "calendar year",
        "1 in 100 outsiders",
    ):
        assert word in ran.out


def test_plan_as_json_has_a_versioned_schema(tmp_path):
    body = confide("plan", make_clinic(tmp_path).study, "--json").json
    assert body["schema"] == "confide.plan/1"
    assert {"study", "digest", "loss", "measurements", "statistics", "caps", "fits"} <= body.keys()
    assert len(body["digest"]) == 64
    assert body["measurements"][0]["sensitivity"]["because"]
    assert body["loss"]["odds"]


def test_run_leaves_report_certificate_tables_figures_and_methods(released):
    _, out, ran = released
    assert ran.code == 0
    for name in ("report.html", "certificate.json", "noisy.json", "methods.md"):
        assert (out / name).stat().st_size > 100
    assert (out / "tables" / "by_sex.csv").exists()
    assert (out / "figures" / "by_sex.svg").exists()
    assert ran.json["schema"] == "confide.run/1"
    assert ran.json["charged"] is True
    assert ran.json["verifies"] is True


def test_run_again_delivers_the_same_bytes_and_charges_nothing(released):
    clinic, out, _ = released
    before = (out / "noisy.json").read_bytes()
    spent = confide("ledger", "show", clinic.dataset, "--json").json["caps"]
    again = confide("run", clinic.study, "--out", out, "--json")
    assert again.json["charged"] is False
    assert (out / "noisy.json").read_bytes() == before
    assert confide("ledger", "show", clinic.dataset, "--json").json["caps"] == spent


def test_run_with_another_request_needs_another_place_and_charges_again(tmp_path):
    clinic = make_clinic(tmp_path / "site")
    confide("run", clinic.study, "--out", tmp_path / "a")
    refused = confide("run", clinic.study, "--out", tmp_path / "a", "--request", "march")
    assert refused.code == 7
    assert "nothing was charged" in refused.err
    fresh = confide("run", clinic.study, "--out", tmp_path / "b", "--request", "march", "--json")
    assert fresh.json["charged"] is True
    assert (tmp_path / "a/noisy.json").read_bytes() != (tmp_path / "b/noisy.json").read_bytes()


def test_run_refuses_a_place_in_use_before_anything_is_charged(tmp_path):
    clinic = make_clinic(tmp_path / "site")
    ran = confide("run", clinic.study, "--out", tmp_path / "site")
    assert ran.code == 7
    assert confide("ledger", "show", clinic.dataset, "--json").json["entries"] == []


def test_show_prints_the_published_numbers(released):
    _, out, _ = released
    ran = confide("show", out, "--json")
    assert ran.json["schema"] == "confide.show/1"
    assert [table["id"] for table in ran.json["tables"]] == ["diabetes", "by_sex"]
    printed = confide("show", out, "--only", "by_sex").out
    assert "female" in printed
    assert "diabetes" not in printed


def test_verify_ticks_every_check_and_names_a_signer_nobody_pinned(released):
    _, out, _ = released
    ran = confide("verify", out / "certificate.json")
    assert ran.code == 0
    assert "✓ signature" in ran.out
    assert "✗" not in ran.out
    assert "which you have not pinned" in ran.out


def test_verify_with_a_pinned_key_says_so(released):
    clinic, out, _ = released
    key = clinic.folder / ".confide" / "signing.pub"
    ran = confide("verify", out, "--key", key, "--json")
    assert ran.json["schema"] == "confide.verify/1"
    assert ran.json["holds"] is True
    assert ran.json["pinned"] is True


def test_ledger_show_lists_the_request(released):
    clinic, _, ran = released
    body = confide("ledger", "show", clinic.dataset, "--json").json
    assert body["schema"] == "confide.ledger/1"
    assert [entry["state"] for entry in body["entries"]] == ["published"]
    assert body["entries"][0]["request"] == ran.json["request"]
    assert body["entries"][0]["study"] == "first"
    assert "published" in confide("ledger", "show", clinic.dataset).out


def test_ledger_verify_finds_a_whole_chain(released):
    clinic, _, _ = released
    assert confide("ledger", "verify", clinic.dataset, "--json").json["holds"] is True


def test_caps_that_changed_are_refused_until_an_officer_takes_them(tmp_path):
    clinic = make_clinic(tmp_path)
    assert confide("run", clinic.study, "--out", tmp_path / "out").code == 0
    lower = clinic.dataset.read_text().replace("calendar-year: {epsilon: 3}, ", "")
    clinic.dataset.write_text(lower)
    assert confide("plan", clinic.study).code == 3
    reason = ("--reason", "ethics board, 4 May")
    assert confide("ledger", "amend-caps", clinic.dataset, *reason).code == 0
    assert confide("plan", clinic.study).code == 0


def test_explain_says_what_an_epsilon_means_as_odds():
    ran = confide("explain", "epsilon", "0.5", "--delta", "1e-6", "--json")
    assert ran.json["schema"] == "confide.explain/1"
    assert any("1 in 100 outsiders" in sentence for sentence in ran.json["sentences"])
    assert "Other values of ε" in confide("explain").out


def test_explain_refuses_what_is_no_loss():
    assert confide("explain", "epsilon", "much").code == 7
    assert confide("explain", "epsilon", "0").code == 7


def test_explain_tells_a_plan_and_a_certificate(released):
    clinic, out, _ = released
    assert confide("explain", "plan", clinic.study, "--json").json["tables"]
    assert confide("explain", "certificate", out, "--json").json["tables"]


def test_progress_names_stages_on_stderr_and_quiet_drops_it(tmp_path):
    clinic = make_clinic(tmp_path / "site")
    loud = confide("run", clinic.study, "--out", tmp_path / "out")
    assert "Adding noise" in loud.err
    assert "Adding noise" not in loud.out
    assert confide("run", clinic.study, "--out", tmp_path / "out", "--quiet").err == ""


def test_json_is_the_only_thing_on_stdout(released):
    _, out, _ = released
    for words in (("show", out), ("verify", out)):
        assert json.loads(confide(*words, "--json").out)["schema"].startswith("confide.")


def test_labels_cannot_command_the_terminal(tmp_path):
    clinic = make_clinic(tmp_path)
    clinic.study.write_text(
        'study: {id: s, title: "\\e[2Jgone[bold]"}\n'
        "statistics: [{id: n, kind: count, table: patients, error: {within: 20}}]\n"
    )
    out = confide("plan", clinic.study).out
    assert "\x1b" not in out
    assert "\\x1b[2Jgone[bold]" in out
