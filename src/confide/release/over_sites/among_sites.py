"""What the gate asks of a federation: to be heard until numbers are wanted, and to add them."""

from collections.abc import Sequence
from typing import Protocol

from confide.errors import ContractError
from confide.plans.plan import Plan
from confide.plans.pricing.over_sites import lengths_of_sums
from confide.plans.rounds.in_turn import answer_lengths
from confide.release.noisy import NoisyAggregates, shows_noisy

SALT = 16
"""Octets of the salt of a payload whose noisy numbers a house rule withholds."""


class AmongSites(Protocol):
    """A run among sites, as one of them takes part in it: one sum, or one a round of a model."""

    def gather(self) -> None:
        """Say and hear all that comes before this site's first numbers are asked for.

        Raises:
            RoundAbortedError: If the round ended.
        """

    def add(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """Send this site's noisy numbers of the next sum, hidden, and return the sum over sites.

        Called by the gate alone, after the charge is durable; whatever it raises burns the charge.
        """

    def result(self) -> NoisyAggregates:
        """Return all that was added, once the last sum was."""


def answers_of(plan: Plan, totals: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the noisy answers to each measurement of a plan, as far as sums over sites tell them.

    Args:
        plan: Over sites.
        totals: Of the sites' numbers, sum after sum, on the grids of their noise.

    Raises:
        ContractError: If they end within a sum, or there are more than the plan asks for.
    """
    lengths = [answer_lengths(each, dataset=plan.dataset) for each in plan.measurements]
    found: list[list[int]] = [[] for _ in lengths]
    start = 0
    for turn in range(len(lengths_of_sums(plan))):
        for measurement, each, answer in zip(plan.measurements, lengths, found, strict=True):
            if measurement.shared is None:
                raise ContractError("The noise of a measurement over sites is shared.")
            end = start + (each[turn] if turn < len(each) else 0)
            if start < end <= len(totals):
                answer.extend(map(measurement.shared.rounded, totals[start:end]))
                start = end
    if start != len(totals) or len(totals) not in _ends(plan):
        raise ContractError("The sum over sites has another length than the plan.")
    return tuple(map(tuple, found))


def _ends(plan: Plan) -> list[int]:
    """Return how many numbers were added after no sum, one, two …."""
    lengths = lengths_of_sums(plan)
    return [sum(lengths[:count]) for count in range(len(lengths) + 1)]


def sums_of(
    plan: Plan, totals: Sequence[int], *, added: tuple[str, ...], salt: str
) -> NoisyAggregates:
    """Return the noisy aggregates of all sums over sites.

    Args:
        plan: Over sites.
        totals: Of the sites' numbers, sum after sum, on the grids of their noise.
        added: Names of the sites that are in the sums.
        salt: Of the coordinator; the same at every site, so that payloads are.

    Raises:
        ContractError: If there are more or fewer numbers than the plan asks for, or the salt is
            missing.
    """
    if len(totals) != sum(lengths_of_sums(plan)) or bool(salt) == shows_noisy(plan.study):
        raise ContractError("The sum over sites is not of this plan.")
    return NoisyAggregates(plan=plan, values=answers_of(plan, totals), salt=salt, added=added)
