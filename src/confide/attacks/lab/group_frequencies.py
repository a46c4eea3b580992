"""Membership from group frequencies: many exact shares of a small group tell who is in it [HSR08].

A study of n patients publishes the share of each of m attributes, as of genotypes, whose shares
among everybody are known (here ½).  A member draws all shares a little to their side: the sum over
attributes of ±(count − (n − 1)/2), signed by whether the patient has each, is larger by about m/2
for a member, with standard deviation √(m(n − 1))/2.  So the two are √(m/n) deviations apart, and m
of 32·n is plenty [DSSUV15].

*Privacy:* a patient may have all m attributes, so L1 = m and noise has scale m/ε on each count.
The attributes are drawn by coins; of the steward's table the number of patients alone is used.

References:
    [HSR08] Homer et al. Resolving individuals contributing trace amounts of DNA to highly complex
        mixtures using high-density SNP genotyping microarrays. PLoS Genetics 4(8), 2008.
        https://doi.org/10.1371/journal.pgen.1000167
    [DSSUV15] Dwork, Smith, Steinke, Ullman, Vadhan. Robust traceability from trace amounts.
        FOCS 2015. https://doi.org/10.1109/FOCS.2015.46
"""

import numpy as np

from confide.attacks.lab.attack import (
    PURE_LAW,
    LabAttack,
    LabSettings,
    PrivateResult,
    UnprotectedResult,
)
from confide.attacks.lab.coin_game import ExposedShare, coin_tosses, share_of
from confide.noise.discrete_laplace import DiscreteLaplace

_GROUP, _ATTRIBUTES_EACH = 64, 32
_TRIES, _GAMES_EACH = 100, 10
"""Groups against exact shares; and one group stands for so many games with one count."""


def _attack(settings: LabSettings) -> UnprotectedResult:
    tries = min(_TRIES, settings.targets)
    game = _played(settings, groups=tries, noise=None)
    right = round(tries * (1 + game.share) / 2)
    members = min(_GROUP, settings.table.patients)
    shares = _ATTRIBUTES_EACH * members
    return UnprotectedResult(
        exposed=max(0, 2 * right - tries),
        wrong=tries - right,
        patients=tries,
        remark=f"{shares:,} shares of groups of {members} patients.",
    )


def _defend(settings: LabSettings) -> PrivateResult:
    counts = _ATTRIBUTES_EACH * min(_GROUP, settings.table.patients)
    noise = DiscreteLaplace.calibrate(settings.loss, l1=counts)
    groups = max(2, settings.games // _GAMES_EACH)
    found = _played(settings, groups=groups, noise=noise)
    return PrivateResult(found=found, bound=settings.bound(), law=PURE_LAW)


def _played(settings: LabSettings, *, groups: int, noise: DiscreteLaplace | None) -> ExposedShare:
    """Draw a group, and one more patient who is in it or not, as often as is said."""
    others, entropy = min(_GROUP, settings.table.patients) - 1, settings.entropy
    attributes = _ATTRIBUTES_EACH * (others + 1)
    coins = coin_tosses(groups, entropy=entropy)
    right = []
    for coin in coins:
        group = coin_tosses(others * attributes, entropy=entropy).reshape(others, attributes)
        patient = coin_tosses(attributes, entropy=entropy).astype(np.int64)
        told = group.sum(axis=0, dtype=np.int64) + coin * patient
        if noise is not None:
            told = noise.randomize(told, entropy=entropy)
        score = float((2 * patient - 1) @ (told - others / 2))
        right.append(float((2 * score > patient.sum()) == coin))
    return share_of(np.array(right))


MEMBERSHIP = LabAttack(
    name="membership",
    title="Exact shares of many attributes tell who is in the group",
    knows="the attributes of one patient, and how frequent each is among everybody",
    does="asks whether the shares of the group lean to the patient's side",
    unprotected="exact shares of 32 times as many attributes as there are patients",
    private="the same counts with noise; together they cost ε",
    source="Homer et al. 2008; Dwork et al. 2015",
    attack=_attack,
    defend=_defend,
)
