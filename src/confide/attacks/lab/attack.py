"""What an attack of the lab is, what it is given, and what it found."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec

import numpy as np

from confide.arrays import Ints
from confide.attacks.lab.coin_game import ExposedShare, likelier, play_counts
from confide.attacks.lab.own_table import OwnTable
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import Entropy
from confide.privacy.loss import PureDP
from confide.privacy.odds import membership_advantage


@dataclass(frozen=True, slots=True, kw_only=True)
class LabSettings:
    """What an attack is given.

    Attributes:
        table: The steward's own.
        k: Of k-anonymous tables, and the fewest patients of whom an exact count is told.
        epsilon: Of all that the private answer tells, add-remove of one patient.
        games: Against the private answer; attacks that take long play fewer.
        targets: Patients who are attacked one by one, at most.
        entropy: Of coins and noise.
    """

    table: OwnTable
    k: int
    epsilon: Fraction
    games: int
    targets: int
    entropy: Entropy

    @property
    def loss(self) -> PureDP:
        """The loss of the private answer."""
        return PureDP(epsilon=self.epsilon)

    def bound(self) -> float:
        """Return the share that any attack on the private answer can expose, tanh(ε/2)."""
        return membership_advantage(self.loss)

    def drawn(self) -> Ints:
        """Return who is attacked: at most ``targets`` patients, drawn without replacement."""
        order = np.argsort(self.entropy.words(self.table.patients), kind="stable")
        return np.sort(order[: self.targets])


@dataclass(frozen=True, slots=True, kw_only=True)
class UnprotectedResult:
    """What an attack did to a release without differential privacy.

    Attributes:
        exposed: Patients of whom the secret was concluded, and rightly.
        wrong: Patients of whom something else was concluded.
        patients: Who were attacked.
        knowing_others: Share exposed to somebody who knows every other patient, in the games that
            are played against the private answer; None where the attack itself is that game.
        remark: What the reader should know of this table; "" for nothing.
    """

    exposed: float
    wrong: int
    patients: int
    knowing_others: ExposedShare | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateResult:
    """What the same attack did to the same question under differential privacy.

    Attributes:
        found: In games.
        bound: The largest share that any attack can expose.
        law: Which theorem says so.
        remark: "" for nothing.
    """

    found: ExposedShare
    bound: float
    law: str
    remark: str = ""

    @property
    def holds(self) -> bool:
        """Whether the bound was respected, but for chance."""
        return self.found.respects(self.bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabAttack:
    """An attack of the textbook.

    Attributes:
        name: The field's word for it.
        title: What it shows, as a headline.
        knows: What the attacker knows beforehand.
        does: What the attacker does.
        unprotected: What is released without differential privacy.
        private: What is released with it.
        source: Where it is described.
        attack: Does it to the unprotected release.
        defend: Does it to the private one.
        needs: A library that not every installation has; "" for none.
    """

    name: str
    title: str
    knows: str
    does: str
    unprotected: str
    private: str
    source: str
    attack: Callable[[LabSettings], UnprotectedResult]
    defend: Callable[[LabSettings], PrivateResult]
    needs: str = ""

    @property
    def can_run(self) -> bool:
        """Whether what it needs is installed."""
        return not self.needs or find_spec(self.needs) is not None


PURE_LAW = "tanh(ε/2), for any attack and any knowledge"


def games_about_counts(
    settings: LabSettings, *, answers: int = 1, noise: DiscreteLaplace | None = None
) -> ExposedShare:
    """Play games about counts of those who look like a patient and have the patient's value.

    The attacker knows every other patient, so exact counts expose everybody.

    Args:
        settings: Of the lab.
        answers: Counts that hold the patient.
        noise: Of each; None for exact ones.
    """
    table, entropy = settings.table, settings.entropy
    groups = table.groups() * len(table.sensitive.labels) + table.sensitive.codes
    _, place, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    who = np.asarray([entropy.below(table.patients) for _ in range(settings.games)])
    others = np.repeat((sizes[place.ravel()[who]] - 1)[:, None], answers, axis=1)
    return play_counts(
        others.astype(np.int64),
        np.ones(answers, dtype=np.int64),
        noise=noise,
        believes=likelier,
        entropy=entropy,
    )


def defend_counts(settings: LabSettings, *, answers: int, of: int | None = None) -> PrivateResult:
    """Attack noisy counts, by somebody who knows every other patient.

    Args:
        settings: Of the lab.
        answers: Counts that hold the patient.
        of: Counts that a patient may be in, which share ε; those that hold this one when None.
    """
    noise = DiscreteLaplace.calibrate(settings.loss, l1=of or answers)
    found = games_about_counts(settings, answers=answers, noise=noise)
    return PrivateResult(found=found, bound=settings.bound(), law=PURE_LAW)
