"""What the coordinator proposes, and what a site checks of it before anything is charged.

*Privacy:* a site computes its own plan from its own study.yaml, dataset.yaml and federation.yaml,
and takes part only where that has the digest that its operator approved and the coordinator
proposed.  What differs is told by the part of the plan that it stands in.
"""

import datetime as dt
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from confide.errors import ContractError, MessageRefusedError, PolicyError
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.secure_sum.round_terms import RoundTerms
from confide.plans.canonical import Json, canonical_bytes
from confide.plans.pricing.over_sites import Summed, largest_number, lengths_of_sums
from confide.plans.sites.federation import Federation
from confide.release.certificate.software import software

LARGEST_SKEW = dt.timedelta(minutes=10)
"""By how much clocks of members may differ."""

_FOLDER = re.compile(r"run-([0-9a-f]{64})", re.ASCII)
_PARTS = {
    "dataset": "the data set's public facts",
    "study": "what the study says of itself",
    "statistics": "the statistics",
    "measurements": "measurements, noise or charges",
    "federation": "the members, their keys or what they withstand",
    "version": "the format",
    "kind": "the kind of training",
    "spec": "the settings",
    "reads": "the columns",
    "events": "noise or charges",
}
_SETTINGS = {
    "first_weights": "the first weights",
    "program": "the module's operations",
    "architecture": "the module",
    "steps": "the number of steps",
    "learning_rate": "the learning rate",
    "patients": "the planning number of patients",
}
_FOLLOW = frozenset({"measurements", "events", "nano", "atto"})
"""What differs where something else does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One run, as the coordinator proposes it.

    Attributes:
        run: 64 hexadecimal digits that no other run has.
        plan: JSON of the plan over sites.
        digest: Of the plan.
        at: When it was proposed.
        until: When nobody may begin to take part any more.
        software: Digest of the source files that make questions, where sums are asked in turn; ""
            of one sum.
    """

    run: str
    plan: Json
    digest: str
    at: dt.datetime
    until: dt.datetime
    software: str = ""

    def body(self) -> Json:
        """Return what is signed."""
        return {
            "plan": self.plan,
            "digest": self.digest,
            "at": self.at.isoformat(timespec="seconds"),
            "until": self.until.isoformat(timespec="seconds"),
        } | ({"software": self.software} if self.software else {})

    @classmethod
    def read(cls, body: Json, *, run: str) -> Self:
        """Return what was signed.

        Raises:
            MessageRefusedError: If it is none.
        """
        try:
            at, until = (_moment(body[name]) for name in ("at", "until"))
            plan = dict(body["plan"])
            return cls(
                run=run,
                plan=plan,
                digest=str(body["digest"]),
                at=at,
                until=until,
                software=str(body.get("software", "")),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            raise MessageRefusedError("The coordinator's proposal cannot be read.") from None

    def require_timely(self, now: dt.datetime) -> None:
        """Refuse a run of before, and one of a clock that is not this site's.

        Raises:
            PolicyError: If it is one.
        """
        if now > self.until + LARGEST_SKEW:
            raise PolicyError(
                f"The run was open until {self.until:%Y-%m-%d %H:%M} UTC.",
                hint="Ask the coordinator for another run, or set this machine's clock.",
            )
        if self.at > now + LARGEST_SKEW:
            raise PolicyError(
                f"The run is of {self.at:%Y-%m-%d %H:%M} UTC, which is still to come here.",
                hint="Clocks of the members may differ by 10 minutes: set them.",
            )

    def require_same(self, plan: Summed) -> None:
        """Refuse a run of another plan than this site's own.

        Raises:
            ContractError: If it is one; the text says which part differs.
        """
        if self.digest != plan.digest() or self.plan != plan.to_json():
            raise ContractError(
                self.told_apart(plan),
                hint="study.yaml, federation.yaml and all of dataset.yaml but source, caps, policy "
                "and issuer have to be the same at every site; so has the model in Python.",
            )
        if self.software != software_of(plan):
            raise ContractError(
                "The coordinator proposes sums that are asked in turn, of another version of "
                "Confide than this site's: what is asked next might differ between sites.",
                hint="Install the same version everywhere; then: confide federate run --again",
            )

    def told_apart(self, plan: Summed) -> str:
        """Return a sentence on which parts of a plan are others here; no value of either."""
        mine = plan.to_json()
        other = _differing(mine, self.plan)
        first = "federation" if "federation" in other else ""  # by which measurements differ too
        told = [first] if first else [name for name in other if name not in _FOLLOW] or other
        words = [_PARTS.get(name, "unknown parts") for name in told if name != "spec"]
        if "spec" in told:
            words += _settings(mine.get("spec"), self.plan.get("spec"))
        parts = ", ".join(dict.fromkeys(words)) or "digests"
        return f"The coordinator proposes another plan than this site's: {parts} differ."


def software_of(plan: Summed) -> str:
    """Return the digest of the sources that make a plan's questions; "" where it has one sum.

    Each site computes the next question by itself, so sites of two versions may add up answers to
    two questions.
    """
    return software().source_sha256 if len(lengths_of_sums(plan)) > 1 else ""


def not_approved(*, why: str) -> ContractError:
    """Return the refusal of a plan of which another digest was approved; steers to no other one.

    Args:
        why: A sentence on what differs; "" where nothing is known.
    """
    return ContractError(
        f"The digest that was approved is not that of this site's plan. {why}".strip(),
        hint="study.yaml, dataset.yaml or federation.yaml here is not the one that was agreed on "
        "(in Python: the model or its first weights), or the digest was mistyped: compare with the "
        "coordinator's. Do not approve another digest instead.",
    )


def _differing(mine: Json, theirs: Json) -> list[str]:
    """Return the names under which two say different things."""
    names = sorted({*mine, *theirs} - {"is"})
    return [name for name in names if mine.get(name) != theirs.get(name)]


def _settings(mine: object, theirs: object) -> list[str]:
    """Return what differs in the settings of a training, in words."""
    try:
        ours, others = (_flat(json.loads(str(each))) for each in (mine, theirs))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return [_PARTS["spec"]]
    found = [_SETTINGS[name] for name in _differing(ours, others) if name in _SETTINGS]
    return found or [_PARTS["spec"]]


def _flat(settings: Json) -> Json:
    """Return the settings of a training, which those over sites have within theirs."""
    return {**settings, **settings.get("training", {})}


def _moment(text: str) -> dt.datetime:
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is None or not dt.MINYEAR < moment.year < dt.MAXYEAR:
        raise ValueError("expected a time with its zone, to which minutes can be added")
    return moment


def proposals(
    root: Path, *, federation: Federation, boards: dict[str, Board] | None = None
) -> list[Proposal]:
    """Return all runs that the coordinator proposed in a folder, the latest first.

    Args:
        root: The folder.
        federation: Whose keys are pinned.
        boards: Those of each run at an earlier look, which know what they read; new ones are added.

    Raises:
        MessageRefusedError: If the only ones there are of another key or federation.
        OSError: If the folder cannot be read.
    """
    found, refused, known = [], None, {} if boards is None else boards
    for name in sorted(entry.name for entry in os.scandir(root)):
        named = _FOLDER.fullmatch(name)
        if named is None:
            continue
        board = known.get(named[1]) or Board(root, federation=federation, run=named[1])
        known[named[1]] = board
        try:
            board.require_own(NoticeKind.PROPOSED, federation.coordinator.name)
            body = board.read(NoticeKind.PROPOSED, federation.coordinator.name)
            if body is not None:
                found.append(Proposal.read(body, run=named[1]))
        except MessageRefusedError as error:
            refused = error
    if refused is not None and not found:
        raise refused
    return sorted(found, key=lambda each: (each.at, each.run), reverse=True)


def sum_terms(plan: Summed, *, run: str, before: Sequence[int] = ()) -> RoundTerms:
    """Return the terms of the next sum of a run.

    Later sums are about what was told of those before: sites that were told different things speak
    in different rounds and add nothing up.

    Args:
        plan: Over sites.
        run: Which run.
        before: All numbers of the sums before, one sum after another.

    Raises:
        ContractError: If the plan is of one site, or these are no whole sums of it.
    """
    if plan.federation is None:
        raise ContractError("The plan is of one site.")
    lengths, number, start = lengths_of_sums(plan), 0, 0
    while number < len(lengths) and start < len(before):
        start, number = start + lengths[number], number + 1
    if start != len(before) or number == len(lengths):
        raise ContractError("The run has no sum after these.")
    return RoundTerms(
        federation=plan.federation,
        run=run,
        number=number,
        length=lengths[number],
        bound=largest_number(plan.federation),
        subject=_subject(plan.digest(), before=before),
    )


def _subject(plan: str, *, before: Sequence[int]) -> str:
    """Return the digest of a plan, or of it and of the sums before."""
    if not before:
        return plan
    said = {"plan": plan, "before": [str(total) for total in before]}
    return hashlib.sha256(b"confide sum of a run 1\n" + canonical_bytes(said)).hexdigest()
