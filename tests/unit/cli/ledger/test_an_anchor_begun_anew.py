"""The anchor is lost and the ledger is whole: a new one knows as much as the old one did."""

import pytest

from confide.budget.journal import Journal
from recovery_world import World, ran
from small_clinic import make_clinic


def what_was_spent_before_the_anchor_was_lost_stays_spent(folder, kind):
    """The anchor is lost, an officer goes on; then an older copy of the ledger is put back."""
    make_clinic(folder)
    world = World(kind=kind, folder=folder)
    world.declare()
    ran("plan", world.study, "--quiet")
    world.take("draft")
    ran("run", world.study, "--out", folder / "out", "--quiet")
    spent = world.spent()
    (world.inside / "anchor.jsonl").unlink()
    assert world.is_frozen()
    world.unfreeze()
    assert world.spent() == spent
    world.put_back("draft")
    assert world.is_frozen()
    world.unfreeze()
    assert world.spent() == spent
    ran("ledger", "verify", world.dataset)
    ran("verify", folder / "out", "--ledger", world.dataset)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_was_spent_before_the_anchor_was_lost_stays_spent(tmp_path, kind):
    if kind == "postgres":
        pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")
    what_was_spent_before_the_anchor_was_lost_stays_spent(tmp_path, kind)


def test_the_lines_of_an_anchor_that_was_cut_are_written_anew(tmp_path):
    make_clinic(tmp_path)
    world = World(kind="sqlite", folder=tmp_path)
    world.declare()
    ran("run", world.study, "--out", tmp_path / "out", "--quiet")
    anchor = world.inside / "anchor.jsonl"
    whole = anchor.read_bytes().splitlines()
    anchor.write_bytes(b"".join(line + b"\n" for line in whole[:2]))
    assert world.is_frozen()
    world.unfreeze()
    assert anchor.read_bytes().splitlines()[:-1] == whole
    ran("ledger", "verify", world.dataset)


class TestTheseTestsCanFail:
    @pytest.mark.mutant
    def test_an_anchor_that_begins_with_an_officers_row_alone_is_caught(
        self, tmp_path, monkeypatch
    ):
        real = Journal._add_lines
        monkeypatch.setattr(Journal, "_add_lines", lambda it, lines: real(it, lines[-1:]))
        monkeypatch.setattr("confide.budget.integrity.book_head._holdings", lambda _: ())
        with pytest.raises(AssertionError):
            what_was_spent_before_the_anchor_was_lost_stays_spent(tmp_path, "sqlite")
