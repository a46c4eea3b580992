"""Poisson-sampled discrete Gaussian noise: whole orders are exact, and agree with published numbers."""

import decimal
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import InvalidParameterError
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.accounting.sampled_gaussian import (
    ORDERS,
    SampledSteps,
    _divergence,
    least_multiplier,
    sampled_epsilon,
    sampled_rho,
)
from confide.privacy.loss import ZeroConcentratedDP

DELTA = Fraction(1, 10**5)

# From dp_accounting's rdp_privacy_accountant_test: q = 0.01, σ = 2.5, 50 steps, by order.
PUBLISHED_RDP = {5: 0.00218075656, 50: 0.0238460375, 100: 167.416308}

# q, σ, steps, ε by RDP over all orders and by PLD at δ = 1e-5: dp_accounting 0.6; the last row is
# the training of Opacus' tutorial on MNIST (σ 1.5, q 0.04, 2250 steps; its PRV accountant).
PUBLISHED_EPSILON = [
    ("16/3750", "1.1", 14062, 2.5966, 2.3817),
    ("0.01", "1", 1000, 2.1014, 1.8282),
    ("0.01", "4", 10000, 1.0355, 0.947),
    ("0.04", "1.5", 2250, 7.32911117143, 6.777395712150674),
]


def sampled_divergence(steps, *, order):
    with decimal.localcontext(decimal.Context(prec=60)):
        return float(_divergence([steps], rho=Fraction(0), order=order))


def steps(rate, sigma, count):
    return SampledSteps(rate=Fraction(rate), multiplier_squared=Fraction(sigma) ** 2, count=count)


@pytest.mark.parametrize(("order", "expected"), PUBLISHED_RDP.items())
def test_whole_orders_equal_published_divergences(order, expected):
    assert sampled_divergence(steps("0.01", "2.5", 50), order=order) == pytest.approx(
        expected, rel=1e-8
    )


@pytest.mark.parametrize(("rate", "sigma", "count", "by_rdp", "by_pld"), PUBLISHED_EPSILON)
def test_epsilon_of_whole_orders_is_that_of_all_orders_and_never_below_it(
    rate, sigma, count, by_rdp, by_pld
):
    found = float(sampled_epsilon([steps(rate, sigma, count)], delta=DELTA))
    assert by_rdp - 5e-5 <= found <= by_rdp * 1.004
    assert by_pld < found


def test_without_sampling_orders_read_as_zcdp():
    rho = Fraction(1, 2)
    found = sampled_epsilon([steps("0.000000001", "1000", 1)], delta=DELTA, rho=rho)
    exact = epsilon_at(ZeroConcentratedDP(rho=rho), delta=DELTA)
    assert exact <= float(found) <= exact * 1.01


def grid_pair(shift, *, sigma_squared, reach=30):
    """Return the log law of discrete Gaussian noise on a grid, and around ``shift``: brute force."""
    axes = [range(-reach, reach + 1)] * len(shift)
    points = np.array(list(itertools.product(*axes)), dtype=float)

    def law(centre):
        logs = -((points - np.array(centre)) ** 2).sum(axis=1) / (2 * sigma_squared)
        return logs - np.logaddexp.reduce(logs)

    return law([0] * len(shift)), law(shift)


def divergence(p, q, order):
    """Of log laws."""
    return np.logaddexp.reduce(order * p + (1 - order) * q) / (order - 1)


@pytest.mark.parametrize("shift", [(1,), (2,), (3, 0), (2, 1)])
@pytest.mark.parametrize("sigma_squared", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("order", [2, 3])
def test_the_bound_is_attained_by_discrete_noise_at_whole_orders(shift, sigma_squared, order):
    rate = 0.2
    here, there = grid_pair(shift, sigma_squared=sigma_squared)
    mixed = np.logaddexp(math.log(1 - rate) + here, math.log(rate) + there)
    squared = Fraction(str(sigma_squared)) / sum(s * s for s in shift)
    bound = sampled_divergence(
        SampledSteps(rate=Fraction(1, 5), multiplier_squared=squared, count=1), order=order
    )
    assert divergence(mixed, here, order) == pytest.approx(bound, rel=1e-9)
    assert divergence(here, mixed, order) <= bound * (1 + 1e-9)


def test_at_orders_that_are_not_whole_discrete_noise_can_lose_other_than_continuous():
    """Why only whole orders are claimed: E[(N(v)/N(0))^2.5] is not e^{(k²−k)/(2z²)} on the grid."""
    here, there = grid_pair((1,), sigma_squared=0.1)

    def moment(order):
        return np.logaddexp.reduce(order * there + (1 - order) * here)

    assert abs(moment(2.5) - (2.5**2 - 2.5) / (2 * 0.1)) > 0.1
    assert moment(3) == pytest.approx(6 / (2 * 0.1), rel=1e-9)


def test_whole_orders_equal_those_of_dp_accounting():
    dp_accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(
        [2.0, 8.0, 32.0], dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
    )
    step = dp_accounting.PoissonSampledDpEvent(1 / 50, dp_accounting.GaussianDpEvent(2.0))
    accountant.compose(step, 100)
    theirs = list(accountant.rdp)
    ours = [sampled_divergence(steps("0.02", "2", 100), order=order) for order in (2, 8, 32)]
    assert ours == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize("of", [sampled_epsilon, sampled_rho])
def test_the_noise_of_a_target_is_the_least_that_meets_it(of):
    most = Fraction(1, 2)

    def cost(each):
        return of([each], delta=DELTA)

    found = least_multiplier(most, cost=cost, rate=Fraction(1, 20), count=200)

    def at(multiplier):
        return cost(SampledSteps(rate=Fraction(1, 20), multiplier_squared=multiplier**2, count=200))

    assert at(found) <= most < at(found - Fraction(1, 10**4))


@pytest.mark.parametrize("least", ["0.0001", "0.4", "1", "1.0001", "2.9", "70000", "100000"])
def test_the_least_noise_is_found_wherever_it_is(least):
    def cost(each):
        return Fraction(each.multiplier_squared < Fraction(least) ** 2)

    found = least_multiplier(Fraction(0), cost=cost, rate=Fraction(1, 2), count=1)
    assert found == Fraction(least)


def test_the_noise_of_a_target_takes_few_looks_at_its_cost():
    looked = []

    def cost(each):
        looked.append(each.multiplier_squared)
        return Fraction(each.multiplier_squared < Fraction("0.777") ** 2)

    found = least_multiplier(Fraction(0), cost=cost, rate=Fraction(1, 2), count=1)
    assert found == Fraction("0.777")
    assert len(looked) <= 15  # each takes milliseconds: up to 1, then in 14 halvings


def test_a_target_that_no_noise_up_to_100000_meets_is_refused():
    def cost(each):
        return Fraction(each.multiplier_squared <= 10**10)

    with pytest.raises(InvalidParameterError, match="No noise brings 7 steps to a loss of 0"):
        least_multiplier(Fraction(0), cost=cost, rate=Fraction(1, 2), count=7)


# ρ of an unsampled step, each with another best order of 2, 3, 63, 80, … 1024, and its charge
CHARGES = {
    "11": "32.126631103851",
    "2.6": "12.601691480043",
    "0.0019": "0.222567251212",
    "0.0011": "0.165685759949",
    "0.00077": "0.136591618802",
    "0.00055": "0.113842380411",
    "0.00041": "0.097084816249",
    "0.00025": "0.074219391073",
    "0.00017": "0.060168998914",
    "0.000092": "0.043041034093",
    "0.000056": "0.032798271472",
    "0.000038": "0.026507368480",
    "0.00002": "0.018607080311",
    "0.0000083": "0.011419754702",
    "0.0000044": "0.008007009678",
}


@pytest.mark.parametrize(("rho", "charge"), CHARGES.items())
def test_a_ledger_computes_the_same_charge_again_whatever_its_best_order(rho, charge):
    assert sampled_epsilon([], delta=DELTA, rho=Fraction(rho)) == Fraction(charge)
    exact = epsilon_at(ZeroConcentratedDP(rho=Fraction(rho)), delta=DELTA)
    assert exact <= float(charge) <= exact * 1.3


def test_a_charge_a_hair_above_the_grid_is_still_rounded_up():
    """At order 80, the best, the reading is 80ρ and a constant: 1e-40 above 0.1657."""
    with decimal.localcontext(decimal.Context(prec=100)):
        log_delta = (decimal.Decimal(1) / 10**5).ln()
        read = (1 - decimal.Decimal(1) / 80).ln() - (log_delta + decimal.Decimal(80).ln()) / 79
        rho = Fraction((decimal.Decimal("0.1657") + decimal.Decimal("1e-40") - read) / 80)
    best = sampled_epsilon([], delta=DELTA, rho=rho)
    assert best == Fraction("0.165700000001")


def by_the_lemma(given, *, delta):
    """The least ρ over all j: (r_i + 2c)/k_(i−1) for i ≤ j, and (t + c)/k_j, in floats."""
    orders = np.array(ORDERS, dtype=float)
    r = np.array([sampled_divergence(given, order=order) for order in ORDERS])
    c, tail = -math.log1p(-delta), math.log(2 / delta)
    below = np.maximum.accumulate((r + 2 * c) / np.array([1, *ORDERS[:-1]]))
    above = (np.minimum.accumulate(r + tail / (orders - 1)) + c) / orders
    return np.maximum(below, above).min()


@pytest.mark.parametrize("given", [("0.02", "2", 500), ("0.5", "1", 3), ("0.01", "30", 10)])
@pytest.mark.parametrize("delta", ["0.3", "0.01", "1e-9"])
def test_the_rho_of_steps_is_the_least_that_the_lemma_gives(given, delta):
    found = sampled_rho([steps(*given)], delta=Fraction(delta))
    expected = by_the_lemma(steps(*given), delta=float(delta))
    assert (found * 10**12).denominator == 1
    assert float(found) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("of", [sampled_epsilon, sampled_rho])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1), 1e-6])
def test_losses_of_steps_are_read_at_an_exact_delta_between_0_and_1(of, delta):
    with pytest.raises(InvalidParameterError, match="Expected an exact delta in"):
        of([steps("0.02", "2", 1)], delta=delta)


def test_a_loss_of_nearly_nothing_at_a_large_delta_is_read_as_nothing():
    assert sampled_epsilon([], delta=Fraction(9, 10), rho=Fraction(1, 10**6)) < Fraction(1, 10**11)


def conditioned(p, q, *, delta):
    """The largest D_α/α of two log laws given that their ratio is small, on both sides."""
    ratio = np.abs(p - q)
    order = np.argsort(-ratio)
    lost = np.logaddexp.accumulate(np.maximum(p, q)[order])
    inside = np.ones(p.size, dtype=bool)
    inside[order[lost <= math.log(delta)]] = False  # as many as δ lets go
    p, q = p[inside], q[inside]
    p, q = p - np.logaddexp.reduce(p), q - np.logaddexp.reduce(q)
    orders = [1.01, 1.2, 1.5, 2, 3, 5, 9, 17, 40, 100]
    return max(max(divergence(p, q, a), divergence(q, p, a)) / a for a in orders)


@pytest.mark.parametrize(("sigma_squared", "rate"), [(1.0, 0.2), (4.0, 0.5), (9.0, 0.05)])
def test_given_a_likely_event_divergences_of_every_order_stay_below_rho_alpha(sigma_squared, rate):
    """Three steps on the grid, by brute force: outputs of all three, orders that are not whole."""
    here, there = grid_pair((1,), sigma_squared=sigma_squared, reach=18)
    mixed = np.logaddexp(math.log(1 - rate) + here, math.log(rate) + there)

    def thrice(law):
        return (law[:, None, None] + law[None, :, None] + law[None, None, :]).ravel()

    delta = Fraction(1, 1000)
    given = SampledSteps(
        rate=Fraction(str(rate)), multiplier_squared=Fraction(str(sigma_squared)), count=3
    )
    bound = float(sampled_rho([given], delta=delta))
    attained = conditioned(thrice(mixed), thrice(here), delta=float(delta))
    assert attained <= bound


def test_approximate_zcdp_of_a_training_reads_back_as_no_less_than_its_epsilon():
    given = steps("0.02", "2", 500)
    rho = sampled_rho([given], delta=DELTA)
    assert rho < sampled_epsilon([given], delta=DELTA) ** 2 / 5
    read = epsilon_at(ZeroConcentratedDP(rho=rho, delta=DELTA), delta=2 * DELTA)
    assert read > sampled_epsilon([given], delta=2 * DELTA)


def test_more_steps_a_higher_rate_and_less_noise_cost_more():
    base = sampled_epsilon([steps("0.02", "2", 200)], delta=DELTA)
    for more in (steps("0.02", "2", 201), steps("0.021", "2", 200), steps("0.02", "1.99", 200)):
        assert sampled_epsilon([more], delta=DELTA) > base


@pytest.mark.parametrize(
    "given",
    [
        {"rate": Fraction(1)},
        {"rate": 0.01},
        {"multiplier_squared": Fraction(0)},
        {"rate": Fraction(3, 2)},
        {"rate": Fraction(0)},
        {"multiplier_squared": 1.0},
        {"count": 0},
        {"count": 1.0},
    ],
)
def test_steps_out_of_their_domain_are_refused(given):
    usual = {"rate": Fraction(1, 2), "multiplier_squared": Fraction(1), "count": 1}
    with pytest.raises(InvalidParameterError):
        SampledSteps(**usual | given)


def test_orders_are_whole_so_that_the_identity_holds():
    assert all(isinstance(order, int) and order >= 2 for order in ORDERS)
