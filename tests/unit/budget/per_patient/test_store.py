"""The store of per-patient budgets: who is in, what they paid, windows, and what stops everything."""

import shutil

import numpy as np
import pytest

from confide.budget.ledger import Caps, State
from confide.budget.per_patient.bill import SpendCap
from confide.budget.per_patient.store import PatientStore
from confide.errors import BudgetExhaustedError, LedgerFrozenError
from confide.privacy.amount import NANO
from confide.privacy.individual import FEMTO, CapWindow
from ledgers import LINEAGE
from patient_ledgers import KEY, UNIT, Site, identities

HALF = FEMTO // 2


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path / "site")
    yield site
    site.close()


def test_a_patient_is_in_until_their_own_spends_would_pass_the_cap(site):
    assert site.release("a", [0, 1, 2], [HALF, FEMTO, HALF + 1]).tolist() == [True] * 3
    assert site.release("b", [0, 1, 2], [HALF, 1, HALF]).tolist() == [True, False, False]
    assert site.release("c", [0, 2], [1, HALF - 1]).tolist() == [False, True]
    assert [site.spent(p) for p in (0, 1, 2)] == [FEMTO] * 3


def test_who_is_left_out_pays_nothing(site):
    site.release("a", [0], [FEMTO])
    site.release("b", [0], [HALF])
    assert site.spent(0) == FEMTO


def test_what_everybody_pays_is_paid_by_patients_who_are_met_later(site):
    site.release("a", [0], [0], everybody=HALF)
    assert site.release("b", [0, 1, 2], [HALF, HALF, HALF + 1]).tolist() == [True, True, False]


def test_who_cannot_pay_what_everybody_pays_is_left_out_without_rows_of_their_own(site):
    site.release("a", [0, 1], [FEMTO, 1])
    held = site.reserve("b", nano=NANO)
    site.begin(held)
    inside, tag = site.charge(held, [1], [0], everybody=HALF, count=2)
    site.ledger.commit(held, payload=b"p", members=tag)
    assert inside.all()
    assert [site.spent(p) for p in (0, 1)] == [FEMTO, HALF + 1]


def test_more_than_is_left_for_everybody_is_refused_before_a_row_is_read(site):
    site.release("a", [0], [0], everybody=HALF)
    held = site.reserve("b", nano=NANO)
    with pytest.raises(BudgetExhaustedError) as refused:
        site.store.admit(site.ledger, entry=held.entry, bounds=site.bounds, everybody=HALF + 1)
    assert (refused.value.remaining, refused.value.cap) == (0.5, "patient")
    site.ledger.cancel(held)


def test_the_spends_of_patients_never_refuse_a_release(site):
    for key in "abcdef":
        site.release(key, [0, 1], [FEMTO, FEMTO])
    assert len(site.members) == 6


def test_a_plan_that_leaves_nobody_out_charges_everybody_its_whole_loss(site):
    held = site.reserve("plain", nano=NANO // 4, filtered=False)
    site.ledger.start_reading(held)
    site.ledger.commit(held, payload=b"p")
    assert site.release("a", [0, 1], [3 * FEMTO // 4, 3 * FEMTO // 4 + 1]).tolist() == [True, False]
    assert site.spent(9) == FEMTO // 4


def test_a_burned_entry_without_a_membership_charges_everybody_its_whole_loss(site):
    held = site.reserve("burned", nano=NANO // 4)
    site.ledger.start_reading(held)
    site.ledger.burn(held, incident="x")
    assert site.release("a", [0, 1], [3 * FEMTO // 4, 3 * FEMTO // 4 + 1]).tolist() == [True, False]


def test_a_burned_entry_with_a_membership_charges_what_that_says(site):
    held = site.reserve("burned", nano=NANO)
    site.begin(held)
    site.charge(held, [0], [HALF])
    site.ledger.burn(held, incident="x")
    assert site.release("a", [0, 1], [HALF + 1, FEMTO]).tolist() == [False, True]


def test_a_charge_that_was_given_back_charges_nobody(site):
    site.ledger.cancel(site.reserve("a", nano=NANO))
    assert site.release("b", [0], [FEMTO]).all()


def test_two_releases_at_once_do_not_both_take_what_is_left(site):
    one, two = (site.reserve(key, nano=NANO) for key in "ab")
    site.begin(one)
    site.begin(two)
    other = PatientStore(site.folder / "patients", lineage=LINEAGE, hash_key=KEY)
    assert site.charge(one, [0], [FEMTO])[0].all()
    site.store, mine = other, site.store
    assert not site.charge(two, [0], [FEMTO])[0].any()
    site.store = mine
    assert site.spent(0) == FEMTO


def test_a_calendar_year_begins_anew_only_when_the_ledger_opens_it(tmp_path):
    site = Site(tmp_path / "s", window=CapWindow.CALENDAR_YEAR, year=10**6 * NANO)
    site.release("a", [0], [FEMTO])
    site.clock.move(days=60)
    assert not site.release("b", [0], [1]).any()
    site.clock.move(days=300)
    site.ledger.open_year(LINEAGE, year=2028, reason="new year")
    assert site.release("c", [0], [FEMTO]).all()
    site.clock.move(days=-400)
    assert not site.release("d", [0], [1]).any()
    site.close()


def test_years_that_the_clock_alone_has_ended_count_with_the_one_that_is_open(tmp_path):
    """When a cap by year begins to hold: the clock may have been put forward before."""
    site = Site(tmp_path / "s", window=CapWindow.CALENDAR_YEAR)
    site.release("a", [0], [HALF])
    site.clock.move(days=365)
    site.release("b", [1], [HALF])
    life = Caps(lifetime=10**6 * NANO, calendar_year=10**6 * NANO)
    site.ledger.amend_caps(LINEAGE, caps=life)
    assert site.release("c", [0, 1, 2], [HALF + 1] * 3).tolist() == [False, False, True]
    site.close()


def test_years_that_were_joined_stay_joined_when_the_cap_is_taken_off_and_set_again(tmp_path):
    site = Site(tmp_path / "s", window=CapWindow.CALENDAR_YEAR)
    by_year, none = (Caps(lifetime=10**6 * NANO, calendar_year=y) for y in (10**6 * NANO, None))
    site.release("a", [0], [HALF])
    site.clock.move(days=365)
    site.release("b", [1], [HALF])
    site.ledger.amend_caps(LINEAGE, caps=by_year)
    site.ledger.amend_caps(LINEAGE, caps=none, reason="r")
    site.clock.move(days=365)
    site.release("c", [2], [1])
    site.ledger.amend_caps(LINEAGE, caps=by_year)
    assert site.release("d", [0, 1, 3], [HALF + 1] * 3).tolist() == [False, False, True]
    site.close()


def test_a_rolling_window_lets_go_on_days_that_an_officer_confirmed(tmp_path):
    site = Site(tmp_path / "s", window=CapWindow.ROLLING)
    desk = site.ledger.desk
    site.release("a", [0], [FEMTO])
    site.clock.move(days=400)
    assert not site.release("b", [0], [1]).any(), "the clock alone frees nothing"
    desk.confirm_day(LINEAGE, day=site.clock.now().date().isoformat(), reason="checked")
    assert not site.release("c", [0], [1]).any(), "365 days after the first confirmed day"
    site.clock.move(days=366)
    desk.confirm_day(LINEAGE, day=site.clock.now().date().isoformat(), reason="checked")
    assert site.release("d", [0], [FEMTO]).all()
    assert not site.release("e", [0], [1]).any()
    site.close()


def test_a_release_window_looks_at_nothing_but_the_release(tmp_path):
    site = Site(tmp_path / "s", window=CapWindow.RELEASE)
    for key in "ab":
        assert site.release(key, [0, 1], [FEMTO, FEMTO + 1]).tolist() == [True, False]
    site.close()


def test_the_next_process_knows_what_was_spent_with_and_without_the_cache(site):
    site.release("a", [0, 5], [FEMTO, HALF])
    site.close()
    assert list((site.folder / "patients").glob("*/*.tally"))
    site.open()
    assert site.release("b", [0, 5], [1, HALF]).tolist() == [False, True]
    site.close()
    for cache in (site.folder / "patients").glob("*/*.tally"):
        cache.write_bytes(b"torn")
    site.open()
    assert site.release("c", [0, 5], [1, 1]).tolist() == [False, False]


def test_a_patient_keeps_their_number_through_snapshots_and_preparations(site):
    site.release("a", [0, 1, 2], [FEMTO, 1, 1])
    held = site.reserve("b", nano=NANO)
    site.begin(held)
    other_way = identities(3)[::-1]
    bill_of = site.store.charge
    from confide.budget.per_patient.bill import Bill

    charged = bill_of(
        site.ledger, entry=held.entry, bounds=site.bounds, nonce=b"n" * 32,
        bill=Bill(everybody=0, who=np.arange(3), losses=np.ones(3, dtype=np.int64),
                  roster="other", identities=lambda: other_way),
    )  # fmt: skip
    assert charged.left_out.tolist() == [2], "the third of the other roster is the first patient"


def test_another_hash_key_is_refused_with_the_reason(site):
    site.release("a", [0], [1])
    with pytest.raises(LedgerFrozenError, match=r"another hash\.key"):
        PatientStore(site.folder / "patients", lineage=LINEAGE, hash_key=b"x" * 32)


def _frozen(site):
    """Everything that would read or charge is refused, before a row is read."""
    site.close()
    site.open()
    held = site.reserve("next", nano=NANO)
    with pytest.raises(LedgerFrozenError) as refused:
        site.store.admit(site.ledger, entry=held.entry, bounds=site.bounds, everybody=0)
    assert held.entry.state is State.RESERVED
    with pytest.raises(LedgerFrozenError):
        site.store.verify(site.ledger)
    return str(refused.value)


def test_a_missing_membership_of_a_committed_entry_stops_everything(site):
    site.release("a", [0], [123456789])
    site.members[0].unlink()
    assert "123456789" not in _frozen(site)


@pytest.mark.parametrize("place", [0, 0.3, 0.6, 0.9, 1])
def test_an_edited_membership_stops_everything(site, place):
    site.release("a", [0, 1, 2], [123456789] * 3)
    path = site.members[0]
    content = bytearray(path.read_bytes())
    at = min(int(place * len(content)), len(content) - 1)
    content[at] ^= 1
    path.write_bytes(content)
    assert "123456789" not in _frozen(site)


def test_an_older_membership_in_place_of_a_committed_one_stops_everything(site):
    site.release("a", [0], [1])
    site.release("b", [0], [2])
    site.members[1].write_bytes(site.members[0].read_bytes())
    _frozen(site)


def test_a_membership_that_belongs_to_no_entry_stops_everything(site):
    site.release("a", [0], [1])
    path = site.members[0]
    path.with_name("0000000099.members").write_bytes(path.read_bytes())
    assert "belongs to no entry" in _frozen(site)


def test_a_lost_segment_of_patients_stops_everything(site):
    site.release("a", [0, 1], [1, 1])
    next((site.folder / "patients").glob("*/people/*.people")).unlink()
    for cache in (site.folder / "patients").glob("*/*.tally"):
        cache.unlink()
    _frozen(site)


def test_the_tag_in_the_ledger_says_nothing_of_the_membership(tmp_path):
    tags = []
    for name in ("one", "two"):
        site = Site(tmp_path / name)
        held = site.reserve("a", nano=NANO)
        site.begin(held)
        nonce = name.encode().ljust(32)
        from confide.budget.per_patient.bill import Bill

        tags.append(
            site.store.charge(
                site.ledger, entry=held.entry, bounds=site.bounds, nonce=nonce,
                bill=Bill(everybody=0, who=np.arange(2), losses=np.ones(2, dtype=np.int64),
                          roster="", identities=lambda: identities(2)),
            ).tag
        )  # fmt: skip
        site.close()
    assert tags[0] != tags[1], "the same membership under a fresh nonce has another tag"
    assert all(len(tag) == 64 for tag in tags)


def test_files_are_for_the_steward_alone(site):
    site.release("a", [0], [1])
    site.close()
    top = site.folder / "patients"
    for path in (top, *top.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path.name
    site.open()


def test_the_store_prints_nothing(site):
    site.release("a", [0], [123456789])
    assert "123456789" not in repr(site.store)


def test_a_spend_of_one_unit_is_counted(site):
    site.release("a", [0], [FEMTO - UNIT])
    assert site.release("b", [0], [UNIT]).all()
    assert not site.release("c", [0], [1]).any()


@pytest.mark.parametrize("window", [CapWindow.LIFETIME, CapWindow.CALENDAR_YEAR, CapWindow.ROLLING])
def test_what_lost_rows_charged_is_charged_to_everybody_after_a_restore(tmp_path, window):
    site = Site(tmp_path / "site", window=window, bound=3 * FEMTO)
    site.release("first", [0], [FEMTO], count=2)
    site.close()
    shutil.copytree(site.folder, tmp_path / "backup")
    site.open()
    site.release("lost", [0, 1], [FEMTO, FEMTO])
    site.close()
    for name in ("patients", "ledger.sqlite"):  # both from the same backup; the anchor stays
        put_back(tmp_path / "backup" / name, site.folder / name)
    site.open()
    site.ledger.unfreeze("the disk was replaced")
    assert site.release("third", [0, 1], [FEMTO, FEMTO]).tolist() == [True, True]
    assert site.release("fourth", [0, 1], [1, FEMTO]).tolist() == [False, True]
    # lost rows may have taken out somebody who is met anew: as if charged all of "first"
    assert site.release("fifth", [2], [FEMTO + 1], count=3).tolist() == [False]
    assert site.release("sixth", [2], [FEMTO], count=3).tolist() == [True]
    site.close()
    site.open()
    held = site.reserve("everybody", nano=3 * NANO)
    bounds, asked = site.bounds, 2 * FEMTO + 1  # 2 of 3 are left after what everybody was charged
    with pytest.raises(BudgetExhaustedError):
        site.store.admit(site.ledger, entry=held.entry, bounds=bounds, everybody=asked)
    site.close()


def ledger_alone_put_back(folder):
    """Return a request that has number and plan of a lost one, whose file was left."""
    site = Site(folder / "site", bound=9 * FEMTO)
    site.close()
    shutil.copy2(site.folder / "ledger.sqlite", folder / "kept")
    site.open()
    with pytest.raises(BudgetExhaustedError):
        site.reserve("too much", nano=10**7 * NANO)
    site.release("lost", [0], [FEMTO])
    site.close()
    put_back(folder / "kept", site.folder / "ledger.sqlite")
    site.open()
    site.ledger.unfreeze("the disk was replaced")
    held = site.reserve("lost", nano=NANO)
    assert site.members[0].stem == f"{held.entry.number:010d}"
    return site, held


@pytest.mark.parametrize("window", [CapWindow.LIFETIME, CapWindow.RELEASE])
def test_the_file_of_a_lost_entry_is_not_that_of_a_new_one(tmp_path, window):
    site, held = ledger_alone_put_back(tmp_path)
    bounds, before = (SpendCap(window=window, femto=site.bound),), site.members[0].read_bytes()
    with pytest.raises(LedgerFrozenError, match="belongs to no entry"):
        site.store.admit(site.ledger, entry=held.entry, bounds=bounds, everybody=0)
    assert site.members[0].read_bytes() == before
    site.ledger.cancel(held)
    with pytest.raises(LedgerFrozenError, match="belongs to no entry"):
        site.release("another", [0], [1])
    site.close()


def test_a_lost_entrys_file_is_not_read_as_that_of_a_new_one(tmp_path):
    site, held = ledger_alone_put_back(tmp_path)
    with pytest.raises(LedgerFrozenError, match="was changed"):
        site.store._records.read(held.entry, people=site.store._people)
    site.close()


def put_back(there, here):
    if here.is_dir():
        shutil.rmtree(here)
        shutil.copytree(there, here)
    else:
        shutil.copy2(there, here)


def test_two_caps_of_one_window_charge_once(tmp_path, monkeypatch):
    site = Site(tmp_path / "site")
    wide, tight = (
        SpendCap(window=site.window, femto=2 * FEMTO),
        SpendCap(window=site.window, femto=FEMTO),
    )
    monkeypatch.setattr(Site, "bounds", (wide, tight))
    site.release("selection", [0], [0], nano=NANO // 4, everybody=FEMTO // 4)
    assert site.release("counts", [0, 1], [FEMTO, FEMTO // 2]).tolist() == [False, True]
    assert site.release("more", [0, 1], [3 * FEMTO // 4, FEMTO // 4]).tolist() == [True, True]
    site.close()


def test_whoever_is_met_once_lists_ended_has_no_part_in_what_grew_before(site):
    site.release("opened", [0, 1], [FEMTO, 1])
    (opened,) = site.ledger.entries(LINEAGE)
    asked = {"opened": opened, "roster": "", "identities": lambda: identities(3)}
    assert site.store.left_out_of(site.ledger, **asked).tolist() == []
    lost = {"tag": "e" * 64, "by": "cy", "reason": "a disk"}
    site.ledger.desk.consent.note_lists_lost(LINEAGE, **lost)
    assert site.store.left_out_of(site.ledger, **asked).tolist() == []
    asked["identities"] = lambda: identities(4)
    assert site.store.left_out_of(site.ledger, **asked).tolist() == [3]
    inside = site.release("later", [0, 1, 3], [1, 1, 1])
    assert inside.tolist() == [False, True, False], "the cap of all is 1"
