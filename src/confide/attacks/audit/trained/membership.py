"""Membership attack by likelihood ratios: was this patient among those the model was trained on?

Shadow models are trained on random halves of a pool of patients.  For each patient, the confidence
φ = ln p/(1 − p) that a model puts in their outcome is nearly normal among models that saw them, and
nearly normal among those that did not.  Whoever attacks another model compares its φ with the two
laws: the ratio of likelihoods is the score [CCNSTT22].  Per patient there is a mean for either;
variances are shared, as with few shadow models they do better so.

What counts is not how often it is right on average, but whom it finds with few false alarms: the
share found (TPR) where one in a hundred others is accused (FPR).  Differential privacy bounds it
for every attack: TPR ≤ e^ε·FPR + δ, and TPR ≤ 1 − e^−ε·(1 − δ − FPR) [WZ10].

*Law.*  Target models are trained apart, so what each of them gives away beyond the bound,
TPR − e^ε·FPR − δ at a ratio fixed beforehand, is independent given the shadow models, and so is
TNR − e^ε·FNR − δ of those who are cleared.  The bound is refuted if a mean passes 0 by ``TOO_FAR``
standard errors.

*Privacy:* patients are generated, or public.
*Utility:* the attack has to find members of an over-fitted model without privacy; an attack that
fails everywhere says nothing about anybody.

References:
    [CCNSTT22] Carlini, Chien, Nasr, Song, Terzis, Tramèr. Membership inference attacks from first
        principles. IEEE S&P 2022. https://arxiv.org/abs/2112.03570
    [WZ10] Wasserman, Zhou. A statistical framework for differential privacy. JASA 105(489), 2010.
        https://doi.org/10.1198/jasa.2009.tm08651
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from confide.arrays import Floats
from confide.attacks.audit.trained.one_run import Included, coins
from confide.errors import InvalidParameterError
from confide.noise.entropy import Entropy

Confidence: TypeAlias = Callable[[Included], Floats]
"""Trains with the patients included, and returns φ of everybody's own outcome; shape (pool,)."""

FALSE_ALARMS = 0.01
RATIOS = (0.0, 1.0, 2.0, 3.0)
"""Log ratios, and their negatives, at which the bound is tested; fixed before any model is seen."""
TOO_FAR = 6.0  # standard errors
_FEWEST = 8
_LEAST_DEVIATION = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """What an attack on some models achieved.

    Attributes:
        false_alarms: Share of non-members accused, at falling thresholds; rising from 0.
        found: Share of members found, at the same.
        advantage: Largest difference of the two.
        excess: By how many standard errors the attack passes the bound; −∞ without a bound.
        decisions: Patients who were judged, over all target models.
    """

    false_alarms: tuple[float, ...]
    found: tuple[float, ...]
    advantage: float
    excess: float
    decisions: int

    def found_at(self, false_alarms: float = FALSE_ALARMS) -> float:
        """Return the share of members found where at most so many others are accused."""
        place = int(np.searchsorted(self.false_alarms, false_alarms, side="right")) - 1
        return self.found[place]


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipClaim:
    """What a model promises of each patient.

    Attributes:
        epsilon: In nats.
        delta: In [0, 1).
    """

    epsilon: float
    delta: float

    def most_found(self, false_alarms: float) -> float:
        """Return the largest share of members that any attack finds.

        Example:
            >>> round(MembershipClaim(epsilon=1.0, delta=1e-5).most_found(0.01), 4)
            0.0272
        """
        plain = math.exp(self.epsilon) * false_alarms + self.delta
        other = 1 - math.exp(-self.epsilon) * (1 - self.delta - false_alarms)
        return max(0.0, min(plain, other, 1.0))


def attack(
    train: Confidence,
    *,
    pool: int,
    shadows: int,
    targets: int,
    claim: MembershipClaim | None,
    entropy: Entropy,
) -> Membership:
    """Attack models that are trained on random halves of a pool.

    Args:
        train: Trains a model and says how confident it is.
        pool: Patients in the pool.
        shadows: Models from which the attack learns.
        targets: Models that are attacked.
        claim: What they promise; None for models without privacy.
        entropy: Of who is in which half.

    Raises:
        InvalidParameterError: With fewer than eight shadow models or targets.
    """
    if min(shadows, targets) < _FEWEST:
        raise InvalidParameterError(f"Expected at least {_FEWEST} shadow models and targets.")
    included = np.array([coins(pool, entropy=entropy) for _ in range(shadows + targets)])
    trained = np.array([train(each) for each in included])
    ratios = _ratios(trained[shadows:], included=included[:shadows], shadow=trained[:shadows])
    members = included[shadows:]
    alarms, found = _curve(ratios, members)
    return Membership(
        false_alarms=tuple(alarms.tolist()),
        found=tuple(found.tolist()),
        advantage=float((found - alarms).max()),
        excess=-math.inf if claim is None else _excess(ratios, members, claim=claim),
        decisions=int(members.size),
    )


def _ratios(target: Floats, *, included: Included, shadow: Floats) -> Floats:
    """Return each decision's log ratio of likelihoods; shape (targets, pool)."""

    def law(chosen: Included) -> tuple[Floats, float]:
        count = np.maximum(chosen.sum(axis=0), 1)
        mean = np.where(chosen, shadow, 0.0).sum(axis=0) / count
        apart = np.where(chosen, shadow - mean, 0.0)
        freedom = max(1, int((np.maximum(chosen.sum(axis=0) - 1, 0)).sum()))
        return mean, max(_LEAST_DEVIATION, math.sqrt(float((apart**2).sum()) / freedom))

    def log_density(mean: Floats, deviation: float) -> Floats:
        return np.asarray(-(((target - mean) / deviation) ** 2) / 2 - math.log(deviation))

    return log_density(*law(included)) - log_density(*law(~included))


def _curve(ratios: Floats, members: Included) -> tuple[Floats, Floats]:
    """Return false alarms and share found, threshold by threshold from above; ties go together."""
    order = np.argsort(-ratios, axis=None, kind="stable")
    sorted_ratios, member = ratios.ravel()[order], members.ravel()[order]
    last = np.flatnonzero(np.append(np.diff(sorted_ratios) != 0, True))
    found = np.cumsum(member)[last] / max(1, int(member.sum()))
    alarms = np.cumsum(~member)[last] / max(1, int((~member).sum()))
    return np.concatenate([[0.0], alarms]), np.concatenate([[0.0], found])


def _excess(ratios: Floats, members: Included, *, claim: MembershipClaim) -> float:
    """Return by how many standard errors over targets the bound is passed, at the worst ratio."""
    worst, grown = -math.inf, math.exp(claim.epsilon)
    for ratio in RATIOS:
        for accused, of in ((ratios >= ratio, members), (ratios <= -ratio, ~members)):
            beyond = _share(accused, of) - grown * _share(accused, ~of) - claim.delta
            error = float(beyond.std(ddof=1)) / math.sqrt(len(beyond))
            worst = max(worst, float(beyond.mean()) / max(error, 1e-9))
    return worst


def _share(accused: Included, of: Included) -> Floats:
    return np.asarray((accused & of).sum(axis=1) / np.maximum(of.sum(axis=1), 1))
