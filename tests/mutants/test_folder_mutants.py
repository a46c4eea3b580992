"""A workspace that forgets that others use its folder, or another one; the checks must find it."""

from pathlib import Path

import numpy as np
import pytest

from confide.budget.per_patient import admitted, people
from confide.budget.per_patient.store import PatientStore
from confide.errors import LedgerFrozenError
from confide.privacy.amount import NANO
from ledgers import LINEAGE
from patient_ledgers import KEY, Site
from unit.release import test_workspaces_that_stay_open as open_ones

pytestmark = pytest.mark.mutant


def goes_on_beside(folder):
    """Whether a release goes on beside one that another folder with the same ledger decides."""
    one, other = Site(folder), Site(folder)
    other.store = PatientStore(folder / "elsewhere", lineage=LINEAGE, hash_key=KEY)
    one.begin(one.reserve("a", nano=NANO))
    try:
        other.begin(other.reserve("b", nano=NANO))
    except LedgerFrozenError:
        return False
    return True


def test_an_entry_under_way_whose_file_comes_elsewhere_is_found(tmp_path, monkeypatch):
    assert not goes_on_beside(tmp_path / "honest")
    monkeypatch.setattr(admitted.Admitted, "_is_noted", lambda *_: True)
    assert goes_on_beside(tmp_path / "mutant")


def test_a_store_that_knows_patients_as_when_it_was_opened_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(PatientStore, "_look_again", lambda self: self._people.refresh())
    assert open_ones.passes_a_cap_beside_another("sqlite", tmp_path / "h") != [10, 45, 0, 4]


def test_a_store_that_takes_the_older_of_two_numbers_is_found(tmp_path, monkeypatch):
    def older_last(high, low):
        return np.lexsort((-np.arange(high.size), low, high))

    monkeypatch.setattr(people, "_order", older_last)
    assert open_ones.under_two_numbers(tmp_path / "h") != [10, 45, 0]


def test_a_data_set_that_moves_with_the_process_is_found(tmp_path, monkeypatch):
    pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")
    monkeypatch.setattr(Path, "absolute", lambda self: self)
    assert open_ones.reads_in_another_folder(tmp_path, monkeypatch) < 100
