"""Single parts of the store of per-patient budgets at their edges."""

from types import SimpleNamespace

import numpy as np
import pytest

from confide.budget.entry import State
from confide.budget.per_patient.admitted import Admitted
from confide.budget.per_patient.people import UNKNOWN, Forgetting, People
from confide.budget.per_patient.roster import keep_roster, read_roster, roster_of
from confide.budget.per_patient.store_folder import stores_of
from confide.budget.per_patient.tally import LOWEST
from confide.budget.per_patient.withdrawn import SUFFIX, put_lists_back
from confide.errors import LedgerFrozenError
from confide.privacy.amount import NANO, Amount
from confide.privacy.individual import ANYTHING, FEMTO, CapWindow
from confide.privacy.individual import MOST as LARGEST_CAP
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


def test_a_new_segment_forgot_no_list_that_one_before_it_knows_not(tmp_path):
    here = people_of(tmp_path, count=3)
    there = People(tmp_path / "people", lineage=LINEAGE, key=KEY)
    left = Forgetting(identities=identities(3)[1:2], lists=frozenset({"t"}), row=2)
    there.forget(left, seen=frozenset)
    here.refresh()
    here.met(identities(5), after=3)  # it does not know the list yet
    last = People(tmp_path / "people", lineage=LINEAGE, key=KEY)
    last.met(identities(7), after=4)
    assert [each.forgot for each in last.segments()] == [{"t"}, set(), set()]


def test_a_release_is_admitted_with_the_patients_of_the_folder_as_it_is(tmp_path):
    site = Site(tmp_path / "site")
    site.release("a", [0, 1], [FEMTO // 4, 1])
    (folder,) = (tmp_path / "site/patients").glob("*/people")
    there = People(folder, lineage=LINEAGE, key=site.store._key)
    left = Forgetting(identities=identities(2)[1:2], lists=frozenset(), row=2)
    there.forget(left, seen=frozenset)
    assert site.store._people.is_of_before
    held = site.reserve("b", nano=NANO)
    site.begin(held)
    assert not site.store._people.is_of_before
    site.close()


def entry(number, *, filtered=True, nano=1, state=State.READING):
    return SimpleNamespace(
        number=number, filtered=filtered, amount=Amount(nano=nano), state=state, at="", hash="h"
    )


def test_nothing_is_decided_beside_an_entry_that_is_decided_elsewhere(tmp_path):
    admitted = Admitted(folder=tmp_path, key=KEY)
    free = (entry(1, filtered=False), entry(2, nano=0), entry(3, state=State.RESERVED))
    admitted.require_all(free)
    with pytest.raises(LedgerFrozenError, match=r"Entry 4 is under way .* in another folder"):
        admitted.require_all((*free, entry(4)))


def test_what_is_taken_to_be_paid_is_more_than_any_cap_and_twice_it_fits_a_vector():
    assert LARGEST_CAP * FEMTO < ANYTHING
    assert 2 * ANYTHING <= -LOWEST


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
