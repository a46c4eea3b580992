"""Sealed files of another time, history or lineage, in the place of those of the ledger."""

import shutil
from datetime import timedelta

import pytest

from confide.budget.per_patient.store import PatientStore
from confide.errors import LedgerFrozenError
from confide.privacy.individual import FEMTO, CapWindow
from ledgers import LINEAGE, NANO
from patient_ledgers import KEY, Site, identities

HALF = FEMTO // 2


def folder_of(site):
    (found,) = (each for each in (site.folder / "patients").iterdir() if each.is_dir())
    return found


def keep(site, name):
    site.close()
    kept = site.folder.parent / name
    shutil.copytree(site.folder, kept)
    site.open()
    return kept


def put_back(site, kept):
    """Put back ledger and patients of one time; the anchor is whole."""
    site.close()
    shutil.copy2(kept / "ledger.sqlite", site.folder / "ledger.sqlite")
    shutil.rmtree(site.folder / "patients")
    shutil.copytree(kept / "patients", site.folder / "patients")
    site.open()
    site.ledger.unfreeze("disk replaced")


def a_day(site):
    day = site.clock.now().date().isoformat()
    site.ledger.desk.confirm_day(LINEAGE, day=day, reason="calendar")


def kept_spends_of_lost_rows_give_nothing_back(folder):
    """What they counted under a number leaves the window by another file of that number."""
    site = Site(folder / "site", window=CapWindow.ROLLING)
    site.release("met", [0, 1], [0, 0])
    before = keep(site, "before")
    a_day(site)
    site.release("lost", [1], [HALF], nano=NANO // 2)
    lost = keep(site, "lost")
    put_back(site, before)
    site.release("new", [0, 1], [HALF, HALF], nano=NANO // 2)
    a_day(site)
    site.clock.time += timedelta(days=366)
    a_day(site)
    site.close()
    for cache in (lost / "patients").rglob("*.tally"):
        shutil.copy2(cache, folder_of(site) / cache.name)
    site.open()
    assert site.release("year", [0, 1], [FEMTO, FEMTO]).all()
    assert not site.release("more", [0, 1], [1, 1]).any()
    site.close()


def test_kept_spends_of_lost_rows_give_nothing_back(tmp_path):
    kept_spends_of_lost_rows_give_nothing_back(tmp_path)


def kept_numbers_are_of_one_index_alone(folder):
    """Another index of patients counts otherwise; numbers that were kept get its name."""
    site, ids = Site(folder / "site"), identities(4)
    site.release("a", [0, 1, 2, 3], [FEMTO, FEMTO, 0, 0], roster="one", ids=ids)
    site.close()
    one = folder_of(site) / "one.roster"
    shutil.copy2(one, one.with_name("two.roster"))
    site.open()
    inside = site.release("b", [0, 1, 2, 3], [1, 1, 1, 1], roster="two", ids=ids[::-1])
    assert inside.tolist() == [True, True, False, False]
    site.close()


def test_kept_numbers_are_of_one_index_alone(tmp_path):
    kept_numbers_are_of_one_index_alone(tmp_path)


def patients_of_elsewhere_stop_everything(folder, *, elsewhere):
    site, ids = Site(folder / "site"), identities(4)
    site.release("met", [0, 1], [0, 0], ids=ids[:2])
    before = keep(site, "before")
    if elsewhere == "lost rows":
        site.release("lost", [0, 1, 2, 3], [1, 1, 1, 1], ids=ids[[0, 1, 3, 2]])
        theirs = folder_of(site) / "people"
        theirs = shutil.copytree(theirs, folder / "theirs")
        put_back(site, before)
    else:
        with_others = PatientStore(folder / "others", lineage="other", hash_key=KEY)
        with_others._people.met(ids[:2], after=1)
        with_others._people.met(ids[[3, 2]], after=1)
        with_others.close()
        (theirs,) = (folder / "others").glob("*/people")
    site.bound = 2 * FEMTO  # lost rows were charged to everybody
    site.release("spends", [0, 1, 2, 3], [0, 0, FEMTO - 1, 0], ids=ids, nano=1)
    site.close()
    for segment in theirs.iterdir():
        if segment.stem != "0000000000" or elsewhere != "lost rows":
            shutil.copy2(segment, folder_of(site) / "people" / segment.name)
    for cache in folder_of(site).glob("*.tally"):
        cache.unlink()
    with pytest.raises(LedgerFrozenError, match="people is missing"):
        opened_and_released(site, ids)


def opened_and_released(site, ids):
    try:
        site.open()
        site.release("again", [2], [FEMTO], ids=ids, nano=1)
    finally:
        site.close()


@pytest.mark.parametrize("elsewhere", ["lost rows", "another lineage"])
def test_patients_of_elsewhere_stop_everything(tmp_path, elsewhere):
    patients_of_elsewhere_stop_everything(tmp_path, elsewhere=elsewhere)
