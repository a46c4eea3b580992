"""A round by folder: what a site does, and what the coordinator does, until it is over.

Every wait has an end.  A site waits so long for the next word of the coordinator; the coordinator
waits so long for the sites' answers to a step, and goes on with those that came, if they are
enough.  Whoever was killed has spoken in that round for the last time.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from confide.errors import MessageRefusedError, RoundAbortedError
from confide.jobs.federated.carriers.folder_carrier import FolderCarrier
from confide.jobs.federated.secure_sum.collector import Collector, SumOfSites
from confide.jobs.federated.secure_sum.envelope import EVERYONE, Leg, address_of
from confide.jobs.federated.secure_sum.participant import Participant
from confide.plans.sites.federation import ALL, Federation

Stopwatch: TypeAlias = Callable[[], float]
"""Seconds that only grow."""

_Found = TypeVar("_Found")


def take_part(
    participant: Participant,
    *,
    carrier: FolderCarrier,
    federation: Federation,
    seconds: float,
    pause: float = 0.2,
    now: Stopwatch = time.monotonic,
) -> None:
    """Say everything that one site has to say in a round.

    Args:
        participant: The site's machine, which has not begun.
        carrier: Its view of the folder.
        federation: Who takes part.
        seconds: How long it waits for each word of the coordinator.
        pause: Seconds between looks.
        now: Of this process.

    Raises:
        RoundAbortedError: If the round ended, was used before, or the coordinator is silent.
    """
    waiting = Waiting(
        coordinator=federation.coordinator.name, seconds=seconds, pause=pause, now=now
    )
    delivery = heard_until_asked(participant, carrier=carrier, waiting=waiting)
    say_the_rest(participant, delivery, carrier=carrier, waiting=waiting)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How a site waits for the coordinator.

    Attributes:
        coordinator: Its name.
        seconds: How long for each word.
        pause: Seconds between looks.
        now: Of this process.
        look: Called at each look; raises where the coordinator said that the run is over.
    """

    coordinator: str
    seconds: float
    pause: float = 0.2
    now: Stopwatch = time.monotonic
    look: Callable[[], None] = lambda: None

    def until(self, found: Callable[[], _Found | None]) -> _Found:
        """Return what is found, looking again and again.

        Raises:
            RoundAbortedError: If the coordinator is silent for too long.
        """
        end = self.now() + self.seconds
        while (heard := found()) is None:
            self.look()
            left = end - self.now()
            if left <= 0:
                raise RoundAbortedError(
                    f"No word of {self.coordinator!r} in time.",
                    hint="The round is over for this site. Ask the coordinator whether its command "
                    "still runs.",
                )
            time.sleep(min(self.pause, left))
        return heard


def heard_until_asked(
    participant: Participant, *, carrier: FolderCarrier, waiting: Waiting
) -> bytes:
    """Begin, and say and hear all that comes before a site's numbers; return what asks for them.

    Raises:
        RoundAbortedError: If the round ended, was used before, or the coordinator is silent.
    """
    carrier.put(participant.begin(), leg=Leg.ADVERTISE, to=waiting.coordinator)
    while participant.expects is not Leg.DELIVER:
        _answer(participant, carrier=carrier, waiting=waiting)

    def accepted(wire: bytes) -> bytes:
        participant.accept(wire)
        return wire

    return _heard(accepted, leg=Leg.DELIVER, carrier=carrier, waiting=waiting)


def say_the_rest(
    participant: Participant, delivery: bytes, *, carrier: FolderCarrier, waiting: Waiting
) -> None:
    """Send the site's numbers, hidden, and all that comes after them.

    Raises:
        RoundAbortedError: If the round ended, or the coordinator is silent.
    """
    _put(participant.receive(delivery), carrier=carrier, to=waiting.coordinator)
    while not participant.is_done:
        _answer(participant, carrier=carrier, waiting=waiting)


def _answer(participant: Participant, *, carrier: FolderCarrier, waiting: Waiting) -> None:
    """Answer the next word of the coordinator."""
    if participant.expects is None:
        raise RoundAbortedError("The round did not begin.")
    answer = _heard(participant.receive, leg=participant.expects, carrier=carrier, waiting=waiting)
    _put(answer, carrier=carrier, to=waiting.coordinator)


def _heard(
    judge: Callable[[bytes], bytes], *, leg: Leg, carrier: FolderCarrier, waiting: Waiting
) -> bytes:
    """Return what is made of the first message of a step that is the coordinator's."""

    def found() -> bytes | None:
        for wire in carrier.take(leg=leg, sender=waiting.coordinator):
            try:
                return judge(wire)
            except MessageRefusedError:
                continue
        return None

    return waiting.until(found)


def _put(wire: bytes, *, carrier: FolderCarrier, to: str) -> None:
    carrier.put(wire, leg=address_of(wire)[0], to=to)


def collect(
    collector: Collector,
    *,
    carrier: FolderCarrier,
    federation: Federation,
    seconds: float,
    pause: float = 0.2,
    now: Stopwatch = time.monotonic,
    gone: Callable[[], Collection[int]] = tuple,
    progress: Callable[[str], None] = lambda _: None,
) -> SumOfSites:
    """Bring a round to its sum.

    Args:
        collector: The coordinator's machine.
        carrier: Its view of the folder.
        federation: Who takes part.
        seconds: How long it waits for the answers to each step.
        pause: Seconds between looks.
        now: Of this process.
        gone: Numbers of the sites that said that they will not answer; nobody waits for them.
        progress: Told the name of each step.

    Raises:
        RoundAbortedError: If too few sites answered in time, or somebody lied.
    """
    names = [site.name for site in federation.sites]
    while collector.result is None:
        until = now() + seconds
        progress(collector.expects.name.lower())
        while True:
            late = now() >= until
            left = set(gone())
            _look(collector, carrier=carrier, names=names)
            if late or left.issuperset(collector.missing):
                break
            time.sleep(min(pause, max(until - now(), 0)))
        for site, wire in collector.close().items():
            leg, recipient = address_of(wire)
            carrier.put(wire, leg=leg, to=ALL if recipient == EVERYONE else names[site])
    return collector.result


def _look(collector: Collector, *, carrier: FolderCarrier, names: list[str]) -> None:
    for site in collector.missing:
        for wire in carrier.take(leg=collector.expects, sender=names[site]):
            try:
                collector.receive(wire)
            except MessageRefusedError:
                continue
