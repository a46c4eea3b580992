"""The chain is handed out to anybody, so it must not say how long reading the patients took."""

import itertools
import json

from command_line import confide
from confide.budget.entry import FORWARD
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
