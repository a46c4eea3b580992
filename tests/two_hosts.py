"""Hosts that share one database, each with an anchor of its own, and a database put back at will.

What stands for the database is SQLite behind a store that hosts may share, or a PostgreSQL server.
In random lives hosts ask, read, publish, let releases grow and end, copies are put back, and each
host that saw more goes on once its officer has looked.  When all have, no counter may be below what
was read by any of them, nor a growing release below the most that its periods were drawn.
"""

import random
import shutil
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from confide.budget.chained_ledger import ChainedLedger
from confide.budget.growth import Step
from confide.budget.integrity.lost_rows import units_in
from confide.budget.ledger import ChargeRequest, Reservation
from confide.budget.policy.counters import ROLLING, kind_of, shares, window_of
from confide.budget.stores.sqlite_store import SQLiteStore
from confide.errors import LedgerFrozenError, PolicyError
from confide.privacy.amount import Amount
from ledger_policies import cap, policy, uncapped
from ledgers import LINEAGE, HandClock, SiteKey, amount_of, open_ledger, request, terms

ACTS = {"reserve": 8, "move": 14, "grow": 4, "end": 2, "copy": 2, "put_back": 1.5, "confirm": 0.7}
OPENING = Step(question="f" * 64, start=0, stop=1)
GROWS = 20_000_000
POLICY = policy(
    cap("life", "patient", "lifetime", "90"),
    cap("year", "dataset", "rolling-365d", "80"),
    cap("each", "analyst", "lifetime", "80"),
    effective="2020-01-01",
)


ANOTHER = replace(terms(lifetime=90_000_000_000, year=None, release=None), lineage="south")
"""Terms of a second data set of the same ledger."""


def released_beside(ledger: ChainedLedger, key: str) -> int:
    """Release something of the second data set; return what it cost."""
    held = ledger.reserve(replace(request(key), lineage=ANOTHER.lineage))
    ledger.start_reading(held)
    ledger.publish(ledger.commit(held, payload=b"answer"))
    return held.entry.amount.nano


def free_step(opened: int, key: str) -> ChargeRequest:
    """Return a request for the second period of a growing release."""
    step = replace(OPENING, start=1, stop=2, continues=opened)
    return replace(request(key), amount=Amount(nano=0), events_json="0/0", step=step)


class Shared(SQLiteStore):
    """A store of which each host knows as much as it saw."""

    most_behind = None


@dataclass
class Hosts:
    """Hosts by number; ``url`` of a PostgreSQL server, or none."""

    folder: Path
    url: str = ""
    clock: HandClock = field(default_factory=HandClock)
    ledgers: dict[int, ChainedLedger] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def at(self, host: int) -> ChainedLedger:
        """Open the ledger on a host, or go on with it; an officer goes on if it is frozen."""
        if host not in self.ledgers:
            ledger = self.ledgers[host] = self.opened(host)
            try:
                ledger.head()
            except LedgerFrozenError:
                ledger.unfreeze("another host knows more")
        return self.ledgers[host]

    def opened(self, host: int) -> ChainedLedger:
        place = self.folder / f"host-{host}"
        if self.url:
            return open_ledger(self.folder, clock=self.clock, url=self.url, host=place)
        place.mkdir(mode=0o700, exist_ok=True)
        return ChainedLedger(
            Shared(self.folder / "ledger.sqlite"),
            anchor=place / "anchor",
            signer=SiteKey(),
            recompute=amount_of,
            clock=self.clock,
        )

    def leave(self, *hosts: int) -> None:
        """End the processes of hosts."""
        for host in hosts or tuple(self.ledgers):
            if host in self.ledgers:
                self.ledgers.pop(host).close()

    def copy(self, name: str) -> None:
        """Copy the database."""
        if self.url:
            from unit.budget.test_postgres_store import copy_of_schema

            copy_of_schema(self.folder)
            return
        shutil.copy2(self.folder / "ledger.sqlite", self.folder / name)

    def put_back(self, name: str) -> None:
        """Put a copy of the database in its place; whoever was connected is not any more."""
        self.leave()
        if self.url:
            from unit.budget.test_postgres_store import copy_of_schema

            copy_of_schema(self.folder, back=True)
            return
        shutil.copy2(self.folder / name, self.folder / "ledger.sqlite")

    def everybody_looks(self, hosts: int) -> None:
        """Let the officer of each host act, and each see what the others did."""
        for host in (*range(hosts), *range(hosts)):
            self.leave()
            self.at(host)


@dataclass
class Life:
    """A random life of one database, and the truth about it."""

    hosts: Hosts
    seed: int
    many: int = 2
    others: bool = False  # whether a second data set is used as well
    asked: int = 0
    copies: int = 0
    put_backs: int = 0
    held: dict[int, list[tuple[Reservation, bool]]] = field(default_factory=dict)
    granted: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    drawn: dict[str, dict[int, int]] = field(default_factory=dict)  # by hash of what opened it
    opened: dict[str, dict[str, int]] = field(default_factory=dict)  # what that was charged
    beside: int = 0  # what was granted of another data set

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.elsewhere = random.Random(self.seed + 1)
        self.hosts.at(0).register(uncapped())
        if self.others:
            self.hosts.at(0).register(ANOTHER)
        self.hosts.at(0).desk.adopt(LINEAGE, policy=POLICY)

    def live(self, acts: int) -> "Life":
        """Do so many acts; then let everybody look, and compare."""
        for _ in range(acts):
            host = self.draw.randrange(self.many)
            (act,) = self.draw.choices(list(ACTS), list(ACTS.values()))
            try:
                getattr(self, act)(host)
            except LedgerFrozenError:
                self.end(host)
            except PolicyError:
                continue  # a request that died, a release that another host is at
            if self.others and self.elsewhere.random() < 0.3:
                self.use_another_data_set(self.elsewhere.randrange(self.many))
        self.hosts.everybody_looks(self.many)
        self.nothing_is_forgotten()
        self.hosts.leave()
        return self

    def nothing_is_forgotten(self) -> None:
        ledger = self.hosts.at(self.many - 1)
        wanted = defaultdict(int, self.granted)
        for opening, periods in self.drawn.items():
            for name, units in self.opened[opening].items():
                wanted[name] += units * max(periods.values())
        account = ledger._journal.book.accounts[LINEAGE]
        for name, units in wanted.items():
            assert account.holds(name).spent >= units, (self.seed, name)
        spent = units_in(ledger._journal.book, lineage=ANOTHER.lineage, name="lifetime")
        assert spent >= self.beside, (self.seed, ANOTHER.lineage)
        ledger.verify_chain()

    # --- acts ---

    def reserve(self, host: int) -> None:
        one = replace(self.request(self.draw.randrange(1, 40) * 1_000_000), analyst="b")
        self.hold(host, self.hosts.at(host).reserve(one))

    def move(self, host: int) -> None:
        """Take a request a step on, or give it back."""
        ledger, mine = self.hosts.at(host), self.held.setdefault(host, [])
        if not mine:
            return
        held, reads = mine.pop(self.draw.randrange(len(mine)))
        if reads:
            ledger.publish(ledger.commit(held, payload=b"answer"))
        elif self.draw.random() < 0.2:
            ledger.cancel(held)
        else:
            self.read(ledger, held)
            mine.append((held, True))

    def grow(self, host: int) -> None:
        """Open a release that grows, or take a step of one; or begin to."""
        ledger = self.hosts.at(host)
        going = [each for each in ledger.growths(LINEAGE) if each.latest and not each.closed]
        asked = self.request(GROWS, step=OPENING)
        if going and self.draw.random() < 0.7:
            one = self.draw.choice(going)
            step = replace(OPENING, start=one.position, stop=one.position + 1, continues=one.opened)
            asked = self.request(0, step=step)
        held = ledger.reserve(asked)
        if self.draw.random() < 0.3:
            self.hold(host, held)
            return
        self.read(ledger, held)
        ledger.publish(ledger.commit(held, payload=b"answer"))

    def end(self, host: int) -> None:
        self.held.pop(host, None)
        self.hosts.leave(host)

    def copy(self, _: int) -> None:
        self.hosts.copy(f"copy-{self.copies}")
        self.copies += 1

    def put_back(self, _: int) -> None:
        if self.copies:
            self.held.clear()
            self.hosts.put_back(f"copy-{self.draw.randrange(max(0, self.copies - 4), self.copies)}")
            self.put_backs += 1

    def confirm(self, host: int) -> None:
        self.hosts.clock.time += timedelta(days=self.draw.choice([1, 10]))
        day = self.hosts.clock.time.date().isoformat()
        self.hosts.at(host).desk.confirm_day(LINEAGE, day=day, reason="looked at a calendar")

    # --- the truth ---

    def request(self, nano: int, step: Step | None = None) -> ChargeRequest:
        self.asked += 1
        amount = {"amount": Amount(nano=nano), "events_json": f"{nano}/0"}
        return replace(request(f"k{self.asked}"), step=step, **amount)

    def use_another_data_set(self, host: int) -> None:
        """Release something of a data set of which most rows are not."""
        self.asked += 1
        try:
            self.beside += released_beside(self.hosts.at(host), f"s{self.asked}")
        except LedgerFrozenError:
            self.end(host)

    def hold(self, host: int, held: Reservation) -> None:
        self.held.setdefault(host, []).append((held, False))

    def read(self, ledger: ChainedLedger, held: Reservation) -> None:
        """Begin to read, and remember what was granted by it."""
        ledger.start_reading(held)
        when, step = ledger._journal.held(held.entry.number).when, held.entry.step
        added = {
            name: units
            for name, units in shares(
                held.entry.amount, when=when, measure=held.entry.measure
            ).items()
            if window_of(kind_of(name)) != ROLLING
        }
        if step is None:
            for name, units in added.items():
                self.granted[name] += units
            return
        opening = held.entry.hash
        if step.continues is None:
            self.opened[opening] = added
        else:
            opening = ledger.entry(step.continues).hash
        periods = self.drawn.setdefault(opening, defaultdict(int))
        periods[step.stop] += 1
