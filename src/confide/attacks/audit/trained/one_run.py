"""One-run audit: a lower bound on ε from one training with many canary patients [SNJ23].

Each of m canaries takes part or not by a fair coin of its own.  After one training the auditor
guesses the coins of the canaries with the highest and the lowest scores, and abstains from the
rest.  If the training is (ε, δ)-differentially private for one canary added or removed, then of r
guesses at least v are right with chance at most

    P[X ≥ v] + 2mδ·max_{1≤i≤v} P[v − i ≤ X < v]/i,   X binomial(r, e^ε/(1 + e^ε)),

whatever the auditor does [SNJ23, thm. 5.2].  The least ε at which that chance reaches ``miss`` is
the bound: smaller ones are refuted.

*Privacy:* canaries are made up; whoever audits with real patients as canaries spends their budget.
*Utility:* one training and not thousands; the bound stays well below the truth, since one training
has m coins and not thousands for each.  It finds large mistakes, in any trainer.

References:
    [SNJ23] Steinke, Nasr, Jagielski. Privacy auditing with one (1) training run. NeurIPS 2023.
        https://arxiv.org/abs/2305.08846
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError
from confide.noise.entropy import Entropy

Trained = TypeVar("Trained")
Included = NDArray[np.bool_]
"""Which canaries take part; shape (m,)."""

LARGEST = 64.0
"""No bound is larger than this."""
_HALVINGS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRun:
    """What one training with canaries showed.

    Attributes:
        canaries: m.
        guesses: r, how many coins were guessed.
        correct: v, how many of them rightly.
        delta: δ of the claim.
        miss: Chance that the bound is wrong.
        epsilon: Lower bound on ε.
    """

    canaries: int
    guesses: int
    correct: int
    delta: float
    miss: float
    epsilon: float


def one_run(
    train: Callable[[Included], Trained],
    *,
    score: Callable[[Trained], NDArray[np.float64]],
    canaries: int,
    guesses: int,
    delta: float,
    miss: float,
    entropy: Entropy,
) -> OneRun:
    """Toss the coins, train once, guess, and bound ε.

    Args:
        train: Trains with the canaries that take part.
        score: Of each canary, higher where it is likelier to have taken part; shape (m,).
        canaries: m.
        guesses: r; half of them for the highest scores, half for the lowest.  Chosen beforehand.
        delta: δ of the claim.
        miss: Chance that the bound is wrong.
        entropy: Of the coins.

    Raises:
        InvalidParameterError: If the numbers do not describe an experiment.
    """
    _check(0, guesses=guesses, canaries=canaries, delta=delta, miss=miss)
    included = coins(canaries, entropy=entropy)
    scores = score(train(included))
    if scores.shape != (canaries,):
        raise InvalidParameterError(f"Expected one score a canary, got {scores.shape}.")
    order = np.argsort(scores, kind="stable")
    low, high = order[: guesses // 2], order[canaries - (guesses - guesses // 2) :]
    correct = int((~included[low]).sum() + included[high].sum())
    bound = guessed_epsilon(correct, guesses=guesses, canaries=canaries, delta=delta, miss=miss)
    return OneRun(
        canaries=canaries,
        guesses=guesses,
        correct=correct,
        delta=delta,
        miss=miss,
        epsilon=bound,
    )


def coins(count: int, *, entropy: Entropy) -> Included:
    """Return fair coins; shape (count,)."""
    return np.asarray(np.unpackbits(entropy.octets(-(-count // 8)))[:count] == 1)


def guessed_epsilon(
    correct: int, *, guesses: int, canaries: int, delta: float, miss: float
) -> float:
    """Return a lower bound on ε, wrong with chance at most ``miss``.

    Raises:
        InvalidParameterError: If the numbers do not describe an experiment.

    Example:
        Ninety of a hundred guesses right, about canaries of a training claimed to be (ε, 1e-5):

        >>> round(guessed_epsilon(90, guesses=100, canaries=1000, delta=1e-5, miss=0.05), 2)
        1.63
    """
    _check(correct, guesses=guesses, canaries=canaries, delta=delta, miss=miss)

    def refuted(epsilon: float) -> bool:
        chance = chance_of_guesses(
            correct, epsilon=epsilon, guesses=guesses, canaries=canaries, delta=delta
        )
        return chance < miss

    if not refuted(0.0):
        return 0.0
    low, high = 0.0, LARGEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def chance_of_guesses(
    correct: int, *, epsilon: float, guesses: int, canaries: int, delta: float
) -> float:
    """Return the most that the chance of so many right guesses can be under (ε, δ).

    Example:
        With ε = 0 and δ = 0 guesses are coins:

        >>> chance_of_guesses(2, epsilon=0.0, guesses=2, canaries=5, delta=0.0)
        0.25
    """
    right = 1 / (1 + math.exp(-epsilon))
    masses = [_mass(k, trials=guesses, chance=right) for k in range(guesses + 1)]
    tail = math.fsum(masses[correct:])
    below, steepest = 0.0, 0.0
    for i in range(1, correct + 1):
        below += masses[correct - i]
        steepest = max(steepest, below / i)
    return min(1.0, tail + 2 * canaries * delta * steepest)


def _mass(k: int, *, trials: int, chance: float) -> float:
    if chance >= 1:
        return float(k == trials)
    ways = math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1)
    return math.exp(ways + k * math.log(chance) + (trials - k) * math.log1p(-chance))


def _check(correct: int, *, guesses: int, canaries: int, delta: float, miss: float) -> None:
    sound = 0 <= correct <= guesses <= canaries and guesses >= 1
    if not sound or not 0 <= delta < 1 or not 0 < miss < 1:
        raise InvalidParameterError(
            "Expected 0 ≤ correct ≤ guesses ≤ canaries, 0 ≤ δ < 1 and 0 < miss < 1, got "
            f"{correct}, {guesses}, {canaries}, δ={delta} and miss={miss}."
        )
