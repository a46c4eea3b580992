"""The ledger's database is lost while rows are read: the charge stays, and nothing else is told."""

import pytest

from confide.errors import BurnedError, LedgerUnreachableError, ReleaseFailedError
from confide.workspace import open_study
from small_clinic import CANARY, make_clinic


def test_a_failure_while_the_ledger_is_lost_tells_no_more_than_any_other(tmp_path, monkeypatch):
    clinic = make_clinic(tmp_path)
    workspace, study = open_study(clinic.study)
    plan = study.plan()
    engine = workspace.engine()

    def fails(*_, **__):
        raise ValueError(CANARY)

    def lost(*_, **__):
        raise LedgerUnreachableError("gone")

    monkeypatch.setattr(engine, "aggregate", fails)
    monkeypatch.setattr(workspace.ledger, "burn", lost)
    with pytest.raises(ReleaseFailedError) as caught:
        workspace.release(plan)
    assert caught.value.__suppress_context__
    assert CANARY not in str(caught.value)
    assert CANARY in (tmp_path / ".confide" / "incidents.log").read_text()
    workspace.close()
    again, _ = open_study(clinic.study)
    with pytest.raises(BurnedError):
        again.release(plan)
    again.close()
