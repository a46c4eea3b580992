"""Deliberately broken per-patient accounting; the checks of the suite must find each."""

import contextlib
from dataclasses import replace
from fractions import Fraction
from functools import partial
from unittest import mock

import numpy as np
import pytest
from sqlglot import exp

from confide.budget.chain.consent_rows import ConsentRows
from confide.budget.ledger import State
from confide.budget.per_patient import people, records, roster, sealed, store, tally
from confide.budget.per_patient.bill import exhausted
from confide.budget.per_patient.store import PatientStore
from confide.budget.per_patient.store_folder import store_key
from confide.budget.per_patient.withdrawn import Withdrawn
from confide.errors import ConfideError, ContractError, LedgerFrozenError
from confide.plans.pricing.individual import Rate, rate_of
from confide.privacy.amount import NANO
from confide.privacy.individual import FEMTO, CapWindow
from confide.privacy.unit import Entity
from confide.release.consent import Lost
from confide.release.left_out import cap_uses, refusal
from confide.release.site.keys import read_order_key
from confide.rows.cells.build import own, select
from confide.rows.cells.layout import Layout
from confide.rows.copies import manifest
from confide.rows.prepared import build
from confide.rows.relational import table_rows
from confide.service import site as open_site
from confide.service.planning import left_out as planning
from confide.workspace import open_workspace, preparation
from ledgers import LINEAGE
from patient_ledgers import UNIT, Site
from patients_world import write_hospital
from unit.budget.per_patient import test_files_of_elsewhere as elsewhere
from unit.release import test_withdrawn_meanwhile as meanwhile
from unit.release import test_withdrawn_whatever_the_unit as whatever
from unit.release.test_withdrawn_for_the_whole_folder import beside, delete_lists

pytestmark = pytest.mark.mutant
HALF = FEMTO // 2
NOBODY = {"withdrawn": ()}


def overspends(folder, **how):
    """Two patients, releases of random losses and failures: is anybody charged past the cap?"""
    site, rng = Site(folder, **how), np.random.default_rng(2)
    paid = np.zeros(2, dtype=object)
    for number in range(8):
        if number == 4:
            held = site.reserve("burned", nano=NANO // 3)
            site.ledger.start_reading(held)
            site.ledger.burn(held, incident="x")
            paid += NANO // 3 * UNIT
        if number == 6:
            site.close()
            site.open()
        losses = rng.integers(FEMTO // 9, FEMTO // 3, size=2)
        inside = site.release(f"r{number}", [0, 1], losses)
        found = bool(((paid + losses > FEMTO) & inside).any())
        paid = paid + losses * inside
        if found:
            return True
    site.close()
    return False


def test_the_honest_store_overspends_nobody(tmp_path):
    assert not overspends(tmp_path / "s")


def test_a_refund_of_burned_entries_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "_OVER", frozenset({State.CANCELLED, State.REFUSED, State.BURNED}))
    assert overspends(tmp_path / "s")


def test_a_charge_that_is_not_added_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(tally.Tally, "settle", lambda *_, **__: None)
    monkeypatch.setattr(tally.Tally, "add", lambda *_: None)
    assert overspends(tmp_path / "s")


def test_a_spend_that_is_forgotten_by_the_next_process_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(records.MembershipFiles, "counted", lambda *_: {})
    assert overspends(tmp_path / "s")


def test_a_spend_rounded_down_is_found():
    def down(self, norm):
        return (norm * self.times) >> (self.shift + self.dropped)

    rates = [(rate_of(Fraction(FEMTO, d), largest=d, most=FEMTO), d) for d in (3, 7, 10**6 + 3)]

    def understated(of):
        return any(of(rate, x) * d < x * FEMTO for rate, d in rates for x in (1, 2, d - 1))

    assert not understated(Rate.of)
    assert understated(down)


def told_with(folder, *, patients):
    """What is said of a second count, after a first of a hospital with so many patients."""
    count = {"id": "n", "kind": "count", "table": "visits"}
    with open_workspace(write_hospital(folder, patients=patients)) as at:
        at.release(at.plan(count, epsilon="0.8"))
        return str(at.refusal(at.plan(count, epsilon="0.5")))


def test_a_public_sum_of_what_patients_paid_themselves_is_found(tmp_path, monkeypatch):
    def same(folder):  # in the second nobody has a visit
        return told_with(folder / "a", patients=40) == told_with(folder / "b", patients=1)

    assert same(tmp_path / "honest")

    def by_members(plan, *, ledger):
        files = sorted(tmp_path.rglob("*.members"), key=lambda file: file.stat().st_mtime_ns)
        columns = sealed.read_sealed(
            files[-1], key=store_key(read_order_key(files[-1].parents[3])), kind="members"
        ).columns
        most = int(columns["spends"].max(initial=0))
        uses = [replace(use, everybody=most) for use in cap_uses(plan.dataset, ledger=ledger)]
        return refusal(plan, uses=uses)

    monkeypatch.setattr(planning, "nobody_is_counted", by_members)
    assert not same(tmp_path / "mutant")


def refuses(site):
    """Whether a release is refused because of what patients spent."""
    try:
        for number in range(4):
            site.release(f"r{number}", [0], [HALF + 1])
    except ConfideError:
        return True
    return False


def test_a_refusal_by_a_patients_budget_is_found(tmp_path, monkeypatch):
    assert not refuses(Site(tmp_path / "honest"))

    def admit(self, ledger, *, entry, bounds, everybody):
        for bound in bounds:
            spent = self._tally(bound.window, ledger, entry=entry)
            if spent.own.size and spent.everybody + int(spent.own.max()) > HALF:
                raise exhausted(bound, everybody=everybody, left=0)

    monkeypatch.setattr(PatientStore, "admit", admit)
    assert refuses(Site(tmp_path / "mutant"))


def one_pays_for_another(folder):
    """Whether one patient is left out because of what another one pays."""
    site = Site(folder)
    site.release("a", [0, 1], [FEMTO, 1])
    found = not site.release("b", [0, 1], [1, HALF])[1]
    site.close()
    return found


def test_a_filter_by_the_total_instead_of_each_patients_own_is_found(tmp_path, monkeypatch):
    assert not one_pays_for_another(tmp_path / "honest")

    def total(self, *args, **more):
        settle(self, *args, **more)
        self.own[:] = self.own.sum()

    settle = tally.Tally.settle
    monkeypatch.setattr(tally.Tally, "settle", total)
    assert one_pays_for_another(tmp_path / "mutant")


def year_is_stale(folder):
    """Whether a calendar year is still charged to one that is over, or begins by the clock
    alone."""
    site = Site(folder, window=CapWindow.CALENDAR_YEAR, year=10**6 * NANO)
    site.release("a", [0], [FEMTO])
    site.clock.move(days=365)
    site.ledger.open_year(LINEAGE, year=2028, reason="new year")
    fresh = bool(site.release("b", [0], [FEMTO])[0])
    again = bool(site.release("c", [0], [1])[0])
    site.close()
    return not fresh or again


@pytest.mark.parametrize("window", ["lifetime", "release"])
def test_a_stale_window_is_found(tmp_path, monkeypatch, window):
    assert not year_is_stale(tmp_path / "honest")
    if window == "lifetime":
        monkeypatch.setattr(CapWindow.CALENDAR_YEAR, "_value_", "lifetime")
    else:
        monkeypatch.setattr(
            store.PatientStore,
            "_tally",
            lambda self, *_, **__: tally.Tally(own=np.zeros(self._people.count, dtype=np.int64)),
        )
        monkeypatch.setattr(store.PatientStore, "close", lambda _: None)
    assert year_is_stale(tmp_path / "mutant")


def remains(folder):
    """A patient withdrew consent; read from the source, and from new copies: are they counted?"""
    path = write_hospital(folder, cap='epsilon: "2000"', life='epsilon: "90000"')
    seen = []
    preparation(path).prepare()
    with open_workspace(path) as at:
        at.forget(["4"])
    for copies in (False, True):
        if copies:
            preparation(path).prepare()
        with open_workspace(path) as at:
            plan = at.plan({"id": "n", "kind": "count", "table": "people"}, epsilon="40")
            seen.append(round(at.release(plan, request=f"{copies}").of("n")[0].value))
    return seen != [39, 39]


def test_an_honest_reader_leaves_out_whoever_withdrew_consent(tmp_path):
    assert not remains(tmp_path)


def test_a_reader_that_counts_whoever_withdrew_consent_is_found(tmp_path, monkeypatch):
    def nobody(rows, *, of):
        return select(own(of), of=rows, where=[exp.false()])

    monkeypatch.setattr(table_rows, "withdrawn_ids", nobody)
    assert remains(tmp_path)


def test_an_engine_that_is_told_of_nobody_is_found(tmp_path, monkeypatch):
    honest = open_site.who_withdrew
    monkeypatch.setattr(
        open_site, "who_withdrew", lambda *args, **more: Withdrawn(key=honest(*args, **more).key)
    )
    with pytest.raises(ContractError, match="withdrew consent meanwhile"):  # asked a second time
        remains(tmp_path)


def joins_before_and_after(folder):
    """Somebody withdraws just before the charge; does reuse join that release with later ones?"""
    with meanwhile.clinic(folder, lifetime="900") as at:

        def told(stage):
            if stage == "charge":
                with meanwhile.clinic(folder, lifetime="900") as other:
                    other.forget(meanwhile.GONE)

        with contextlib.suppress(ContractError):
            meanwhile.counted(at, "open", progress=told)
        meanwhile.counted(at, "later")
        return meanwhile.joined(at) != (1, 30)


def test_a_gate_that_asks_again_who_withdrew_joins_nothing(tmp_path):
    assert not joins_before_and_after(tmp_path)


def test_a_gate_that_asks_only_once_who_withdrew_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(open_site, "require_same_consent", lambda *_, **__: None)
    assert joins_before_and_after(tmp_path)


def remains_in_other_units(folder):
    """A patient withdrew consent; are their rows in an answer that protects rows or hospitals?"""
    path = write_hospital(folder, cap='epsilon: "2000"', life='epsilon: "90000"')
    with open_workspace(path) as at:
        at.forget(["4"])
    if whatever.visits(whatever.beside(path, "event"), "after") != 76:
        return True
    with open_workspace(whatever.beside(path, "hospital")) as at:
        told = at.engine().problems().values()
    return not any("ids are those of hospitals" in text for text in told)


def test_a_reader_that_takes_the_id_of_the_unit_for_the_patients_is_found(tmp_path, monkeypatch):
    assert not remains_in_other_units(tmp_path / "honest")
    honest = Layout.persons_of

    def of_units(self, table, *, dataset):
        if dataset.unit.entity is Entity.EVENT:
            return ()
        return honest(self, table, dataset=dataset)

    def of_anything(self, table, *, dataset):
        if dataset.unit.entity is Entity.HOSPITAL:
            return (self.id_of(table, dataset=dataset),)
        return honest(self, table, dataset=dataset)

    for name, mutant in (("events", of_units), ("hospitals", of_anything)):
        monkeypatch.setattr(Layout, "persons_of", mutant)
        assert remains_in_other_units(tmp_path / name)


def comes_back_by_another_lineage(folder):
    """Taken out through one data set, list deleted: does another of the folder count them?"""
    path = write_hospital(folder, cap='epsilon: "2000"', life='epsilon: "90000"')
    with open_workspace(path) as at:
        plan = at.plan({"id": "n", "kind": "count", "table": "people"}, epsilon="40")
        at.release(plan, request="before")
    with open_workspace(beside(path)) as at:
        at.forget(["4"])
    delete_lists(path)
    try:
        with open_workspace(path) as at:
            at.release(plan, request="after")
    except LedgerFrozenError:
        return False
    return True


def test_a_guard_that_asks_for_the_lists_of_one_lineage_alone_is_found(tmp_path, monkeypatch):
    assert not comes_back_by_another_lineage(tmp_path / "honest")

    honest = ConsentRows.take

    def of_the_first(self, fields, **more):
        if fields.get("lineage") == "hospital":
            honest(self, fields, **more)

    monkeypatch.setattr(ConsentRows, "take", of_the_first)
    assert comes_back_by_another_lineage(tmp_path / "mutant")


def comes_back_with_a_fresh_cap(folder):
    """Charged to the cap, taken out, left off the lists that are made anew: counted once more?"""
    path = write_hospital(folder, cap='epsilon: "60"', life='epsilon: "90000"')
    with open_workspace(path) as at:
        plan = at.plan({"id": "n", "kind": "count", "table": "people"}, epsilon="40")
        at.release(plan, request="before")
        at.forget(map(str, range(40)))
        at.forget(["of nobody"], lost=Lost(reason="a disk"))
    delete_lists(path, but=1)
    with open_workspace(path) as at:
        return round(at.release(plan, request="after").of("n")[0].value) > 0


def test_a_fresh_cap_after_lists_that_are_lost_is_found(tmp_path, monkeypatch):
    assert not comes_back_with_a_fresh_cap(tmp_path / "honest")
    monkeypatch.setattr(store, "met_anew", lambda people, **_: np.zeros(people.count, dtype=int))
    assert comes_back_with_a_fresh_cap(tmp_path / "mutant")


def test_copies_of_before_that_stay_in_use_are_found(tmp_path, monkeypatch):
    """Neither deleted, nor named after who withdrew."""
    honest = manifest.generation
    monkeypatch.setattr(build, "delete_copies", lambda _: True)
    for room in (manifest, build):
        monkeypatch.setattr(room, "generation", lambda of, **told: honest(of, **told | NOBODY))
    assert remains(tmp_path)


def any_kept_tally(self, window, *, known):
    try:
        found = store.read_sealed(self._cache(window), key=self._key, kind="tally")
    except LedgerFrozenError:
        return tally.Tally()
    return store.tally_of(found.fields, found.columns["own"])


def segments_of_anywhere(path, *, key, kind):
    """As it was before: neither the lineage nor what was before is compared."""
    found = sealed.read_sealed(path, key=key, kind=kind)
    return replace(found, fields={**found.fields, "lineage": mock.ANY, "before": mock.ANY})


def of_any_index(name, count, *, people):
    return {"kind": "roster", "people": count}


OF_ELSEWHERE = {
    "kept spends of any time": (
        lambda patch: patch.setattr(PatientStore, "_cached", any_kept_tally),
        elsewhere.kept_spends_of_lost_rows_give_nothing_back,
    ),
    "kept numbers of any index": (
        lambda patch: patch.setattr(roster, "_fields", of_any_index),
        elsewhere.kept_numbers_are_of_one_index_alone,
    ),
    "patients of any history": (
        lambda patch: patch.setattr(people.People, "rolled", lambda *_: "x"),
        partial(elsewhere.patients_of_elsewhere_stop_everything, elsewhere="lost rows"),
    ),
    "patients of any lineage": (
        lambda patch: [
            patch.setattr(people.People, "rolled", lambda *_: "x"),
            patch.setattr(people, "read_sealed", segments_of_anywhere),
        ],
        partial(elsewhere.patients_of_elsewhere_stop_everything, elsewhere="another lineage"),
    ),
}


@pytest.mark.parametrize("mutant", OF_ELSEWHERE)
def test_a_store_that_takes_files_of_elsewhere_is_caught(tmp_path, monkeypatch, mutant):
    change, check = OF_ELSEWHERE[mutant]
    change(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check(tmp_path / "mutant")
