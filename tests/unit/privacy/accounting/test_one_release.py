"""The ε of one release lies between the true one and that of its charges."""

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.privacy.accounting.concentrated import epsilon_at, rho_for
from confide.privacy.accounting.gaussian_curve import gaussian_delta_above, smoothed
from confide.privacy.accounting.loss_distribution import (
    CERTAIN,
    LossDistribution,
    choice_law,
    response_law,
    unit_gaussian,
)
from confide.privacy.accounting.one_release import (
    GaussianUse,
    NoiseUse,
    PureUse,
    epsilon_of_release,
)
from confide.privacy.loss import ZeroConcentratedDP

DELTA = Fraction("1e-6")


def of_charges(uses: Sequence[NoiseUse], *, delta: Fraction = DELTA) -> Fraction:
    """ε that the ρ of all uses together implies."""
    rho = sum(
        use.count
        * (
            use.l2_squared / (2 * use.sigma_squared)
            if isinstance(use, GaussianUse)
            else use.epsilon**2 / (8 if use.chooses else 2)
        )
        for use in uses
    )
    return Fraction(epsilon_at(ZeroConcentratedDP(rho=Fraction(rho)), delta=delta))


def by_itself(uses: Sequence[NoiseUse], *, delta: Fraction = DELTA) -> Fraction:
    return epsilon_of_release(uses, delta=delta, at_most=of_charges(uses, delta=delta))


def gaussian(rho: Fraction, *, l1: int = 1, l2_squared: int = 1, count: int = 1) -> GaussianUse:
    return GaussianUse(
        l1=l1, l2_squared=l2_squared, sigma_squared=Fraction(l2_squared, 2) / rho, count=count
    )


def weights(sigma_squared: Fraction, *, reach: int) -> dict[int, float]:
    """The discrete Gaussian law out to a reach, summed without any formula."""
    found = {z: math.exp(-z * z / (2 * float(sigma_squared))) for z in range(-reach, reach + 1)}
    total = math.fsum(found.values())
    return {z: each / total for z, each in found.items()}


def true_delta(sigma_squared: Fraction, moved: Sequence[int], *, epsilon: float) -> float:
    """δ of discrete Gaussian noise for a vector that moves so: over all outcomes."""
    noise = weights(sigma_squared, reach=math.ceil(9 * math.sqrt(sigma_squared)))
    s2, squares = float(sigma_squared), sum(d * d for d in moved)
    law = {0: 1.0}  # of Σ d·z
    for d in moved:
        after: dict[int, float] = {}
        for (at, p), (z, q) in itertools.product(law.items(), noise.items()):
            after[at + d * z] = after.get(at + d * z, 0.0) + p * q
        law = after
    losses = ((p, (squares - 2 * at) / (2 * s2)) for at, p in law.items())
    return math.fsum(-p * math.expm1(epsilon - ell) for p, ell in losses if ell > epsilon)


@pytest.mark.parametrize("target", ["0.1", "0.5", "1", "3", "10"])
def test_epsilon_of_one_count_is_the_true_one(target: str) -> None:
    use = gaussian(rho_for(Fraction(target), delta=DELTA))
    found = by_itself([use])
    assert found < Fraction(target)
    assert true_delta(use.sigma_squared, (1,), epsilon=float(found)) <= float(DELTA)
    shy = 0.999 * float(found)  # continuous noise stands for wide noise, at a cost of 0.1 %
    assert true_delta(use.sigma_squared, (1,), epsilon=shy) > float(DELTA)


def shapes(*, l1: int, l2_squared: int, cells: int) -> Iterator[tuple[int, ...]]:
    """Every way in which a person may move cells; signs and order do not matter."""
    top = math.isqrt(l2_squared)
    for moved in itertools.combinations_with_replacement(range(top + 1), cells):
        if 0 < sum(moved) <= l1 and sum(d * d for d in moved) <= l2_squared:
            yield tuple(d for d in moved if d)


@pytest.mark.parametrize(
    ("l1", "l2_squared"), [(1, 1), (2, 2), (3, 3), (2, 4), (3, 5), (3, 9), (4, 8)]
)
@pytest.mark.parametrize("multiplier", ["1", "2.5", "4.5"])
def test_epsilon_holds_for_every_vector_that_may_move(
    l1: int, l2_squared: int, multiplier: str
) -> None:
    sigma_squared = Fraction(multiplier) ** 2 * l2_squared
    use = GaussianUse(l1=l1, l2_squared=l2_squared, sigma_squared=sigma_squared)
    found = float(by_itself([use]))
    assert found <= of_charges([use])
    reached = [
        true_delta(sigma_squared, moved, epsilon=found)
        for moved in shapes(l1=l1, l2_squared=l2_squared, cells=3)
    ]
    assert 0 < max(reached) <= float(DELTA)


def test_a_release_of_many_counts_has_less_than_its_charges_say() -> None:
    rho = rho_for(Fraction(1), delta=DELTA)
    for count in (2, 10, 50, 1000):
        found = by_itself([gaussian(rho / count, count=count)])
        assert Fraction("0.926") < found < Fraction("0.929")  # continuous: .92739; one: .92939


@pytest.mark.parametrize(("epsilon", "count"), [("0.05", 30), ("0.1", 7), ("1", 1), ("0.7", 3)])
def test_pure_events_have_the_epsilon_of_randomised_responses(epsilon: str, count: int) -> None:
    one = float(Fraction(epsilon))
    found = float(by_itself([PureUse(epsilon=Fraction(epsilon), count=count)]))

    def delta(at: float) -> float:  # [KOV15, thm. 3.3]
        kept = 1 / (1 + math.exp(-one))
        terms = (
            (math.comb(count, k) * kept**k * (1 - kept) ** (count - k), (2 * k - count) * one)
            for k in range(count + 1)
        )
        return math.fsum(-p * math.expm1(at - ell) for p, ell in terms if ell > at)

    assert delta(found) <= float(DELTA) < delta(found - 1e-6)


def choice_delta(epsilon: float, at: float, x: float) -> float:
    """δ of a choice of two whose losses are ``at`` and ``at`` − ε."""
    kept = math.expm1(at - epsilon) / math.expm1(-epsilon)
    pairs = ((kept, at), (1 - kept, at - epsilon))
    return math.fsum(-p * math.expm1(x - ell) for p, ell in pairs if ell > x)


@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "2"])
@pytest.mark.parametrize("cells", [2, 5, 60])
def test_the_law_of_a_choice_is_above_that_of_every_choice(epsilon: str, cells: int) -> None:
    law = choice_law(Fraction(epsilon), cells=cells)
    assert total(law) / CERTAIN == pytest.approx(1, abs=1e-12)
    assert total(law) >= CERTAIN
    assert odds(law) == pytest.approx(1, abs=1e-12)
    e, delta = float(Fraction(epsilon)), law.delta_at()
    for x in (e * step / 50 for step in range(-60, 60)):
        worst = max(choice_delta(e, e * place / 100, x) for place in range(101))
        assert worst <= delta(x)
        if cells == 60:
            assert delta(x) <= worst + 0.002 * e


@pytest.mark.parametrize("count", [1, 3, 12])
def test_choices_lose_at_least_what_any_of_them_reach(count: int) -> None:
    one = Fraction("0.3")
    found = float(by_itself([PureUse(epsilon=one, chooses=True, count=count)]))
    for place in range(1, 20):
        at = 0.3 * place / 20
        kept = math.expm1(at - 0.3) / math.expm1(-0.3)
        terms = (
            (
                math.comb(count, k) * kept**k * (1 - kept) ** (count - k),
                count * (at - 0.3) + 0.3 * k,
            )
            for k in range(count + 1)
        )
        reached = math.fsum(-p * math.expm1(found - ell) for p, ell in terms if ell > found)
        assert reached <= float(DELTA)


def test_noise_of_two_kinds_is_between_the_true_delta_and_the_charges() -> None:
    rho = rho_for(Fraction(1), delta=DELTA)
    uses = [gaussian(rho / 2), gaussian(rho / 4), PureUse(epsilon=Fraction("0.1"), count=2)]
    found = float(by_itself(uses))
    reached = _delta_of_all([use for use in uses if isinstance(use, GaussianUse)], found)
    assert reached <= float(DELTA) < _delta_of_all(uses[:2], found - 0.002)
    assert found < of_charges(uses)


def _delta_of_all(uses: Sequence[GaussianUse], epsilon: float) -> float:
    """δ of counts with Gaussian noise and of two randomised responses of 0.1, outcome by outcome."""
    law = [(1.0, 0.0)]
    kept = 1 / (1 + math.exp(-0.1))
    events = [
        [(p, float((1 - 2 * z) / (2 * use.sigma_squared))) for z, p in _noise(use).items()]
        for use in uses
    ]
    events += [[(kept, 0.1), (1 - kept, -0.1)]] * 2
    for event in events:
        law = [(p * q, a + b) for p, a in law for q, b in event]
    return math.fsum(-p * math.expm1(epsilon - ell) for p, ell in law if ell > epsilon)


def _noise(use: GaussianUse) -> dict[int, float]:
    return weights(use.sigma_squared, reach=math.ceil(8 * math.sqrt(use.sigma_squared)))


@settings(max_examples=60, deadline=None)
@given(
    uses=st.lists(
        st.one_of(
            st.builds(
                GaussianUse,
                l1=st.integers(1, 300),
                l2_squared=st.integers(1, 400),
                sigma_squared=st.fractions(Fraction(1, 8), 50_000, max_denominator=64),
                count=st.integers(1, 40),
            ),
            st.builds(
                PureUse,
                epsilon=st.fractions(Fraction(1, 100), 2, max_denominator=100),
                chooses=st.booleans(),
                count=st.integers(1, 20),
            ),
        ),
        min_size=1,
        max_size=4,
    ),
    digits=st.integers(4, 12),
)
def test_epsilon_is_never_above_that_of_the_charges(uses: list[NoiseUse], digits: int) -> None:
    delta = Fraction(1, 10**digits)
    assert 0 <= by_itself(uses, delta=delta) <= of_charges(uses, delta=delta)


def test_more_uses_never_lose_less() -> None:
    rho = rho_for(Fraction(1), delta=DELTA)
    grows = [by_itself([gaussian(rho / 10, count=count)]) for count in range(1, 12)]
    assert grows == sorted(grows)


def total(law: LossDistribution) -> int:
    return sum(law.masses) + law.infinite


def odds(law: LossDistribution) -> float:
    """Mass of the other law, Σ p·e^{−ℓ}."""
    pairs = zip(law.masses, law.losses(), strict=True)
    return math.fsum(mass / CERTAIN * math.exp(-ell) for mass, ell in pairs)


@pytest.mark.parametrize("left_out", [1e-4, 1e-14])
@pytest.mark.parametrize("sigma_squared", ["1/8", "1", "20.5", "300"])
def test_a_law_of_losses_lacks_nothing(sigma_squared: str, left_out: float) -> None:
    one = unit_gaussian(Fraction(sigma_squared), left_out=left_out)
    laws = [
        one,
        one.times(3, cut=CERTAIN >> 20),
        one.on_grid(Fraction(1, 97)),
        one.on_grid(Fraction(1, 97)).beside(
            response_law(Fraction(1, 3)).on_grid(Fraction(1, 97)), cut=0
        ),
    ]
    assert all(CERTAIN <= total(law) < CERTAIN * (1 + 5 * left_out + 1e-5) for law in laws)


def test_a_trimmed_law_lacks_nothing() -> None:
    whole = unit_gaussian(Fraction(20), left_out=1e-14)
    cut = CERTAIN >> 10
    trimmed = whole.times(8, cut=cut)
    assert len(trimmed.masses) < 0.5 * len(whole.times(8, cut=0).masses)
    assert total(trimmed) >= CERTAIN


def test_splitting_keeps_the_masses_of_both_laws() -> None:
    law = response_law(Fraction(1, 3)).times(4, cut=0)
    split = law.on_grid(Fraction(1, 10))
    assert total(split) / CERTAIN == pytest.approx(1, abs=1e-12)
    assert odds(split) == pytest.approx(odds(law), abs=1e-12)
    for epsilon in (-0.5, 0.0, 0.21, 0.5, 1.0):
        assert split.delta_at()(epsilon) >= law.delta_at()(epsilon) * (1 - 1e-12)


def test_the_continuous_curve_is_above_a_sum_of_many_digits() -> None:
    mpmath = pytest.importorskip("mpmath", reason="needs mpmath")
    with mpmath.workdps(60):
        for mu in ("0.01", "0.2207", "1", "3"):
            for epsilon in ("-2", "0", "0.05", "1", "5", "12"):
                m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
                near, far = mpmath.ncdf(m / 2 - e / m), mpmath.ncdf(-m / 2 - e / m)
                true = near - mpmath.exp(e) * far
                found = gaussian_delta_above(float(epsilon), mu=float(mu))
                assert true <= found
                assert found <= true * (1 + mpmath.mpf("1e-8")) + near * mpmath.mpf(
                    "1e-11"
                ) + mpmath.mpf("1e-299")


def test_noise_that_is_too_narrow_has_no_continuous_stand_in() -> None:
    assert smoothed(Fraction(1, 4), l2_squared=9, moved=9, epsilon=1.0) is None
    use = GaussianUse(l1=9, l2_squared=9, sigma_squared=Fraction(1, 4))
    assert by_itself([use]) == of_charges([use])
