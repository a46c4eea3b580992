"""Averaging: noise that is drawn anew for the same question is averaged away.

The mean of r answers errs by σ/√r.  A desk that adds noise and keeps no ledger has answered with
r·ε, and after 64·σ² answers the error of the mean is an eighth of a patient.  Here a question that
was answered is answered with the stored bytes: r answers are one, and cost ε once.

*Privacy:* the plain arm draws noise that nobody charges, of coins instead of rows.
"""

import math

import numpy as np

from confide.attacks.lab.attack import (
    PURE_LAW,
    LabAttack,
    LabSettings,
    PrivateResult,
    UnprotectedResult,
)
from confide.attacks.lab.coin_game import coin_tosses, likelier, play_counts
from confide.noise.discrete_laplace import DiscreteLaplace

_PRECISION, _MOST_ANSWERS = 64, 10**7
_TRIES = 100


def _attack(settings: LabSettings) -> UnprotectedResult:
    """Average fresh answers about patients who are in or out by a coin."""
    noise, tries = DiscreteLaplace.calibrate(settings.loss, l1=1), min(_TRIES, settings.targets)
    answers = math.ceil(_PRECISION * noise.variance())
    fewer = max(1, min(answers, _MOST_ANSWERS // tries))
    coins = coin_tosses(tries, entropy=settings.entropy)
    drawn = noise.sample(fewer * tries, entropy=settings.entropy).reshape(tries, fewer)
    right = int(((coins + drawn.mean(axis=1) > 1 / 2) == coins).sum())
    exposed = max(0, 2 * right - tries)
    total = float(settings.epsilon * fewer)
    return UnprotectedResult(
        exposed=exposed,
        wrong=tries - right,
        patients=tries,
        remark=f"{fewer:,} answers were averaged; a ledger would have charged ε = {total:,.4g}.",
    )


def _defend(settings: LabSettings) -> PrivateResult:
    found = play_counts(
        np.zeros((settings.games, 1), dtype=np.int64),
        np.ones(1, dtype=np.int64),
        noise=DiscreteLaplace.calibrate(settings.loss, l1=1),
        believes=likelier,
        entropy=settings.entropy,
    )
    return PrivateResult(found=found, bound=settings.bound(), law=PURE_LAW)


AVERAGING = LabAttack(
    name="averaging",
    title="Fresh noise on the same question averages away",
    knows="how many others are counted",
    does="asks the same question many times, and takes the mean",
    unprotected="a count with fresh noise each time, and no ledger",
    private="the same count; who asks again gets the stored answer, and the mean is that answer",
    source="Dwork and Roth 2014",
    attack=_attack,
    defend=_defend,
)
