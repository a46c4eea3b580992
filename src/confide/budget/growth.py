"""Growing releases: charged once for a public horizon, published period by period.

A release *opens* a growth when its one measurement is a lower-triangular matrix times counts over
time, of which some periods are published.  A later request *continues* it: it publishes the next
periods, with noise that is drawn then, and is not charged again.

*Privacy:* the noise of the whole horizon was charged at the opening.  That covers each coordinate
once.  So a step must begin where the last one ended; its periods count as published from the moment
that reading begins, whether or not an answer came of it; nobody else may be at it at the same time;
and after a failure, or after an officer accepted that rows of the ledger were lost, no step goes on
at all.  Publishing the coordinates of one Gaussian mechanism in time order, also adaptively, costs
what publishing them together does [DMRST22, thm. 2.1].

References:
    [DMRST22] Denisov, McMahan, Rush, Smith, Thakurta. Improved differential privacy for SGD via
        optimal private linear operators on adaptive streams. NeurIPS 2022.
        https://arxiv.org/abs/2202.08312
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from confide.errors import InvalidParameterError

_SHA256 = re.compile(r"[0-9a-f]{64}")

PART = "\N{SYMBOL FOR UNIT SEPARATOR}"
"""Stands in the keys of parts, and in no other key: nobody may ask under one that has it."""


def part_key(opened: int, *, part: int) -> str:
    """Return the request key of a part of the job that entry ``opened`` was charged for."""
    return f"{opened}{PART}{part}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Periods of a growing release that a request publishes.

    Attributes:
        question: SHA-256 of the plan without what may change from step to step.
        start: Periods published before; 0 opens a growth.
        stop: Periods published with this step.
        continues: Entry that opened the growth; None opens one.
    """

    question: str
    start: int
    stop: int
    continues: int | None = None

    def __post_init__(self) -> None:
        if not _SHA256.fullmatch(self.question):
            raise InvalidParameterError("Expected question as 64 lower-case hex digits.")
        opens = self.continues is None
        if not 0 <= self.start < self.stop or opens != (self.start == 0):
            raise InvalidParameterError(
                f"Expected a step that begins at 0, or goes on later, got {self.start} to "
                f"{self.stop}."
            )

    def to_fields(self) -> dict[str, str]:
        """Return the step as it stands in the chain."""
        continues = "" if self.continues is None else str(self.continues)
        return {
            "question": self.question,
            "start": str(self.start),
            "stop": str(self.stop),
            "continues": continues,
        }


def step_of(fields: Mapping[str, Any] | None) -> Step | None:
    """Return the step that :meth:`Step.to_fields` wrote; None of none."""
    if fields is None:
        return None
    continues = fields["continues"]
    return Step(
        question=fields["question"],
        start=int(fields["start"]),
        stop=int(fields["stop"]),
        continues=int(continues) if continues else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Where a growing release stands.

    Attributes:
        opened: Entry that was charged for it.
        lineage: Of the data.
        question: SHA-256 of the plan without what may change from step to step.
        position: Periods that are published, or count as such.
        latest: Entry that holds the periods so far; 0 before the first is committed.
        busy: Entry of a step that is under way; 0 when none is.
        closed: Why no step goes on; "" while it may.
        withheld: Fewest periods of an answer of it that is withheld; 0 while none is.
    """

    opened: int
    lineage: str
    question: str
    position: int = 0
    latest: int = 0
    busy: int = 0
    closed: str = ""
    withheld: int = 0

    def holds_withheld(self, step: Step) -> bool:
        """Return whether the answer of a step would hold one that is withheld.

        Each answer repeats the periods before it.
        """
        return 0 < self.withheld <= step.stop

    def withhold(self, step: Step) -> "Growth":
        """Return it once the answer of a step is withheld."""
        return replace(self, withheld=min(step.stop, self.withheld or step.stop))

    def problem(self, step: Step, *, lineage: str) -> str:
        """Return why a step may not be taken now; "" if it may."""
        if self.closed:
            return f"it ended: {self.closed}"
        if self.busy:
            return f"entry {self.busy} is at it"
        if lineage != self.lineage or step.question != self.question:
            return "it is of another question"
        if step.start != self.position or not self.latest:
            return f"{self.position} periods are published, and the step begins after {step.start}"
        return ""

    def reserved(self, number: int) -> "Growth":
        """Return it while entry ``number`` is at it."""
        return replace(self, busy=number)

    def reading(self, step: Step) -> "Growth":
        """Return it once rows are read for a step: its periods never are again."""
        return replace(self, position=step.stop)

    def ended(self, state: str) -> "Growth":
        """Return it once the step that was under way came to an end."""
        number, free = self.busy, replace(self, busy=0)
        match state:
            case "committed":
                return replace(free, latest=number)
            case "burned":
                return replace(free, closed=f"entry {number} died after reading began")
            case _:
                return free

    def lost(self) -> "Growth":
        """Return it once rows of the ledger were lost: a lost step may have been published."""
        return replace(self, closed="rows of the ledger were lost")
