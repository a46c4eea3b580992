"""Requests in the book: what the chain says of each, and where the settled ones are read from.

The newest requests are held in memory.  Those that a signed checkpoint covers stay in the tables,
and are read, and checked against it, when somebody needs them; so opening a ledger of many releases
does not make each of them anew.
"""

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from confide.budget.accounts.request_row import read_off
from confide.budget.chain.chain import Event
from confide.budget.growth import step_of
from confide.budget.ledger import Charge, ChargeRequest, Entry, Measure, State
from confide.budget.policy.counters import Occasion
from confide.privacy.amount import Amount, InLanes
from confide.privacy.measure import LedgerMeasure, Mixed

Key = tuple[str, str, str]
PLAN, STUDY, SNAPSHOT, GROWTH = "plan", "study", "snapshot", "growth"


@dataclass(frozen=True, slots=True)
class Held:
    """One request, and who holds it."""

    entry: Entry
    owner: str
    when: Occasion
    events_json: str


class Settled(Protocol):
    """Requests that a checkpoint covers."""

    def has_request(self, number: int) -> bool:
        """Return whether a request is among them."""

    def request(self, number: int) -> Held:
        """Return one of them, read from the chain and checked."""

    def requests(self, numbers: list[int]) -> Iterator[Held]:
        """Yield several of them, in the order given."""

    def request_numbers(self) -> list[int]:
        """Return their numbers, ascending."""

    def marked(self, mark: str) -> list[int]:
        """Return the numbers of those that bear a mark, ascending; others may be among them."""

    def answered(self, key: Key) -> int | None:
        """Return the last of them that was granted under an idempotency key."""


class Requests(Mapping[int, Held]):
    """Requests by number, oldest first; a mapping to which the book alone writes.

    Attributes:
        changed: Numbers of those that were made or moved since the last checkpoint.
    """

    def __init__(self, settled: Settled | None = None) -> None:
        self._settled = settled
        self._made: dict[int, Held] = {}
        self._keys: dict[Key, int] = {}
        self.changed: set[int] = set()

    def __getitem__(self, number: int) -> Held:
        found = self._made.get(number)
        if found is not None:
            return found
        if self._settled is None or not self._settled.has_request(number):
            raise KeyError(number)
        return self._settled.request(number)

    def __setitem__(self, number: int, held: Held) -> None:
        self._made[number] = held
        self.changed.add(number)

    def __contains__(self, number: object) -> bool:
        if number in self._made:
            return True
        settled = self._settled
        return settled is not None and isinstance(number, int) and settled.has_request(number)

    def __iter__(self) -> Iterator[int]:
        old = [] if self._settled is None else self._settled.request_numbers()
        yield from old
        yield from (number for number in self._made if not self._is_settled(number))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def all(self) -> Iterator[Held]:
        """Yield every request, oldest first; the settled ones are read together."""
        old = [] if self._settled is None else self._settled.request_numbers()
        if self._settled is not None:
            read = self._settled.requests([number for number in old if number not in self._made])
            for number in old:
                yield self._made[number] if number in self._made else next(read)
        for number, held in self._made.items():
            if not self._is_settled(number):
                yield held

    def marked(self, mark: str) -> Iterator[Held]:
        """Yield those that bear a mark, oldest first; the others are not read."""
        old = [] if self._settled is None else self._settled.marked(mark)
        made = (n for n, held in self._made.items() if mark in marks_of(held.entry))
        for number in sorted({*old, *made}):
            held = self[number]
            if mark in marks_of(held.entry):
                yield held

    def newest(self) -> Iterator[Held]:
        """Yield every request, newest first, reading no more than is asked for."""
        old = [] if self._settled is None else self._settled.request_numbers()
        for number in sorted({*old, *self._made}, reverse=True):
            yield self[number]

    def recent(self) -> Iterator[Held]:
        """Yield those that are held in memory: all that came or changed since a checkpoint."""
        return iter(self._made.values())

    def answered(self, key: Key) -> int | None:
        """Return the last request that was granted under an idempotency key."""
        found = self._keys.get(key)
        if found is None and self._settled is not None:
            return self._settled.answered(key)
        return found

    def answer(self, key: Key, *, number: int) -> None:
        """Note that a request was granted under a key."""
        self._keys[key] = number

    def _is_settled(self, number: int) -> bool:
        return self._settled is not None and self._settled.has_request(number)


def key_of(asked: ChargeRequest | Entry) -> Key:
    """Return the idempotency key: analyst, plan, and the client's own key."""
    return asked.analyst, asked.plan_digest, asked.request_key


@functools.lru_cache(maxsize=1024)  # studies and snapshots come again
def mark(what: str, *names: str) -> str:
    """Return a short text by which requests that have something in common are found again."""
    return hashlib.sha256(json.dumps([what, *names]).encode()).hexdigest()[:16]


def marks_of(entry: Entry) -> list[str]:
    """Return the marks of a request: its plan, its study and period, its snapshot, its growth."""
    found = [
        mark(PLAN, entry.lineage, entry.plan_digest),
        mark(STUDY, entry.lineage, entry.study, entry.period),
        mark(SNAPSHOT, entry.lineage, entry.snapshot),
    ]
    if entry.step is not None:
        opened = entry.number if entry.continues is None else entry.continues
        found.append(mark(GROWTH, entry.lineage, str(opened)))
    return found


def entry_of(
    fields: Mapping[str, Any],
    event: Event,
    *,
    measure: LedgerMeasure,
    policy: str,
    ledger: str,
    state: State,
    charges: tuple[Charge, ...] = (),
) -> Entry:
    """Return the entry that a row of kind "reserved" or "refused" makes.

    Args:
        fields: Of the row.
        event: The row.
        measure: Of the lineage then; of a mixed one the row says in which its amount is.
        policy: Digest of the policy in force then; "" of none.
        ledger: Id of the ledger, as far as its rows had said it; "" before.
        state: In which it is.
        charges: What it did to each cap.
    """
    return Entry(
        number=event.number,
        previous=event.previous,
        hash=event.hash,
        at=fields["at"],
        lineage=fields["lineage"],
        analyst=fields["analyst"],
        request_key=fields["request-key"],
        plan_digest=fields["plan-digest"],
        measure=Measure(fields["measure"]) if isinstance(measure, Mixed) else measure,
        amount=Amount(
            nano=int(fields["nano"]),
            atto=int(fields["delta-atto"]),
            lanes=InLanes.of_fields(fields["lanes"]) if "lanes" in fields else None,
        ),
        charges=charges,
        state=state,
        **read_off(fields["plan"]),
        step=step_of(fields.get("step")),
        project=fields.get("project", ""),
        tier=fields.get("tier", ""),
        submission=int(fields.get("submission", "0")),
        policy=policy,
        ledger=ledger,
    )
