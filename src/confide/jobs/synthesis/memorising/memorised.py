"""What a generator memorises: canaries that it gives back, copies, and who was in its data.

*Canaries.*  Rows of which each cell is drawn for itself are planted among patients.  A generator
that gives one back, in every column, has it from nowhere else: by chance one comes in fewer than
one of 10⁴ tables.

*Membership by shadow models.*  The attacker knows every patient but one, and has that one's row.
They train the same generator many times on data with and without it, learn from these shadows where
what is released lies with and without, and then say of a release whether the patient was there.
The statistic is the sum of the noisy counts of the row's cells, each by its precision, which is the
likelihood ratio of the tables up to a constant: no attack on synthetic rows, which are a function
of these counts, does better.

*Privacy:* of made-up patients alone.

References:
    [CLEKS19] Carlini, Liu, Erlingsson, Kos, Song. The secret sharer: evaluating and testing
        unintended memorization in neural networks. USENIX Security 2019.
        https://arxiv.org/abs/1802.08232
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from confide.arrays import Ints
from confide.jobs.synthesis.examining.copies import CopiesFound, copies_found
from confide.jobs.synthesis.measured import MeasuredMarginals
from confide.jobs.synthesis.memorising.made_up import (
    CANARIES,
    PATIENTS,
    Clinic,
    measured_on,
    table_of_marginals,
)
from confide.noise.entropy import Entropy
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.odds import concentrated_advantage

SHADOWS, GAMES = 30, 200
_LEAST = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenBack:
    """Canaries in a synthetic table.

    Attributes:
        planted: How many.
        given_back: Of them, in every column.
        copies: Of any row of the data, beside patients who were held out.
    """

    planted: int
    given_back: int
    copies: CopiesFound


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipFound:
    """How well shadow models tell whether one patient was there.

    Attributes:
        advantage: True positives less false ones, in games by a fair coin.
        standard_error: Of it.
        games: How many.
        bound: The largest that any attack has; 1 without noise.
    """

    advantage: float
    standard_error: float
    games: int
    bound: float

    @property
    def holds(self) -> bool:
        """Whether the bound was respected, but for chance."""
        return self.advantage <= self.bound + 3 * self.standard_error


def canaries_given_back(
    clinic: Clinic,
    *,
    epsilon: Fraction | None,
    entropy: Entropy,
    learned: Callable[..., Ints] = table_of_marginals,
) -> GivenBack:
    """Plant canaries among made-up patients, let a generator learn, and look for them.

    Args:
        clinic: Of the patients.
        epsilon: Of the generator; None for one without noise.
        entropy: Of patients, canaries, noise and choices.
        learned: The table of a generator that learned rows: of marginals, or of a VAE.
    """
    patients, fresh = (clinic.patients(PATIENTS, entropy=entropy) for _ in range(2))
    planted = clinic.canaries(CANARIES, entropy=entropy)
    data = np.vstack([patients, planted])
    table = learned(data, clinic=clinic, epsilon=epsilon, entropy=entropy)
    known = {tuple(row) for row in table.tolist()}
    return GivenBack(
        planted=CANARIES,
        given_back=sum(tuple(row) in known for row in planted.tolist()),
        copies=copies_found(table, data, fresh),
    )


def membership_found(
    clinic: Clinic,
    *,
    epsilon: Fraction | None,
    entropy: Entropy,
    shadows: int = SHADOWS,
    games: int = GAMES,
) -> MembershipFound:
    """Play games about one canary among known patients.

    Args:
        clinic: Of the patients.
        epsilon: Of the generator; None for one without noise.
        entropy: Of everything.
        shadows: Trained with the canary, and as many without.
        games: Afterwards.
    """
    others = clinic.patients(PATIENTS, entropy=entropy)
    target = clinic.canaries(1, entropy=entropy)

    def seen(there: bool) -> float:
        rows = np.vstack([others, target]) if there else others
        found = measured_on(rows, clinic=clinic, epsilon=epsilon, entropy=entropy)
        return likelihood_of(target[0], found)

    between = sum(np.mean([seen(there) for _ in range(shadows)]) for there in (True, False)) / 2
    guesses: dict[bool, list[bool]] = {True: [], False: []}
    for _ in range(games):
        there = entropy.below(2) == 1
        guesses[there].append(bool(seen(there) > between))
    shares = [(float(np.mean(each)), len(each)) for each in guesses.values() if each]
    bound = 1.0
    if epsilon is not None:
        loss = ZeroConcentratedDP(rho=clinic.spec(epsilon).rho)
        bound = concentrated_advantage(loss)
    return MembershipFound(
        advantage=shares[0][0] - shares[-1][0],
        standard_error=sum(share * (1 - share) / many for share, many in shares) ** 0.5,
        games=games,
        bound=bound,
    )


def likelihood_of(row: Ints, found: MeasuredMarginals) -> float:
    """Return the sum of noisy counts of a row's cells, each by its precision."""
    alone, tables = (
        1 / max(noise.standard_deviation() ** 2, _LEAST)
        for noise in (found.noise_of_one_ways, found.noise_of_tables)
    )
    total = alone * sum(
        float(counts[level]) for counts, level in zip(found.one_ways, row, strict=True)
    )
    for each in found.tables:
        cell = tuple(int(found.merging[v][row[v]]) for v in each.variables)
        total += tables * float(each.counts[cell])
    return total
