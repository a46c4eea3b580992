"""One patient's gradient at a hospital, as somebody sees it with some layers of a federation off.

Six hospitals add the gradients of a logistic model, of one patient each; the attacker knows the
other five, and one of them is the attacker's.  With all layers the numbers pass the true machines of the secure sum.
"""

from fractions import Fraction

import numpy as np

from confide.attacks.lab.coin_game import share_of
from confide.attacks.lab.gradient_inversion import clipped_updates, inverted, updates
from confide.jobs.federated.secure_sum.envelope import Leg, opened_wire
from confide.noise.distributed.gaussian_parts import GaussianParts
from confide.noise.entropy import SystemEntropy
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.odds import concentrated_advantage
from federations import Hospitals, Played

GRID = 2**20
SITES, HONEST = 6, 5
RHO = Fraction(1, 8)  # of the sum, as it is charged
KNOWN = np.array([[3, 4, 4], [1, 4, 2], [0, 2, 4], [2, 3, 0], [3, 0, 1], [1, 1, 1]])
OUTCOME = np.array([1, 0, 1, 0, 1, 0])
"""The first is as far out as anybody: the gradient is as long as the clip."""
EACH = updates(KNOWN, OUTCOME)
CLIPPED = clipped_updates(EACH)
FEATURES = KNOWN / KNOWN.max(axis=0)


def noise():
    """Parts of which five are enough."""
    return GaussianParts.calibrate(
        ZeroConcentratedDP(rho=RHO), l2_squared=GRID**2, l0=CLIPPED.shape[1], parts=HONEST
    )


def through_masks(vectors, *, folder, run):
    """What the coordinator sees of each site, and the sum, by the machines of the protocol."""
    bound = 2**40
    hospitals = Hospitals(
        folder, sites=SITES, drops=0, length=vectors.shape[1], bound=bound, run=run
    )
    hospitals.vectors = vectors
    played, terms = Played(hospitals), hospitals.terms
    played.until(Leg.DELIVER)
    played.answer()
    seen = []
    for wire in played.wires.values():
        body = opened_wire(wire, context=terms.context, federation=terms.federation).body
        seen.append(np.frombuffer(bytes(body)[32:], dtype="<u8").view(np.int64))
    while played.collector.result is None:
        played.step()
        if played.collector.result is None:
            played.answer()
    return np.array(seen), np.asarray(played.collector.result.total)


def record_in(seen, *, who):
    """Whether dividing by the last coordinate gives the patient's record, to three digits."""
    features, outcome = inverted(np.asarray(seen, dtype=float)[None, :])
    near = np.abs(features[0] - FEATURES[who]).max() < 1e-3
    return bool(near and outcome[0] == OUTCOME[who])


def told_apart(seen, coins, gone):
    """Share exposed by the nearer of two known worlds: the patient there, or not."""
    nearer = 2 * (seen * gone).sum(axis=1) > (gone.astype(float) ** 2).sum(axis=1)
    return share_of((nearer == coins).astype(float))


def game(*, parts, games):
    """Play whether the patient is there, on what is left after the attacker subtracts the known.

    Args:
        parts: How many parts of the noise nobody can subtract.
        games: How many.
    """
    entropy = SystemEntropy()
    coins = np.array([entropy.below(2) == 1 for _ in range(games)])
    gone = np.repeat(CLIPPED[:1], games, axis=0)
    seen = (coins[:, None] * gone).astype(float)
    drawn = noise().noise
    for _ in range(parts):
        seen += drawn.sample(seen.size, entropy=entropy).reshape(seen.shape)
    return told_apart(seen, coins, gone)


def bound_of(parts):
    """The most that anybody exposes against so many parts of the noise, √(ρ'/2)."""
    return concentrated_advantage(ZeroConcentratedDP(rho=RHO * HONEST / parts))
