"""Reconstruction: too many statistics, each a little off, tell almost everybody [DN03].

n patients are in a register or not.  4n counts of random sets of them are published, rounded to
multiples of 3.  A linear program finds shares in [0, 1] whose counts come nearest, min Σ|A·x − y|;
rounded, they are the register.  Dinur and Nissim proved that errors far below √n protect nobody; it
takes noise that grows with the number of counts, as a budget makes it do.

*Privacy:* a patient may be in all m counts, so L1 = m, and noise of scale m/ε is drawn on each.
*Utility:* the program has n + m unknowns; a tenth of a second for 64 patients.

References:
    [DN03] Dinur, Nissim. Revealing information while preserving privacy. PODS 2003.
        https://doi.org/10.1145/773153.773173
"""

from collections.abc import Callable

import numpy as np

from confide.arrays import Floats, Ints
from confide.attacks.lab.attack import (
    PURE_LAW,
    LabAttack,
    LabSettings,
    PrivateResult,
    UnprotectedResult,
)
from confide.attacks.lab.coin_game import Verdicts, coin_tosses, share_of
from confide.noise.discrete_laplace import DiscreteLaplace

MOST_PATIENTS, COUNTS_EACH = 64, 4
_MULTIPLE = 3
_GAMES_EACH = 500
"""One reconstruction stands for so many games with one patient."""


def _attack(settings: LabSettings) -> UnprotectedResult:
    right = _reconstructed(settings, told=lambda exact: _MULTIPLE * np.rint(exact / _MULTIPLE))
    exposed = max(0, 2 * int(right.sum()) - len(right))
    counts = COUNTS_EACH * len(right)
    remark = f"{counts} counts, each rounded to a multiple of {_MULTIPLE}; {int(right.sum())} right"
    return UnprotectedResult(
        exposed=exposed, wrong=int((~right).sum()), patients=len(right), remark=f"{remark}."
    )


def _defend(settings: LabSettings) -> PrivateResult:
    n = min(MOST_PATIENTS, settings.table.patients)
    noise = DiscreteLaplace.calibrate(settings.loss, l1=COUNTS_EACH * n)

    def told(exact: Ints) -> Floats:
        return noise.randomize(exact, entropy=settings.entropy).astype(float)

    tries = max(2, settings.games // _GAMES_EACH)
    right = [float(_reconstructed(settings, told=told).mean()) for _ in range(tries)]
    found = share_of(np.array(right), each=n)
    return PrivateResult(found=found, bound=settings.bound(), law=PURE_LAW)


def _reconstructed(settings: LabSettings, *, told: Callable[[Ints], Floats]) -> Verdicts:
    """Return of whom the register was told rightly, with fresh coins and sets."""
    n, entropy = min(MOST_PATIENTS, settings.table.patients), settings.entropy
    register = coin_tosses(n, entropy=entropy)
    m = COUNTS_EACH * n
    sets = coin_tosses(m * n, entropy=entropy).reshape(m, n).astype(np.int64)
    shares = nearest_shares(sets, told(sets @ register.astype(np.int64)))
    return np.asarray((shares > 1 / 2) == register)


def nearest_shares(sets: Ints, answers: Floats) -> Floats:
    """Return shares in [0, 1] whose sums over sets come nearest to the answers in L1.

    Args:
        sets: 0 or 1; shape (counts, patients).
        answers: Shape (counts,).
    """
    from scipy.optimize import linprog

    m, n = sets.shape
    eye = np.eye(m)
    above = np.block([[sets, -eye], [-sets, -eye]])  # |A·x − y| ≤ e
    result = linprog(
        np.concatenate([np.zeros(n), np.ones(m)]),
        A_ub=above,
        b_ub=np.concatenate([answers, -answers]),
        bounds=[(0, 1)] * n + [(0, None)] * m,
        method="highs",
    )
    return np.asarray(result.x[:n], dtype=np.float64)


RECONSTRUCTION = LabAttack(
    name="reconstruction",
    title="Many rounded counts give back the register",
    knows="who might be in the register, and which of them each count is about",
    does="looks by a linear program for the register that comes nearest to all counts",
    unprotected="four times as many counts of random sets as there are patients, rounded",
    private="the same counts with noise; together they cost ε",
    source="Dinur and Nissim 2003",
    attack=_attack,
    defend=_defend,
    needs="scipy",
)
