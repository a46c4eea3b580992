"""A workspace that forgets that others use its folder, or another one; the checks must find it."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import confide
from confide.budget.per_patient import admitted, people, store_folder, withdrawn
from confide.budget.per_patient.store import PatientStore
from confide.errors import LedgerFrozenError
from confide.files import dataset
from confide.privacy.amount import NANO
from confide.privacy.individual import FEMTO
from confide.release import consent
from confide.release.site.keys import read_order_key
from confide.service import site
from ledgers import LINEAGE
from patient_ledgers import KEY, Site
from patient_lives import watched
from unit import test_workspaces_that_stay_open as open_ones
from unit.files import test_linked_dataset
from unit.release.site import test_keys_exchanged_for_a_moment as for_a_moment

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
    assert open_ones.counted_beside("sqlite", tmp_path / "h", monkeypatch) != [40, 0]


def leads_to_who_withdrew(folder):
    """Whether the records hold a patient who withdrew again once an older segment had come back."""
    world = open_ones.hospital("sqlite", folder)
    with confide.open(world.dataset) as at:
        open_ones.counted(at, "before")
        high, _ = at.engine().identity("7")
    (path,) = open_ones.segments(world)
    before = path.read_bytes()
    open_ones.met_anew(world, "7")
    with confide.open(world.dataset) as at:
        open_ones.counted(at, "anew", epsilon="45")
    path.write_bytes(before)
    open_ones.forget(world.dataset, "7")
    return any(
        high.to_bytes(8, "little") in each.read_bytes() for each in open_ones.segments(world)
    )


def test_one_number_of_two_that_is_forgotten_is_found(tmp_path, monkeypatch):
    honest = people._places
    assert not leads_to_who_withdrew(tmp_path / "honest")

    def in_the_newest(high, low, *, of):
        return honest(high, low, of=of)[: 1 if high.size == 1 else 0]

    monkeypatch.setattr(people, "_places", in_the_newest)
    assert leads_to_who_withdrew(tmp_path / "mutant")


def paid_beside_a_segment_of_before(folder):
    """Return what a patient paid at most whose first number came back; None if it is refused."""
    world = open_ones.hospital("sqlite", folder)
    with watched() as paid:
        with confide.open(world.dataset) as at:
            open_ones.counted(at, "before")
        old = {path: path.read_bytes() for path in open_ones.segments(world)}
        open_ones.met_anew(world, "7")
        with confide.open(world.dataset) as at:
            open_ones.counted(at, "anew", epsilon="45")
        open_ones.met_anew(world, "7")
        open_ones.put_back(old)
        with confide.open(world.dataset) as at:
            try:
                open_ones.counted(at, "again", epsilon="45")
            except LedgerFrozenError:
                return None
    return max(paid.values()) / FEMTO


def test_segments_that_records_came_after_are_found(tmp_path, monkeypatch):
    assert paid_beside_a_segment_of_before(tmp_path / "honest") is None
    monkeypatch.setattr(people.People, "descends", lambda *_, **__: True)
    monkeypatch.setattr(store_folder, "forgotten_by", lambda *_, **__: frozenset())
    assert paid_beside_a_segment_of_before(tmp_path / "mutant") > 60


def test_segments_that_records_came_after_and_that_are_taken_for_whole_are_found(
    tmp_path, monkeypatch
):
    honest = people._header
    monkeypatch.setattr(people, "_header", lambda found: dataclasses.replace(honest(found), anew=0))
    more = {"put_back_when": "after", "then": True}
    assert open_ones.met_anew_beside_old_segments("sqlite", tmp_path / "h", **more) > 60


def test_segments_of_before_that_are_in_use_unseen_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(people.People, "forgot", lambda *_: True)
    paid, _ = open_ones.paid_at_most(open_ones.SWAPS[0], "sqlite", tmp_path / "h")
    assert paid > 60


def test_whoever_is_new_beside_segments_of_before_and_counts_as_new_is_found(tmp_path, monkeypatch):
    honest = people._header

    def met_as_new(found):
        segment = honest(found)
        return dataclasses.replace(segment, anew=0) if segment.start else segment

    monkeypatch.setattr(people, "_header", met_as_new)
    paid, _ = open_ones.paid_at_most(open_ones.SWAPS[1], "sqlite", tmp_path / "h")
    assert paid > 60


def test_segments_of_two_editions_that_are_in_use_together_are_found(tmp_path, monkeypatch):
    def whatever_the_edition(self, lists):
        return all(lists <= each.forgot for each in self.segments())

    monkeypatch.setattr(people.People, "forgot", whatever_the_edition)
    found = open_ones.editions_once_a_file_of_before_came_back(tmp_path / "h", monkeypatch)
    assert len({*found}) > 1


def test_segments_that_name_their_editions_alike_are_found(tmp_path, monkeypatch):
    """After the list that was forgotten, which older and newer ones have in common."""
    real = people.rewrite_sealed

    def alike(path, *, fields, **more):
        before = fields["editions"][:-1] or ["first"]
        return real(path, fields=fields | {"editions": [*before, "last"]}, **more)

    monkeypatch.setattr(people, "rewrite_sealed", alike)
    paid, _ = open_ones.paid_at_most(open_ones.SWAPS[2], "sqlite", tmp_path / "h")
    assert paid > 60


def test_records_that_name_the_edition_that_came_back_meanwhile_are_found(tmp_path, monkeypatch):
    """In the place of the one by whose numbers they charge."""

    def of_now(self):
        return people._common([each.editions for each in self.segments()])

    monkeypatch.setattr(people.People, "version", property(of_now))
    assert open_ones.charged_under_segments_of_before("sqlite", tmp_path / "h", monkeypatch) > 60


def test_a_workspace_that_knows_patients_by_two_hash_keys_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(withdrawn, "fingerprint", lambda _: "")
    monkeypatch.setattr(consent, "_require_key", lambda *_, **__: None)  # which would compare it
    assert open_ones.counted_under_a_new_hash_key("sqlite", tmp_path / "h") > 20


def test_a_hash_key_that_is_exchanged_in_silence_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(consent, "_require_key", lambda *_, **__: None)
    assert open_ones.grows_under_an_exchanged_key("sqlite", tmp_path / "g")


def test_a_data_set_that_moves_with_the_process_is_found(tmp_path, monkeypatch):
    pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")
    monkeypatch.setattr(Path, "absolute", lambda self: self)
    with pytest.raises(LedgerFrozenError, match=r"hash\.key is not the one"):
        open_ones.reads_in_another_folder(tmp_path, monkeypatch)


def test_a_source_that_is_opened_under_another_hash_key_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(site, "order_key", lambda folder, **_: read_order_key(folder))
    assert for_a_moment.met_under_a_key_for_a_moment(tmp_path / "h") > 40


def test_a_link_that_begins_a_second_ledger_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "require_no_ledger_behind", lambda _: None)
    assert test_linked_dataset.answers_through_a_link(tmp_path) > 30
