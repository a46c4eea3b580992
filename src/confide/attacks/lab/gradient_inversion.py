"""Gradient inversion: an update of one patient is the patient [ZLH19, GBDM20].

The gradient of a logistic model at (x, 1) with outcome y is (p − y)·(x, 1): its last coordinate is
p − y, whose sign is the outcome, and the others divided by it are x, digit by digit.  A hospital
that sends the update of a batch of one has sent the record.

Clipped to norm 1 and with Gaussian noise of ρ-zCDP, ρ = ε²/2, the same division gives nothing, and
nobody can tell well whether the patient was there at all.  That is scored by the best test for two
known updates, which of the two is nearer.

*Privacy:* clipped on a grid of 2⁻²⁰, rounded towards zero, and discrete Gaussian noise on it; the
bound is √(ρ/2), by ``privacy/odds.py``.

References:
    [ZLH19] Zhu, Liu, Han. Deep leakage from gradients. NeurIPS 2019.
        https://arxiv.org/abs/1906.08935
    [GBDM20] Geiping, Bauermeister, Dröge, Moeller. Inverting gradients: how easy is it to break
        privacy in federated learning? NeurIPS 2020. https://arxiv.org/abs/2003.14053
"""

import numpy as np

from confide.arrays import Floats, Ints
from confide.attacks.lab.attack import LabAttack, LabSettings, PrivateResult, UnprotectedResult
from confide.attacks.lab.coin_game import coin_tosses, share_of
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.odds import concentrated_advantage

_GRID = 2**20
_SAME = 1e-6
_LAW = "√(ρ/2) at ρ = ε²/2, for any attack and any knowledge"


def updates(known: Ints, outcome: Ints) -> Floats:
    """Return the gradient of a logistic model at coefficients 0; shape (patients, columns + 1).

    Args:
        known: Ranks of the quasi-identifiers, scaled here to [0, 1]; shape (patients, columns).
        outcome: 0 or 1; shape (patients,).
    """
    return (1 / 2 - outcome)[:, None] * _features(known)


def clipped_updates(each: Floats) -> Ints:
    """Return updates of norm at most 1 on a grid of 2⁻²⁰, rounded towards zero; of the same shape.

    Example:
        >>> (clipped_updates(np.array([[3.0, 4.0], [0.5, 0.0]])) / 2**20).round(3).tolist()
        [[0.6, 0.8], [0.5, 0.0]]
    """
    length = np.maximum(1, np.linalg.norm(each, axis=1, keepdims=True))
    return np.asarray(np.trunc(each / length * _GRID), dtype=np.int64)


def inverted(update: Floats) -> tuple[Floats, Ints]:
    """Return features and outcome of each update of one patient.

    Example:
        >>> features, outcome = inverted(np.array([[-0.2, -0.5], [0.5, 0.5]]))
        >>> features.tolist(), outcome.tolist()
        ([[0.4], [1.0]], [1, 0])
    """
    last = update[:, -1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        return update[:, :-1] / last, (last[:, 0] < 0).astype(np.int64)


def _features(known: Ints) -> Floats:
    scaled = known / np.maximum(1, known.max(axis=0))
    return np.concatenate([scaled, np.ones((len(known), 1))], axis=1)


def _outcome(settings: LabSettings) -> Ints:
    """Return whether a patient has the most frequent value."""
    codes = settings.table.sensitive.codes
    return np.asarray(codes == np.bincount(codes).argmax(), dtype=np.int64)


def _recovered(sent: Floats, known: Ints, outcome: Ints) -> int:
    features, guessed = inverted(sent)
    same = np.abs(features - _features(known)[:, :-1]).max(axis=1) < _SAME
    return int((same & (guessed == outcome)).sum())


def _attack(settings: LabSettings) -> UnprotectedResult:
    known, outcome = settings.table.known(), _outcome(settings)
    exposed = _recovered(updates(known, outcome), known, outcome)
    n = len(known)
    return UnprotectedResult(exposed=exposed, wrong=n - exposed, patients=n)


def _defend(settings: LabSettings) -> PrivateResult:
    known, outcome, entropy = settings.table.known(), _outcome(settings), settings.entropy
    loss = ZeroConcentratedDP(rho=settings.epsilon**2 / 2)
    noise = DiscreteGaussian.calibrate(loss, l2_squared=_GRID**2)
    who = np.asarray([entropy.below(len(known)) for _ in range(settings.games)])
    each = updates(known[who], outcome[who])
    clipped = clipped_updates(each)
    coins = coin_tosses(settings.games, entropy=entropy)
    sent = noise.randomize((coins[:, None] * clipped).ravel(), entropy=entropy)
    noisy = sent.reshape(clipped.shape) / _GRID
    gone = clipped / _GRID
    nearer = 2 * (noisy * gone).sum(axis=1) > (gone**2).sum(axis=1)
    back = _recovered(noisy, known[who], outcome[who])
    return PrivateResult(
        found=share_of((nearer == coins).astype(float)),
        bound=concentrated_advantage(loss),
        law=_LAW,
        remark=f"Divided as before, {back} of {settings.games:,} updates gave a record.",
    )


GRADIENT_INVERSION = LabAttack(
    name="gradient",
    title="The update of one patient is the patient's record",
    knows="the model that was sent out",
    does="divides the update by its last coordinate",
    unprotected="the gradient of a logistic model, of one patient",
    private="the same gradient, clipped to norm 1, with Gaussian noise",
    source="Zhu, Liu and Han 2019; Geiping et al. 2020",
    attack=_attack,
    defend=_defend,
)
