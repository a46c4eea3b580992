"""What the two ends of the relay do with letters; no network is named here.

A site answers letters; the coordinator's relay writes them, one at a time to each site, and each
letter tells what its writer holds already.  So what is lost, repeated or begun again by either end
comes again until it is there: no end remembers anything but its folder.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from confide.errors import MessageRefusedError
from confide.jobs.federated.carriers.by_folder import Stopwatch
from confide.jobs.federated.flower.mailbox import Letter, Mailbox
from confide.plans.sites.federation import Federation

IDLE = 2.5
"""Seconds after which a site that was silent is asked whether it has something to say."""

OVERDUE = 120.0
"""Seconds after which a letter is no longer answered, and another one is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteEnd:
    """A site's end.

    Attributes:
        mailbox: The site's folder.
        federation: Who takes part.
        member: Name of the site.
        patience: How many seconds an answer waits for what the site has to say.
        pause: Seconds between looks.
        now: Of this process.
    """

    mailbox: Mailbox
    federation: Federation
    member: str
    patience: float = 1.5
    pause: float = 0.05
    now: Stopwatch = time.monotonic

    def answer(self, letter: Letter) -> Letter:
        """Take what came, and give what the coordinator does not have yet.

        Raises:
            MessageRefusedError: If something came that no other member writes.
            OSError: If it cannot be written.
        """
        others = _names(self.federation) - {self.member}
        self.mailbox.take(letter.files, senders=others)
        until = self.now() + self.patience
        while True:
            said = sorted(self.mailbox.held((self.member,)) - letter.held)
            if said or self.now() >= until:
                return Letter(held=self.mailbox.held(others), files=self.mailbox.files(said))
            time.sleep(self.pause)


class Network(Protocol):
    """What carries letters between the coordinator and sites."""

    def sites(self) -> Mapping[int, str]:
        """Return the nodes that can be written to, and the name that each was registered with."""
        ...

    def send(self, node: int, letter: Letter) -> str:
        """Send a letter, and return what its answer is asked for by."""
        ...

    def answers(self, sent: Iterable[str]) -> Mapping[str, Letter | None]:
        """Return the answers that came; None of those that are none."""
        ...


@dataclass(slots=True)
class _Site:
    """What the coordinator's end knows of a site: what it holds, and what was sent to it."""

    held: frozenset[str] | None = None
    sent: dict[str, tuple[bool, float]] = field(default_factory=dict)
    answered: float = float("-inf")


class HubEnd:
    """The coordinator's end.

    Args:
        mailbox: The coordinator's folder.
        federation: Who takes part.
        network: What carries letters.
        now: Of this process.
        told: Told of each site that gives what it may not.
    """

    def __init__(
        self,
        mailbox: Mailbox,
        *,
        federation: Federation,
        network: Network,
        now: Stopwatch = time.monotonic,
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._mailbox, self._network, self._now, self._told = mailbox, network, now, told
        self._members = _names(federation)
        self._sites = {site.name: _Site() for site in federation.sites}

    def look(self) -> bool:
        """Take the answers that came, and write to whoever lacks something; return if any moved.

        Raises:
            OSError: If a file cannot be written.
        """
        moved = self._hear()
        for node, name in self._network.sites().items():
            if (site := self._sites.get(name)) is None:
                continue
            for letter in self._letters(name, site):
                site.sent[self._network.send(node, letter)] = bool(letter.files), self._now()
                moved = moved or bool(letter.files)
        return moved

    def _letters(self, name: str, site: _Site) -> tuple[Letter, ...]:
        """Return what a site is to be sent now.

        Behind files goes an empty letter: a SuperNode that finds nothing to do sleeps for three
        seconds, and the site may have more to say, or the coordinator to answer, before that.
        """
        now = self._now()
        site.sent = {key: each for key, each in site.sent.items() if now - each[1] < OVERDUE}
        if any(is_full for is_full, _ in site.sent.values()):
            return ()
        empty = Letter(held=self._mailbox.held((name,)))
        if files := self._mailbox.files(self._lacked(name, site)):
            return (Letter(held=empty.held, files=files), empty)
        return () if site.sent or now - site.answered < IDLE else (empty,)

    def _lacked(self, name: str, site: _Site) -> list[str]:
        """Return the files that a site lacks; none as long as it did not say what it has."""
        if site.held is None:
            return []
        there = self._mailbox.held(self._members - {name}) - site.held
        return self._mailbox.for_whom(there, member=name)

    def _hear(self) -> bool:
        """Take the answers that came."""
        moved, asked = False, {key: name for name, site in self._sites.items() for key in site.sent}
        for key, letter in self._network.answers(asked).items():
            name = asked[key]
            site = self._sites[name]
            site.sent.pop(key)
            site.answered = self._now()
            if letter is None:
                self._told(f"{name} could not take a letter.")
                continue
            site.held = letter.held
            try:
                moved = self._mailbox.take(letter.files, senders=(name,)) > 0 or moved
            except MessageRefusedError as refusal:
                self._told(f"{name}: {refusal}")
        return moved


def _names(federation: Federation) -> frozenset[str]:
    return frozenset(each.name for each in (federation.coordinator, *federation.sites))
