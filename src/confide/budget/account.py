"""One lineage in the book: its terms, the open calendar year, and a counter for each cap.

*Privacy:* every charge is added to every counter it falls under, whether or not that cap is set, so
that a cap set later knows what came before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from confide.budget.amount import Amount
from confide.budget.ledger import Caps, Charge, LedgerTerms, Scope, ScopeSpent, Spent
from confide.errors import LedgerFrozenError

LIFETIME = Scope.LIFETIME.value
DELTA = Scope.LIFETIME_DELTA.value


@dataclass(slots=True)
class Counter:
    """What one cap holds, in grid units; ``cap`` is ``None`` when it is open."""

    spent: int = 0
    cap: int | None = None

    def set_cap(self, cap: int | None) -> None:
        """Set the cap; what was spent stays, even when it is more."""
        self.cap = None if cap is None else max(cap, self.spent)


@dataclass(slots=True)
class Account:
    """One lineage."""

    terms: LedgerTerms
    year: int
    counters: dict[str, Counter] = field(default_factory=dict)

    def open_year(self, year: int) -> None:
        """Charge to ``year`` from now on; an earlier year never opens again."""
        if year < self.year:
            raise LedgerFrozenError(f"Year {year} was opened after {self.year}.")
        self.year = year
        self.counters.setdefault(year_name(year), Counter())
        self.set_caps(self.terms.caps)

    def set_caps(self, caps: Caps) -> None:
        """Let ``caps`` hold from now on."""
        self.counters.setdefault(LIFETIME, Counter()).set_cap(caps.lifetime)
        self.counters.setdefault(DELTA, Counter()).set_cap(caps.delta_lifetime_atto)
        self.counters[year_name(self.year)].set_cap(caps.calendar_year)

    def add(self, amount: Amount, *, year: int, sign: int = 1) -> None:
        """Add ``amount`` to every counter that it falls under, or take it off again."""
        for name, units in shares(amount, year=year).items():
            self.counters[name].spent += sign * units
        if sign < 0:  # a cap that was lowered below what was spent holds again
            self.set_caps(self.terms.caps)

    def raise_spent(self, name: str, *, units: int) -> None:
        """Count at least ``units`` as spent; a cap below that leaves nothing."""
        counter = self.counters.setdefault(name, Counter())
        counter.spent = max(counter.spent, units)
        counter.set_cap(counter.cap)

    def charges(self, amount: Amount, *, year: int) -> tuple[Charge, ...]:
        """Return what ``amount`` would do to every cap that is set, passed or not.

        A free step states the caps as they stand.
        """
        charges = []
        release = self.terms.caps.release
        if release is not None and amount.nano:
            charges.append(_charge(Scope.RELEASE, "", amount.nano, Counter(0, release)))
        for name, units in shares(amount, year=year).items():
            counter = self.counters.get(name) or Counter(0, self.terms.caps.calendar_year)
            if (units or (name != DELTA and not amount.nano)) and counter.cap is not None:
                scope, _, period = name.partition("/")
                charges.append(_charge(Scope(scope), period, units, counter))
        return tuple(charges)

    def summary(self) -> Spent:
        """Return the use of every cap: release, year, lifetime, δ."""
        year = str(self.year)
        rows = [
            _scope_spent(Scope.RELEASE, "", Counter(0, self.terms.caps.release)),
            _scope_spent(Scope.CALENDAR_YEAR, year, self.counters[year_name(self.year)]),
            _scope_spent(Scope.LIFETIME, "", self.counters[LIFETIME]),
            _scope_spent(Scope.LIFETIME_DELTA, "", self.counters[DELTA]),
        ]
        terms = self.terms
        return Spent(lineage=terms.lineage, measure=terms.measure, scopes=tuple(rows))


def year_name(year: int) -> str:
    """Return the name of a year's counter."""
    return f"{Scope.CALENDAR_YEAR.value}/{year}"


def shares(amount: Amount, *, year: int) -> dict[str, int]:
    """Return the grid units that ``amount`` adds to each counter.

    Example:
        >>> shares(Amount(nano=100_000_000), year=2027)
        {'calendar-year/2027': 100000000, 'lifetime': 100000000, 'lifetime-delta': 0}
    """
    return {year_name(year): amount.nano, LIFETIME: amount.nano, DELTA: amount.delta_atto}


def is_raised(old: Caps, new: Caps) -> bool:
    """Return whether any cap of ``new`` allows more than in ``old``.

    Example:
        A yearly cap is taken away:

        >>> is_raised(Caps(lifetime=10, calendar_year=3), Caps(lifetime=5))
        True
    """

    def looser(before: int | None, after: int | None) -> bool:
        return before is not None and (after is None or after > before)

    return (
        looser(old.release, new.release)
        or looser(old.calendar_year, new.calendar_year)
        or looser(old.lifetime, new.lifetime)
        or looser(old.delta_lifetime_atto, new.delta_lifetime_atto)
    )


def caps_json(caps: Caps) -> dict[str, str | None]:
    """Return caps as they stand in the chain.

    Example:
        >>> caps_of(caps_json(Caps(lifetime=10, release=1))) == Caps(lifetime=10, release=1)
        True
    """
    return {
        "release": None if caps.release is None else str(caps.release),
        "calendar-year": None if caps.calendar_year is None else str(caps.calendar_year),
        "lifetime": str(caps.lifetime),
        "lifetime-delta": str(caps.delta_lifetime_atto),
    }


def caps_of(fields: Mapping[str, str | None]) -> Caps:
    """Return caps as they were written by ``caps_json``."""
    release, year = fields["release"], fields["calendar-year"]
    return Caps(
        release=None if release is None else int(release),
        calendar_year=None if year is None else int(year),
        lifetime=int(fields["lifetime"] or 0),
        delta_lifetime_atto=int(fields["lifetime-delta"] or 0),
    )


def charges_json(charges: tuple[Charge, ...]) -> list[dict[str, str]]:
    """Return charges as they stand in the chain."""
    return [
        {
            "scope": charge.name,
            "amount": str(charge.amount),
            "before": str(charge.before),
            "after": str(charge.after),
            "cap": str(charge.cap),
        }
        for charge in charges
    ]


def _charge(scope: Scope, period: str, units: int, counter: Counter) -> Charge:
    cap = 0 if counter.cap is None else counter.cap
    return Charge(
        scope=scope,
        period=period,
        amount=units,
        before=counter.spent,
        after=counter.spent + units,
        cap=cap,
    )


def _scope_spent(scope: Scope, period: str, counter: Counter) -> ScopeSpent:
    remaining = None if counter.cap is None else counter.cap - counter.spent
    return ScopeSpent(
        scope=scope, period=period, used=counter.spent, cap=counter.cap, remaining=remaining
    )
