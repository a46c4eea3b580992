"""Broken accountants that the suite must catch: each fails the very check that ours passes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from accounting_checks import (
    check_claim_covers_gaussian_noise,
    check_claimed_epsilon_is_true,
    check_delta_already_spent_is_subtracted,
    check_filter_never_passes_its_cap,
    check_odds_cap_is_exact,
    check_overlapping_cohorts_are_not_parallel,
    check_refuses,
    check_repeated_releases_add_up,
    check_rho_covers_curve,
    check_substitution_divergence,
)
from confide.privacy.accounting.compose import DeclaredPartition, compose_parallel
from confide.privacy.accounting.concentrated import epsilon_at, exponential_to_zcdp, pure_to_zcdp
from confide.privacy.accounting.events import GaussianEvent, PoissonSampled
from confide.privacy.accounting.filters import PureFilter
from confide.privacy.accounting.numerical import renyi_divergences, renyi_epsilon
from confide.privacy.accounting.renyi import RenyiCurve, laplace_curve
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import PrivacyLoss, PureDP, ZeroConcentratedDP

pytestmark = pytest.mark.mutant

ORDERS = (1.5, 2.0, 8.0, 32.0)
EXTRA = "needs the extra: pip install '.[accounting]'"


def test_renyi_accounting_under_replace_one_counts_a_quarter() -> None:
    dp_accounting = pytest.importorskip("dp_accounting", reason=EXTRA)
    from dp_accounting.rdp import RdpAccountant

    broken = RdpAccountant(list(ORDERS), dp_accounting.NeighboringRelation.REPLACE_ONE)
    broken.compose(dp_accounting.GaussianDpEvent(1.0))  # σ = Δ, Δ of add-remove
    with pytest.raises(AssertionError):
        check_substitution_divergence(tuple(broken.rdp), orders=ORDERS)
    assert tuple(broken.rdp) == pytest.approx([2 * alpha / 4 for alpha in ORDERS])
    # Ours: the substitution sensitivity, 2Δ, is in the multiplier.
    ours = renyi_divergences([GaussianEvent(noise_multiplier=Fraction(1, 2))], orders=ORDERS)
    check_substitution_divergence(ours, orders=ORDERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffledBatches:
    batch: int
    population: int
    event: GaussianEvent


def test_shuffled_batches_accounted_as_poisson_samples() -> None:
    dp_accounting = pytest.importorskip("dp_accounting", reason=EXTRA)
    from dp_accounting.rdp import RdpAccountant

    delta = Fraction("1e-5")

    def broken(event: Any) -> float:
        probability = Fraction(event.batch, event.population)
        sampled = PoissonSampled(probability=probability, event=event.event)
        return renyi_epsilon([sampled], delta=delta)

    shuffled = ShuffledBatches(
        batch=10, population=1000, event=GaussianEvent(noise_multiplier=Fraction(1))
    )
    with pytest.raises(AssertionError, match="accounted an unknown event"):
        check_refuses(broken, event=shuffled)
    check_refuses(lambda event: renyi_epsilon([event], delta=delta), event=shuffled)
    # What is at stake: the same batch drawn without replacement, under substitution, costs more.
    fixed = RdpAccountant(None, dp_accounting.NeighboringRelation.REPLACE_ONE)
    gaussian = dp_accounting.GaussianDpEvent(1.0)
    fixed.compose(dp_accounting.SampledWithoutReplacementDpEvent(1000, 10, gaussian))
    assert fixed.get_epsilon(1e-5) > broken(shuffled)


def test_k_releases_charged_once() -> None:
    def broken(losses: Sequence[PrivacyLoss]) -> PrivacyLoss:
        return losses[0]

    with pytest.raises(AssertionError):
        check_repeated_releases_add_up(broken)


def test_parallel_composition_on_overlapping_cohorts() -> None:
    def broken(losses: Sequence[PrivacyLoss]) -> PrivacyLoss:
        pretended = DeclaredPartition(column="cohort", because="nobody checked")
        return compose_parallel(losses, partition=pretended, adjacency=Adjacency.ADD_REMOVE)

    with pytest.raises(AssertionError):
        check_overlapping_cohorts_are_not_parallel(broken)


def test_epsilon_rounded_down_by_one_part_in_a_billion() -> None:
    def broken(loss: ZeroConcentratedDP, delta: Fraction) -> float:
        return epsilon_at(loss, delta=delta) * (1 - 1e-9)

    with pytest.raises(AssertionError):
        check_claimed_epsilon_is_true(broken)


def test_simple_conversion_without_its_factor_two() -> None:
    def broken(loss: ZeroConcentratedDP, delta: Fraction) -> float:
        rho, log_inverse = float(loss.rho), -math.log(delta)
        return rho + math.sqrt(rho * log_inverse)  # the 2 forgotten

    with pytest.raises(AssertionError):
        check_claim_covers_gaussian_noise(broken)
    with pytest.raises(AssertionError):
        check_claimed_epsilon_is_true(broken)


def test_sigma_in_place_of_sigma_squared() -> None:
    def broken(loss: ZeroConcentratedDP, delta: Fraction) -> float:
        sigma_squared = 1 / (2 * loss.rho)
        mistaken = ZeroConcentratedDP(rho=1 / (2 * sigma_squared**2))
        return epsilon_at(mistaken, delta=delta)

    with pytest.raises(AssertionError):
        check_claim_covers_gaussian_noise(broken)


def test_delta_of_approximate_releases_forgotten() -> None:
    def broken(loss: ZeroConcentratedDP, delta: Fraction) -> float:
        return epsilon_at(replace(loss, delta=Fraction(0)), delta=delta)

    with pytest.raises(AssertionError):
        check_delta_already_spent_is_subtracted(broken)


def permute_and_flip_curve(epsilon: float) -> RenyiCurve:
    """Its curve for two candidates: tied in one world, two apart in the neighbouring one.

    One candidate gains 1 and the other loses 1, so the loser is taken only if it is drawn first
    (1/2) and then kept (e^{−ε}).
    """
    loser = math.exp(-epsilon) / 2
    worlds = ((0.5, 1 - loser), (0.5, loser))

    def curve(alpha: float) -> float:
        moments = (
            sum(p**alpha * q ** (1 - alpha) for p, q in worlds),
            sum(q**alpha * p ** (1 - alpha) for p, q in worlds),
        )
        return math.log(max(moments)) / (alpha - 1)

    return curve


def test_permute_and_flip_billed_as_the_exponential_mechanism() -> None:
    for epsilon in (Fraction("0.1"), Fraction(1), Fraction(2)):
        curve = permute_and_flip_curve(float(epsilon))
        with pytest.raises(AssertionError):
            check_rho_covers_curve(exponential_to_zcdp(PureDP(epsilon=epsilon)).rho, curve=curve)
        check_rho_covers_curve(pure_to_zcdp(PureDP(epsilon=epsilon)).rho, curve=curve)


def test_laplace_billed_as_the_exponential_mechanism() -> None:
    for epsilon in (Fraction("0.1"), Fraction(1), Fraction(4)):
        rho = exponential_to_zcdp(PureDP(epsilon=epsilon)).rho
        with pytest.raises(AssertionError):
            check_rho_covers_curve(rho, curve=laplace_curve(1 / float(epsilon)))


def test_odds_cap_rounded_to_the_nearest_step() -> None:
    def broken(factor: Fraction) -> Fraction:
        return Fraction(round(math.log(factor) * 10**9), 10**9)

    with pytest.raises(AssertionError):
        check_odds_cap_is_exact(broken)


class RefundingFilter:
    """A filter that forgets a charge when the next one is made."""

    def __init__(self, inner: PureFilter) -> None:
        self.inner = inner

    def admits(self, loss: PrivacyLoss) -> bool:
        return self.inner.admits(loss)

    def after(self, loss: PrivacyLoss) -> "RefundingFilter":
        return RefundingFilter(replace(self.inner.after(loss), spent=Fraction("0.1")))


def test_filter_that_refunds() -> None:
    cap = PureDP(epsilon=Fraction(1))

    def spent(losses: Sequence[PrivacyLoss]) -> Fraction:
        return sum((x.epsilon for x in losses if isinstance(x, PureDP)), Fraction(0))

    tenth = PureDP(epsilon=Fraction("0.1"))
    with pytest.raises(AssertionError):
        check_filter_never_passes_its_cap(
            RefundingFilter(PureFilter(cap=cap)), loss=tenth, spent=spent, cap=cap.epsilon, most=50
        )
