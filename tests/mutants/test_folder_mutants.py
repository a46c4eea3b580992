"""Per-patient accounting that forgets that another folder decides as well; the check must find it."""

import pytest

from confide.budget.per_patient import admitted
from confide.budget.per_patient.store import PatientStore
from confide.errors import LedgerFrozenError
from confide.privacy.amount import NANO
from ledgers import LINEAGE
from patient_ledgers import KEY, Site

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
