"""``confide link``: planned for free, charged once, told with noise, and no cell anywhere."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("splink", reason="needs the extra `linkage`")

from command_line import confide
from confide.errors import ContractError
from confide.files.linkage.linkage import read_linkage_file
from confide.jobs.linkage import spec as linkage_spec
from confide.jobs.linkage.numbers import estimates
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import SystemEntropy
from confide.report.load import load
from linkage_world import model, registers


def _quiet(monkeypatch):
    """Noise off, so that what is told is exact."""
    monkeypatch.setattr(DiscreteLaplace, "randomize", lambda _, exact, *, entropy: exact)  # noqa: ARG005


def _spent(place):
    return confide("ledger", "show", place / "dataset.yaml", "--json").out


def test_a_linkage_is_planned_for_free_charged_once_and_verifies(tmp_path):
    file = registers(tmp_path / "site")
    seen = confide("link", "plan", file, "--json").json
    assert [each["name"] for each in seen["told"]] == [
        "overlap",
        "linked by site",
        "score histogram",
    ]
    assert [each["l1"] for each in seen["told"]] == [2, 4, 4]
    made = confide("link", "run", file, "--out", tmp_path / "out", "--json")
    assert made.code == 0, made.err
    assert made.json["charged"]
    assert made.json["loss"]["epsilon"] == "3.0000"
    again = confide("link", "run", file, "--out", tmp_path / "out", "--json").json
    assert not again["charged"]
    assert again["told"] == made.json["told"]
    checked = confide("verify", tmp_path / "out", "--ledger", tmp_path / "site" / "dataset.yaml")
    assert checked.code == 0, checked.out
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert certificate["plan"]["spec"]["because"] == "published parameters of another register"
    again = confide("link", "plan", file).err
    assert "already" in again
    assert "many rows share in a blocking field" in again


def test_exact_numbers_are_those_of_the_overlap(tmp_path, monkeypatch):
    _quiet(monkeypatch)
    made = confide("link", "run", registers(tmp_path / "site"), "--out", tmp_path / "o", "--json")
    told = {(each["quantity"], each["of"]): each["value"] for each in made.json["told"]}
    assert told["linked persons", ""] == 20
    assert told["persons", "north"] == 40
    assert told["persons", "south"] == 20
    assert told["linked persons", "north"] == sum(1 for i in range(40, 60) if i % 3)
    assert told["links with a score", "0.990 to 1.000"] == 20


def test_intervals_hold_the_exact_overlap(tmp_path):
    """In each of 95 %: here that of the noise, for many linkages of one overlap."""
    file = registers(tmp_path / "site", release={"overlap": True}, spend={"epsilon": "2"})
    asked = read_linkage_file(file)
    noise = asked.job.noise(asked.job.asks[0], adjacency=asked.declared.dataset.adjacency)
    drawn = noise.randomize(np.full(4000, 20), entropy=SystemEntropy())
    held = 0
    for number in drawn.tolist():
        told = {"overlap": np.array([number])}
        (each,) = estimates(told, spec=asked.job, dataset=asked.declared.dataset)
        held += each.lower <= 20 <= each.upper
    assert 0.93 < held / 4000 < 0.99  # of whole numbers a little more than 95 %


def test_the_warning_of_scores_by_id_is_printed_before_spending(tmp_path):
    release = {"scores": {"roster": "roster.txt", "most": 4}}
    file = registers(tmp_path / "site", release=release, spend={"epsilon": "1"}, lifetime="0.5")
    (tmp_path / "site" / "roster.txt").write_text("\n".join(f"a{i}" for i in range(70)))
    ran = confide("link", "run", file, "--out", tmp_path / "out")
    assert ran.code == 5
    assert "all but noise: each is off by 12.7" in ran.err
    assert not (tmp_path / "out").exists()


def test_scores_are_told_for_every_id_of_the_roster_and_for_nobody_else(tmp_path, monkeypatch):
    _quiet(monkeypatch)
    release = {"scores": {"roster": "roster.txt", "most": 2}}
    file = registers(tmp_path / "site", release=release)
    ids = [f"a{i}" for i in range(50, 70)]  # of whom 60 to 69 are in no register
    (tmp_path / "site" / "roster.txt").write_text("\n".join(ids))
    ran = confide("link", "run", file, "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    told = json.loads((tmp_path / "out" / "linkage.json").read_text())["told"]["best scores"]
    assert len(told) == 20
    assert all(best > 900 for best, _ in told[:10])
    assert told[10:] == [[0, 0]] * 10


def test_no_cell_and_no_id_of_the_second_table_leaves_a_linkage(tmp_path):
    place = tmp_path / "site"
    file = registers(place, first=range(5), second=range(5))
    for name in ("registry.csv", "claims.csv"):
        text = (place / name).read_text().replace("ada0", "CANARY").replace("b1,", "CANARYB,")
        (place / name).write_text(text)
    ran = confide("link", "run", file, "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    left = b"".join(each.read_bytes() for each in (tmp_path / "out").rglob("*") if each.is_file())
    assert b"CANARY" not in left + (ran.out + ran.err).encode()


def test_a_failure_after_the_charge_tells_nothing_and_stays_charged(tmp_path, monkeypatch):
    def broken(*_, **__):
        raise ValueError("CANARY")

    file = registers(tmp_path / "site")
    monkeypatch.setattr(linkage_spec, "told_of_pairs", broken)
    ran = confide("link", "run", file, "--out", tmp_path / "out")
    assert ran.code != 0
    assert "CANARY" not in ran.out + ran.err
    assert '"3"' in _spent(tmp_path / "site")


REFUSED = {
    "a threshold of nought": {"threshold": "0"},
    "no reason": {"because": " "},
    "an unknown table": {"second": "nobody"},
    "itself": {"second": "registry"},
    "a group that is text": {"release": {"by": ["surname"]}},
    "nothing to tell": {"release": {"overlap": False}},
    "a bin below the threshold": {"release": {"histogram": ["0.5", "0.9"]}},
    "a category as field": {"fields": ["given_name", "surname", "born", "site"]},
    "an unknown key": {"colour": "blue"},
    "no budget": {"spend": {}},
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_linkage_lacks_is_said_before_anything_is_charged(what, tmp_path):
    file = registers(tmp_path / "site")
    file.write_text(json.dumps(json.loads(file.read_text()) | REFUSED[what]))
    ran = confide("link", "run", file, "--out", tmp_path / "out")
    assert ran.code in {2, 7}, ran.err
    assert not (tmp_path / "out").exists()
    assert '"3"' not in _spent(tmp_path / "site")


def test_a_model_with_term_frequencies_is_refused_on_the_command_line(tmp_path):
    settings = model()
    settings["comparisons"][1]["comparison_levels"][1]["tf_adjustment_column"] = "surname"
    ran = confide("link", "plan", registers(tmp_path / "site", settings=settings))
    assert ran.code == 7
    assert "term frequencies" in ran.err


@pytest.mark.parametrize("name", ["source_dataset", "record"])
def test_a_field_by_whose_name_splink_chooses_rows_is_refused_before_anything_is_charged(
    name, tmp_path
):
    """Of a field source_dataset Splink keeps the rows that have the first row's: one moves all."""
    file = registers(tmp_path / "site")
    for each in file.parent.iterdir():
        if each.is_file():
            each.write_text(each.read_text().replace("born", name))
    ran = confide("link", "run", file, "--out", tmp_path / "out")
    assert ran.code != 0
    assert f"No field may be called {name}" in ran.err
    assert not (tmp_path / "out").exists()


def test_rows_are_read_after_the_charge(tmp_path, monkeypatch):
    from confide.rows.engines.duckdb import DuckDBEngine

    file = registers(tmp_path / "site")
    seen = []

    def records(self, records, *, dataset):
        seen.append('"3"' in _spent(tmp_path / "site"))
        raise RuntimeError

    monkeypatch.setattr(DuckDBEngine, "records", records)
    assert confide("link", "run", file, "--out", tmp_path / "out").code != 0
    assert seen == [True]


def test_gaussian_noise_is_charged_in_rho(tmp_path):
    file = registers(tmp_path / "site", measure="zcdp", spend={"rho": "0.5"})
    made = confide("link", "run", file, "--out", tmp_path / "out", "--json")
    assert made.code == 0, made.err
    assert made.json["loss"]["measure"] == "zcdp"


def test_without_splink_the_extra_is_named_and_nothing_is_charged(tmp_path, monkeypatch):
    file = registers(tmp_path / "site")
    monkeypatch.setitem(sys.modules, "splink", None)
    ran = confide("link", "run", file, "--out", tmp_path / "out")
    assert ran.code != 0
    assert "splink is not installed" in ran.err
    assert ".[linkage]" in ran.err
    assert not Path(tmp_path / "out").exists()


def test_a_share_of_nobody_is_not_told_and_a_count_below_zero_says_so(tmp_path):
    from confide.jobs.linkage.numbers import rows_of_linkage

    file = registers(tmp_path / "site")
    asked = read_linkage_file(file)
    told = {"score histogram": np.zeros(2, dtype=np.int64)}
    told["overlap"] = np.array([-4])
    told["linked by site"] = np.array([[3, -2, 1], [8, -1, 0]])
    dataset = asked.declared.dataset
    rows = rows_of_linkage(estimates(told, spec=asked.job, dataset=dataset))
    assert rows[0][2] == "-4"
    assert rows[0][-1] == "below zero"
    shares = {row[1]: row[2] for row in rows if row[0] == "share linked"}
    assert shares == {"north": "0.375", "south": "not told", "missing": "not told"}
    assert all(row[-1] == ("below zero" if row[2].startswith("-") else "") for row in rows)


def test_where_every_row_has_a_label_by_declaration_nothing_is_told_of_missing_ones(tmp_path):
    from dataclasses import replace

    asked = read_linkage_file(registers(tmp_path / "site"))
    dataset = asked.declared.dataset
    table = dataset.table(asked.job.first)
    filled = tuple(
        replace(each, nulls=0, other=0) if each.name == "site" else each for each in table.columns
    )
    tables = tuple(replace(t, columns=filled) if t is table else t for t in dataset.tables)
    told = {"linked by site": np.array([[3, 2, 1], [8, 9, 2]])}
    spec = replace(
        asked.job, asks=tuple(each for each in asked.job.asks if each.name == "linked by site")
    )
    for of, groups in ((dataset, 3), (replace(dataset, tables=tables), 2)):
        found = estimates(told, spec=spec, dataset=of)
        assert len({each.of for each in found}) == groups


def test_a_linkage_is_shown_out_of_its_folder(tmp_path):
    file = registers(tmp_path / "site")
    made = confide("link", "run", file, "--out", tmp_path / "out")
    assert made.code == 0, made.err
    shown = confide("show", tmp_path / "out")
    assert shown.code == 0, shown.err
    lines = [line.split() for line in shown.out.splitlines() if "share linked" in line]
    assert lines
    assert lines == [line.split() for line in made.out.splitlines() if "share linked" in line]
    with pytest.raises(ContractError, match="holds files of a job"):
        load(tmp_path / "out")
