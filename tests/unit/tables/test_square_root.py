"""The square root of running sums: its figures, its exact sensitivity, and what solves it again."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import InvalidParameterError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.tables.aggregates.square_root import (
    ONE,
    coefficients,
    convolved,
    first_columns,
    inverse,
    largest_height,
    largest_square,
    largest_sum,
    product,
    require_short,
    running,
)
from seeded import SeededEntropy

YEAR, RHO = 365, Fraction(1, 2)


def matrix(length: int) -> np.ndarray:
    """C as exact Python integers."""
    c = coefficients(length)
    rows = [[c[t - s] if t >= s else 0 for s in range(length)] for t in range(length)]
    return np.array(rows, dtype=object)


def errors(length: int, *, square: int) -> np.ndarray:
    """Standard deviation of each running count at ρ = 1/2."""
    sigma = math.sqrt(square / (2 * RHO)) / ONE
    return sigma * np.sqrt(np.cumsum(np.square(running(length))))


def test_the_root_times_itself_is_the_matrix_of_running_sums_to_the_grid():
    c = matrix(60).astype(float) / ONE
    assert np.abs(c @ c - np.tri(60)).max() < 60 / ONE


def test_coefficients_are_rounded_once_and_never_increase():
    c, f = coefficients(4096), Fraction(1)
    assert all(a >= b > 0 for a, b in itertools.pairwise(c))
    for j in range(200):
        assert abs(Fraction(c[j]) - ONE * f) <= Fraction(1, 2)
        f *= Fraction(2 * j + 1, 2 * j + 2)


def test_a_year_of_running_counts_at_half_rho_has_rms_2_8_and_at_most_2_95():
    each = errors(YEAR, square=first_columns(1, length=YEAR))
    rms, most = math.sqrt(np.mean(each**2)), each.max()
    assert rms == pytest.approx(2.78, abs=0.005)
    assert rms <= 2.8
    assert most == pytest.approx(2.944, abs=0.001)
    assert most <= 2.95


def test_draws_of_the_noise_itself_have_that_error_too():
    noise = DiscreteGaussian(sigma_squared=first_columns(1, length=YEAR) / (2 * RHO))
    drawn = noise.sample(YEAR * 1500, entropy=SeededEntropy(4)).reshape(1500, YEAR) / ONE
    kernel = np.array(running(YEAR))
    solve = np.array([[kernel[t - s] if t >= s else 0 for s in range(YEAR)] for t in range(YEAR)])
    found = np.sqrt(np.mean((drawn @ solve.T) ** 2))
    assert found == pytest.approx(2.7815, rel=0.02)


def test_noise_on_each_day_added_up_would_be_13_5_and_19_1():
    each = np.sqrt(np.arange(1, YEAR + 1))  # σ = 1 at ρ = 1/2 and one contribution
    assert math.sqrt(np.mean(each**2)) == pytest.approx(13.5, abs=0.05)
    assert each.max() == pytest.approx(19.1, abs=0.05)


def test_five_days_of_a_patient_move_it_by_7_57_and_not_by_the_root_of_five():
    root = math.sqrt(first_columns(5, length=YEAR)) / ONE
    one = math.sqrt(first_columns(1, length=YEAR)) / ONE
    assert root == pytest.approx(7.57, abs=0.005)
    assert math.sqrt(5) * one == pytest.approx(3.84, abs=0.005)
    assert root <= 5 * one


@pytest.mark.parametrize("length", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("series", [1, 2, 3])
def test_of_all_sets_of_cells_none_moves_it_further_than_the_exact_maximum(length, series):
    c = np.kron(np.eye(series, dtype=int).astype(object), matrix(length))
    for k in range(1, min(4, length * series) + 1):
        sets = itertools.combinations(range(length * series), k)
        moved = [c[:, list(chosen)].sum(axis=1) for chosen in sets]
        square = largest_square(k, length=length, series=series)
        assert max(int((v * v).sum()) for v in moved) == square
        assert max(int(v.sum()) for v in moved) == largest_sum(k, length=length, series=series)
        assert max(int(v.max()) for v in moved) == largest_height(k, length=length)


def test_rows_bounded_in_each_cell_move_it_furthest_when_all_are_there():
    c, length, r = matrix(4), 4, 3
    worst = 0
    for rows in itertools.product(range(r + 1), repeat=length):
        if sum(n > 0 for n in rows) <= 2:
            v = c @ np.array(rows, dtype=object)
            worst = max(worst, int((v * v).sum()))
    assert worst == r**2 * largest_square(2, length=length, series=1)


def test_under_substitution_nobody_moves_it_further_than_twice_the_square():
    c, length = matrix(5), 5
    vectors = [np.array(v, dtype=object) for v in itertools.product((0, 1), repeat=length)]
    vectors = [v for v in vectors if v.sum() <= 2]
    moved = [c @ (v - w) for v in vectors for w in vectors]
    bound = largest_square(2, length=length, series=1)
    assert bound < max(int((m * m).sum()) for m in moved) <= 2 * bound
    assert max(int(abs(m).max()) for m in moved) <= largest_height(2, length=length)


def test_running_sums_and_single_periods_are_solved_back_from_the_integers():
    x = np.random.default_rng(2).integers(0, 100_000, 700).tolist()
    z = [value / ONE for value in product(x, until=700)]
    assert np.allclose(convolved(running(700), z), np.cumsum(x), rtol=0, atol=1e-4)
    assert np.allclose(convolved(inverse(700), z), x, rtol=0, atol=1e-4)


def test_a_coordinate_depends_on_the_periods_up_to_it_alone():
    x = [5, 0, 2, 9, 4, 4]
    later = [*x[:3], 77, 0, 1]
    assert product(x, until=3) == product(later, until=3) == product(x, until=6)[:3]


def test_a_series_that_is_too_long_or_empty_is_refused():
    for length in (0, 4097):
        with pytest.raises(InvalidParameterError, match="periods"):
            coefficients(length)
    with pytest.raises(InvalidParameterError, match="fewer series"):
        require_short(4000, series=10)
