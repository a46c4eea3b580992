"""Ways of counting one release by itself that say too little, and what finds each."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from confide.plans.pricing import by_itself
from confide.privacy.accounting import loss_distribution, one_release
from confide.privacy.accounting.gaussian_curve import Smoothed
from confide.privacy.accounting.loss_distribution import LossDistribution, unit_gaussian
from confide.privacy.accounting.one_release import GaussianUse
from unit.plans.pricing import test_by_itself as of_plans
from unit.privacy.accounting import test_one_release as checks

pytestmark = pytest.mark.mutant


@pytest.fixture(autouse=True)
def forgotten() -> None:
    """Equal events are counted again by each mutant."""
    one_release._epsilon.cache_clear()


def fails(check: Callable[..., None], *arguments: object) -> bool:
    try:
        check(*arguments)
    except AssertionError:
        return True
    finally:
        one_release._epsilon.cache_clear()
    return False


def test_losses_rounded_down_to_the_grid_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def down(law: LossDistribution, step: Fraction) -> LossDistribution:
        first = law.start // step
        places = [
            (law.start + place * law.step) // step - first for place in range(len(law.masses))
        ]
        masses = [0] * (places[-1] + 1)
        for place, mass in zip(places, law.masses, strict=True):
            masses[place] += mass
        return LossDistribution(
            start=first * step, step=step, masses=tuple(masses), infinite=law.infinite
        )

    monkeypatch.setattr(LossDistribution, "on_grid", down)
    assert fails(checks.test_splitting_keeps_the_masses_of_both_laws)
    assert fails(checks.test_noise_of_two_kinds_is_between_the_true_delta_and_the_charges)


def test_masses_rounded_down_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def down(chance: float) -> int:
        return math.floor(math.ldexp(chance * (1 - 1e-12), 80))

    monkeypatch.setattr(loss_distribution, "_mass", down)
    assert fails(checks.test_a_law_of_losses_lacks_nothing, "20.5", 1e-14)


def test_a_tail_that_is_dropped_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    trimmed = loss_distribution._trimmed

    def dropped(
        start: Fraction, step: Fraction, masses: list[int], infinite: int, *, cut: int
    ) -> LossDistribution:
        return replace(trimmed(start, step, masses, infinite, cut=cut), infinite=infinite)

    monkeypatch.setattr(loss_distribution, "_trimmed", dropped)
    assert fails(checks.test_a_trimmed_law_lacks_nothing)


def test_a_reach_without_what_is_beyond_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        checks,
        "unit_gaussian",
        lambda s2, *, left_out: replace(unit_gaussian(s2, left_out=left_out), infinite=0),
    )
    assert fails(checks.test_a_law_of_losses_lacks_nothing, "20.5", 1e-4)


def test_half_the_sensitivity_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = one_release.unit_gaussian
    monkeypatch.setattr(
        one_release, "unit_gaussian", lambda s2, *, left_out: whole(4 * s2, left_out=left_out)
    )
    assert fails(checks.test_epsilon_of_one_count_is_the_true_one, "1")


def test_one_cell_of_several_that_move_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GaussianUse, "moved", property(lambda _: 1))
    assert fails(checks.test_epsilon_holds_for_every_vector_that_may_move, 3, 3, "2.5")


def test_continuous_noise_in_place_of_discrete_noise_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def continuous(sigma_squared: Fraction, *, l2_squared: int, **_: object) -> Smoothed:
        return Smoothed(mu_squared=l2_squared / float(sigma_squared), shift=0.0, factor=0.0)

    monkeypatch.setattr(one_release, "smoothed", continuous)
    monkeypatch.setattr(one_release, "_is_small", lambda _: False)
    assert fails(checks.test_epsilon_of_one_count_is_the_true_one, "1")


def test_the_delta_of_selections_that_is_counted_twice_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = one_release.epsilon_of_release

    def at_all_of_delta(uses: object, *, delta: Fraction, at_most: Fraction) -> Fraction:
        return real(uses, delta=2 * delta, at_most=at_most)  # type: ignore[arg-type]

    monkeypatch.setattr(by_itself, "epsilon_of_release", at_all_of_delta)
    assert fails(of_plans.test_the_delta_of_key_selections_is_left_to_them, tmp_path)
