"""Mechanisms that add noise to integer vectors: the closed list, and how a plan writes them.

A plan, its digest and its certificate name noise by this text and nothing else.  An unknown name, a
missing or an extra field is refused: noise that is not understood is not noise.

*Privacy:* parameters are written as exact fractions; a float in a plan would be another mechanism.

References:
    [RFC8785] Rundgren, Jordan, Erdtman. JSON canonicalization scheme. 2020.
        https://doi.org/10.17487/RFC8785
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias, assert_never

from confide.errors import ContractError, UnsupportedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace

Mechanism: TypeAlias = DiscreteLaplace | DiscreteGaussian

_LAPLACE = "discrete-laplace"
_GAUSSIAN = "discrete-gaussian"
_FRACTION = re.compile(r"[1-9][0-9]{0,299}(/[1-9][0-9]{0,299})?")


def to_json(mechanism: Mechanism) -> dict[str, str]:
    """Return the text of ``mechanism`` in a plan.

    Example:
        >>> to_json(DiscreteLaplace(scale=Fraction(5, 2)))
        {'noise': 'discrete-laplace', 'scale': '5/2'}
    """
    match mechanism:
        case DiscreteLaplace(scale=scale):
            return {"noise": _LAPLACE, "scale": str(scale)}
        case DiscreteGaussian(sigma_squared=sigma_squared):
            return {"noise": _GAUSSIAN, "sigma-squared": str(sigma_squared)}
        case _:
            assert_never(mechanism)


def from_json(text: Mapping[str, object]) -> Mechanism:
    """Return the mechanism that a plan names; the inverse of :func:`to_json`.

    Raises:
        UnsupportedError: If the noise is unknown.
        ContractError: If a field is missing, unknown, or not a reduced positive fraction.

    Example:
        >>> from_json({"noise": "discrete-gaussian", "sigma-squared": "25"})
        DiscreteGaussian(sigma_squared=Fraction(25, 1))
    """
    match text.get("noise"):
        case "discrete-laplace":
            return DiscreteLaplace(scale=_parameter(text, name="scale"))
        case "discrete-gaussian":
            return DiscreteGaussian(sigma_squared=_parameter(text, name="sigma-squared"))
        case unknown:
            raise UnsupportedError(
                f"Unknown noise {unknown!r}.", hint=f"Known: {_GAUSSIAN}, {_LAPLACE}."
            )


def _parameter(text: Mapping[str, object], *, name: str) -> Fraction:
    if set(text) != {"noise", name}:
        raise ContractError(
            f"Expected the fields noise and {name}, got {', '.join(sorted(map(str, text)))}."
        )
    value = text[name]
    if not isinstance(value, str) or not _FRACTION.fullmatch(value):
        raise ContractError(
            f"Expected {name} as a positive fraction in a string, got {value!r}.",
            hint='Write "5/2"; floats are not exact.',
        )
    fraction = Fraction(value)
    if str(fraction) != value:
        raise ContractError(
            f"Expected {name} in lowest terms, got {value!r}.", hint=f'Write "{fraction}".'
        )
    return fraction
