"""Attack a table of the steward's own, and the same questions under differential privacy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from confide.attacks.lab.anonymity import Anonymity, anonymity
from confide.attacks.lab.attack import LabAttack, LabSettings, PrivateResult, UnprotectedResult
from confide.attacks.lab.averaging import AVERAGING
from confide.attacks.lab.exact_counts import DIFFERENCING, TRACKER
from confide.attacks.lab.gradient_inversion import GRADIENT_INVERSION
from confide.attacks.lab.group_frequencies import MEMBERSHIP
from confide.attacks.lab.homogeneity import BACKGROUND, HOMOGENEITY
from confide.attacks.lab.intersection import INTERSECTION
from confide.attacks.lab.linkage import LINKAGE
from confide.attacks.lab.mondrian import mondrian
from confide.attacks.lab.reconstruction import RECONSTRUCTION
from confide.errors import ContractError, MissingExtraError, UnknownNameError

LAB_ATTACKS = (
    LINKAGE,
    HOMOGENEITY,
    BACKGROUND,
    INTERSECTION,
    DIFFERENCING,
    TRACKER,
    AVERAGING,
    RECONSTRUCTION,
    MEMBERSHIP,
    GRADIENT_INVERSION,
)
EVERY_ATTACK = "all"
GAMES, TARGETS = 10_000, 200
ANEW = 10
"""Times as many games are played anew where a share passed its bound; so chance is told apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFound:
    """One attack, and what it did.

    Attributes:
        attack: Which.
        plain: Without differential privacy.
        private: With it.
    """

    attack: LabAttack
    plain: UnprotectedResult
    private: PrivateResult


@dataclass(frozen=True, slots=True, kw_only=True)
class LabFindings:
    """What the lab found of a table.

    Attributes:
        settings: What it was given.
        as_it_is: k, l and t of the table without names.
        anonymised: Those of its k-anonymous version.
        found: In the order of the list.
    """

    settings: LabSettings
    as_it_is: Anonymity
    anonymised: Anonymity
    found: tuple[AttackFound, ...]


def chosen_attacks(name: str) -> tuple[LabAttack, ...]:
    """Return the attack of a name, or every one that this installation can run.

    Raises:
        UnknownNameError: If there is none of that name; MissingExtraError if it cannot be run.

    Example:
        >>> [each.name for each in chosen_attacks("tracker")]
        ['tracker']
    """
    if name == EVERY_ATTACK:
        return tuple(each for each in LAB_ATTACKS if each.can_run)
    known = {each.name: each for each in LAB_ATTACKS}
    if name not in known:
        raise UnknownNameError("attack", name, known=(*known, EVERY_ATTACK))
    if not known[name].can_run:
        raise MissingExtraError(known[name].needs, extra="accounting")
    return (known[name],)


def _found(attack: LabAttack, settings: LabSettings) -> AttackFound:
    plain, private = attack.attack(settings), attack.defend(settings)
    if not private.holds:
        private = attack.defend(replace(settings, games=ANEW * settings.games))
    return AttackFound(attack=attack, plain=plain, private=private)


def run_lab(
    settings: LabSettings,
    *,
    attacks: Sequence[LabAttack],
    progress: Callable[[str], None] = lambda _: None,
) -> LabFindings:
    """Attack a table.

    Args:
        settings: Of the lab.
        attacks: Which.
        progress: Told the name of each.

    Raises:
        ContractError: If k is not between 2 and half of the patients.
    """
    table = settings.table
    if not 2 <= settings.k <= table.patients // 2:
        raise ContractError(
            f"Expected k from 2 to half of the patients, got {settings.k}.", hint="Write --k 5."
        )
    classes = mondrian(table.known(), table.sensitive.codes, k=settings.k)
    found = []
    for each in attacks:
        progress(each.name)
        found.append(_found(each, settings))
    return LabFindings(
        settings=settings,
        as_it_is=anonymity(table.groups(), table.sensitive),
        anonymised=anonymity(classes, table.sensitive),
        found=tuple(found),
    )
