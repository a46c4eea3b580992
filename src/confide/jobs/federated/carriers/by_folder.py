"""A round by folder: what a site does, and what the coordinator does, until it is over.

Every wait has an end.  A site waits so long for the next word of the coordinator; the coordinator
waits so long for the sites' answers to a step, and goes on with those that came, if they are
enough.  Whoever was killed has spoken in that round for the last time.
"""

import time
from collections.abc import Callable
from typing import TypeAlias

from confide.errors import MessageRefusedError, RoundAbortedError
from confide.jobs.federated.carriers.folder_carrier import FolderCarrier
from confide.jobs.federated.federation import ALL, Federation
from confide.jobs.federated.secure_sum.collector import Collector, SumOfSites
from confide.jobs.federated.secure_sum.envelope import EVERYONE, Leg, address_of
from confide.jobs.federated.secure_sum.participant import Participant

Stopwatch: TypeAlias = Callable[[], float]
"""Seconds that only grow."""


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
    coordinator = federation.coordinator.name
    carrier.put(participant.begin(), leg=Leg.ADVERTISE, to=coordinator)
    until = now() + seconds
    while participant.expects is not None and not participant.is_done:
        for wire in carrier.take(leg=participant.expects, sender=coordinator):
            try:
                answer = participant.receive(wire)
            except MessageRefusedError:
                continue
            carrier.put(answer, leg=address_of(answer)[0], to=coordinator)
            until = now() + seconds
            break
        else:
            _wait(until, pause=pause, now=now, silent=coordinator)


def collect(
    collector: Collector,
    *,
    carrier: FolderCarrier,
    federation: Federation,
    seconds: float,
    pause: float = 0.2,
    now: Stopwatch = time.monotonic,
) -> SumOfSites:
    """Bring a round to its sum.

    Args:
        collector: The coordinator's machine.
        carrier: Its view of the folder.
        federation: Who takes part.
        seconds: How long it waits for the answers to each step.
        pause: Seconds between looks.
        now: Of this process.

    Raises:
        RoundAbortedError: If too few sites answered in time, or somebody lied.
    """
    names = [site.name for site in federation.sites]
    while collector.result is None:
        until = now() + seconds
        while True:
            late = now() >= until
            _look(collector, carrier=carrier, names=names)
            if late or collector.is_complete:
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


def _wait(until: float, *, pause: float, now: Stopwatch, silent: str) -> None:
    left = until - now()
    if left <= 0:
        raise RoundAbortedError(
            f"No word of {silent!r} in time.", hint="The round is over for this site."
        )
    time.sleep(min(pause, left))
