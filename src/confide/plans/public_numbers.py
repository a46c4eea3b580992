"""Public numbers by label: a standard population, reference rates, populations at risk.

*Privacy:* they are part of the plan and its digest, and come from a publication, never from the
data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from confide.errors import ContractError, UnknownNameError
from confide.privacy.exact import takes_numbers


@takes_numbers
@dataclass(frozen=True, slots=True, kw_only=True)
class PublicNumber:
    """One number of a public table.

    Attributes:
        keys: Labels, one for each axis.
        value: Exact.
    """

    keys: tuple[str, ...]
    value: Fraction


def in_order(
    numbers: Sequence[PublicNumber], *, keys: Sequence[tuple[str, ...]], name: str
) -> tuple[float, ...]:
    """Return the numbers in the order of ``keys``.

    Args:
        numbers: One for each key, in any order.
        keys: Labels of every cell.
        name: What the numbers are, for errors.

    Raises:
        ContractError: If a cell has none or two, one is negative, or none is positive.
        UnknownNameError: If a label is none of the cells'.

    Example:
        >>> old = PublicNumber(keys=("old",), value=Fraction(1))
        >>> young = PublicNumber(keys=("young",), value=Fraction(3))
        >>> in_order([old, young], keys=[("young",), ("old",)], name="standard")
        (3.0, 1.0)
    """
    known = set(keys)
    found: dict[tuple[str, ...], Fraction] = {}
    for number in numbers:
        if number.keys not in known:
            told = [", ".join(key) for key in keys]
            of = name[:1].lower() + name[1:]
            raise UnknownNameError(f"cell of {of}", ", ".join(number.keys), known=told)
        if number.keys in found:
            raise ContractError(f"{name} gives {', '.join(number.keys)} twice.")
        if number.value < 0:
            raise ContractError(f"{name} is negative for {', '.join(number.keys)}.")
        found[number.keys] = number.value
    missing = [key for key in keys if key not in found]
    if missing:
        raise ContractError(
            f"{name} lacks {', '.join(missing[0])}.",
            hint=f"Give a number, if only 0, for each of the {len(keys)} cells.",
        )
    if not any(found.values()):
        raise ContractError(f"{name} holds no number above 0.")
    return tuple(float(found[key]) for key in keys)
