"""The store of per-patient budgets: decides who is in a release, and makes that durable.

::

    ledger RESERVED ─ admit (public facts) ─ READING ─ rows ─ charge ─ noise ─ COMMITTED
                                                                └─ membership file, durable

The files are the truth, the vectors a cache.  With the ledger they tell of every charge what each
patient paid:

- a membership file: what it says.  Committed entries hold its tag;
- burned, and no file: no noise was drawn, and everybody is charged the whole loss of the plan;
- charged by a plan that leaves nobody out: everybody is charged the whole loss;
- charged by a row that was lost, which an officer accepted: everybody is charged the whole loss;
- charged before lists of withdrawn patients ended: whoever is met after that is charged the whole
  loss (:mod:`.met_anew`);
- a file that no entry explains, a committed entry without its file, or one that is being read and
  not noted here (:mod:`.admitted`): nothing more is granted.

*Privacy:* the decision reads what others wrote, and is written, under one lock: two releases cannot
both take what is left.  Nothing that leaves this module depends on anyone's spend but the numbers
of those who are left out, and these go to the engine alone.  Refusals of :meth:`PatientStore.admit`
depend on plans and files being whole, and are made before a row is read.

*Utility:* one pass over the patients of a release, one file.

References:
    [FZ21] Feldman, Zrnic. Individual privacy accounting via a Rényi filter. NeurIPS 2021.
        https://arxiv.org/abs/2008.11193
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from confide.budget.entry import Entry
from confide.budget.ledger import Ledger
from confide.budget.per_patient.admitted import Admitted
from confide.budget.per_patient.bill import Bill, PatientsCharged, SpendCap, exhausted, without
from confide.budget.per_patient.members import Members, write_members
from confide.budget.per_patient.met_anew import met_anew, paid_before
from confide.budget.per_patient.people import People
from confide.budget.per_patient.records import MembershipFiles, lost_whole, whole
from confide.budget.per_patient.roster import Roster, keep_roster, read_roster, roster_of
from confide.budget.per_patient.sealed import changed, read_sealed, rewrite_sealed
from confide.budget.per_patient.store_folder import (
    alone,
    forgets_again,
    require_made,
    store_folder,
    store_key,
)
from confide.budget.per_patient.tally import CountedCharge, Tally, tally_of
from confide.budget.per_patient.withdrawn import Withdrawn
from confide.errors import LedgerFrozenError
from confide.privacy.individual import CapWindow

LOST = 0
"""Stands for the rows that were lost, among numbers of entries."""


class PatientStore:
    """The per-patient budgets of one lineage, in a folder of its own; not shared by threads."""

    def __init__(
        self,
        folder: Path,
        *,
        lineage: str,
        hash_key: bytes,
        listed: Callable[[], Withdrawn] = Withdrawn,
    ) -> None:
        """Open the store, or make it.

        Args:
            folder: Of all stores.
            lineage: Whose.
            hash_key: Of the site.
            listed: Returns everybody who withdrew consent.

        Raises:
            LedgerFrozenError: If it was made under another hash key, or is not whole.
        """
        self._lineage, self._listed = lineage, listed
        self._folder = store_folder(folder, lineage=lineage)
        self._key = store_key(hash_key)
        self._records = MembershipFiles(folder=self._folder / "members", key=self._key)
        self._admitted = Admitted(folder=self._records.folder, key=self._key)
        with alone(self._folder):
            require_made(self._folder, lineage=lineage, key=self._key)
            self._records.folder.mkdir(mode=0o700, exist_ok=True)
            self._people = People(self._folder / "people", lineage=lineage, key=self._key)
        self._tallies: dict[CapWindow, Tally] = {}
        self._roster: Roster | None = None
        self._changed: set[CapWindow] = set()
        self._alike: dict[str, int] = {}  # what everybody paid by a file, by its tag

    def __repr__(self) -> str:
        return "PatientStore(<secret>)"

    def admit(
        self, ledger: Ledger, *, entry: Entry, bounds: Sequence[SpendCap], everybody: int
    ) -> None:
        """Refuse, before a row is read, what the files or the plans so far do not allow.

        Raises:
            LedgerFrozenError: If the files do not allow it, or an entry is decided elsewhere.
            BudgetExhaustedError: If what *everybody* paid and would pay passes a cap: a public sum.
        """
        with alone(self._folder):
            self._look_again()
            if forgets_again(self._people, self._listed, ledger=ledger, key=self._key):
                self._begin_anew()
            self._records.require_none(entry)
            for bound in bounds:
                tally = self._tally(bound.window, ledger, entry=entry)
                left = bound.femto - tally.everybody
                if max(everybody, 1) > left:
                    raise exhausted(bound, everybody=everybody, left=max(0, left))
            self._admitted.note(entry, under_way=ledger.under_way(self._lineage))

    def require_here(self, ledger: Ledger, *, bounds: Sequence[SpendCap]) -> None:
        """Refuse to read rows beside an entry that is decided in another folder.

        Raises:
            LedgerFrozenError: If there is one.
        """
        if any(bound.window is not CapWindow.RELEASE for bound in bounds):
            self._admitted.require_all(ledger.under_way(self._lineage))

    def charge(
        self, ledger: Ledger, *, entry: Entry, bounds: Sequence[SpendCap], bill: Bill, nonce: bytes
    ) -> PatientsCharged:
        """Decide who is in, charge them, and make it durable.

        Args:
            ledger: Holds the other charges.
            entry: That is being read.
            bounds: Of every window.
            bill: What the release would charge.
            nonce: 32 fresh octets.

        Raises:
            LedgerFrozenError: If a file is missing, was changed, or belongs to no entry.
        """
        with alone(self._folder):
            roster = self._roster_of(bill.roster, bill.identities, ledger=ledger)
            mine = roster.of(bill.who)
            tallies = [(self._tally(b.window, ledger, entry=entry), b) for b in bounds]
            begun = [self._begun(b.window, ledger) for b in bounds]
            out, afters = np.zeros(mine.size, dtype=bool), []
            for (tally, bound), before in zip(tallies, begun, strict=True):
                after = tally.own.take(mine)
                after += bill.losses
                most = tally.most(bound.femto, everybody=bill.everybody)
                out |= (after > most) if before is None else (after + before.take(mine) > most)
                afters.append(after)
            left_out, gone = mine[out], bill.who[out]
            if bill.everybody:  # they would pay, even without rows of their own
                everywhere = self._over(tallies, begun, everybody=bill.everybody)
                everywhere[left_out] = True
                left_out, gone = (
                    np.flatnonzero(e) for e in (everywhere, everywhere[roster.numbers])
                )
                out = everywhere[mine]
            members = Members(
                everybody=bill.everybody,
                people=self._people.count,
                paid=mine,
                spends=without(bill.losses, out, afters=afters),
                left_out=left_out,
                rolled=self._people.rolled(self._people.count),
                version=self._people.version,
            )
            tag = write_members(
                self._records.folder, members, entry=entry, nonce=nonce, key=self._key
            )
            counted = CountedCharge(everybody=0, tag=tag, stamp=self._records.stamp(entry.number))
            for after, (tally, bound) in zip(afters, tallies, strict=True):
                if entry.number not in tally.counted:  # two caps may read one window
                    tally.settle(entry.number, counted, members, after=after)
                self._changed.add(bound.window)
            return PatientsCharged(left_out=gone, tag=tag)

    def _over(
        self,
        tallies: Sequence[tuple[Tally, SpendCap]],
        begun: Sequence[NDArray[np.int64] | None],
        *,
        everybody: int,
    ) -> NDArray[np.bool_]:
        """Return which patients cannot pay what everybody does, by number."""
        over = np.zeros(self._people.count, dtype=bool)
        for (tally, bound), before in zip(tallies, begun, strict=True):
            paid = tally.own if before is None else tally.own + before
            over |= paid > tally.most(bound.femto, everybody=everybody)
        return over

    def left_out_of(
        self,
        ledger: Ledger,
        *,
        opened: Entry,
        roster: str,
        identities: Callable[[], NDArray[np.uint64]],
    ) -> NDArray[np.int64]:
        """Return who was left out when a growing release was opened, as the engine numbers them.

        So may have been whoever is met since lists of withdrawn patients ended.

        Raises:
            LedgerFrozenError: If its membership is missing or was changed.
        """
        if not opened.filtered:
            return np.empty(0, dtype=np.int64)
        with alone(self._folder):
            members = self._records.read(opened, people=self._people)
            numbers = self._roster_of(roster, identities, ledger=ledger).numbers
            out = met_anew(self._people, ended=ledger.desk.consent.ended()) > opened.number
            out[members.left_out] = True
            return np.flatnonzero(out[numbers])

    def statement(
        self, ledger: Ledger, *, identity: tuple[int, int]
    ) -> tuple[tuple[Entry, int | None], ...]:
        """Return what one patient paid for each charge, in 1e-15; None where they were left out."""
        with alone(self._folder):
            self._look_again()
            words = np.array([identity], dtype=np.uint64)
            number = int(self._people.numbers(words)[0])
            entries = ledger.entries(self._lineage)
            self._records.require_explained(entries)
            counted = self._records.counted(entries)
            ended = ledger.desk.consent.ended()
            never = max((*ended, *(each.anew for each in self._people.segments())), default=0)
            anew = (*met_anew(self._people, ended=ended).tolist(), never)[number]

            def paid(entry: Entry) -> int | None:
                if entry.number < anew:
                    return whole(entry)
                return self._records.paid(entry, patient=number, people=self._people)

            return tuple((entry, paid(entry)) for entry in entries if entry.number in counted)

    def verify(self, ledger: Ledger, *, forgets: bool = False) -> int:
        """Check every file against its tag and the ledger; return how many charges there are.

        Before a step of a growing release it *forgets* who withdrew, as :meth:`admit` does.

        Raises:
            LedgerFrozenError: If one is missing, was changed, or belongs to no entry.
        """
        with alone(self._folder):
            self._begin_anew()
            if forgets:
                forgets_again(self._people, self._listed, ledger=ledger, key=self._key)
            entries = ledger.entries(self._lineage)
            self._records.require_explained(entries)
            counted = self._records.counted(entries)
            for entry in entries:
                if entry.number in counted:
                    self._told(entry, counted[entry.number])
            return len(counted)

    def close(self) -> None:
        """Keep the vectors for the next process, unless the folder is another by now."""
        if not self._changed:
            return
        with contextlib.suppress(LedgerFrozenError), alone(self._folder):
            if self._people.is_of_before:
                return
            for window in self._changed - {CapWindow.RELEASE}:
                tally, path = self._tallies[window], self._cache(window)
                rewrite_sealed(
                    path,
                    key=self._key,
                    fields={"kind": "tally", **self._sealed_for(window, tally), **tally.header()},
                    columns={"own": tally.own},
                )
        self._changed = set()

    # --- who is who ---

    def _look_again(self) -> None:
        """Know the patients as the folder does now: who withdraws from here on keeps a number."""
        if self._people.is_of_before:
            self._begin_anew()
        self._people.refresh()

    def _begin_anew(self) -> None:
        """Forget who has which number, and what counts them."""
        self._people.read_anew()
        self._roster, self._tallies, self._changed = None, {}, set()

    def _roster_of(
        self, name: str, identities: Callable[[], NDArray[np.uint64]], *, ledger: Ledger
    ) -> Roster:
        """Return the number of each person of a roster, by the engine's number."""
        self._people.refresh()
        if name and self._roster is not None and self._roster.name == name:
            return self._roster
        if name:
            self._roster = read_roster(self._folder, name, people=self._people, key=self._key)
            if self._roster is not None:
                return self._roster
        found = roster_of(name, self._people.met(identities(), after=ledger.head().number))
        if name:
            self._roster = found
            keep_roster(self._folder, found, people=self._people, key=self._key)
        return found

    # --- what was spent ---

    def _tally(self, window: CapWindow, ledger: Ledger, *, entry: Entry) -> Tally:
        """Return the vector of a window as it is when an entry is charged."""
        if window is CapWindow.RELEASE:  # nothing stands beside it
            return Tally(own=np.zeros(self._people.count, dtype=np.int64))
        self._admitted.require_all(ledger.under_way(self._lineage))
        self._people.refresh()
        entries = ledger.entries(self._lineage)
        self._records.require_explained(entries)
        known = {each.number: each for each in entries}
        wanted = self._records.counted(ledger.beside(entry.number, window=window.value))
        lost = ledger.lost_beside(entry.number, window=window.value)
        if lost:
            everybody = lost_whole(lost, measure=ledger.counted_in(self._lineage))
            wanted[LOST] = CountedCharge(everybody=everybody)
        tally = self._tallies.get(window) or self._cached(window, known=known)
        is_of_now = tally.counted.keys() <= {*known, LOST}  # and of no row that is lost by now
        if not is_of_now or any(wanted.get(n, c).tag != c.tag for n, c in tally.counted.items()):
            tally = Tally()
        self._tallies[window] = tally
        for number in tally.counted.keys() - wanted.keys():
            tally.remove(number, self._told(known.get(number), tally.counted[number]))
            self._changed.add(window)
        for number, counted in wanted.items():
            present = tally.counted.get(number)
            if present is None or present != counted:
                members = self._told(known.get(number), counted)
                if present is not None:  # the file was touched: it is still what its tag says
                    tally.remove(number, members)
                tally.add(number, counted, members)
                self._changed.add(window)
        if tally.own.size > self._people.count:
            raise changed(self._folder / "people")
        tally.grow(self._people.count)
        return tally

    def _begun(self, window: CapWindow, ledger: Ledger) -> NDArray[np.int64] | None:
        """Return what patients who are met anew begin with; None where nobody is."""
        rows = met_anew(self._people, ended=ledger.desk.consent.ended())
        if window is CapWindow.RELEASE or not rows.any():
            return None
        counted = self._tallies[window].counted
        known = {each.number: each for each in ledger.entries(self._lineage)}

        def alike(number: int) -> int:
            tag = counted[number].tag
            if tag not in self._alike:
                members = self._records.read(known[number], people=self._people)
                self._alike[tag] = members.everybody
            return self._alike[tag]

        return paid_before(rows, counted=counted, known=known, alike=alike)

    def _told(self, entry: Entry | None, counted: CountedCharge) -> Members | None:
        """Return the membership behind a charge; None where everybody paid the whole loss."""
        if not counted.tag or entry is None:
            return None
        return self._records.read(entry, people=self._people)

    def _cached(self, window: CapWindow, *, known: Mapping[int, Entry]) -> Tally:
        """Return the tally that was kept, if it is of this window, these people and these files.

        One of rows that were lost counts under their numbers what the ledger has under it no more.
        """
        with contextlib.suppress(LedgerFrozenError, KeyError, ValueError):  # built anew
            found = read_sealed(self._cache(window), key=self._key, kind="tally")
            tally = tally_of(found.fields, found.columns["own"])
            counted = [known[number] for number in tally.counted if number != LOST]
            now = {number: each.paid for number, each in self._records.counted(counted).items()}
            had = {number: each.paid for number, each in tally.counted.items() if number != LOST}
            sealed = self._sealed_for(window, tally)
            is_known = bool(sealed["rolled"]) or not tally.own.size
            if is_known and had == now and found.fields.items() >= sealed.items():
                return tally
        return Tally()

    def _sealed_for(self, window: CapWindow, tally: Tally) -> dict[str, str]:
        """Return of what a tally is: kept in its file, so that no other is taken for it."""
        of = {"lineage": self._lineage, "window": window.value, "version": self._people.version}
        return {**of, "rolled": self._people.rolled(tally.own.size)}

    def _cache(self, window: CapWindow) -> Path:
        return self._folder / f"{window.value}.tally"
