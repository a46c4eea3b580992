"""What the gate asks of a federation: to be heard until numbers are wanted, and to add them."""

from collections.abc import Iterable
from typing import Protocol

from confide.errors import ContractError
from confide.plans.plan import Plan
from confide.plans.rounds.in_turn import answer_length
from confide.release.noisy import NoisyAggregates, shows_noisy

SALT = 16
"""Octets of the salt of a payload whose noisy numbers a house rule withholds."""


class AmongSites(Protocol):
    """A round among sites, as one of them takes part in it."""

    def gather(self) -> None:
        """Say and hear all that comes before this site's numbers are asked for.

        Raises:
            RoundAbortedError: If the round ended.
        """

    def add(self, numbers: tuple[int, ...]) -> NoisyAggregates:
        """Send this site's noisy numbers, hidden, and return the sum over sites.

        Called once by the gate, after the charge is durable; whatever it raises burns the charge.
        """


def sums_of(
    plan: Plan, totals: Iterable[int], *, added: tuple[str, ...], salt: str
) -> NoisyAggregates:
    """Return the noisy aggregates of a sum over sites.

    Args:
        plan: Over sites.
        totals: Of the sites' numbers, one measurement after another, on the grids of their noise.
        added: Names of the sites that are in the sum.
        salt: Of the coordinator; the same at every site, so that payloads are.

    Raises:
        ContractError: If there are more or fewer numbers than the plan asks for, or the salt is
            missing.
    """
    left, values = list(totals), []
    for measurement in plan.measurements:
        length = answer_length(measurement, dataset=plan.dataset)
        now, left = left[:length], left[length:]
        if measurement.shared is None or len(now) != length:
            raise ContractError("The sum over sites has another length than the plan.")
        values.append(tuple(map(measurement.shared.rounded, now)))
    if left or bool(salt) == shows_noisy(plan.study):
        raise ContractError("The sum over sites is not of this plan.")
    return NoisyAggregates(plan=plan, values=tuple(values), salt=salt, added=added)
