"""One lineage in the book: its terms, the policy in force, and a counter for each cap.

*Privacy:* every charge is added to every counter it falls under, whether or not that cap is set, so
that a cap set later knows what came before.  Counters that no cap has asked for yet are kept by the
book alone; those that one has are in the database and the anchor too, and stay there.  In a mixed
ledger each has a twin for pure events, and a charge is admitted where one of the two has room: the
other has no cap meanwhile.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from confide.budget.accounts.awaited import NOTHING, Awaited
from confide.budget.accounts.counter import Counter, charge_of
from confide.budget.accounts.file_caps import held_by_file
from confide.budget.accounts.lanes import cap_on, charge_in_lane, tightest_caps
from confide.budget.accounts.rolling import Rolling
from confide.budget.ledger import Charge, LedgerTerms
from confide.budget.policy.adoption import Adopted
from confide.budget.policy.counters import (
    DELTA,
    LIFETIME,
    RELEASE,
    ROLLING,
    YEAR,
    HeldCap,
    Occasion,
    counter_name,
    group_of,
    is_pure,
    kind_of,
    pure_twin,
    shares,
    window_of,
    without_pure,
    year_of,
)
from confide.budget.policy.policy import Policy, Window
from confide.errors import LedgerFrozenError
from confide.privacy.amount import LARGEST, Amount
from confide.privacy.measure import Mixed


@dataclass(slots=True)
class Account:
    """One lineage.

    Attributes:
        terms: What it agreed to.
        year: Calendar year that is open.
        vouched: The last one that an officer opened, or the first; later ones began by the clock.
        joined: From this year on, charges count with those of the year that is open.
        counters: Those in the database and the anchor.
        tallies: Those in the book alone, because no cap was ever set on their kind.
        caps: What holds now.
        policy: Adopted last; None while the caps of dataset.yaml hold.
        versions: Every policy that was ever adopted, by digest.
        rolling: What rolling counters hold, as of which confirmed days.
        kept: Kinds in ``counters``.
        lost: What lost rows may have added to anyone, by kind of counter, and year of one by year.
        lost_years: What lost rows added to each calendar year.
        touched: Counters that the last row changed.
        charged: Whether anything was ever granted, given back or not.
        awaited: Versions of the policy that lost rows let hold; nothing is granted until they are
            adopted again.
        disputed: Terms under which lost rows charged, other than these: nothing is granted.
    """

    terms: LedgerTerms
    year: int
    vouched: int = 0
    joined: int = 0
    counters: dict[str, Counter] = field(default_factory=dict)
    tallies: dict[str, Counter] = field(default_factory=dict)
    caps: tuple[HeldCap, ...] = ()
    policy: Adopted | None = None
    versions: dict[str, Adopted] = field(default_factory=dict)
    rolling: Rolling = field(default_factory=Rolling)
    kept: set[str] = field(default_factory=lambda: {YEAR, LIFETIME, DELTA})
    lost: dict[str, int] = field(default_factory=dict)
    lost_years: dict[int, int] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    charged: bool = False
    awaited: Awaited = NOTHING
    disputed: tuple[tuple[str, ...], ...] = ()

    def open_year(self, year: int, *, vouched: bool = True) -> None:
        """Charge to ``year`` from now on; an earlier year never opens again.

        Args:
            year: Calendar year.
            vouched: Whether somebody says so, and not the clock alone.
        """
        if year < self.year:
            raise LedgerFrozenError(f"Year {year} was opened after {self.year}.")
        if not vouched and year == self.year:
            return
        if year > self.year:
            self.joined = year
        if vouched and year > self.vouched:
            self.vouched = year
        self.year = year
        self._keep_always()
        self._let_hold()

    def set_terms(self, terms: LedgerTerms) -> None:
        """Take terms whose caps hold until a policy is adopted."""
        had, self.terms = self.has_year_caps, terms
        self._keep_always()
        if self.policy is None:
            self.caps = held_by_file(terms)
        self._join_years(had=had)
        self._let_hold()

    def adopt(self, adopted: Adopted) -> None:
        """Let a policy hold from now on; what was spent before counts under its caps."""
        had = self.has_year_caps
        self.policy, self.caps = adopted, adopted.held(self.terms.measure)
        self.awaited = self.awaited.adopted(adopted.policy.version)
        self.versions[adopted.digest] = adopted
        for kind in tightest_caps(self.caps).keys() - self.kept - {RELEASE}:
            self.kept.add(kind)
            moved = [name for name in self.tallies if kind_of(name) == kind]
            self.counters |= {name: self.tallies.pop(name) for name in moved}
            self.touched.update(moved)
            if without_pure(kind) == ROLLING:
                self._counter(kind)
        self._join_years(had=had)
        self._let_hold()

    def counts_with(self, when: Occasion) -> Occasion:
        """Return an occasion in the year with whose charges it counts."""
        return replace(when, year=self.year) if when.year >= self.joined else when

    def confirm(self, day: str) -> None:
        """Let what was charged 365 days before ``day``, or earlier, leave the rolling windows."""
        self.rolling.confirm(day)
        for name in self.rolling.batches:
            if not (is_pure(name) and self._counter(name).is_full):  # lost rows may have, anew
                self._counter(name).spent = min(LARGEST, self.rolling.held(name))
        self._let_hold()

    def occasion(self, *, year: int, analyst: str, project: str) -> Occasion:
        """Return to what a charge made now would count."""
        return Occasion(year=year, analyst=analyst, project=project, epoch=self.rolling.epoch)

    def dispute(self, others: Iterable[tuple[str, ...]]) -> None:
        """Grant nothing more, if lost rows charged under other terms: amounts do not add."""
        self.disputed = tuple(sorted({*self.disputed, *others}))

    @property
    def is_stopped(self) -> bool:
        """Whether nothing is granted, whatever is left."""
        return not self.caps or bool(self.awaited.versions or self.disputed)

    @property
    def in_force(self) -> Policy | None:
        """The policy in force; None where there are caps at most."""
        return None if self.policy is None else self.policy.policy

    @property
    def has_year_caps(self) -> bool:
        """Whether any cap is by calendar year, one that is kept patient by patient included."""
        return YEAR in self._windows

    @property
    def _windows(self) -> set[str]:
        """Windows of the caps in force, of those too that are kept patient by patient."""
        policys = () if self.policy is None else self.policy.policy.caps
        return {window_of(cap.kind) for cap in self.caps} | {cap.window.value for cap in policys}

    def add(self, amount: Amount, *, when: Occasion, sign: int = 1) -> None:
        """Add ``amount`` to every counter that it falls under, or take it off again."""
        for name, units in self.shares(amount, when=when).items():
            if window_of(kind_of(name)) == ROLLING:
                start = self._counter(name).start
                self.rolling.add(name, sign * units, epoch=when.epoch, start=start)
                if self.has_left(name, when=when):
                    continue  # it left the window before it was given back
            counter = self._counter(name)
            if not counter.is_full:
                counter.spent = min(LARGEST, counter.spent + sign * units)
        if sign < 0 or isinstance(self.terms.measure, Mixed):
            self._let_hold()  # again, if one was lowered below what was spent; or another lane

    def count_anew(self, amount: Amount, *, when: Occasion) -> Occasion:
        """Let an earlier charge count in rolling windows as if it were made now.

        Args:
            amount: What was charged.
            when: As of when it has counted.

        Returns:
            As of when it counts.
        """
        if when.epoch == self.rolling.epoch:
            return when
        for name, units in self.shares(amount, when=when).items():
            if window_of(kind_of(name)) == ROLLING and units:
                self.rolling.move(name, units, epoch=when.epoch)
                held = min(LARGEST, self.rolling.held(name))
                if held > self.holds(name).spent:  # past its cap, too: it was granted before
                    counter = self._counter(name)
                    counter.spent = held
                    counter.set_cap(counter.cap)
        return replace(when, epoch=self.rolling.epoch)

    def take_lost(self, raised: Mapping[str, str], *, anyone: Mapping[str, str]) -> None:
        """Count what rows that are lost charged.

        Args:
            raised: What each counter must hold at least.
            anyone: What comes on top of that for everybody, by group of counters.
        """
        for name, units in raised.items():
            self.raise_spent(name, units=int(units))
        for group, units in anyone.items():
            self.raise_everybody(group, units=int(units))
        self._let_hold()

    def raise_spent(self, name: str, *, units: int) -> int:
        """Count at least ``units`` as spent; a cap below that leaves nothing.

        Returns:
            How much was added.
        """
        more = max(0, min(units, LARGEST) - self._counter(name).spent)
        year = year_of(name)
        joins = year is not None and self.joined <= year < self.year
        for each in (name, self._in_open_year(name)) if joins else (name,):
            self._count_lost(each, more)
        if kind_of(name) == YEAR and year is not None:
            for counts in (year, self.year) if joins else (year,):
                self.lost_years[counts] = self.lost_years.get(counts, 0) + more
        if name == LIFETIME and more:
            self.rolling.add_lost(more)
        return more

    def raise_everybody(self, group: str, *, units: int) -> None:
        """Count what may have been anyone's against everybody, known or not.

        Args:
            group: Kind of counter, with its year where it is by year.
            units: How much more.
        """
        year = year_of(group)
        if year is not None and self.joined <= year < self.year:
            self.raise_everybody(self._in_open_year(group), units=units)
        self.lost[group] = min(LARGEST, self.lost.get(group, 0) + units)
        for name, counter in [*self.counters.items(), *self.tallies.items()]:
            if group_of(name) == group:
                self._count_lost(name, units)
                counter.start = min(LARGEST, counter.start + units)

    def lost_beside(self, window: str, *, when: Occasion) -> int:
        """Return what lost rows charged every patient, as far as it counts in a window."""
        match window:
            case Window.CALENDAR_YEAR.value:
                return self.lost_years.get(when.year, 0)
            case Window.ROLLING.value:
                return self.rolling.lost_held()
            case _:
                return sum(self.rolling.lost.values())

    def leaves(self, window: str, *, when: Occasion) -> str:
        """Return the first day on which a charge counts no more in a window; "" if none is known.

        Args:
            window: Of patients.
            when: Of the charge, which counts now.
        """
        match window:
            case Window.CALENDAR_YEAR.value:
                return f"{self.year + 1}-01-01"
            case Window.ROLLING.value:
                return self.rolling.leaves(when.epoch)
            case _:
                return ""

    def lost_leaves(self, window: str) -> str:
        """Return the first day on which nothing counts any more of what lost rows charged."""
        last = max(self.rolling.lost, default=0)
        return self.leaves(window, when=Occasion(year=self.year, epoch=last))

    def charges(self, amount: Amount, *, when: Occasion) -> tuple[Charge, ...]:
        """Return what ``amount`` would do to every cap that is set, passed or not.

        A free step states the caps as they stand.
        """
        free, added, of = not amount.nano, self.shares(amount, when=when), self.terms.measure
        charges = []
        for cap in self.caps:
            if cap.kind == RELEASE:
                if not free:
                    charges.append(charge_of(RELEASE, amount.alone, Counter(), cap))
                continue
            name = counter_name(cap.kind, when=when)
            if added[name] or (free and cap.kind != DELTA):
                charges.append(charge_in_lane(name, added, cap, measure=of, holds=self.holds))
        return tuple(charges)

    def shares(self, amount: Amount, *, when: Occasion) -> dict[str, int]:
        """Return the grid units that a charge adds to each counter."""
        return shares(amount, when=when, measure=self.terms.measure)

    def has_left(self, name: str, *, when: Occasion) -> bool:
        """Return whether a charge has left a counter, because its window is over."""
        return window_of(kind_of(name)) == ROLLING and self.rolling.has_left(when.epoch)

    def window_over(self, when: Occasion) -> str:
        """Return a window of the caps in force in which an earlier charge counts no more, or ""."""
        if ROLLING in self._windows and self.rolling.has_left(when.epoch):
            return ROLLING
        if self.has_year_caps and self.counts_with(when).year != self.year:
            return YEAR
        return ""

    def holds(self, name: str) -> Counter:
        """Return a counter as it stands, without making it."""
        found = self.counters.get(name) or self.tallies.get(name)
        return Counter(spent=self.lost.get(group_of(name), 0)) if found is None else found

    def touched_spent(self) -> dict[str, int]:
        """Return what the counters on everybody hold, and those that the last row changed."""
        names = {*self._always(), ROLLING, pure_twin(ROLLING), *self.touched} & self.counters.keys()
        return {name: self.counters[name].spent for name in names}

    def comes_back(self, name: str) -> str | None:
        """Return the first day on which a rolling counter holds less; "" if none is confirmed yet.

        None when it holds nothing that could leave.
        """
        return self.rolling.comes_back(name)

    def _counter(self, name: str) -> Counter:
        """Return a counter to change, made if this is its first charge."""
        kind = kind_of(name)
        self.touched.add(name)
        where = self.counters if kind in self.kept else self.tallies
        if name not in where:
            start = self.lost.get(group_of(name), 0)
            where[name] = Counter(spent=start, start=start)
            self._let_hold()
        return where[name]

    def _let_hold(self) -> None:
        """Give every counter that may still be charged the tightest of the caps on its kind."""
        tightest = tightest_caps(self.caps)
        for name, counter in self.counters.items():
            if year_of(name) in {None, self.year}:
                counter.set_cap(cap_on(name, tightest, holds=self.holds))

    def _always(self) -> tuple[str, ...]:
        """Return the counters on everybody that every ledger has, with their pure twins."""
        year = counter_name(YEAR, when=Occasion(year=self.year))
        twins = (pure_twin(year), pure_twin(LIFETIME))
        return (year, LIFETIME, DELTA, *(twins if isinstance(self.terms.measure, Mixed) else ()))

    def _keep_always(self) -> None:
        """Keep the counters that every ledger has in the database."""
        self.kept.update(map(kind_of, self._always()))
        for name in self._always():
            self.counters.setdefault(name, Counter())

    def _join_years(self, *, had: bool) -> None:
        """Count years that ended by the clock alone with the one that is open.

        A clock that was put forward before a cap by year held would else have ended the true year.
        """
        if had or not self.has_year_caps:
            return

        def joins(year: int | None) -> bool:  # also a later one, of rows that are lost
            return year is not None and self.vouched <= year != self.year

        for name, counter in [*self.counters.items(), *self.tallies.items()]:
            if joins(year_of(name)):
                now_open = self._counter(self._in_open_year(name))
                now_open.spent = min(LARGEST, now_open.spent + counter.spent - counter.start)
                counter.start = counter.spent  # so it does not join twice
        for group, units in list(self.lost.items()):
            if joins(year_of(group)):
                self.raise_everybody(self._in_open_year(group), units=units)
        for year in [each for each in self.lost_years if joins(each)]:
            here = self.lost_years.get(self.year, 0)
            self.lost_years[self.year] = here + self.lost_years[year]
        self.joined = min(self.vouched, self.joined)

    def _in_open_year(self, name: str) -> str:
        """Return the counter of the year that is open, of one by year."""
        kind = kind_of(name)
        _, slash, whose = name.removeprefix(f"{kind}/").partition("/")
        return f"{kind}/{self.year}{slash}{whose}"

    def _count_lost(self, name: str, units: int) -> None:
        counter = self._counter(name)
        if window_of(kind_of(name)) == ROLLING:
            self.rolling.add(name, units, epoch=self.rolling.epoch, start=counter.start)
        counter.spent = min(LARGEST, counter.spent + units)
        counter.set_cap(counter.cap)
