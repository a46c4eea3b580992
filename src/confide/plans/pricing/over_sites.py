"""A study's plan over sites: what each of them signs, charges and computes its share of.

The questions, their sensitivities and their charges are those of the study at one site.  The noise
is that of parts (:mod:`confide.plans.sites.shared_noise`), and the plan names the sites, so that
one digest says what everybody approves.

*Privacy:* every site charges all of ρ, or of ε, to its own ledger: it is what the sum loses
although d sites drop out and c others act with the coordinator, for a person who is a patient of up
to k sites.
*Utility:* variance n/m times that of one trusted curator, and k² times that for k sites a person.
"""

import itertools
import math
from dataclasses import replace
from typing import TypeAlias

from confide.errors import ContractError, UnsupportedError
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.gaussian_parts import GaussianParts
from confide.noise.distributed.polya_parts import PolyaParts
from confide.noise.mechanism import AddedNoise
from confide.plans.growth import grown_to
from confide.plans.house_rule import NoisyFile
from confide.plans.plan import Measurement, Plan
from confide.plans.pricing.job_sums import JobSums
from confide.plans.rounds.in_turn import answer_lengths
from confide.plans.sites.federation import Federation
from confide.plans.sites.shared_noise import shared_noise
from confide.tables.aggregates.shapes import InRounds, Keyed, Ranked

Summed: TypeAlias = Plan | JobSums
"""Of what sites add their noisy numbers: a study, or a job."""

_LARGEST_SUM = (1 << 63) - 1
_SIGMAS = 16
"""Widths of noise for which the range of sums leaves room; beyond is a chance below 10⁻⁵⁶."""
_SCALES = 131
"""Likewise of a Pólya part, which is beyond w no more often than 2·exp(−w/scale)."""


def over_sites(plan: Plan, *, federation: Federation) -> Plan:
    """Return the plan of a study over sites.

    Raises:
        ContractError: If it grows, leaves patients out by their own budgets, withholds its noisy
            numbers by a house rule, or its sums would not fit into 64 bits.
        UnsupportedError: If a statistic is no vector with added noise, or under ε vectors in turn.
    """
    if grown_to(plan) is not None:
        raise ContractError(
            "A running count does not grow over sites.", hint="Ask for a series of periods."
        )
    if plan.dataset.patients:
        raise ContractError(
            "Over sites nobody is left out by a budget of their own.",
            hint="Take the study under a policy whose caps are those of everybody.",
        )
    house = plan.study.small_cells
    if house is not None and house.noisy is NoisyFile.WITHHELD:
        raise ContractError(
            "Over sites no house rule can withhold noisy numbers: every member sees their sum, and "
            "it lies in the folder that they share.",
            hint="Write small-cells: {rule: ..., noisy: published}, if the house's rule allows it.",
        )
    shared = tuple(_shared(each, federation=federation) for each in plan.measurements)
    made = replace(plan, measurements=shared, federation=federation)
    bound = largest_number(federation)
    for each in shared:
        _require_room(each, bound=bound, people=plan.dataset.population_at_most)
    return made


def largest_number(federation: Federation) -> int:
    """Return the bound of a site's numbers at which no sum over all sites passes 63 bits."""
    return _LARGEST_SUM // len(federation.sites)


def lengths_of_sums(plan: Summed) -> tuple[int, ...]:
    """Return how many numbers each site sends in each sum: one sum, or one a round of a model.

    The first holds the first answer of every measurement, one after another; the next one the
    second answers of those that are asked in turn, and so on.  A job says its lengths itself.
    """
    if isinstance(plan, JobSums):
        return plan.lengths
    answers = (answer_lengths(each, dataset=plan.dataset) for each in plan.measurements)
    return tuple(map(sum, itertools.zip_longest(*answers, fillvalue=0)))


def _shared(measurement: Measurement, *, federation: Federation) -> Measurement:
    aggregate = measurement.aggregate
    law = measurement.mechanism
    if isinstance(aggregate, Keyed | Ranked) or not isinstance(law, AddedNoise):
        raise UnsupportedError(
            f"Statistic {measurement.statistic!r} is no vector with added noise, so sites "
            "cannot add it.",
            hint="Over sites ask for counts, histograms, sums, means, rates, quantiles, series, "
            "survival, a Table 1 or models.",
        )
    if isinstance(aggregate, InRounds) and isinstance(law, DiscreteLaplace):
        raise UnsupportedError(
            f"Statistic {measurement.statistic!r} is asked in turn, which over sites is built for "
            "ledgers that count in ρ alone.",
            hint="Leave it out, or write accounting: {measure: zcdp, delta: 1e-6} or {measure: "
            "mixed, ...} in a new dataset.yaml.",
        )
    noise = shared_noise(
        law, nano=measurement.nano, sensitivity=measurement.sensitivity, federation=federation
    )
    return replace(measurement, shared=noise, mechanism=noise.total)


def _require_room(measurement: Measurement, *, bound: int, people: int) -> None:
    noise = measurement.shared
    if noise is None:
        raise ContractError("The noise of a measurement over sites is shared.")
    width = _width(noise.part)
    most = max(0, bound - width) // (measurement.sensitivity.linf * noise.grid)
    if people > most:
        raise ContractError(
            f"Sums of statistic {measurement.statistic!r} over sites may pass 63 bits.",
            hint="Measure in larger units: a coarser step, narrower bounds; or write "
            f"population-at-most: {most} or less, if no site has more patients than that.",
        )


def _width(part: GaussianParts | PolyaParts) -> int:
    """Return what a part of the noise is within, but for a chance below 10⁻⁵⁶."""
    if isinstance(part, PolyaParts):
        return _SCALES * math.ceil(part.scale)
    return _SIGMAS * math.isqrt(math.ceil(part.sigma_squared_each) + 1)
