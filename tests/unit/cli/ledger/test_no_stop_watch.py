"""The chain is handed out to anybody, so it must not say how long reading the patients took."""

import itertools
import json

import pyarrow as pa

import confide as library
from command_line import confide
from confide.budget.entry import FORWARD
from confide.service.releasing.jobs import planned, run_in_parts
from counting_job import ThreeParts
from small_clinic import make_clinic


def rows_of(lines):
    """Return each row of an exported chain; its last line is the signed head."""
    return [json.loads(json.loads(line)["body"]) for line in lines if "body" in json.loads(line)]


def after_charges(rows):
    """Return the rows that follow a charge, each with the row before it."""
    return [(row, before) for before, row in itertools.pairwise(rows) if row["kind"] in FORWARD]


def test_an_exported_chain_does_not_say_how_long_rows_were_read(tmp_path):
    clinic = make_clinic(tmp_path)
    confide("run", clinic.study, "--out", tmp_path / "out")
    confide("run", clinic.study, "--out", tmp_path / "again", "--again", "--request", "second")
    rows = rows_of(confide("ledger", "export", clinic.dataset).out.splitlines())
    found = after_charges(rows)
    assert {row["kind"] for row, _ in found} == {"reading", "committed", "published"}
    for row, before in found:
        midnight = row["at"][:10] > before["at"][:10]  # a run over midnight tells the day alone
        assert row["at"] == (f"{row['at'][:10]}T00:00:00.000000Z" if midnight else before["at"])


def times_of_day(folder):
    """Return the time of day, in nanoseconds, of each file of a folder, and of the folders."""
    return {path.stat().st_mtime_ns % (86_400 * 10**9) for path in (folder, *folder.rglob("*"))}


def test_files_of_a_release_tell_their_day_alone(tmp_path):
    clinic = make_clinic(tmp_path)
    confide("run", clinic.study, "--out", tmp_path / "out")
    assert times_of_day(tmp_path / "out") == {0}
    confide("run", clinic.study, "--out", tmp_path / "out")  # delivered once more
    assert times_of_day(tmp_path / "out") == {0}


def test_files_of_a_training_tell_their_day_alone(tmp_path):
    dataset = {
        "dataset": {"id": "c", "lineage": "c", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "patient", "adjacency": "add-remove"},
        "accounting": {"measure": "pure"},
        "caps": {"lifetime": {"epsilon": "20"}},
        "tables": {"people": {"columns": {"sex": {"categories": ["F", "M"]}}}},
    }
    frame = pa.table({"patient": [str(i) for i in range(40)], "sex": ["F", "M"] * 20})
    job = ThreeParts()
    with library.open(dataset, frames={"people": frame}, folder=tmp_path / "site") as ws:
        found = run_in_parts(ws, job, plan=planned(ws, job), runner=job, request="k")
    assert times_of_day(found.save(tmp_path / "job")) == {0}
