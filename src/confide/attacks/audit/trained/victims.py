"""What whole models give away: generated patients, a model without privacy, and models in rounds.

Outcomes are coins that no covariate explains.  With twice as many terms as patients, a model
without privacy can only learn its patients by heart; the attack has to find them.  Models in rounds
are fitted by the code that the gate runs, and the attack reads the coefficients that a release
publishes; with the noise off they too break the bound, as a test says.

The canaries of the one-run audit are at corners of the bounds, so that hardly two of them add the
same to the moments; their coins are read off the noisy answers by regression on what each adds.

*Privacy:* patients are generated.
*Utility:* see :mod:`confide.attacks.audit.trained.membership` and
:mod:`confide.attacks.audit.trained.one_run`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats
from confide.attacks.audit.outcome import AuditCheck, Curve, Layer
from confide.attacks.audit.trained.membership import (
    FALSE_ALARMS,
    TOO_FAR,
    Confidence,
    Membership,
    MembershipClaim,
    attack,
)
from confide.attacks.audit.trained.models import (
    ROUNDS,
    STEPS,
    SURE,
    AuditedModel,
    ModelColumns,
    small_model,
)
from confide.attacks.audit.trained.one_run import Included, OneRun, coins, one_run
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.entropy import Entropy
from confide.plans.rounds.descent import Ask, AskGradient, AskMoments, Place, next_ask
from confide.plans.rounds.model_fit import fitted
from confide.plans.rounds.newton import COEFFICIENT
from confide.privacy.accounting.concentrated import rho_for
from confide.tables.aggregates.descent_terms import UNIT

EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
PROMISE = MembershipClaim(epsilon=float(EPSILON), delta=float(DELTA))
OVERFITTED, ASKED = (40, 40), (50, 15)
"""Patients in the pool, and numbers of each: without privacy, and in rounds."""
CANARIES, CORNERS, GUESSES, MISS = 200, 30, 100, 1e-4
LEAST_LEAK = 0.1
"""Share of members that the attack must find in the model without privacy, at 1 % false alarms."""
PLAIN, PRIVATE = "without-privacy", "in-rounds"
_POINTS = 60
_RIDGE = 0.1
_CHEAP = 64
"""Models without privacy cost next to nothing, so there are at least so many."""
_STEPS = 30
VictimNoise: TypeAlias = DiscreteGaussian | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Generated patients.

    Attributes:
        columns: As an engine gives them.
        terms: 1, then numbers in [−1, 1]; shape (patients, d).
        outcome: 0 or 1; shape (patients,).
    """

    columns: ModelColumns
    terms: Floats
    outcome: NDArray[np.int64]

    def of(self, included: Included) -> ModelColumns:
        """Return some of them."""
        return {name: values[included] for name, values in self.columns.items()}

    def confidence(self, coefficients: Floats) -> Floats:
        """Return the log odds that a model gives to each one's own outcome."""
        return np.asarray((2 * self.outcome - 1) * (self.terms @ coefficients))


def generated(count: int, *, numbers: int, entropy: Entropy) -> Pool:
    """Return patients with uniform numbers and an outcome by a coin."""
    values = (entropy.words(count * numbers) % np.uint64(STEPS + 1)).astype(np.int64)
    return _pool(values.reshape(count, numbers), coins(count, entropy=entropy).astype(np.int64))


def at_corners(count: int, *, numbers: int, entropy: Entropy) -> Pool:
    """Return patients with numbers at their bounds, all with the outcome."""
    values = STEPS * coins(count * numbers, entropy=entropy).astype(np.int64)
    return _pool(values.reshape(count, numbers), np.ones(count, dtype=np.int64))


def _pool(values: NDArray[np.int64], outcome: NDArray[np.int64]) -> Pool:
    count, numbers = values.shape
    columns = {f"e{i}": values[:, i] for i in range(numbers)} | {f"e{numbers}": outcome}
    columns |= {"p": np.arange(count), "rk": np.ones(count, int), "fold": np.full(count, 999)}
    terms = np.column_stack([np.ones(count), 2 * values / STEPS - 1])
    return Pool(columns=columns, terms=terms, outcome=outcome)


def without_privacy(pool: Pool) -> Confidence:
    """Return training by maximum likelihood, with a ridge so small that it fits every patient."""

    def train(included: Included) -> Floats:
        x, y = pool.terms[included], pool.outcome[included]
        beta = np.zeros(x.shape[1])
        for _ in range(_STEPS):
            mean = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
            slope = (x * (mean * (1 - mean))[:, None]).T @ x + _RIDGE * np.eye(x.shape[1])
            beta += np.linalg.solve(slope, x.T @ (y - mean) - _RIDGE * beta)
        return pool.confidence(beta)

    return train


def in_rounds(pool: Pool, *, noise: VictimNoise = None, entropy: Entropy) -> Confidence:
    """Return training by a logistic model in rounds.

    Args:
        pool: The patients.
        noise: What is drawn; that of (ε, δ) when None.
        entropy: Of the noise.
    """
    audited = small_model(numbers=pool.terms.shape[1] - 1)
    drawn = noise or audited.noise(rho_for(EPSILON, delta=DELTA))
    to, aggregate, sigma = audited.dataset, audited.aggregate, math.sqrt(drawn.variance())

    def train(included: Included) -> Floats:
        rows, answers = audited.rows(pool.of(included)), ()
        while ask := next_ask(aggregate, answers, sigma=sigma, dataset=to):
            exact = np.array(rows.answer(ask), dtype=np.int64)
            answers += tuple(drawn.randomize(exact, entropy=entropy).tolist())
        found = fitted(aggregate, answers, sigma=sigma, dataset=to)
        return pool.confidence(found.coefficients)

    return train


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaks:
    """What the attack found in the models of one pool.

    Attributes:
        plain: In models without privacy.
        private: In models in rounds.
    """

    plain: Membership
    private: Membership


def leaks(*, models: int, noise: VictimNoise = None, entropy: Entropy) -> Leaks:
    """Attack both kinds of model.

    Args:
        models: In rounds; half of them are shadows of the others.
        noise: Of models in rounds; that of the claim when None.
        entropy: Of everything.
    """
    half = models // 2
    plain, asked = (
        generated(pool, numbers=numbers, entropy=entropy) for pool, numbers in (OVERFITTED, ASKED)
    )

    def attacked(train: Confidence, *, pool: Pool, each: int) -> Membership:
        return attack(
            train,
            pool=len(pool.outcome),
            shadows=each,
            targets=each,
            claim=PROMISE,
            entropy=entropy,
        )

    return Leaks(
        plain=attacked(without_privacy(plain), pool=plain, each=max(half, _CHEAP)),
        private=attacked(in_rounds(asked, noise=noise, entropy=entropy), pool=asked, each=half),
    )


def leak_checks(found: Leaks) -> tuple[AuditCheck, ...]:
    """Return whether the attack works, and whether models in rounds keep their promise."""
    bound = PROMISE.most_found(FALSE_ALARMS)
    return (
        AuditCheck(
            name="membership attack on a model without privacy",
            layer=Layer.MODEL,
            passed=found.plain.found_at() >= LEAST_LEAK,
            measured=_in_words(found.plain),
            claimed=f"the leak must show: TPR ≥ {LEAST_LEAK}",
            curve=_curve(found.plain, name=PLAIN),
        ),
        AuditCheck(
            name="membership attack on a model in rounds",
            layer=Layer.MODEL,
            passed=found.private.excess <= TOO_FAR,
            measured=_in_words(found.private),
            claimed=f"TPR ≤ {bound:.3f} (ε = {EPSILON}, δ = {float(DELTA):g})",
            curve=_curve(found.private, name=PRIVATE),
        ),
    )


def _curve(found: Membership, *, name: str) -> Curve:
    """Return the curve at false alarms that are evenly apart on a logarithmic axis."""
    alarms = np.array(found.false_alarms)
    grid = np.geomspace(max(float(alarms[alarms > 0].min()), 1e-4), 1, _POINTS)
    places = np.unique(np.searchsorted(alarms, grid, side="right") - 1)
    return Curve(
        name=name,
        points=tuple((found.false_alarms[k], found.found[k]) for k in places.tolist()),
        epsilon=PROMISE.epsilon,
        delta=PROMISE.delta,
    )


def _in_words(found: Membership) -> str:
    return (
        f"TPR {found.found_at():.3f} at FPR {FALSE_ALARMS}; advantage {found.advantage:.2f} "
        f"in {found.decisions} decisions"
    )


def one_run_in_rounds(*, noise: VictimNoise = None, entropy: Entropy) -> OneRun:
    """Return the one-run audit of a logistic model in rounds with canaries.

    Args:
        noise: What is drawn; that of (ε, δ) when None.
        entropy: Of the coins, the canaries and the noise.
    """
    audited = small_model(numbers=CORNERS)
    pool = at_corners(CANARIES, numbers=CORNERS, entropy=entropy)
    drawn = noise or audited.noise(rho_for(EPSILON, delta=DELTA))
    none = np.zeros(CANARIES, dtype=np.bool_)
    alone = [_replaced(none, place) for place in range(CANARIES)]
    added = np.array([_exact(audited, pool.of(each)) for each in alone], dtype=np.float64)
    gram = added @ added.T / drawn.variance() + 4 * np.eye(CANARIES)  # a coin has variance ¼

    def train(included: Included) -> Floats:
        exact = np.array(_exact(audited, pool.of(included)), dtype=np.int64)
        return np.asarray(drawn.randomize(exact, entropy=entropy), dtype=np.float64)

    def score(noisy: Floats) -> Floats:
        apart = added @ (noisy - added.sum(axis=0) / 2) / drawn.variance()
        return np.asarray(np.linalg.solve(gram, apart))

    return one_run(
        train,
        score=score,
        canaries=CANARIES,
        guesses=GUESSES,
        delta=float(DELTA),
        miss=MISS,
        entropy=entropy,
    )


def one_run_check(*, noise: VictimNoise = None, entropy: Entropy) -> AuditCheck:
    """Return whether one training with canaries refutes the promise."""
    found = one_run_in_rounds(noise=noise, entropy=entropy)
    return AuditCheck(
        name=f"one training in rounds with {found.canaries} canaries",
        layer=Layer.MODEL,
        passed=found.epsilon <= PROMISE.epsilon,
        measured=f"{found.correct} of {found.guesses} guesses right: ε ≥ {found.epsilon:.2f}",
        claimed=f"ε = {EPSILON}",
    )


def _replaced(none: Included, place: int) -> Included:
    one = none.copy()
    one[place] = True
    return one


def _exact(audited: AuditedModel, columns: ModelColumns) -> tuple[int, ...]:
    """Return the answers to moments and gradients, where the model is sure that nobody is ill."""
    size = CORNERS + 1
    at = Place(
        whitening=tuple(tuple(int(i == j) * UNIT for j in range(size)) for i in range(size)),
        coefficients=(-SURE * COEFFICIENT // 4,) + (0,) * CORNERS,
    )
    asks: tuple[Ask, ...] = (
        AskMoments(),
        *(AskGradient(at=at, round=number) for number in range(ROUNDS)),
    )
    rows = audited.rows(columns)
    return tuple(value for ask in asks for value in rows.answer(ask))
