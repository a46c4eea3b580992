"""Random lives of a ledger whose file is put back at will, and what was really granted in them.

Copies are taken and put back in any order, policies with caps of every kind are adopted between,
the signing key is replaced, the clock moves on, years are opened and days confirmed.  The anchor is
whole, or lost while the ledger is; strangers only repeat lines of it.  So nothing that was ever
granted may be forgotten, not by any counter, in any life; and the newest policy that ever held is
in force, or waited for. Where policies name people, no act may ever again go without their officer,
from the first on. Beside it other lineages change unit, measure and caps until their first charge:
from then on they have those of that charge, whichever copies know of it.
"""

import contextlib
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from confide.budget.accounts.file_caps import is_raised
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.growth import Step
from confide.budget.integrity.lost_rows import units_in
from confide.budget.ledger import Caps, LedgerTerms, Reservation
from confide.budget.policy.adoption import adopted
from confide.budget.policy.counters import (
    ROLLING,
    Occasion,
    kind_of,
    shares,
    window_of,
)
from confide.budget.policy.policy import Policy
from confide.budget.workflow.acts import Officers
from confide.errors import ApprovalMissingError, LedgerFrozenError, PolicyError
from confide.privacy.amount import LARGEST, Amount, InLanes
from confide.privacy.measure import Measure, Mixed
from confide.privacy.unit import Entity
from ledger_policies import CY, cap, policy, with_people
from ledgers import LINEAGE, NANO, HandClock, SiteKey, amount_of, open_ledger, request, terms

WINDOWS = ("lifetime", "calendar-year", "rolling-365d")
SCOPES = ("dataset", "analyst", "project")
ACTS = {
    "reserve": 10,
    "move": 16,
    "adopt": 3,
    "rotate_key": 0.6,
    "copy": 3,
    "put_a_copy_back": 3,
    "close": 1,
    "clock_moves": 1.5,
    "open_year": 1,
    "confirm_day": 0.7,
    "unfreeze": 0.3,
    "repeat_a_line": 0.7,
}


MIXED = Mixed(atto=10**12, yearly=9, lifetime=4, each=(22, 7))


def amount_in_lanes(events_json: str, *, measure: Measure, mixed: Mixed | None = None) -> Amount:
    """The accountant of these lives: Σd is more at larger orders; what is of ρ is not pure."""
    amount = amount_of(events_json)
    if mixed is None or not amount.nano:
        return amount
    nano = amount.nano
    ordered = tuple((order, nano * (1 + place)) for place, order in enumerate(mixed.orders))
    pure = nano if measure is Measure.PURE else None
    return replace(amount, lanes=InLanes(alone=nano, pure=pure, ordered=ordered))


@dataclass
class Recent:
    """What counts in a rolling window: since which day, in which counter, how much."""

    day: str
    name: str
    units: int


@dataclass
class Life:
    """One ledger, and the truth about it."""

    folder: Path
    seed: int
    people: bool = False
    clock: HandClock = field(default_factory=HandClock)
    granted: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    recent: list[Recent] = field(default_factory=list)
    growing: dict[str, list[Recent]] = field(default_factory=dict)  # by hash of what opened it
    under_way: list[tuple[Reservation, bool]] = field(default_factory=list)
    copies: list[bytes] = field(default_factory=list)
    policies: dict[str, Policy] = field(default_factory=dict)
    newest: int = 0  # version of the policy that held last
    keys: int = 0  # how many signing keys there were
    asked: int = 0
    put_back: int = 0
    others: dict[str, tuple[LedgerTerms, int]] = field(default_factory=dict)  # what they granted
    begun: dict[str, list[LedgerTerms]] = field(default_factory=lambda: defaultdict(list))
    named: bool = False  # whether a policy that names people was ever in force
    anchors: bool = False  # whether anchors are put back and lost, too, once nothing is missing
    mixed: bool = False  # whether the ledger takes charges of either measure
    old_anchors: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.elsewhere = random.Random(self.seed + 1)
        self.disks = random.Random(self.seed + 2)
        self.ledger = self.opened()
        self.kinds = random.Random(self.seed + 3)
        first = terms(lifetime=90 * NANO, year=None, release=None)
        self.ledger.register(replace(first, measure=MIXED) if self.mixed else first)

    @property
    def key(self) -> SiteKey:
        return SiteKey(bytes([self.keys]) * 32)

    @property
    def file(self) -> Path:
        return self.folder / "ledger.sqlite"

    def opened(self) -> ChainedLedger:
        """Open the ledger; an officer goes on if it is frozen."""
        self.under_way.clear()
        ledger = open_ledger(
            self.folder, clock=self.clock, signer=self.key, recompute=amount_in_lanes
        )
        try:
            ledger.spent(LINEAGE) if self.asked else ledger.head()
        except LedgerFrozenError:
            self.signed(lambda by: ledger.unfreeze("looked into", officers=by))
        return ledger

    def signed(self, act: Callable[[Officers], None]) -> None:
        """Do an act; without the officer first, who is needed once a policy has named people."""
        try:
            act(())
        except ApprovalMissingError:
            act((CY,))
        else:
            assert not self.named, self.seed

    def live(self, acts: int) -> "Life":
        """Do so many acts, and look at every counter after each."""
        for _ in range(acts):
            (act,) = self.draw.choices(list(ACTS), list(ACTS.values()))
            try:
                getattr(self, act)()
            except PolicyError:
                continue  # not now: a year to be opened, a policy to be adopted again
            if self.elsewhere.random() < 0.2:
                self.use_another_data_set()
            if self.elsewhere.random() < 0.15:
                with contextlib.suppress(PolicyError):
                    self.grow()
            if self.anchors and self.disks.random() < 0.08:
                self.put_an_anchor_back()
            elif self.disks.random() < 0.005:
                self.lose_the_anchor()
            self.nothing_is_forgotten()
        self.ledger.close()
        self.ledger = self.opened()
        self.nothing_is_forgotten()
        self.ledger.verify_chain()
        self.ledger.close()
        return self

    def nothing_is_forgotten(self) -> None:
        account = self.ledger._journal.book.accounts[LINEAGE]
        book = self.ledger._journal.book
        for lineage, (had, units) in [*self.others.items()]:
            assert units_in(book, lineage=lineage, name="lifetime") >= units, (self.seed, lineage)
            if lineage in book.accounts:
                other = book.accounts[lineage]
                holds = other.terms if other.terms in self.lower(lineage, than=had) else had
                assert (other.terms, other.disputed) == (holds, ()), (self.seed, lineage)
                self.others[lineage] = (holds, units)
        for name, units in self.granted.items():
            assert account.holds(name).spent >= units, (self.seed, name)
        present = 0 if account.policy is None else account.policy.policy.version
        known = max([present, *(version for version, _ in account.awaited.versions)])
        assert known >= self.newest, (self.seed, "policy", self.newest)
        first = account.rolling.days[-1] if account.rolling.days else ""
        held = defaultdict(int)
        for one in self.recent:
            if not first or (date.fromisoformat(first) - date.fromisoformat(one.day)).days < 365:
                held[one.name] += one.units
        for name, units in held.items():
            assert account.holds(name).spent >= min(LARGEST, units), (self.seed, name)

    # --- acts ---

    def reserve(self) -> None:
        self.asked += 1
        one = request(f"k{self.asked}", nano=self.draw.randrange(1, 40) * 1_000_000)
        who = {"analyst": self.draw.choice("ab"), "project": self.draw.choice(["", "x", "y/z"])}
        tier = "open" if self.people else ""
        one = replace(one, tier=tier, measure=self.measure(), **who)
        self.under_way.append((self.ledger.reserve(one), False))

    def measure(self) -> Measure:
        """Return that of a request; in a mixed ledger it may close the lane of pure events."""
        is_zcdp = self.mixed and self.kinds.random() < 0.1
        return Measure.ZCDP if is_zcdp else Measure.PURE

    def use_another_data_set(self) -> None:
        """Register another lineage, which copies may not know, under any terms until it is charged.

        Release something of it, or not yet.
        """
        lineage = self.elsewhere.choice(["east", "south", "west"])
        had, units = self.others.get(lineage, (None, 0))
        kind = {
            "unit": self.elsewhere.choice([Entity.PATIENT, Entity.EVENT]),
            "measure": self.elsewhere.choice([*Measure]),
        }
        caps = Caps(lifetime=self.elsewhere.choice([80, 90]) * NANO)
        new = replace(terms(), lineage=lineage, caps=caps, **kind)
        if had is not None and (new.names != had.names or is_raised(had.caps, caps)):
            with pytest.raises(PolicyError, match=r"as in the ledger of|under other caps"):
                self.ledger.register(new)
        try:
            self.ledger.register(had or new)
        except PolicyError:  # rows that charged nothing, and are lost, told lower caps: these hold
            lower = self.lower(lineage, than=had) if had else []
            assert lower, (self.seed, lineage)
            had = lower[0]
            self.ledger.register(had)
        self.begun[lineage].append(had or new)
        if had is None and self.elsewhere.random() < 0.5:
            return
        self.asked += 1
        kind = {"unit": (had or new).unit, "measure": (had or new).measure}
        one = replace(request(f"s{self.asked}"), lineage=lineage, **kind)
        held = self.ledger.reserve(one)
        self.ledger.start_reading(held)
        self.ledger.publish(self.ledger.commit(held, payload=b"answer"))
        self.others[lineage] = (had or new, units + held.entry.amount.nano)

    def lower(self, lineage: str, *, than: LedgerTerms) -> list[LedgerTerms]:
        """Return lower caps with which a lineage began and was not charged: they may hold too."""
        begun = (each for each in self.begun[lineage] if each.names == than.names)
        return [each for each in begun if is_raised(each.caps, than.caps)]

    def grow(self) -> None:
        """Open a release that grows, or take a step of one."""
        going = [each for each in self.ledger.growths(LINEAGE) if each.latest and not each.closed]
        self.asked += 1
        step, nano = Step(question="f" * 64, start=0, stop=1), 20_000_000
        if going and self.elsewhere.random() < 0.7:
            one = self.elsewhere.choice(going)
            place = {"start": one.position, "stop": one.position + 1}
            step, nano = replace(step, continues=one.opened, **place), 0
        asked = replace(
            request(f"g{self.asked}"),
            amount=Amount(nano=nano),
            events_json=f"{nano}/0",
            step=step,
            tier="open" if self.people else "",
        )
        held = self.ledger.reserve(asked)
        self.ledger.start_reading(held)
        if step.continues is None:
            before = len(self.recent)
            self.grant(held)
            self.growing[held.entry.hash] = self.recent[before:]
        else:
            for each in self.growing[self.ledger.entry(step.continues).hash]:
                each.day = held.entry.at[:10]
        self.ledger.publish(self.ledger.commit(held, payload=b"answer"))

    def move(self) -> None:
        """Take a request a step on, or end it."""
        if not self.under_way:
            return
        at = self.draw.randrange(len(self.under_way))
        held, reads = self.under_way[at]
        if not reads and self.draw.random() < 0.25:
            del self.under_way[at]
            self.ledger.cancel(held)
        elif not reads:
            self.ledger.start_reading(held)
            self.under_way[at] = (held, True)
            self.grant(held)
        else:
            del self.under_way[at]
            self.ledger.publish(self.ledger.commit(held, payload=b"answer"))

    def grant(self, held: Reservation) -> None:
        """Remember what is granted for good."""
        when: Occasion = self.ledger._journal.held(held.entry.number).when
        day = held.entry.at[:10]
        measure = self.ledger._journal.book.accounts[LINEAGE].terms.measure
        for name, units in shares(held.entry.amount, when=when, measure=measure).items():
            if window_of(kind_of(name)) == ROLLING:
                self.recent.append(Recent(day, name, units))
            else:
                self.granted[name] = min(LARGEST, self.granted[name] + units)

    def adopt(self) -> None:
        """Adopt a policy with caps of some kinds; the one that lost rows held, if there is one."""
        account = self.ledger._journal.book.accounts[LINEAGE]
        if account.awaited.versions:
            new = self.policies[self.draw.choice(account.awaited.versions)[1]]
        else:
            kinds = [(scope, window) for scope in SCOPES for window in WINDOWS]
            some = self.draw.sample(kinds, self.draw.randrange(4))
            caps = [cap(f"{scope}-{window}", scope, window, "80") for scope, window in some]
            life = cap("life", "patient", "lifetime", "90")
            make = with_people if self.people else policy
            both = {"mixed": True, "report_delta": Fraction("1e-6")} if self.mixed else {}
            new = replace(make(life, *caps, version=len(self.policies) + 1), **both)
            self.policies[adopted(new).digest] = new
        if self.people and account.policy is not None:
            self.ledger.desk.endorse(LINEAGE, policy=new, signer=CY)
        says = {"policy": new, "reason": "the board says so"}
        self.adopted(
            adopted(new).digest, lambda by: self.ledger.desk.adopt(LINEAGE, **says, officers=by)
        )
        self.named = self.named or self.people

    def adopted(self, digest: str, act: Callable[[Officers], None]) -> None:
        """Adopt; of policies that lost rows held nobody picks another than the newest alone."""
        awaited = self.ledger._journal.book.accounts[LINEAGE].awaited
        picks = awaited.officers and awaited.holds(digest) and awaited.newest != digest
        self.signed(act) if picks else act(())
        self.newest = max(self.newest, self.policies[digest].version)

    def rotate_key(self) -> None:
        new = SiteKey(bytes([self.keys + 1]) * 32)
        self.signed(lambda by: self.ledger.rotate_key(new, reason="yearly", officers=by))
        self.keys += 1

    def copy(self) -> None:
        self.copies.append(self.file.read_bytes())
        self.old_anchors.append((self.folder / "anchor").read_bytes())

    def put_a_copy_back(self) -> None:
        if not self.copies:
            return
        self.ledger.close()
        self.file.write_bytes(self.draw.choice(self.copies[-6:]))
        self.put_back += 1
        if self.draw.random() < 0.4:
            self.add_a_line()
        self.ledger = self.opened()

    def close(self) -> None:
        self.ledger.close()
        self.ledger = self.opened()

    def clock_moves(self) -> None:
        self.clock.time += timedelta(days=self.draw.choice([1, 40, 200, 400]))

    def open_year(self) -> None:
        why = {"year": self.clock.time.year, "reason": "it is new year"}
        self.signed(lambda by: self.ledger.open_year(LINEAGE, **why, officers=by))

    def confirm_day(self) -> None:
        day = self.clock.time.date().isoformat()
        why = {"day": day, "reason": "looked at a calendar"}
        self.signed(lambda by: self.ledger.desk.confirm_day(LINEAGE, **why, officers=by))

    def unfreeze(self) -> None:
        """Ask to go on where nothing is wrong: nobody is needed, and nothing changes."""
        self.ledger.unfreeze("looked again")

    def repeat_a_line(self) -> None:
        self.ledger.close()
        self.add_a_line()
        self.ledger = self.opened()

    def lose_the_anchor(self) -> None:
        """The anchor is gone, the ledger is whole: an officer goes on, and all is known as
        before."""
        if self.ledger._journal.book.accepted:
            return
        self.ledger.close()
        (self.folder / "anchor").unlink()
        self.ledger = self.opened()

    def put_an_anchor_back(self) -> None:
        """The anchor is an older one, or gone, beside a ledger that lacks nothing since an officer
        went on."""
        self.ledger.close()
        anchor = self.folder / "anchor"
        if self.old_anchors and self.disks.random() < 0.7:
            anchor.write_bytes(self.disks.choice(self.old_anchors[-6:]))
        else:
            anchor.unlink()
        self.ledger = self.opened()

    def add_a_line(self) -> None:
        """A stranger adds an older line of the anchor at its end."""
        anchor = self.folder / "anchor"
        line = self.draw.choice(anchor.read_bytes().splitlines())
        anchor.write_bytes(anchor.read_bytes() + line + b"\n")
