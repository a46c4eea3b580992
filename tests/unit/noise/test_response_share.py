"""Shares from randomised answers: exact coverage, the simplex, planning."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.errors import InvalidParameterError
from confide.noise.response_share import _Law, estimate_shares, expected_half_width, onto_simplex

E1, E3 = math.exp(1), math.exp(3)
SURVEYS = {
    "coin flip": (0.75, 0.25),
    "five answers, ε = 1": (E1 / (E1 + 4), 1 / (E1 + 4)),
    "five answers, ε = 3": (E3 / (E3 + 4), 1 / (E3 + 4)),
    "optimised unary, ε = 1": (0.5, 1 / (1 + E1)),
}
SHARES = (0.0, 0.003, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9, 0.99, 1.0)


def coverage(asked: int, *, truth: float, lie: float) -> list[float]:
    """Exact coverage at each share: the law of the count, summed where its interval holds it."""
    law = _Law.of(asked, lowest=lie, highest=truth)
    counts = np.arange(asked + 1)
    rates = lie + np.array(SHARES) * (truth - lie)
    logs = counts * np.log(rates)[:, None] + (asked - counts) * np.log1p(-rates)[:, None]
    chances = np.exp(logs + law.ways)
    likely = counts[chances.max(axis=0) > 1e-7]
    ends = np.array([law.interval(int(count), level=0.95) for count in likely])
    holds = (ends[:, 0] <= rates[:, None] + 1e-12) & (rates[:, None] <= ends[:, 1] + 1e-12)
    return (chances[:, likely] * holds).sum(axis=1).tolist()


@pytest.mark.parametrize("asked", [12, 40, 250])
@pytest.mark.parametrize("survey", SURVEYS)
def test_intervals_cover_at_least_the_level_even_of_few_and_of_shares_near_zero_and_one(
    survey: str, asked: int
) -> None:
    truth, lie = SURVEYS[survey]
    found = coverage(asked, truth=truth, lie=lie)
    assert min(found) >= 0.95 - 1e-6
    if asked * lie >= 20:  # below, counts are few and lumps of the law are large
        assert max(found) <= 0.97


def test_the_ends_are_inside_the_possible_shares_and_the_estimate_need_not_be() -> None:
    none, everyone = estimate_shares([0, 40], asked=40, truth=0.75, lie=0.25, level=0.95)
    assert (none.estimate, everyone.estimate) == (-0.5, 1.5)
    assert none.lower == 0 < none.upper < 0.1
    assert 0.9 < everyone.lower < everyone.upper == 1
    assert (none.together, everyone.together) == (0, 1)


def test_a_share_in_the_middle_has_nearly_the_normal_interval_of_many_answers() -> None:
    share, _ = estimate_shares([450_000, 550_000], asked=10**6, truth=0.75, lie=0.25, level=0.95)
    assert share.upper - share.lower == pytest.approx(2 * 1.96 * share.standard_error, rel=1e-3)


def test_an_interval_is_found_where_hardly_anybody_lies() -> None:
    shares = estimate_shares([0, 30, 70], asked=100, truth=1 - 1e-18, lie=1e-26, level=0.95)
    assert shares[0].lower == pytest.approx(0, abs=1e-12)
    assert shares[0].upper == pytest.approx(0.03, abs=0.01)
    assert all(math.isfinite(s.upper) for s in shares)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=2, max_size=12), st.integers(0, 2**32 - 1))
def test_no_point_of_the_simplex_is_nearer(values: list[float], number: int) -> None:
    shares = np.array(values)
    nearest = onto_simplex(shares)
    assert nearest.min() >= 0
    assert math.fsum(nearest) == pytest.approx(1)
    others = np.random.default_rng(number).dirichlet(np.full(shares.size, 0.5), size=200)
    assert ((others - shares) ** 2).sum(axis=1).min() >= ((nearest - shares) ** 2).sum() - 1e-9


def test_possible_shares_are_left_as_they_are() -> None:
    assert onto_simplex(np.array([0.2, 0.5, 0.3])).tolist() == pytest.approx([0.2, 0.5, 0.3])


def test_the_planned_half_width_is_the_one_that_occurs() -> None:
    rng, asked, share = np.random.default_rng(4), 1500, 0.1
    planned = expected_half_width(share, asked=asked, truth=0.75, lie=0.25, level=0.95)
    counts = rng.binomial(asked, 0.25 + share * 0.5, size=40)
    law = _Law.of(asked, lowest=0.25, highest=0.75)
    widths = [np.diff(law.interval(int(c), level=0.95))[0] / 0.5 / 2 for c in counts]
    assert np.mean(widths) == pytest.approx(planned, rel=0.02)


def test_the_interval_of_one_answer_says_next_to_nothing() -> None:
    no, yes = estimate_shares([0, 1], asked=1, truth=0.75, lie=0.25, level=0.95)
    assert (no.lower, no.upper) == (0, 1)
    assert (yes.lower, yes.upper) == (0, 1)


def test_nobody_asked_and_no_level_are_refused() -> None:
    for asked, level in ((0, 0.95), (5, 1.0), (5, 0.0)):
        with pytest.raises(InvalidParameterError, match="at least one response and 0 < level < 1"):
            estimate_shares([0, 0], asked=asked, truth=0.75, lie=0.25, level=level)


@pytest.mark.parametrize(
    ("asked", "lie", "truth", "count"),
    [(12, 1 / 6, 0.5, 0), (30, 0.1, 0.3, 1), (30, 0.1, 0.3, 26), (45, 1 / 6, 0.5, 26)],
)
def test_no_share_that_stands_beyond_one_that_is_rejected_is_lost(asked, lie, truth, count):
    (found,) = estimate_shares([count], asked=asked, truth=truth, lie=lie, level=0.95)
    counts = np.arange(asked + 1)
    ways = np.array([math.log(math.comb(asked, int(k))) for k in counts])

    def logs(rates):
        return counts * np.log(rates)[:, None] + (asked - counts) * np.log1p(-rates)[:, None]

    rates = np.linspace(lie, truth, 3001)
    best = np.diag(logs(np.clip(counts / asked, lie, truth)))
    against = best - logs(rates)
    extreme = against >= against[:, [count]] - 1e-9
    stands = rates[(np.exp(logs(rates) + ways) * extreme).sum(axis=1) > 0.05]
    assert np.any(np.diff(stands) > 1.5 * (truth - lie) / 3000), "an island"
    assert found.lower <= (stands[0] - lie) / (truth - lie) + 1e-9
    assert found.upper >= (stands[-1] - lie) / (truth - lie) - 1e-9


@pytest.mark.parametrize("asked", [3, 50, 1000])
@pytest.mark.parametrize("lie", [1e-17, 1e-4, 0.25])
def test_no_interval_begins_above_a_share_of_0_or_more(asked, lie) -> None:
    for each in estimate_shares([0, asked], asked=asked, truth=0.9, lie=lie, level=0.95):
        assert each.lower <= max(each.estimate, 0.0)
