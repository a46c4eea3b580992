"""Single parts of the store of per-patient budgets at their edges."""

import numpy as np

from confide.budget.per_patient.people import UNKNOWN, Forgetting, People
from confide.budget.per_patient.roster import keep_roster, read_roster, roster_of
from confide.budget.per_patient.store_folder import stores_of
from confide.budget.per_patient.withdrawn import SUFFIX, put_lists_back
from confide.privacy.amount import NANO
from confide.privacy.individual import FEMTO, CapWindow
from ledgers import LINEAGE
from patient_ledgers import KEY, Site, identities


def people_of(folder, *, count):
    people = People(folder / "people", lineage=LINEAGE, key=KEY)
    people.met(identities(count), after=1)
    return people


def test_who_is_forgotten_has_no_number_in_the_same_process_either(tmp_path):
    people = people_of(tmp_path, count=3)
    left = Forgetting(identities=identities(3)[1:2], lists=frozenset({"t"}), row=2)
    people.forget(left, seen=frozenset)
    assert people.numbers(identities(3)).tolist() == [0, UNKNOWN, 2]


def test_a_folder_whose_files_are_others_by_now_is_of_before(tmp_path):
    people = people_of(tmp_path, count=3)
    people.numbers(identities(3))
    assert not people.is_of_before
    for path in (tmp_path / "people").glob("*.people"):
        path.unlink()
    assert people.is_of_before


def test_numbers_of_an_engine_are_kept_as_they_were(tmp_path):
    people = people_of(tmp_path, count=3)
    assert read_roster(tmp_path, "index", people=people, key=KEY) is None
    roster = roster_of("index", np.array([2, 0, 1]))
    keep_roster(tmp_path, roster, people=people, key=KEY)
    found = read_roster(tmp_path, "index", people=people, key=KEY)
    assert found is not None
    assert (found.name, found.numbers.tolist(), found.same) == ("index", [2, 0, 1], False)


def test_the_patients_of_every_store_are_found(tmp_path):
    site = Site(tmp_path / "site")
    site.release("a", [0, 1], [FEMTO, 1])
    site.close()
    stores, lost = stores_of(tmp_path / "site/patients", hash_key=KEY, replaced=lambda: False)
    assert ([people.count for people in stores], lost) == ([2], 0)


def test_lists_of_a_backup_are_put_back_into_folders_that_are_gone(tmp_path):
    folder = tmp_path / "gone" / "withdrawn"
    files = {f"{name}{SUFFIX}": name.encode() * 40 for name in ("a", "b")}
    assert put_lists_back(folder, files) == 2
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    assert put_lists_back(folder, files) == 0


def test_a_list_half_put_back_when_a_process_was_killed_is_put_back_whole(tmp_path):
    name, content = f"a{SUFFIX}", b"a" * 40
    (tmp_path / f"{name}.part").write_bytes(b"a")
    assert put_lists_back(tmp_path, {name: content}) == 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {name: content}


def test_a_charge_is_counted_at_once_and_not_when_its_file_is_next_read(tmp_path):
    site = Site(tmp_path / "site")
    held = site.reserve("a", nano=NANO)
    site.begin(held)
    site.charge(held, [0, 1], [FEMTO // 2, FEMTO + 1])
    tally = site.store._tallies[CapWindow.LIFETIME]
    assert (list(tally.counted), tally.own.tolist()) == ([held.entry.number], [FEMTO // 2, 0])
    site.close()
