"""Nothing crashes, no NaN, values inside intervals, intervals inside bounds: whatever the noise."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.mechanism import Mechanism
from confide.plans.estimates import Estimate
from confide.plans.plan import Statistic
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.statistics import Count, Histogram, Mean, Proportion, Quantiles, Sum, Variance
from confide.statistics.count.spec import _posterior
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from noisy_answers import dataset, estimate, mechanisms, moments

DIABETES = IsIn(of=ColumnOf(table="participants", column="diabetes"), values=(1,))
PURE = dataset()
ZCDP = dataset(measure=Measure.ZCDP)
CASES: tuple[tuple[Statistic, float, float], ...] = (
    (Count(id="c", table="participants"), 0, math.inf),
    (Histogram(id="h", table="participants", by=("sex",), round_to=5), 0, math.inf),
    (Histogram(id="t", table="participants", by=("sex",), threshold=11), 0, math.inf),
    (Sum(id="s", table="participants", column="age"), 0, math.inf),
    (Mean(id="m", table="participants", column="bmi"), 10, 70.1),
    (Variance(id="v", table="participants", column="bmi"), 0, 70.1),
    (Proportion(id="p", table="participants", of=DIABETES, per=1000), 0, 1000),
    (Quantiles(id="q", table="participants", column="bmi", bins=4), 10, 70.1),
    (Quantiles(id="one", table="participants", column="bmi", bins=2), 10, 70.1),
)
SIZES = {
    "c": {"count": 1},
    "h": {"count": 2},
    "t": {"count": 2},
    "s": {"sum": 1},
    "p": {"count": 2},
    "q": {"histogram": 4},
    "one": {"histogram": 3},
}


def sizes(statistic: Statistic, *, apart: bool) -> dict[str, int]:
    if isinstance(statistic, Mean):
        return {"sum": 1, "count": 1} if apart else {"distances": 2}
    if isinstance(statistic, Variance):
        return {"moments": 3}
    return SIZES[statistic.id]


def check(found: Estimate, *, lower: float, upper: float):
    if found.quantity == "sd":
        lower, upper = 0, 60.1 / 2
    for number in (found.value, found.standard_error, found.lower, found.upper):
        assert number is None or math.isfinite(number), found
    if found.value is None:
        assert found.flags
    if found.lower is None:
        assert found.value is None
        return
    assert lower - 1e-9 <= found.lower <= found.upper <= upper + 1e-9, found
    if found.value is not None:
        slack = 1e-9 + 1e-15 * abs(found.value)  # of floats
        assert found.lower - slack <= found.value <= found.upper + slack, found
        assert found.standard_error is not None
        assert found.standard_error >= 0


NUMBERS = st.one_of(
    st.integers(-5, 5), st.integers(-1000, 1000), st.integers(-(10**9), 10**9), st.integers()
)


@pytest.mark.parametrize(("statistic", "lower", "upper"), CASES, ids=lambda v: getattr(v, "id", ""))
@pytest.mark.parametrize("to", [PURE, ZCDP], ids=["pure", "zcdp"])
@settings(max_examples=60, deadline=None)
@given(data=st.data(), spend=st.sampled_from([Fraction(1, 1000), Fraction(1), Fraction(50)]))
def test_any_noisy_answer_gives_finite_numbers_inside_their_bounds(
    statistic, lower, upper, to, data, spend
):
    noise = mechanisms(statistic, to=to, spend=spend)
    noisy = {
        name: tuple(data.draw(NUMBERS) for _ in range(size))
        for name, size in sizes(statistic, apart=to is ZCDP).items()
    }
    for found in estimate(statistic, noisy, to=to, noise=noise):
        check(found, lower=lower, upper=upper)


def test_no_rows_and_one_row_give_flags_and_the_whole_range():
    spec = Mean(id="m", table="participants", column="bmi")
    noise = mechanisms(spec, to=PURE, spend=1)
    for x in ([], [250]):
        exact = moments(np.array(x, dtype=np.int64), lower=100, upper=701, degree=1)
        (found,) = estimate(spec, {"distances": exact}, to=PURE, noise=noise)
        assert found.flags == ("denominator too small",)
        assert (found.lower, found.upper) == (10, pytest.approx(70.1))
    assert found.value == pytest.approx(25)


@pytest.mark.parametrize(
    ("statistic", "name", "rows_to_vector", "deviations"),
    [
        (
            Mean(id="m", table="participants", column="bmi"),
            "distances",
            lambda n: (301 * n, 300 * n),
            math.sqrt(2),
        ),
        (
            Proportion(id="p", table="participants", of=DIABETES),
            "count",
            lambda n: (n - n // 2, n // 2),
            math.sqrt(2),
        ),
        (
            Variance(id="v", table="participants", column="bmi"),
            "moments",
            lambda n: (601**2 * n, 0, 0),
            math.sqrt(3),
        ),
    ],
    ids=["mean", "proportion", "variance"],
)
def test_a_denominator_is_too_small_below_ten_deviations_of_its_noise(
    statistic, name, rows_to_vector, deviations
):
    noise = mechanisms(statistic, to=PURE, spend=1)
    least = 10 * deviations * math.sqrt(2)  # Laplace noise of one row's size, b = 1
    if name == "count":
        least = 10 * deviations * math.sqrt(noise["count"].variance())
    for rows, flagged in ((math.floor(least * 0.99), True), (math.ceil(least * 1.01), False)):
        found = estimate(statistic, {name: rows_to_vector(rows)}, to=PURE, noise=noise)
        assert {("denominator too small" in e.flags) for e in found} == {flagged}


def test_all_rows_in_one_bin_give_a_quantile_in_that_bin():
    spec = Quantiles(id="q", table="participants", column="age", bins=10)
    noise = mechanisms(spec, to=PURE, spend=1)
    counts = (0, 0, 0, 500, 0, 0, 0, 0, 0, 0)
    first, after = spec.measured(PURE).axes[-1].edges[3:5]
    for found in estimate(spec, {"histogram": counts}, to=PURE, noise=noise):
        assert (found.lower, found.upper) == (first, after - 1)
        assert first <= found.value < after


def test_a_withheld_cell_shows_nothing():
    spec = Histogram(id="h", table="participants", by=("sex",), threshold=11)
    noise = mechanisms(spec, to=PURE, spend=1)
    small, large = estimate(spec, {"count": (10, 11)}, to=PURE, noise=noise)
    assert (small.value, small.lower, small.upper, small.standard_error) == (None,) * 4
    assert small.flags == ("below threshold",)
    assert (large.value, large.flags) == (11, ())


def test_a_rounded_cell_has_ends_on_the_same_multiples():
    spec = Histogram(id="h", table="participants", by=("sex",), round_to=10)
    noise = mechanisms(spec, to=PURE, spend=1)
    first, _ = estimate(spec, {"count": (44, 90)}, to=PURE, noise=noise)
    assert (first.lower, first.value, first.upper) == (40, 40, 50)


def test_a_negative_count_is_shown_as_zero_and_flagged():
    spec = Count(id="c", table="participants")
    noise = mechanisms(spec, to=PURE, spend=1)
    count, posterior = estimate(spec, {"count": (-4,)}, to=PURE, noise=noise)
    assert (count.value, count.lower, count.upper) == (0, 0, 0)
    assert count.flags == ("below zero",)
    assert 0 < posterior.value <= posterior.upper


def by_summing(raw: int, *, noise: Mechanism) -> float:
    counts = range(max(0, raw) + 400)
    weights = [noise.pmf(raw - c) for c in counts]
    return sum(c * w for c, w in zip(counts, weights, strict=True)) / sum(weights)


@pytest.mark.parametrize("raw", [-9, -1, 0, 1, 4, 13, 30, 31])
@pytest.mark.parametrize(
    "noise",
    [
        DiscreteLaplace(scale=Fraction(1, 3)),
        DiscreteLaplace(scale=Fraction(5)),
        DiscreteGaussian(sigma_squared=Fraction(1, 4)),
        DiscreteGaussian(sigma_squared=Fraction(40)),
    ],
    ids=str,
)
def test_the_posterior_mean_is_the_sum_over_counts_of_their_chances(raw, noise):
    mean, most = _posterior(raw, noise=noise, level=0.95)
    assert mean == pytest.approx(by_summing(raw, noise=noise), rel=1e-6, abs=1e-9)
    assert mean <= most


def test_the_posterior_bound_is_passed_with_at_most_the_rest_of_the_level():
    noise = DiscreteLaplace(scale=Fraction(5))
    for raw in (-3, 0, 2, 9):
        _, most = _posterior(raw, noise=noise, level=0.95)
        weights = [noise.pmf(raw - c) for c in range(600)]
        beyond = sum(weights[most + 1 :]) / sum(weights)
        assert beyond <= 0.05 < sum(weights[most:]) / sum(weights)


def test_the_posterior_mean_has_less_error_than_the_raw_count_for_small_counts():
    spec = Count(id="c", table="participants")
    noise = mechanisms(spec, to=PURE, spend=Fraction(1, 4))
    mechanism = noise["count"]
    for people in (0, 2, 5):
        raw = posterior = 0.0
        for z in range(-60, 61):
            found = estimate(spec, {"count": (people + z,)}, to=PURE, noise=noise)
            raw += mechanism.pmf(z) * z**2
            posterior += mechanism.pmf(z) * (found[1].value - people) ** 2
        assert posterior < raw


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_the_mean_has_at_most_half_the_variance_of_sum_and_count_with_even_split(adjacency):
    """OpenDP's sum and count, each clamped Laplace at ε/2, for any mean between the bounds."""
    to = dataset(adjacency=adjacency)
    spec = Mean(id="m", table="participants", column="pressure", expect=Fraction(1))
    scale = mechanisms(spec, to=to, spend=1)["distances"].scale
    reach, half = 120, 60
    sums, counts = (2 * half, 2) if adjacency is Adjacency.ADD_REMOVE else (4 * half, 2)
    for p in (0, 0.25, 0.5, 0.9, 1):
        ours = 2 * float(scale) ** 2 * ((1 - p) ** 2 + p**2)
        theirs = 2 * sums**2 + 2 * counts**2 * (reach * (p - 0.5)) ** 2
        share = Fraction(1, 2) if adjacency is Adjacency.ADD_REMOVE else 1
        assert ours <= float(share) * theirs * (1 + 1e-9)
