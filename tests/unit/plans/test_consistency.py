"""Least squares under constraints, against numpy; whole numbers that add up."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.plans.estimation.consistency import Block, Consistent, inverse, whole_parts
from confide.plans.estimation.intervals import Component

SIZES, SPREADS = (3, 1, 4, 2, 1), (2.0, 5.0, 0.5, 3.0, 1.0)
CONSTRAINTS = ({0: 1.0, 1: 1.0, 2: -1.0}, {2: 1.0, 3: -1.0, 4: -1.0}, {1: 1.0, 4: -1.0})


def small() -> Consistent:
    blocks = [
        Block(size=n, noise=Component(variance=v, excess_kurtosis=3.0, step=1.0))
        for n, v in zip(SIZES, SPREADS, strict=True)
    ]
    return Consistent(blocks, CONSTRAINTS)


def projection() -> tuple[np.ndarray, np.ndarray]:
    sigma = np.diag(np.repeat(SPREADS, SIZES))
    rows = np.array([np.repeat([c.get(i, 0.0) for i in range(5)], SIZES) for c in CONSTRAINTS])
    gain = sigma @ rows.T @ np.linalg.inv(rows @ sigma @ rows.T)
    return np.eye(len(sigma)) - gain @ rows, sigma


def cut(flat: np.ndarray) -> dict[int, list[float]]:
    ends = np.cumsum(SIZES)[:-1]
    return {i: part.tolist() for i, part in enumerate(np.split(flat, ends))}


def test_values_variances_and_covariances_are_those_of_generalised_least_squares():
    rng = np.random.default_rng(4)
    project, sigma = projection()
    y, a, b = rng.normal(size=(3, sum(SIZES)))
    of = small()
    values = np.concatenate(of.values(list(cut(y).values())))
    assert values == pytest.approx(project @ y, abs=1e-12)
    whole = project @ sigma @ project.T
    assert of.component(cut(a)).variance == pytest.approx(a @ whole @ a, rel=1e-12)
    assert of.covariance(cut(a), cut(b)) == pytest.approx(a @ whole @ b, rel=1e-9)
    kurtosis = 3 * ((a @ project) ** 4) @ np.diag(sigma) ** 2 / (a @ whole @ a) ** 2
    assert of.component(cut(a)).excess_kurtosis == pytest.approx(kurtosis, rel=1e-9)


def test_blocks_that_are_left_out_have_weight_zero():
    of = small()
    some = {1: [1.0], 2: [0.5, 0.0, 0.0, -1.0]}
    full = {i: some.get(i, [0.0] * n) for i, n in enumerate(SIZES)}
    assert of.component(some).variance == pytest.approx(of.component(full).variance)
    assert of.covariance(some, full) == pytest.approx(of.component(full).variance)


def test_the_constraints_hold_exactly():
    values = small().values([[1.0, 2.0, 3.0], [9.0], [4.0] * 4, [5.0, 6.0], [7.0]])
    sums = [math.fsum(block) for block in values]
    for constraint in CONSTRAINTS:
        assert sum(k * sums[i] for i, k in constraint.items()) == pytest.approx(0.0, abs=1e-9)


def test_pooling_five_measured_totals_divides_the_variance_of_the_total_by_five():
    one = Component(variance=3.0)
    of = Consistent(
        [Block(size=4, noise=one) for _ in range(5)], [{0: -1.0, i: 1.0} for i in range(1, 5)]
    )
    assert of.component({0: [1.0] * 4}).variance == pytest.approx(4 * 3.0 / 5)


def test_the_inverse_is_the_inverse():
    matrix = [[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]
    assert np.array(inverse(matrix)) @ matrix == pytest.approx(np.eye(3), abs=1e-12)


@given(
    st.lists(st.floats(-50, 500), min_size=1, max_size=12),
    st.integers(0, 2000),
)
def test_whole_parts_add_up_and_are_not_negative(parts, total):
    found = whole_parts(parts, total=total)
    assert sum(found) == total
    assert min(found) >= 0


def test_whole_parts_of_whole_parts_that_add_up_are_themselves():
    assert whole_parts([3.0, 0.0, 12.0], total=15) == [3, 0, 12]
