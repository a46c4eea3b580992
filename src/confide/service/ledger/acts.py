"""Acts on a whole ledger: go on, open a year, adopt a policy, confirm a day, amend caps."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from confide.errors import ContractError
from confide.service.dump import ASIDE
from confide.service.ledger.officers import officers_of
from confide.service.opening import open_ledger, open_measured
from confide.service.policy.named import named_policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """An act that is on the ledger.

    Attributes:
        done: Whether it is, which it is.
    """

    done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GoneOn:
    """A ledger that goes on.

    Attributes:
        done: Whether it does, which it does.
        consent_lost: Whether rows that are lost may have told who withdrew consent.
        rows_unknown: Whether nobody knows if rows are lost, nor which.
    """

    done: bool
    consent_lost: Annotated[bool, ASIDE]
    rows_unknown: Annotated[bool, ASIDE]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """A policy that holds from now on.

    Attributes:
        done: Whether it does, which it does.
        policy: Its id.
        version: Of the policy.
    """

    done: bool
    policy: Annotated[str, ASIDE]
    version: Annotated[int, ASIDE]


def unfreeze(dataset: Path, *, reason: str, officers: Sequence[Path] | None) -> GoneOn:
    """Go on after an officer has looked; recorded, and never gives budget back.

    Args:
        dataset: A dataset.yaml.
        reason: Why; it is recorded for good.
        officers: Keys of those who do it.

    Raises:
        PolicyError: If they may not.
    """
    by = officers_of(officers)
    with open_ledger(dataset) as (held, _):
        held.unfreeze(reason, officers=by)
        last = held.chain().events[-1].fields()
    consent = last["kind"] == "unfrozen" and "consent" in last
    return GoneOn(done=True, consent_lost=consent, rows_unknown=consent and "lost" not in last)


def open_year(dataset: Path, *, year: int, reason: str, officers: Sequence[Path] | None) -> Done:
    """Start the budget of a calendar year; arguments as of :func:`unfreeze`."""
    by = officers_of(officers)
    with open_ledger(dataset) as (held, declared):
        held.open_year(declared.dataset.lineage, year=year, reason=reason, officers=by)
    return Done(done=True)


def adopt(dataset: Path, *, reason: str, officers: Sequence[Path] | None) -> Adopted:
    """Let the policy that dataset.yaml names hold from now on; versions only go up.

    Arguments as of :func:`unfreeze`.

    Raises:
        ContractError: If dataset.yaml names no policy.
        PolicyError: If they may not adopt it.
    """
    by = officers_of(officers)
    with open_ledger(dataset) as (held, declared):
        policy = named_policy(declared)
        lineage = declared.dataset.lineage
        held.desk.adopt(lineage, policy=policy, reason=reason, officers=by)
    return Adopted(done=True, policy=policy.id, version=policy.version)


def confirm_day(dataset: Path, *, day: str, reason: str, officers: Sequence[Path] | None) -> Done:
    """Say that today is that day: rolling windows let go of what is 365 days behind.

    Arguments as of :func:`unfreeze`.
    """
    by = officers_of(officers)
    with open_ledger(dataset) as (held, declared):
        lineage = declared.dataset.lineage
        held.desk.confirm_day(lineage, day=day, reason=reason, officers=by)
    return Done(done=True)


def amend_caps(dataset: Path, *, reason: str) -> Done:
    """Take the caps of dataset.yaml; raising one needs a reason, which is recorded.

    Raises:
        ContractError: If a policy says the caps.
        MismatchError: If amounts of dataset.yaml are of another unit, adjacency or measure.
    """
    with open_measured(dataset) as (held, declared):
        if declared.caps is None:
            raise ContractError(
                "dataset.yaml names a policy, and that says the caps.",
                hint="Run: confide ledger adopt --reason ...",
            )
        held.amend_caps(declared.dataset.lineage, caps=declared.caps, reason=reason)
    return Done(done=True)
