"""``confide synth``: planned for free, charged once, resumable, and refused before the charge."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import confide as product
from command_line import confide
from confide.errors import ContractError, VerificationError
from confide.service.releasing.jobs import planned, run_job
from counting_job import Counting
from counting_job import clinic as another
from pages import ROOT
from synth_clinic import ASKED, clinic


def ran(folder, *words, **given):
    return confide("synth", "run", clinic(folder, **given), "--out", folder / "out", *words)


@pytest.mark.parametrize("measure", ["pure", "zcdp", "mixed"])
def test_a_synthesis_costs_what_it_was_planned_at_and_verifies(tmp_path, measure, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # heads of a table in one line
    file = clinic(tmp_path, measure=measure, lifetime="1", target="died")
    planned = confide("synth", "plan", file, "--json")
    assert planned.code == 0
    made = confide("synth", "run", file, "--out", tmp_path / "out", "--json")
    assert (made.code, made.json["charged"], made.json["verifies"]) == (0, True, True)
    assert made.json["loss"] == planned.json["loss"]
    assert float(made.json["loss"]["epsilon"]) <= 1
    checked = confide("verify", tmp_path / "out", "--ledger", tmp_path / "dataset.yaml", "--json")
    assert (checked.code, checked.json["holds"], checked.json["rebuilt"]) == (0, True, True)
    again = confide("synth", "plan", file, "--json").json
    assert again["released"]
    shown = confide("ledger", "show", tmp_path / "dataset.yaml").out
    assert ", part 2" in shown
    assert "\N{SYMBOL FOR UNIT SEPARATOR}" not in shown
    over = clinic(tmp_path, measure=measure, lifetime="1", rows="3001")
    refused = confide("synth", "plan", over)
    assert refused.code == 5
    assert "free after" in refused.out
    assert "what is free" in refused.err
    assert confide("synth", "run", over, "--out", tmp_path / "more").code == 5
    assert not (tmp_path / "more").exists()


def test_a_plan_states_the_noise_that_each_table_will_have(tmp_path):
    file = clinic(tmp_path, lifetime="1")
    told = {each["name"]: each for each in confide("synth", "plan", file, "--json").json["noise"]}
    ran(tmp_path, lifetime="1")
    made = json.loads((tmp_path / "out" / "marginals.json").read_text())
    assert told["tables"]["uses"] == len(made["tables"]) > 1
    for name in ("one_ways", "tables"):
        deviation = float(made["variance_of_a_cell"][name]) ** 0.5
        stated = told[name.replace("_", "-")]["mechanism"].rpartition(" ")[2]
        assert float(stated) == pytest.approx(deviation, rel=0.01)


def test_the_folder_says_what_is_synthetic_and_what_was_measured_together(tmp_path):
    made = ran(tmp_path, "--json", together=[["stage", "sex", "died"]])
    out = tmp_path / "out"
    table = csv.read_csv(out / "synthetic.csv")
    assert table.column_names == ASKED["columns"]
    assert table.num_rows == made.json["rows"]
    assert abs(table.num_rows - 3000) < 300
    first = pq.read_table(out / "synthetic-001.parquet")
    assert first.num_rows == 5 * table.num_rows
    assert first.schema.metadata[b"confide"] == b"synthetic: no row is a patient"
    assert len(list(out.glob("synthetic-*.parquet"))) == 5
    notes = json.loads((out / "synthetic.json").read_text())
    assert ["sex", "stage", "died"] in notes["measured-together"]
    model = json.loads((out / "synthetic-model.json").read_text())
    assert all(abs(sum(each["chances"]) - 1) < 1e-4 for each in model["cliques"])
    page = (out / "report.html").read_text()
    assert "no row is a patient" in page
    assert "What it is not fit for" in page
    assert "sex × stage × died" in page


def test_running_it_again_is_free_and_gives_the_same_tables(tmp_path):
    ran(tmp_path)
    again = confide(
        "synth", "run", tmp_path / "synth.yaml", "--out", tmp_path / "again", "--json", "--parquet"
    )
    assert again.json["charged"] is False
    one, other = (tmp_path / each / "synthetic-003.parquet" for each in ("out", "again"))
    assert one.read_bytes() == other.read_bytes()
    table = csv.read_csv(tmp_path / "out" / "synthetic.csv")
    assert (
        pq.read_table(tmp_path / "again" / "synthetic.parquet")["stage"].to_pylist()
        == table["stage"].to_pylist()
    )


@pytest.mark.parametrize("at", ["choice1", "tables1", "rows1"])
def test_one_that_was_killed_goes_on_at_no_charge(tmp_path, at):
    file = clinic(tmp_path, lifetime="1", tables="2")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    words = [sys.executable, Path(__file__).parent / "synth_worker.py", tmp_path, at]
    died = subprocess.run([*words, tmp_path / "out"], env=environment, check=False)
    assert died.returncode == -signal.SIGKILL
    seen = confide("synth", "plan", file, "--json").json
    assert (seen["begun"], seen["released"], seen["fits"]) == (True, at == "rows1", True)
    for out in ("out", "again", "out"):
        assert confide("synth", "run", file, "--out", tmp_path / out).code == 0
    for name in ("marginals.json", "synthetic.csv", "synthetic-002.parquet"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert confide("verify", tmp_path / "out", "--ledger", tmp_path / "dataset.yaml").code == 0
    # The cap is what one synthesis costs, so a second charge would have been refused.


def test_a_folder_of_another_release_is_refused_before_the_charge(tmp_path):
    ran(tmp_path)
    other = clinic(tmp_path, rows="2999")
    found = confide("synth", "run", other, "--out", tmp_path / "out")
    assert found.code == 7
    assert "nothing was charged" in found.err
    assert confide("synth", "run", other, "--out", tmp_path / ".confide" / "out").code == 7


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"spend": {"epsilon": "0.001"}}, "ρ = "),
        ({"columns": ["sex"]}, "2 to 100 columns, got 1"),
        ({"columns": ["sex", "word"]}, "word"),
        ({"target": "dies"}, "dies"),
        ({"spend": {"epsilon": "1", "share": "0.1"}}, "one of epsilon, rho and share"),
        ({"tables": "1000"}, "at most 100 tables"),
        ({"never": [{"sex": "M", "stage": "V"}]}, "'V'"),
        ({"never": [{"sex": ["F", "M"], "stage": "I"}]}, "stage = I could never be"),
        ({"never": [{"sex": "M"}]}, "2 to 4 different columns"),
        ({"order": [["sex", "age"]]}, "no order"),
        ({"order": [["age"]]}, "two columns"),
        (
            {"columns": {"a": {"of": "age", "bins": ["0", "50"]}, "sex": {"bins": "3"}}},
            "a category already",
        ),
    ],
)
def test_what_cannot_be_made_is_refused_before_the_charge(tmp_path, asked, told):
    file = clinic(tmp_path, **asked)
    for words in (("plan",), ("run", "--out", tmp_path / "out")):
        found = confide("synth", words[0], file, *words[1:])
        assert found.code not in (0, 1)
        assert told in found.err
    assert not (tmp_path / "out").exists()


NUMBER = {"kind": "number", "lower": "0", "upper": "100000"}


def wide(folder, **asked):
    """Write a data set of wide and constant columns; return a synth.yaml of some."""
    file = clinic(folder, **asked)
    dataset = json.loads((folder / "dataset.yaml").read_text())
    columns = dict.fromkeys(("a", "b", "c"), NUMBER) | {"one": {"categories": ["x"]}}
    dataset["tables"] = {"people": {"columns": columns | {"sex": {"categories": ["F", "M"]}}}}
    (folder / "dataset.yaml").write_text(json.dumps(dataset))
    return file


def test_a_domain_of_a_billion_cells_is_refused_with_the_number_that_would_do(tmp_path):
    columns = {name: {"bins": "999"} for name in "abc"}
    found = confide("synth", "plan", wide(tmp_path, columns=columns, target="a", rows="10000000"))
    assert found.code == 7
    assert "997,002,999 cells" in found.err
    assert "tables of at most" in found.err


def test_a_constant_column_is_refused_or_warned_of(tmp_path):
    columns = {"one": {"missing": "leave-out"}, "sex": {}}
    found = confide("synth", "plan", wide(tmp_path, columns=columns))
    assert found.code == 7
    assert "'one' has one level only" in found.err
    found = confide("synth", "plan", wide(tmp_path, columns=["one", "sex"], missing="level"))
    assert found.code == 0
    assert "'one' has one value, or none" in found.err


def test_two_hundred_columns_are_refused_with_how_many_would_do(tmp_path):
    columns = {f"c{i}": {"of": "sex"} for i in range(200)}
    found = confide("synth", "plan", wide(tmp_path, columns=columns))
    assert found.code == 7
    assert "2 to 100 columns, got 200" in found.err


def test_four_wide_columns_together_are_refused_with_the_number_that_would_do(tmp_path):
    columns = {name: {"of": "a", "bins": "100"} for name in ("a", "b", "c", "d")}
    asked = {"columns": columns, "together": [list(columns)], "rows": "10000000"}
    found = confide("synth", "plan", wide(tmp_path, **asked))
    assert found.code == 7
    levels = int(
        re.search(r"4 columns together of at most (\d+) levels", " ".join(found.err.split()))[1]
    )
    for each in columns.values():
        each["bins"] = str(levels)
    enough = {"columns": columns, "spend": {"epsilon": "5"}}
    assert confide("synth", "plan", wide(tmp_path, **(asked | enough))).code == 0


@pytest.mark.parametrize("said", ["cms", {"rule": "opensafely", "noisy": "published"}])
def test_a_house_rule_that_a_synthesis_cannot_keep_is_refused_before_the_charge(tmp_path, said):
    file = clinic(tmp_path, **{"small-cells": said})
    for words in (("plan", file), ("run", file, "--out", tmp_path / "out")):
        found = confide("synth", *words)
        assert found.code == 7
        assert "no house rule is kept by a synthesis" in found.err
    assert confide("synth", "plan", clinic(tmp_path, **{"small-cells": "none"})).code == 0


def test_show_of_a_synthesis_names_its_report(tmp_path):
    ran(tmp_path)
    shown = confide("show", tmp_path / "out")
    assert shown.code == 7
    assert "Read it in out/report.html." in " ".join(shown.err.split())


def test_a_share_of_the_cap_is_what_it_costs(tmp_path):
    file = clinic(tmp_path, measure="pure", lifetime="4", spend={"share": "1/8"})
    assert confide("synth", "plan", file, "--json").json["loss"]["epsilon"] == "0.5000"


@pytest.mark.parametrize("measure", ["pure", "zcdp"])
def test_a_plan_warns_with_the_numbers_that_would_do(tmp_path, measure):
    given = {"measure": measure, "lifetime": "20"}
    found = confide("synth", "plan", clinic(tmp_path, spend={"epsilon": "0.1"}, **given))
    assert found.code == 0
    assert "No target and no columns together" in found.err
    told = re.search(r"with (.*?), or ([\d,]+) rows, it would be at most 0.15", found.err)
    assert told, found.err
    amount = re.match(r"ρ = ([\d.]+)|ε = ([\d.]+)", told[1])
    enough = {"rho": amount[1]} if amount[1] else {"epsilon": amount[2]}
    for better in ({"spend": enough}, {"rows": told[2].replace(",", "")}):
        asked = {"spend": {"epsilon": "0.1"}} | better
        again = confide("synth", "plan", clinic(tmp_path, **asked, **given))
        assert "it would be at most" not in again.err


def test_start_writes_a_file_that_can_be_planned(tmp_path):
    clinic(tmp_path)
    (tmp_path / "synth.yaml").unlink()
    words = ("--columns", "age,sex,died", "--target", "died", "--rows", "3000")
    out = tmp_path / "synth.yaml"
    assert confide("synth", "start", tmp_path / "dataset.yaml", *words, "--out", out).code == 0
    found = confide("synth", "plan", out, "--json").json
    assert [each["name"] for each in found["columns"]] == ["age", "sex", "died"]
    assert found["target"] == "died"
    two = json.loads((tmp_path / "dataset.yaml").read_text())
    two["tables"]["more"] = {"columns": {"kind": {"categories": ["a", "b"]}}}
    (tmp_path / "two.yaml").write_text(json.dumps(two))
    more = tmp_path / "more.yaml"
    refused = confide("synth", "start", tmp_path / "two.yaml", *words, "--out", more)
    assert refused.code == 7
    assert "--table" in refused.err
    named = ("--table", "people")
    assert confide("synth", "start", tmp_path / "two.yaml", *words, *named, "--out", more).code == 0
    assert 'table: "people"\n' in more.read_text()
    strange = ("--columns", "age,sux", "--rows", "3000", "--out", tmp_path / "other.yaml")
    assert confide("synth", "start", tmp_path / "dataset.yaml", *strange).code == 7
    assert not (tmp_path / "other.yaml").exists()


def test_rules_hold_in_every_row_of_every_table(tmp_path):
    columns = {
        "sex": {},
        "ward": {},
        "since": {"of": "age", "bins": ["0", "30", "60", "100"]},
        "until": {"of": "age", "bins": ["0", "20", "50", "100"]},
    }
    never = [{"sex": "M", "ward": ["A", "C"]}, {"ward": "B", "since": {"from": "0", "to": "29"}}]
    ran(tmp_path, columns=columns, never=never, order=[["since", "until"]])
    out = tmp_path / "out"
    tables = [csv.read_csv(out / "synthetic.csv")]
    tables += [pq.read_table(each) for each in sorted(out.glob("synthetic-*.parquet"))]
    assert len(tables) == 6
    for table in tables:
        for row in table.to_pylist():
            assert (row["sex"], row["ward"]) not in {("M", "A"), ("M", "C")}
            assert row["ward"] != "B" or row["since"] >= 30
            assert row["since"] <= row["until"]


def test_combine_reads_a_folder_and_refuses_one_that_was_changed(tmp_path):
    ran(tmp_path, together=[["stage", "sex", "died"]])
    out = tmp_path / "out"
    found = product.combine(out, product.ShareIn(column="died", value="yes"), tables=5)
    assert found[0].lower < found[0].value < found[0].upper

    def half(table):
        return {"half": (float((table["sex"] == "F").mean()), 0.25 / len(table["sex"]))}

    own = product.AnalysisOf(columns=("sex",), analyse=half)
    assert 0.4 < product.combine(out, own, tables=5)[0].value < 0.6
    with pytest.raises(KeyError):
        product.combine(out, product.AnalysisOf(columns=("ward",), analyse=half), tables=5)
    apart = product.MeanIn(column="age", where={"ward": "A", "stage": "I", "sex": "F"})
    with pytest.raises(ContractError, match="No measured table"):
        product.combine(out, apart, tables=5)
    with pytest.raises(ContractError, match="Unknown column 'aeg'"):
        product.combine(out, product.MeanIn(column="aeg"), tables=5)
    with pytest.raises(ContractError, match="Unknown label of 'died': 'ja'"):
        product.combine(out, product.ShareIn(column="died", value="ja"), tables=5)
    with pytest.raises(ContractError, match="Unknown label of 'sex': 'W'"):
        product.combine(out, product.MeanIn(column="age", where={"sex": "W"}), tables=5)
    with pytest.raises(VerificationError, match="holds no synthesis"):
        product.combine(tmp_path, own, tables=5)
    body = (out / "marginals.json").read_text()
    (out / "marginals.json").write_text(body.replace("1", "2"))
    with pytest.raises(VerificationError):
        product.combine(out, own, tables=5)


def test_combine_refuses_the_files_of_another_job(tmp_path):
    with another(tmp_path) as ws:
        out = run_job(ws, Counting(), plan=planned(ws, Counting())).save(tmp_path / "out")
    with pytest.raises(VerificationError, match="no release of a synthesis"):
        product.combine(out, product.ShareIn(column="died", value="yes"))


def test_a_workspace_gives_what_the_command_leaves(tmp_path):
    file = clinic(tmp_path, target="died")
    with product.open(tmp_path / "dataset.yaml") as ws:
        asked = ws.synthesis(file)
        assert ws.foresee(asked).error_of_pairs < 0.1
        made = ws.synthesize(asked)
        assert ws.synthesize(asked).data.answer.digest() == made.data.answer.digest()
        assert ws.foresee(asked).released
    table = made.table(rows=500)
    assert (table.num_rows, table.schema.metadata[b"release"]) == (
        500,
        made.certificate["id"].encode(),
    )
    assert made.refitted(1).num_rows == 5 * made.data.rows
    share = made.combine(product.ShareIn(column="died", value="yes"))[0]
    assert share.lower < 0.6
    assert share.upper > 0.2
    assert confide("verify", made.save(tmp_path / "out")).code == 0
    mapping = ws.synthesis(ASKED)
    assert mapping.job.columns == tuple(ASKED["columns"])


def test_a_report_names_the_tables_that_the_model_does_not_fit(tmp_path):
    told = "The model does not fit"
    made = {"columns": ["sex", "ward", "died"], "spend": {"epsilon": "4"}}
    ran(tmp_path / "one", **made)
    assert told not in (tmp_path / "one" / "out" / "report.html").read_text()
    ran(tmp_path / "other", never=[{"sex": "M", "ward": "B"}], **made)  # where most of them are
    assert f"{told} sex × ward" in (tmp_path / "other" / "out" / "report.html").read_text()


def test_a_file_for_another_command_is_told_of_that_command(tmp_path):
    file = clinic(tmp_path)
    found = confide("plan", file)
    assert found.code == 7
    assert "confide synth plan" in found.err
    file.write_text(json.dumps({"study": {"id": "s"}, "statistics": []}))
    found = confide("synth", "plan", file)
    assert found.code == 7
    assert "Write confide plan" in found.err
