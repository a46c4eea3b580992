"""Random compositions: the bounds stand in the proved order, and the least is reported."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from confide.privacy.accounting.compose import advanced, compose, least, to_zcdp
from confide.privacy.accounting.concentrated import epsilon_at, rho_for
from confide.privacy.group import group_loss
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP

epsilons = st.fractions(min_value=Fraction(1, 1000), max_value=4, max_denominator=1000)
rhos = st.fractions(min_value=Fraction(1, 10**6), max_value=10, max_denominator=10**6)
deltas = st.integers(min_value=2, max_value=15).map(lambda n: Fraction(1, 10**n))


@settings(max_examples=60, deadline=None)
@given(rho=rhos, more=rhos, delta=deltas)
def test_epsilon_grows_with_rho_and_shrinks_with_delta(
    rho: Fraction, more: Fraction, delta: Fraction
) -> None:
    loss = ZeroConcentratedDP(rho=rho)
    epsilon = epsilon_at(loss, delta=delta)
    assert epsilon <= epsilon_at(ZeroConcentratedDP(rho=rho + more), delta=delta)
    assert epsilon <= epsilon_at(loss, delta=delta / 10)


@settings(max_examples=40, deadline=None)
@given(epsilon=epsilons, delta=deltas)
def test_rho_read_back_never_passes_epsilon(epsilon: Fraction, delta: Fraction) -> None:
    rho = rho_for(epsilon, delta=delta)
    assert Fraction(epsilon_at(ZeroConcentratedDP(rho=rho), delta=delta)) <= epsilon


@settings(max_examples=60, deadline=None)
@given(parts=st.lists(epsilons, min_size=1, max_size=12), delta=deltas)
def test_least_never_passes_basic_or_advanced(parts: list[Fraction], delta: Fraction) -> None:
    losses = [PureDP(epsilon=epsilon) for epsilon in parts]
    bound = least(losses, delta=delta).epsilon
    assert bound <= sum(parts)
    assert bound <= advanced(losses, delta=delta).epsilon


@given(parts=st.lists(rhos, min_size=1, max_size=12), cut=st.integers(0, 12))
def test_composition_does_not_depend_on_order_or_grouping(parts: list[Fraction], cut: int) -> None:
    losses = [ZeroConcentratedDP(rho=rho) for rho in parts]
    groups = [compose(group) for group in (losses[:cut], losses[cut:]) if group]
    assert compose(groups) == compose(losses[::-1]) == compose(losses)


@given(epsilon=epsilons, delta=deltas, first=st.integers(1, 4), second=st.integers(1, 4))
def test_group_of_groups_is_never_promised_less_than_the_group(
    epsilon: Fraction, delta: Fraction, first: int, second: int
) -> None:
    small = ApproxDP(epsilon=epsilon / 8, delta=delta / 10**8)
    direct = group_loss(small, size=first * second)
    nested = group_loss(group_loss(small, size=first), size=second)
    assert isinstance(direct, ApproxDP)
    assert isinstance(nested, ApproxDP)
    assert direct.epsilon == nested.epsilon
    # Each step rounds δ up to 1e-18, and the outer one multiplies what the inner one added.
    assert -direct.delta / 10**9 <= nested.delta - direct.delta
    assert nested.delta - direct.delta <= direct.delta / 10**6 + Fraction(1, 10**12)


@given(epsilon=epsilons)
def test_entering_a_concentrated_ledger_never_loses_loss(epsilon: Fraction) -> None:
    assert to_zcdp(PureDP(epsilon=epsilon)).rho == epsilon**2 / 2
