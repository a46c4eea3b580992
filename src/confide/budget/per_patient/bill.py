"""What a release would charge patients, up to what, and who is left out of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.errors import BudgetExhaustedError
from confide.privacy.individual import FEMTO, CapWindow


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendCap:
    """Up to what the spends of a patient add up, in 1e-15, over what time; ``cap`` names it."""

    window: CapWindow
    femto: int
    cap: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a release would charge.

    Attributes:
        everybody: What every patient pays, whatever their rows, in 1e-15.
        who: Persons who pay by their own norm, as the engine numbers them; shape (persons,).
        losses: What they pay, in 1e-15; shape (persons,); given away: it is overwritten.
        roster: What the engine's numbers are of; "" for this release alone.
        identities: Gives shape (all persons, 2): their keyed hashes, by the engine's number.
    """

    everybody: int
    who: NDArray[np.int64]
    losses: NDArray[np.int64]
    roster: str
    identities: Callable[[], NDArray[np.uint64]]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PatientsCharged:
    """Who is left out, as the engine numbers them, and the tag of the durable membership."""

    left_out: NDArray[np.int64]
    tag: str


def exhausted(bound: SpendCap, *, everybody: int, left: int) -> BudgetExhaustedError:
    """Return the refusal of a plan that charges everybody more than is left: a public sum."""
    return BudgetExhaustedError(
        f"The cap {bound.cap or 'of patients'} has {left / FEMTO:.6g} left after what every "
        f"patient was charged, and this plan charges every patient {everybody / FEMTO:.6g}.",
        cap=bound.cap or "patient",
        requested=Fraction(everybody, FEMTO),
        remaining=Fraction(left, FEMTO),
        hint="Selections and releases without individual accounting charge everybody; "
        "ask for counts, or in the next window.",
    )


def without(
    losses: NDArray[np.int64], out: NDArray[np.bool_], *, afters: Sequence[NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Return what is paid once some are left out, and take theirs off ``afters``.

    In place, since a copy of a million numbers takes longer than all of this.
    """
    for after in afters:
        after[out] -= losses[out]
    losses[out] = 0
    return losses
