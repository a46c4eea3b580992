from fractions import Fraction
from typing import Any

import pytest

from confide.errors import InvalidParameterError, UnsupportedError
from confide.privacy.accounting.events import (
    ConcentratedEvent,
    DeclaredBatch,
    GaussianEvent,
    LaplaceEvent,
    PoissonSampled,
    PureEvent,
    Repeated,
)


@pytest.mark.parametrize("value", [0.5, True, "1", None, Fraction(0), Fraction(-1)])
def test_events_take_exact_positive_numbers_only(value: Any) -> None:
    for make in (
        lambda: GaussianEvent(noise_multiplier=value),
        lambda: LaplaceEvent(noise_multiplier=value),
        lambda: PureEvent(epsilon=value),
        lambda: ConcentratedEvent(rho=value),
        lambda: PoissonSampled(probability=value, event=PureEvent(epsilon=Fraction(1))),
    ):
        with pytest.raises(InvalidParameterError, match="Expected"):
            make()


def test_a_sampling_probability_above_one_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="Expected probability ≤ 1"):
        PoissonSampled(probability=Fraction(3, 2), event=PureEvent(epsilon=Fraction(1)))


def test_sampling_of_an_event_without_a_theorem_is_refused() -> None:
    inner: Any = ConcentratedEvent(rho=Fraction(1))
    with pytest.raises(UnsupportedError, match="charge it unsampled"):
        PoissonSampled(probability=Fraction(1, 2), event=inner)


@pytest.mark.parametrize("count", [0, -1, True, 1.5])
def test_a_repetition_needs_a_count(count: Any) -> None:
    with pytest.raises(InvalidParameterError, match="Expected count ≥ 1"):
        Repeated(event=PureEvent(epsilon=Fraction(1)), count=count)


def test_a_batch_names_the_plan_that_declared_it() -> None:
    with pytest.raises(InvalidParameterError, match="digest of the plan"):
        DeclaredBatch(events=(PureEvent(epsilon=Fraction(1)),), plan="")
    with pytest.raises(InvalidParameterError, match="Expected events"):
        DeclaredBatch(events=(), plan="9f2c")
