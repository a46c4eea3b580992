"""The audit that a site runs: every layer, on data generated for it.

Quick: a few thousand pairs and 2·10⁴ samples, about a minute; finds a scale that is half of what it
should be, in the mechanisms and in a whole release of every kind of statistic.  Full: 2·10⁴ pairs
and 10⁵ to 10⁶ samples, some ten minutes; finds a scale that is 20 % off (for Gaussian noise 5 %,
for the samplers' own law 1 %), and releases every statistic under every accounting.

*Privacy:* reads no data of the site and charges no budget.  Passing proves nothing that the proofs
do not; failing means that this installation must not release anything.

References:
    [DWWZK18] Ding, Wang, Wang, Zhang, Kifer. Detecting violations of differential privacy. CCS
        2018. https://doi.org/10.1145/3243734.3243818
"""

import functools
import time
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

from confide.attacks.audit.black_box import audit_scenario, scenarios
from confide.attacks.audit.composition.checks import composition_checks
from confide.attacks.audit.end_to_end import audit_trial, trials
from confide.attacks.audit.every_kind import (
    audit_kind,
    kind_trials,
    on_worst_pairs,
)
from confide.attacks.audit.generate import Neighbours, neighbours
from confide.attacks.audit.goodness_of_fit import p_value, worst_moment
from confide.attacks.audit.oracles import oracle_checks
from confide.attacks.audit.outcome import AuditCheck, AuditReport, Layer
from confide.attacks.audit.searched import statistics_of_events, statistics_of_patients
from confide.attacks.audit.sensitivity_search import (
    LargestMovement,
    search,
)
from confide.attacks.audit.trained.models import model_scenario, reach_check, worst_canary
from confide.attacks.audit.trained.training import Training, audit_training
from confide.attacks.audit.trained.victims import leak_checks, leaks, one_run_check
from confide.attacks.audit.worst_pair import KindTrial
from confide.errors import ContractError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import Entropy, SystemEntropy
from confide.noise.mechanism import AddedNoise
from confide.privacy.unit import Entity
from confide.tables.aggregates.descent_terms import Family
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS

LEAST_P = 1e-4
MOST_ERRORS = 6.0  # standard errors; eight moments, two tries

SAMPLERS: tuple[AddedNoise, ...] = (
    DiscreteLaplace(scale=Fraction(1, 2)),
    DiscreteLaplace(scale=Fraction(5, 2)),
    DiscreteLaplace(scale=Fraction(1000)),
    DiscreteGaussian(sigma_squared=Fraction(1, 4)),
    DiscreteGaussian(sigma_squared=Fraction(100)),
    DiscreteGaussian(sigma_squared=Fraction(10**6)),
)


def run_audit(
    *,
    quick: bool,
    progress: Callable[[str], None],
    only: tuple[str, ...] = (),
    trainings: tuple[Training, ...] = (),
) -> AuditReport:
    """Run every layer of the audit.

    Args:
        quick: Whether to spend about a minute, rather than some ten.
        progress: Told the name of each part before it runs.
        only: Parts whose name has each of these texts.
        trainings: In steps, by trainers that this room does not know.

    Raises:
        ContractError: If no part has.
    """
    start = time.monotonic()
    checks: list[AuditCheck] = []
    for part, run in _parts(quick=quick, entropy=SystemEntropy(), trainings=trainings):
        if all(word in part for word in only):
            progress(part)
            checks.extend(run())
    if not checks:
        raise ContractError(
            f"No part of the audit is called {' '.join(filter(None, only))!r}.",
            hint="Name a word of a part: model, search, fit, bound or release.",
        )
    return AuditReport(checks=tuple(checks), seconds=time.monotonic() - start)


AuditPart: TypeAlias = tuple[str, Callable[[], tuple[AuditCheck, ...]]]
"""Its name, and what runs it."""


def _parts(
    *, quick: bool, entropy: Entropy, trainings: tuple[Training, ...] = ()
) -> Iterator[AuditPart]:
    pairs, samples = (2_000, 20_000) if quick else (20_000, 100_000)
    draws = 50_000 if quick else 1_000_000
    yield "oracles", oracle_checks
    strategies = 200 if quick else 2_000
    yield (
        "strategies against caps",
        partial(composition_checks, strategies=strategies, entropy=entropy),
    )
    for entity in (Entity.PATIENT, Entity.EVENT):
        yield (
            f"sensitivity search, {entity.value}",
            partial(sensitivity_checks, entity, pairs=pairs, entropy=entropy),
        )
    for noise in SAMPLERS:
        yield (
            f"fit of {noise}",
            partial(_one, fit_check, noise, draws=draws, entropy=entropy),
        )
    for scenario in scenarios():
        few = samples // 5 if scenario.slow else samples
        yield (
            f"lower bound: {scenario.name}",
            partial(_one, audit_scenario, scenario, samples=few, entropy=entropy),
        )
    yield from _of_models(samples=samples, models=48 if quick else 256, entropy=entropy)
    for training in trainings:
        yield (
            f"lower bound: model by {training.name}",
            partial(audit_training, training, runs=samples // 5, entropy=entropy),
        )
    for trial in trials():
        yield (
            f"whole release: {trial.name}",
            partial(_one, audit_trial, trial, copies=samples // 5, entropy=entropy),
        )
    kinds = kind_trials(full=not quick)
    pairs_of = functools.cache(lambda: dict(on_worst_pairs(kinds, entropy=entropy)))
    for kind in kinds:  # the search for worst pairs runs before the first of them alone
        yield (
            f"whole release: {kind.name}",
            partial(_on_pair, kind, pairs_of, copies=samples // 40, entropy=entropy),
        )


def _on_pair(
    kind: KindTrial,
    pairs_of: Callable[[], Mapping[KindTrial, Neighbours]],
    *,
    copies: int,
    entropy: Entropy,
) -> tuple[AuditCheck, ...]:
    return (audit_kind(kind, pairs_of()[kind], copies=copies, entropy=entropy),)


def _of_models(*, samples: int, models: int, entropy: Entropy) -> Iterator[AuditPart]:
    for family in Family:
        yield f"sensitivity of a {family.value} model", partial(_one, reach_check, family)
        canary = model_scenario(family, canary=worst_canary(family))
        yield (
            f"lower bound: {canary.name}",
            partial(_one, audit_scenario, canary, samples=samples, entropy=entropy),
        )
    for name, family, rounds in (
        ("logistic model in one look", Family.LOGISTIC, 0),
        ("logistic model of many terms", Family.LOGISTIC, WIDE_ROUNDS),
        ("hazard model of few events", Family.HAZARD, WIDE_ROUNDS),
        ("count model with a wide bound", Family.POISSON, WIDE_ROUNDS),
        ("multinomial model of a rare class", Family.MULTINOMIAL, WIDE_ROUNDS),
    ):
        once = model_scenario(family, canary=worst_canary(family), rounds=rounds)
        yield f"sensitivity of a {name}", partial(_one, reach_check, family, rounds=rounds)
        yield (
            f"lower bound: {once.name}",
            partial(_one, audit_scenario, once, samples=samples, entropy=entropy),
        )
    yield "one training of a model with canaries", partial(_one, one_run_check, entropy=entropy)
    yield (
        f"membership attack on {models} models in rounds",
        lambda: leak_checks(leaks(models=models, entropy=entropy)),
    )


def _one(check: Callable[..., AuditCheck], *of: Any, **how: Any) -> tuple[AuditCheck, ...]:
    return (check(*of, **how),)


def sensitivity_checks(entity: Entity, *, pairs: int, entropy: Entropy) -> tuple[AuditCheck, ...]:
    """Return one check for each exact vector and adjacency."""
    statistics = statistics_of_patients() if entity is Entity.PATIENT else statistics_of_events()
    drawn = neighbours(pairs, entity=entity, entropy=entropy)
    return tuple(_of(found) for found in search(statistics, drawn=drawn, entity=entity))


def _of(found: LargestMovement) -> AuditCheck:
    claimed = found.claimed
    return AuditCheck(
        name=f"{found.statistic}/{found.question}, {found.entity.value}, {found.adjacency.value}",
        layer=Layer.SENSITIVITY,
        passed=found.holds,
        measured=f"L1 {found.l1}, L2² {found.l2_squared}, L∞ {found.linf}"
        + ("" if found.attained else " (the claim was not reached)"),
        claimed=f"L1 {claimed.l1}, L2² {claimed.l2_squared}, L∞ {claimed.linf}",
    )


def fit_check(noise: AddedNoise, *, draws: int, entropy: Entropy) -> AuditCheck:
    """Return whether draws fit the stated law and moments, with one more try."""
    for _ in range(2):
        sample = noise.sample(draws, entropy=entropy)
        p, off = p_value(sample, cdf=noise.cdf), worst_moment(sample, noise=noise)
        if p > LEAST_P and off < MOST_ERRORS:
            break
    return AuditCheck(
        name=str(noise),
        layer=Layer.FIT,
        passed=p > LEAST_P and off < MOST_ERRORS,
        measured=f"p = {p:.3g}; moments off by {off:.2f} standard errors",
        claimed=f"p > {LEAST_P:g}; below {MOST_ERRORS:g}",
    )
