"""What a check finds goes to the steward's screen: no plan, release, ledger or workspace has it."""

import json
import re

import pytest

import confide
from command_line import confide as command
from mistakes import GOOD, MISTAKES, required

BY_NAME = {each.name: each for each in MISTAKES}
SPELLED = BY_NAME["capitals of a category"]


def stored(folder):
    """The content of every file of a workspace, by name; keys differ between two."""
    inside = folder / ".confide"
    return {
        str(path.relative_to(inside)): path.read_bytes()
        for path in inside.rglob("*")
        if path.is_file() and not path.name.startswith(("signing.", "hash."))
    }


def test_a_check_keeps_nothing_but_that_it_ended(tmp_path):
    dataset = SPELLED.store(tmp_path)
    assert command("check", dataset, "-q").code == 0
    made = stored(tmp_path)
    assert re.fullmatch(rb"[0-9a-f]{64}\n", made["checked"])
    assert (tmp_path / ".confide" / "checked").stat().st_mode & 0o777 == 0o600
    assert not any(b"Female" in each for each in made.values())


def test_the_mark_of_a_check_is_the_same_whatever_it_found(tmp_path, monkeypatch):
    from confide.rows.checked.check_source import SourceCheck
    from confide.rows.checked.findings import CheckedSource

    dataset = SPELLED.store(tmp_path)
    command("check", dataset, "-q")
    dirty = stored(tmp_path)["checked"]
    nothing = CheckedSource(tables=(), findings=())
    monkeypatch.setattr(SourceCheck, "checked", lambda *_, **__: nothing)
    command("check", dataset, "-q")
    assert stored(tmp_path)["checked"] == dirty


def test_plan_and_release_are_the_same_before_and_after_a_check(tmp_path):
    dataset = SPELLED.store(tmp_path)
    study = tmp_path / "study.yaml"
    before = command("plan", study, "--json").json
    command("check", dataset, "-q")
    assert command("plan", study, "--json").json == before
    ran = command("run", study, "--out", tmp_path / "out")
    assert ran.code == 0
    texts = [p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()]
    texts += [ran.out.encode(), ran.err.encode(), *stored(tmp_path).values()]
    assert not any(b"Female" in each or b"capitals of" in each for each in texts)


def test_it_says_that_what_it_prints_is_no_release(tmp_path):
    dataset = SPELLED.store(tmp_path)
    ran = command("check", dataset)
    assert "exact and for you alone: they are no release" in ran.err
    assert "for the steward alone" in ran.out
    assert '→ categories: {..., "Female": "female", "Male": "male"}' in ran.out
    told = command("check", dataset, "--json", "-q").json
    assert told["schema"] == "confide.check/1"
    assert "no part of a release" in told["secret"]


@pytest.mark.parametrize("mistake", [GOOD, SPELLED], ids=["clean", "dirty"])
def test_a_source_that_has_to_be_checked_is_refused_free_until_somebody_did(mistake, tmp_path):
    """Clean or dirty alike: it tells whether somebody looked, and nothing else."""
    dataset = required(mistake).store(tmp_path)
    run = ("run", tmp_path / "study.yaml", "--out", tmp_path / "out", "--json")
    refused = command(*run)
    assert (refused.code, refused.json["hint"]) == (7, "The steward runs: confide check")
    with confide.open(dataset) as ws:
        assert all(use.used == 0 for use in ws.spent().scopes)
    command("check", dataset, "-q")
    assert command(*run).code == 0


def test_a_mark_of_other_files_or_other_tables_is_none(tmp_path):
    dataset = required(GOOD).store(tmp_path)
    run = ("run", tmp_path / "study.yaml", "--out", tmp_path / "out")
    command("check", dataset, "-q")
    text = dataset.read_text()
    dataset.write_text(text.replace("[female, male]", "[female, male, other]"))
    assert command(*run).code == 7
    dataset.write_text(text)
    data = tmp_path / "data" / "patients.csv"
    data.write_bytes(data.read_bytes() + b"p999,male,Ulm,30,60,50.5,2020-01-01\n")
    assert command(*run).code == 7


def test_a_run_says_before_the_charge_that_nobody_checked_and_is_silent_after(tmp_path):
    dataset = GOOD.store(tmp_path)
    said = command("run", tmp_path / "study.yaml", "--out", tmp_path / "out").err.splitlines()
    warned = [place for place, line in enumerate(said) if "Nobody checked the source" in line]
    assert warned == [0]
    command("check", dataset, "-q")
    again = command("run", tmp_path / "study.yaml", "--out", tmp_path / "other", "--request", "b")
    assert "Nobody checked" not in again.err


def touched(dataset):
    """Write the source anew, so that nobody has checked it as it is."""
    rows = dataset.parent / "data" / "patients.csv"
    rows.write_text(rows.read_text() + "\n")


def test_what_is_stored_is_delivered_free_though_nobody_checked_the_source_as_it_is(tmp_path):
    dataset = required(GOOD).store(tmp_path)
    run = ("run", tmp_path / "study.yaml", "--out")
    command("check", dataset, "-q")
    first = command(*run, tmp_path / "out", "--json").json
    assert first["charged"]
    touched(dataset)
    again = command(*run, tmp_path / "again", "--json")
    assert again.code == 0
    assert (again.json["id"], again.json["charged"]) == (first["id"], False)
    assert "Nobody checked" not in again.err
    assert command(*run, tmp_path / "other", "--request", "another").code == 7


def test_every_kind_of_source_can_be_checked(tmp_path):
    import duckdb

    dataset = GOOD.store(tmp_path)
    csv, text = tmp_path / "data" / "patients.csv", dataset.read_text()
    for kind, ending in (("parquet", "parquet"), ("duckdb", "duckdb")):
        rows = tmp_path / f"rows.{ending}"
        with duckdb.connect(str(rows) if kind == "duckdb" else ":memory:") as connection:
            read = f"SELECT * REPLACE (upper(sex) AS sex) FROM '{csv}'"
            if kind == "duckdb":
                connection.execute(f"CREATE TABLE patients AS {read}")
            else:
                connection.execute(f"COPY ({read}) TO '{rows}'")
        named = text.replace("kind: csv, path: data", f"kind: {kind}, path: {rows.name}")
        place = "patients" if kind == "duckdb" else rows.name
        dataset.write_text(named.replace("from: patients.csv", f"from: {place}"))
        told = command("check", dataset, "--json", "-q").json
        (found,) = told["findings"]
        assert (found["column"], found["what"], found["cells"]) == (
            "sex", "capitals of a category", 60
        )  # fmt: skip


def test_tables_in_memory_are_not_checked_and_need_not_be(tmp_path):
    text = GOOD.declared.replace("kind: csv, path: data", "kind: frames")
    (tmp_path / "dataset.yaml").write_text(text)
    ran = command("check", tmp_path / "dataset.yaml", "--json")
    assert ran.code == 7
    assert json.loads(ran.out)["hint"] == "Store them as Parquet first."


def test_a_job_over_such_a_source_is_refused_too(tmp_path, monkeypatch):
    from confide.jobs import kinds
    from confide.service.releasing.jobs import planned, run_job
    from counting_job import KIND, Counting

    monkeypatch.setattr(kinds, "KINDS", (*kinds.KINDS, KIND))
    mistake = required(GOOD)
    dataset = mistake.store(tmp_path)
    dataset.write_text(mistake.declared.replace("  patients:\n", "  people:\n"))
    job = Counting(rows=2)
    with confide.open(dataset) as ws:
        with pytest.raises(confide.errors.ContractError, match="nobody checked it"):
            run_job(ws, job, plan=planned(ws, job))
        assert all(use.used == 0 for use in ws.spent().scopes)
    command("check", dataset, "-q")
    with confide.open(dataset) as ws:
        first = run_job(ws, job, plan=planned(ws, job))
    touched(dataset)
    with confide.open(dataset) as ws:
        again = run_job(ws, job, plan=planned(ws, job))
        assert again.certificate == first.certificate
        with pytest.raises(confide.errors.ContractError, match="nobody checked it"):
            run_job(ws, job, plan=planned(ws, job), request="another")


def test_a_job_in_parts_that_is_stored_is_delivered_and_a_new_one_refused(tmp_path, monkeypatch):
    from confide.jobs import kinds
    from confide.service.releasing.jobs import planned, run_in_parts
    from counting_job import KIND, ThreeParts

    monkeypatch.setattr(kinds, "KINDS", (*kinds.KINDS, KIND))
    mistake = required(GOOD)
    dataset = mistake.store(tmp_path)
    dataset.write_text(mistake.declared.replace("  patients:\n", "  people:\n"))
    job = ThreeParts()

    def run(request):
        with confide.open(dataset) as ws:
            return run_in_parts(ws, job, plan=planned(ws, job), runner=job, request=request)

    command("check", dataset, "-q")
    first = run("one")
    touched(dataset)
    assert run("one").certificate == first.certificate
    with pytest.raises(confide.errors.ContractError, match="nobody checked it"):
        run("two")


GROWING = """\
study: {id: g, title: By day, purpose: test}
statistics:
  - {id: n, kind: running-counts, over: admitted, since: 2020-01-01, until: 2020-01-31,
     through: 2020-01-%02d, per-patient: {cells: 1, rows: 1}}
spend: {at-most: {epsilon: 1}}
"""


def test_periods_that_are_stored_are_delivered_and_later_ones_refused(tmp_path):
    dataset, study = required(GOOD).store(tmp_path), tmp_path / "study.yaml"
    zcdp = dataset.read_text().replace("measure: pure", "measure: zcdp, delta: 1e-6")
    dataset.write_text(re.sub(" *rows-per-patient: 1\n", "", zcdp))
    study.write_text(GROWING % 10)
    command("check", dataset, "-q")
    assert command("run", study, "--out", tmp_path / "out", "-q").code == 0
    touched(dataset)
    assert command("advance", study, "--out", tmp_path / "again", "-q").code == 0
    study.write_text(GROWING % 20)
    later = command("advance", study, "--out", tmp_path / "later", "-q")
    assert (later.code, "nobody checked it" in later.err) == (7, True)
    command("check", dataset, "-q")
    assert command("advance", study, "--out", tmp_path / "later", "-q").code == 0
