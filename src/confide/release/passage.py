"""The passage of one charge: what every release, of a study or of a job, takes in this order.

::

    reserve the charge        durable; refused for public reasons only
    admit                     last public reasons, and whether anybody withdrew consent since the
                              source was opened; the charge is given back
    record that reading begins                durable
    answer                    rows are read and hidden; exact values die here
    commit the payload        durable; the answer exists nowhere else
    publish the stored bytes  again and again, the same

What exists before its request does, a part of a job or what a job starts from, takes a shorter way:
it is recorded and committed at once, and an interrupt waits until that is done.  Before the record
an interrupt gives the request back, as nobody has seen anything.

*Privacy:* the same request key and plan return the stored bytes and never spend twice.  After
reading has begun every failure burns the request and becomes :class:`ReleaseFailedError`, whose
text is constant, and the charge stays: whether something failed may depend on the data.  It leaves
without context and with cleared frames (:mod:`.seal`), as interrupts and all else do; warnings are
dropped.

References:
    [RRUV16] Rogers, Roth, Ullman, Vadhan. Privacy odometers and filters. NeurIPS 2016.
        https://arxiv.org/abs/1605.08294
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, assert_never

from confide.budget.ledger import (
    ChargeRequest,
    Entry,
    Ledger,
    Reservation,
    State,
    StoredRelease,
)
from confide.errors import ReleaseFailedError
from confide.noise.entropy import Entropy
from confide.release.quiet import no_warnings
from confide.release.site.incidents import charged_already, stored_already
from confide.release.site.seal import sealed, stop_of


@dataclass(frozen=True, slots=True, kw_only=True)
class BoughtAnswer:
    """What a charge bought.

    Attributes:
        payload: Noisy bytes; public from here on.
        members: Tag of who was in, where a policy leaves patients out.
    """

    payload: bytes
    members: str = ""


_Admitted = TypeVar("_Admitted")
Answering: TypeAlias = Callable[[], BoughtAnswer]
"""Reads rows and hides them; called once, after it is recorded that reading begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What a charge passes through.

    Attributes:
        ledger: Where charges and payloads are stored.
        entropy: What incident ids are made of.
        report_incident: Told the incident id and the failure, for the steward's local log only.
        require_consent: Refuses once others withdrew than those whom the rows leave out.
    """

    ledger: Ledger
    entropy: Entropy
    report_incident: Callable[[str, BaseException], None]
    require_consent: Callable[[], None]

    def take(
        self,
        request: ChargeRequest,
        *,
        admit: Callable[[Reservation], Answering],
        progress: Callable[[str], None],
    ) -> StoredRelease:
        """Return the stored payload of a request, charging it unless it already was.

        Args:
            request: What is charged.
            admit: Returns how the request is answered, or refuses it for public reasons.
            progress: Told the name of each stage.

        Raises:
            PolicyError: If a cap would be passed, or the terms differ; nothing is charged.
            ReleaseFailedError: If anything fails after reading began; the charge stays.
        """

        def answered(held: Reservation) -> tuple[Entry, bytes]:
            return self._answered(held, admit=admit, progress=progress)

        return sealed(lambda: self._taken(request, answered=answered, progress=progress))

    def keep(
        self,
        request: ChargeRequest,
        *,
        answer: BoughtAnswer,
        admit: Callable[[Reservation], object],
        progress: Callable[[str], None],
    ) -> StoredRelease:
        """Return the stored payload of a request, which is ``answer`` unless it has one already.

        Args:
            request: What is charged, or nothing for a step of what was.
            answer: Made before, and seen by nobody.
            admit: Refuses it for public reasons.
            progress: Told the name of each stage.

        Raises:
            PolicyError: If a cap would be passed, or the terms differ; nothing is charged.
        """

        def answered(held: Reservation) -> tuple[Entry, bytes]:
            return self._kept(held, answer=answer, admit=admit, progress=progress), answer.payload

        return sealed(lambda: self._taken(request, answered=answered, progress=progress))

    def _taken(
        self,
        request: ChargeRequest,
        *,
        answered: Callable[[Reservation], tuple[Entry, bytes]],
        progress: Callable[[str], None],
    ) -> StoredRelease:
        progress("charge")
        held = self.ledger.reserve(request)
        match held:
            case StoredRelease(entry=entry, payload=payload):
                return StoredRelease(entry=self.ledger.publish(entry), payload=payload)
            case Reservation():
                entry, payload = answered(held)
                with stored_already(entry.number):
                    progress("publish")
                    return StoredRelease(entry=self.ledger.publish(entry), payload=payload)
            case _:
                assert_never(held)

    def _answered(
        self,
        held: Reservation,
        *,
        admit: Callable[[Reservation], Answering],
        progress: Callable[[str], None],
    ) -> tuple[Entry, bytes]:
        answering = self._admitted(held, admit=admit)
        with self._or_let_go(held):
            self.ledger.start_reading(held)
        try:
            with no_warnings():  # that one was given may depend on the data
                answer = answering()
        except BaseException as failure:  # noqa: BLE001 - raised below, outside the handler
            state = self.ledger.let_go(held, incident=(incident := self._incident(failure)))
            stopped = stop_of(failure)
            told = stopped or ReleaseFailedError(incident)
            if stopped is not None:
                told = charged_already(stopped, entry=held.entry.number, state=state)
        else:
            with self._or_let_go(held):
                progress("commit")
                entry = self.ledger.commit(held, payload=answer.payload, members=answer.members)
            return entry, answer.payload
        raise told

    @contextlib.contextmanager
    def _or_let_go(self, held: Reservation) -> Iterator[None]:
        """Let a request go that the ledger could not take further, and say what it cost."""
        try:
            yield
        except BaseException as failure:
            state = self.ledger.let_go(held, incident=self._incident(failure))
            told = charged_already(failure, entry=held.entry.number, state=state)
            if told is failure:
                raise
            raise told from None

    def _incident(self, failure: BaseException) -> str:
        incident = f"{self.entropy.below(2**64):016x}"
        self.report_incident(incident, failure)
        return incident

    def _kept(
        self,
        held: Reservation,
        *,
        answer: BoughtAnswer,
        admit: Callable[[Reservation], object],
        progress: Callable[[str], None],
    ) -> Entry:
        """Commit an answer that exists; a stop waits for it, once."""

        def admitted(held: Reservation) -> None:
            admit(held)
            progress("commit")

        self._admitted(held, admit=admitted)
        stopped = None
        try:
            return self._committed(held, answer=answer)
        except BaseException as failure:
            stopped = stop_of(failure)
            if stopped is None:
                with self._or_let_go(held):
                    raise
        with self._or_let_go(held):
            entry = self._committed(held, answer=answer)
        raise charged_already(stopped, entry=entry.number, state=State.COMMITTED)

    def _committed(self, held: Reservation, *, answer: BoughtAnswer) -> Entry:
        """Take a request from wherever it stands to its answer."""
        if self.ledger.entry(held.entry.number).state is State.RESERVED:
            self.ledger.start_reading(held)
        entry = self.ledger.entry(held.entry.number)
        if entry.state is State.READING:
            return self.ledger.commit(held, payload=answer.payload, members=answer.members)
        return entry

    def _admitted(
        self, held: Reservation, *, admit: Callable[[Reservation], _Admitted]
    ) -> _Admitted:
        """Return how a request is answered; a charge that cannot be made is given back."""
        admitted = False
        try:
            answering = admit(held)
            self.require_consent()  # last: who withdraws from here on finds the entry under way
            admitted = True
        finally:
            if not admitted:
                self.ledger.let_go(held, incident="nothing was read")
        return answering
