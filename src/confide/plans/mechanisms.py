"""Reading a mechanism and a noisy answer by what a statistic knows them to be; fail closed."""

from collections.abc import Mapping

from confide.errors import UnsupportedError
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.mechanism import Mechanism, NoiseLaw
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.plan import Noisy


def additive(mechanism: Mechanism) -> NoiseLaw:
    """Return a mechanism that adds noise to a vector.

    Raises:
        UnsupportedError: If it does not.
    """
    if isinstance(mechanism, NoiseLaw):
        return mechanism
    raise UnsupportedError(f"{type(mechanism).__name__} adds no noise to a vector.")


def threshold(mechanism: Mechanism) -> KeyThreshold:
    """Return a mechanism that selects keys.

    Raises:
        UnsupportedError: If it does not.
    """
    if isinstance(mechanism, KeyThreshold):
        return mechanism
    raise UnsupportedError(f"{type(mechanism).__name__} selects no keys.")


def choice(mechanism: Mechanism) -> SetSelection | Peeling:
    """Return a mechanism that chooses among candidates.

    Raises:
        UnsupportedError: If it does not.
    """
    if isinstance(mechanism, SetSelection | Peeling):
        return mechanism
    raise UnsupportedError(f"{type(mechanism).__name__} chooses no candidates.")


def quantile_set(mechanism: Mechanism) -> QuantileSet:
    """Return a mechanism that chooses values of several quantiles.

    Raises:
        UnsupportedError: If it does not.
    """
    if isinstance(mechanism, QuantileSet):
        return mechanism
    raise UnsupportedError(f"{type(mechanism).__name__} chooses no values of quantiles.")


def vector(noisy: Noisy) -> tuple[int, ...]:
    """Return a noisy vector over public cells.

    Raises:
        UnsupportedError: If the answer has keys of its own.
    """
    if isinstance(noisy, tuple):
        return noisy
    raise UnsupportedError("Expected a vector over public cells.")


def coordinate(noisy: Noisy, index: int) -> int:
    """Return one coordinate of a noisy vector."""
    return vector(noisy)[index]


def keyed(noisy: Noisy) -> Mapping[str, int]:
    """Return noisy counts of the selected keys.

    Raises:
        UnsupportedError: If the answer is a vector over public cells.
    """
    if isinstance(noisy, tuple):
        raise UnsupportedError("Expected selected keys.")
    return noisy
