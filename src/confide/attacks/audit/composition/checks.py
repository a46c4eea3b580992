"""Checks of the audit that no strategy passes the δ of a cap on every kind of loss."""

from fractions import Fraction
from functools import partial

from confide.attacks.audit.composition.games import (
    Chance,
    OneCap,
    best_reached,
    reached_by_chance,
    responding,
    sharpest,
    surprising,
)
from confide.attacks.audit.composition.real_noise import NoiseGame, reached_by_noise
from confide.attacks.audit.outcome import AuditCheck, Layer
from confide.noise.entropy import Entropy
from confide.privacy.accounting.mixed import MixedCap

CAPS = (("1", "1e-6"), ("0.5", "1e-5"), ("3", "1e-6"), ("0.1", "1e-8"), ("10", "1e-5"))
"""ε and δ of the caps that are attacked."""

_WHOLE = 1 << 53
_DEPTH = 3
_REACHES = 0.99  # of δ: what the best strategy of one event reaches where the rule is tight


def chances(entropy: Entropy) -> Chance:
    """Return what draws numbers from 0 on and below 1."""
    return lambda: entropy.below(_WHOLE) / _WHOLE


def composition_checks(*, strategies: int, entropy: Entropy) -> tuple[AuditCheck, ...]:
    """Return one check a cap and kind of strategy.

    Args:
        strategies: Drawn at random of each kind, over all caps.
        entropy: Draws them.
    """
    each, chance = max(1, strategies // len(CAPS)), chances(entropy)
    found: list[AuditCheck] = []
    for epsilon, delta in CAPS:
        cap = MixedCap.of(Fraction(epsilon), delta=Fraction(delta))
        kinds = (
            ("of two outcomes", partial(reached_by_chance, OneCap(cap=cap), depth=_DEPTH)),
            ("of real noise", partial(reached_by_noise, NoiseGame(cap=cap))),
        )
        found.append(_best(cap))
        for kind, reached in kinds:
            worst = max(reached(chance=chance) for _ in range(each))
            found.append(_check(cap, f"{each} strategies {kind}", worst))
    return tuple(found)


def _best(cap: MixedCap) -> AuditCheck:
    """Return whether the best strategies found by search reach δ, and no more."""
    far = sharpest(cap)
    offers = (surprising(far, 1.0), surprising(far, 0.5), surprising(far / 2, 0.5), responding(1.0))
    worst = best_reached(OneCap(cap=cap), offers=offers, depth=2)
    return _check(cap, "best strategies by search", worst, least=_REACHES)


def _check(cap: MixedCap, name: str, reached: float, *, least: float = 0.0) -> AuditCheck:
    delta = float(cap.delta)
    return AuditCheck(
        name=f"{name}, cap ({float(cap.epsilon):g}, {delta:g})",
        layer=Layer.COMPOSITION,
        passed=least * delta <= reached <= delta,
        measured=f"δ = {reached:.4g}",
        claimed=f"at most {delta:g}" + (f", at least {least:g} of it" if least else ""),
    )
