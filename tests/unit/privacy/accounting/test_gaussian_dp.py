import pytest

from confide.errors import InvalidParameterError
from confide.privacy.accounting.gaussian_dp import (
    classical_noise_multiplier,
    delta_at,
    epsilon_for,
    noise_multiplier_for,
)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-5, 1e-9])
def test_sigma_is_the_least_that_is_private(epsilon: float, delta: float) -> None:
    sigma = noise_multiplier_for(epsilon, delta=delta)
    assert delta_at(epsilon, noise_multiplier=sigma) <= delta
    assert delta_at(epsilon, noise_multiplier=sigma * (1 - 1e-7)) > delta


def test_epsilon_and_sigma_are_inverse() -> None:
    sigma = noise_multiplier_for(1.0, delta=1e-6)
    assert epsilon_for(1e-6, noise_multiplier=sigma) == pytest.approx(1.0, rel=1e-9)


def test_much_noise_is_private_at_epsilon_zero() -> None:
    assert epsilon_for(0.01, noise_multiplier=1000.0) == 0.0


def test_classical_sigma_is_too_noisy_by_the_stated_shares() -> None:
    for epsilon, delta, share in [(1.0, 1e-5, 0.30), (0.5, 1e-6, 0.32), (0.1, 1e-5, 0.58)]:
        exact = noise_multiplier_for(epsilon, delta=delta)
        ratio = classical_noise_multiplier(epsilon, delta=delta) / exact
        assert ratio - 1 == pytest.approx(share, abs=0.005)


def test_parameters_outside_their_domain_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="0 < epsilon ≤ 1"):
        classical_noise_multiplier(10.0, delta=1e-5)
    with pytest.raises(InvalidParameterError, match="Expected delta in"):
        epsilon_for(0.0, noise_multiplier=1.0)
    with pytest.raises(InvalidParameterError, match="Expected noise_multiplier > 0"):
        delta_at(1.0, noise_multiplier=0.0)
    with pytest.raises(InvalidParameterError, match=r"Expected epsilon in \[0, 700\]"):
        delta_at(-1.0, noise_multiplier=1.0)
    with pytest.raises(InvalidParameterError, match="none is enough"):
        epsilon_for(1e-6, noise_multiplier=0.01)
