"""Black-box audit of every mechanism: run on two neighbouring inputs, compared with its claim.

Each :class:`Scenario` is a worst pair of inputs, found by hand from the proof of the mechanism's
theorem, the claim, and a runner that returns outputs as features.  The claim is refuted if the
lower bound of :mod:`confide.attacks.audit.lower_bound` exceeds it.

*Privacy:* inputs are made up.
*Utility:* an honest mechanism fails with chance at most ``MISS`` a bound.

References:
    [DWWZK18] Ding, Wang, Wang, Zhang, Kifer. Detecting violations of differential privacy. CCS
        2018. https://doi.org/10.1145/3243734.3243818
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from confide.attacks.audit.lower_bound import LowerBound, delta_bound, epsilon_bound, mu_bound
from confide.attacks.audit.outcome import AuditCheck, Layer
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import Entropy
from confide.noise.local_mechanism import LocalMechanism
from confide.noise.mechanism import AddedNoise
from confide.noise.peeling import Peeling
from confide.noise.randomized_response import RandomizedResponse
from confide.noise.set_selection import SetSelection, draw_sets
from confide.noise.threshold import KeyThreshold
from confide.noise.unary_encoding import Unary, UnaryEncoding
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP

MISS = 1e-6

Vector: TypeAlias = tuple[int, ...]
MechanismRun: TypeAlias = Callable[[Vector, int, Entropy], NDArray[np.float64]]
"""Outputs as features, shape (samples, features), for an exact input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One mechanism on its worst pair.

    Attributes:
        name: What is run.
        claim: The loss that is claimed between the two inputs.
        first: Exact input; for a Gaussian claim the difference to ``second`` gives the score.
        second: Its neighbour.
        run: Runs the mechanism.
        slow: Whether each sample is a run of its own, so that fewer are taken.
    """

    name: str
    claim: PrivacyLoss
    first: Vector
    second: Vector
    run: MechanismRun
    slow: bool = False


def audit_scenario(scenario: Scenario, *, samples: int, entropy: Entropy) -> AuditCheck:
    """Return whether the claim survives.

    Example:
        >>> from confide.noise.entropy import SystemEntropy
        >>> check = audit_scenario(scenarios()[0], samples=2000, entropy=SystemEntropy())
        >>> check.passed
        True
    """
    first = scenario.run(scenario.first, samples, entropy)
    second = scenario.run(scenario.second, samples, entropy)
    bounds = judged(first, second, claim=scenario.claim, exact=(scenario.first, scenario.second))
    return AuditCheck(
        name=scenario.name,
        layer=Layer.LOWER_BOUND,
        passed=all(bound.value <= claimed for _, bound, claimed in bounds),
        measured="; ".join(f"{letter} ≥ {bound.value:.4g}" for letter, bound, _ in bounds),
        claimed="; ".join(f"{letter} = {claimed:.4g}" for letter, _, claimed in bounds),
    )


def judged(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    *,
    claim: PrivacyLoss,
    exact: tuple[Vector, Vector],
) -> tuple[tuple[str, LowerBound, float], ...]:
    """Return each bounded parameter: its letter, its lower bound, and its claimed value."""
    match claim:
        case PureDP(epsilon=epsilon):
            bound = epsilon_bound(first, second, delta=0.0, miss=MISS)
            return (("ε", bound, float(epsilon)),)
        case ApproxDP(epsilon=epsilon, delta=delta):
            by_epsilon = epsilon_bound(first, second, delta=float(delta), miss=MISS)
            by_delta = delta_bound(first, second, epsilon=float(epsilon), miss=MISS)
            return (("ε", by_epsilon, float(epsilon)), ("δ", by_delta, float(delta)))
        case ZeroConcentratedDP(rho=rho):
            towards = np.array(exact[0], dtype=np.float64) - np.array(exact[1], dtype=np.float64)
            middle = (np.array(exact[0]) + np.array(exact[1])) / 2
            bound = mu_bound(
                first @ towards, second @ towards, cut=float(middle @ towards), miss=MISS
            )
            return (("μ", bound, math.sqrt(2 * rho)),)
        case _:
            assert_never(claim)


def adding(noise: AddedNoise) -> MechanismRun:
    """Return the runner of noise that is added to a vector."""

    def run(exact: Vector, samples: int, entropy: Entropy) -> NDArray[np.float64]:
        tiled = np.tile(np.array(exact, dtype=np.int64), samples)
        noisy = noise.randomize(tiled, entropy=entropy)
        return noisy.reshape(samples, len(exact)).astype(np.float64)

    return run


def selecting_with_counts(rule: KeyThreshold) -> MechanismRun:
    """Return the runner of a threshold: presence and noisy count of each key, and their number."""

    def run(exact: Vector, samples: int, entropy: Entropy) -> NDArray[np.float64]:
        counts = np.tile(np.array(exact, dtype=np.int64), samples)
        selected = rule.select(counts, entropy=entropy)
        noisy = np.zeros(counts.size)
        noisy[selected.positions] = selected.noisy
        return with_presence(noisy.reshape(samples, len(exact)))

    return run


def with_presence(noisy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return noisy counts (0: withheld), whether each key is there, and how many are."""
    there = (noisy != 0).astype(np.float64)
    return np.hstack([noisy, there, there.sum(axis=1, keepdims=True)])


def answering(survey: LocalMechanism) -> MechanismRun:
    """Return the runner of one person's answer."""

    def run(exact: Vector, samples: int, entropy: Entropy) -> NDArray[np.float64]:
        answers = np.full(samples, exact[0], dtype=np.int64)
        said = survey.encode(answers, entropy=entropy)
        return said.reshape(samples, -1).astype(np.float64)

    return run


def choosing_sets(choice: SetSelection) -> MechanismRun:
    """Return the runner of a choice of a set, all draws at once."""

    def run(exact: Vector, samples: int, entropy: Entropy) -> NDArray[np.float64]:
        drawn = draw_sets(
            exact, size=choice.size, slope=choice.slope, count=samples, entropy=entropy
        )
        return as_number(drawn, of=len(exact))

    return run


def peeling(choice: Peeling) -> MechanismRun:
    """Return the runner of rounds of choices, one run at a time."""

    def run(exact: Vector, samples: int, entropy: Entropy) -> NDArray[np.float64]:
        drawn = [choice.select(exact, entropy=entropy) for _ in range(samples)]
        return as_number(np.array(drawn), of=len(exact))

    return run


def choosing_quantiles(choice: QuantileSet) -> MechanismRun:
    """Return the runner of a choice of quantiles, one run at a time."""

    def run(exact: Vector, samples: int, entropy: Entropy) -> NDArray[np.float64]:
        drawn = [choice.select(exact, entropy=entropy) for _ in range(samples)]
        return as_number(np.array(drawn), of=choice.candidates)

    return run


def as_number(drawn: NDArray[np.intp], *, of: int) -> NDArray[np.float64]:
    """Return one number a draw that tells all choices apart; shape (samples, 1)."""
    digits = np.array([of**place for place in range(drawn.shape[1])][::-1])
    numbers: NDArray[np.float64] = (drawn @ digits).astype(np.float64)
    return numbers[:, None]


THIRDS = Fraction(1, 3), Fraction(2, 3)
ONE, HALF = PureDP(epsilon=Fraction(1)), PureDP(epsilon=Fraction(1, 2))
GAUSSIAN_RHO = ZeroConcentratedDP(rho=Fraction(1, 2))
KEYS = KeyThreshold(
    epsilon=Fraction(1),
    delta=Fraction(1, 20),
    keys_per_person=2,
    adjacency=Adjacency.ADD_REMOVE,
)


def scenarios() -> tuple[Scenario, ...]:
    """Return every mechanism on its worst pair."""
    count = DiscreteLaplace.calibrate(ONE, l1=1)
    cells = DiscreteLaplace.calibrate(ONE, l1=4)
    total = DiscreteLaplace.calibrate(HALF, l1=120)
    gaussian = DiscreteGaussian.calibrate(GAUSSIAN_RHO, l2_squared=100)
    wide = DiscreteGaussian.calibrate(GAUSSIAN_RHO, l2_squared=5 * 36)
    coin = RandomizedResponse(truth=Fraction(3, 4), categories=2)
    many = RandomizedResponse(truth=ONE, categories=5)
    districts = UnaryEncoding(target=ONE, categories=4, unary=Unary.OPTIMISED)
    flags = UnaryEncoding(target=ONE, categories=4, unary=Unary.SYMMETRIC)
    return (
        Scenario(
            name="discrete Laplace, one count",
            claim=ONE,
            first=(42,),
            second=(41,),
            run=adding(count),
        ),
        Scenario(
            name="discrete Laplace, a replaced patient of two cells",
            claim=ONE,
            first=(10, 20, 30, 40, 5),
            second=(9, 19, 31, 41, 5),
            run=adding(cells),
        ),
        Scenario(
            name="discrete Laplace, a sum",
            claim=HALF,
            first=(2**40 + 120,),
            second=(2**40,),
            run=adding(total),
        ),
        Scenario(
            name="discrete Gaussian, a sum",
            claim=GAUSSIAN_RHO,
            first=(510,),
            second=(500,),
            run=adding(gaussian),
        ),
        Scenario(
            name="discrete Gaussian, five cells",
            claim=GAUSSIAN_RHO,
            first=(6, 106, 206, 306, 406, 0),
            second=(0, 100, 200, 300, 400, 0),
            run=adding(wide),
        ),
        Scenario(
            name="key threshold, two keys of one person",
            claim=KEYS.loss(),
            first=(1, 1, 9),
            second=(0, 0, 9),
            run=selecting_with_counts(KEYS),
        ),
        Scenario(
            name="key threshold, two keys shared with others",
            claim=KEYS.loss(),
            first=(8, 7, 1),
            second=(7, 6, 1),
            run=selecting_with_counts(KEYS),
        ),
        Scenario(
            name="randomised response, the coin-flip survey",
            claim=coin.loss(),
            first=(0,),
            second=(1,),
            run=answering(coin),
        ),
        Scenario(
            name="randomised response, five categories",
            claim=ONE,
            first=(0,),
            second=(3,),
            run=answering(many),
        ),
        Scenario(
            name="unary encoding, optimised",
            claim=ONE,
            first=(0,),
            second=(3,),
            run=answering(districts),
        ),
        Scenario(
            name="unary encoding, symmetric",
            claim=ONE,
            first=(0,),
            second=(3,),
            run=answering(flags),
        ),
        Scenario(
            name="set selection, two of seven",
            claim=ONE,
            first=(1, 1, *[0] * 5),
            second=(0, 0, *[1] * 5),
            run=choosing_sets(
                SetSelection(epsilon=Fraction(1), reach=4, size=2, candidates=7),
            ),
        ),
        Scenario(
            name="peeling, two of seven",
            claim=ONE,
            first=(1, 1, *[0] * 5),
            second=(0, 0, *[1] * 5),
            run=peeling(Peeling(epsilon=Fraction(1, 2), reach=2, size=2, candidates=7)),
            slow=True,
        ),
        Scenario(
            name="quantile set, two of five values",
            claim=ONE,
            first=(4, 1, 0, 0, 0),
            second=(4, 0, 0, 0, 0),
            run=choosing_quantiles(
                QuantileSet(epsilon=Fraction(1), reach=2 * 6, at=THIRDS, candidates=5)
            ),
            slow=True,
        ),
    )
