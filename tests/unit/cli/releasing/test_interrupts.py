"""Ctrl-C at any moment of a release says what was charged, and nothing of what was read."""

import pytest

from command_line import confide
from confide.budget.chained_ledger import ChainedLedger
from confide.rows.engines.duckdb import DuckDBEngine
from small_clinic import make_clinic

BURNED = "was charged and has no answer"
STORED = "its answer is stored in the ledger"
CANARY = "471100815"


def stopped(at, *, on, name, after=False, monkeypatch):
    """Run a study that somebody stops in, or right after, one step."""
    real = getattr(on, name)

    def stopping(*args, **kwargs):
        if after:
            real(*args, **kwargs)
        stop = KeyboardInterrupt(f"exact {CANARY}")
        stop.add_note(f"exact {CANARY}")
        raise stop

    monkeypatch.chdir(at.folder)
    with monkeypatch.context() as once:
        once.setattr(on, name, stopping)
        ran = confide("run", "study.yaml", "-o", "out")
    assert ran.code == 130
    assert "Interrupted." in ran.err
    assert CANARY not in ran.out + ran.err
    return ran.err


@pytest.mark.parametrize(
    ("on", "name", "after", "words"),
    [
        (DuckDBEngine, "aggregate", True, BURNED),
        (ChainedLedger, "start_reading", True, BURNED),
        (ChainedLedger, "commit", False, BURNED),
        (ChainedLedger, "commit", True, STORED),
        (ChainedLedger, "publish", False, STORED),
        (ChainedLedger, "publish", True, STORED),
    ],
)
def test_an_interrupt_after_the_charge_says_what_was_charged_and_what_is_stored(
    on, name, after, words, tmp_path, monkeypatch
):
    at = make_clinic(tmp_path)
    told = stopped(at, on=on, name=name, after=after, monkeypatch=monkeypatch)
    assert words in " ".join(told.split())
    again = confide("run", "study.yaml", "-o", "out")
    assert (again.code == 0) is (words is STORED)


def test_an_interrupt_while_files_are_written_says_that_the_answer_is_stored(tmp_path, monkeypatch):
    from confide.report.pages import save

    at = make_clinic(tmp_path)
    told = stopped(at, on=save, name="save", monkeypatch=monkeypatch)
    assert STORED in " ".join(told.split())
    assert confide("run", "study.yaml", "-o", "out").code == 0


def test_an_interrupt_before_rows_are_read_charges_nothing(tmp_path, monkeypatch):
    at = make_clinic(tmp_path)
    told = stopped(at, on=ChainedLedger, name="start_reading", monkeypatch=monkeypatch)
    assert told.strip().endswith("Interrupted.")
    assert confide("run", "study.yaml", "-o", "out").code == 0
