"""Derivatives of curves and comparisons are those of the formulas themselves, cell by cell.

The oracle moves one cell of the table at a time by a complex step, and evaluates the estimate
whole.
"""

import math

import numpy as np
import pytest

from confide.plans.estimation.intervals import Component
from confide.statistics.survival.analysis import (
    _means,
    concordance_band,
    counted,
    hazard_ratio,
    log_rank,
)
from confide.statistics.survival.comparison import (
    concordance,
    log_hazard_ratio,
    log_rank_covariance,
    log_rank_scores,
    pair_terms,
    pair_weights,
    quadratic_form,
    ratio_score,
)
from confide.statistics.survival.curves import (
    at_risk,
    cumulative_hazard,
    cumulative_incidence,
    restricted_mean,
    survival,
)
from confide.statistics.survival.derivatives import (
    hazard_slopes,
    incidence_slopes,
    slopes_coupled,
    survival_slopes,
    totals,
)
from confide.statistics.survival.table import ExitTable, exit_mixing, point_mixing
from confide.statistics.survival.uncertainty import noise_slopes, propagate

STEP = 1e-30
EDGES = np.array([0, 3, 6, 10, 15, 21, 30])
WIDTHS = np.diff(EDGES).astype(float)
BINS, CAUSES, ARMS = len(EDGES) - 1, 2, 3
NOISE = Component(variance=2.0, excess_kurtosis=1.5)


def derivative(estimate, table, *, axes):
    """Return the derivatives by the last axes of a table, (cells, *shape of the estimate)."""
    cells = table.shape[table.ndim - axes :]
    number = math.prod(cells)
    moves = np.eye(number).reshape(number, *[1] * (table.ndim - axes), *cells)
    return estimate(table[None] + 1j * STEP * moves).imag / STEP


def tables(*lead, seed=5):
    """Return noisy tables: some counts are negative, some bins have no event."""
    rng = np.random.default_rng(seed)
    exits = (
        rng.poisson(9, size=(*lead, ARMS, BINS + 1, CAUSES + 1))
        + rng.normal(scale=2, size=(*lead, ARMS, BINS + 1, CAUSES + 1)).round()
    )
    exits[..., 2, :-1] = 0
    exits[..., -1, :-1] = rng.integers(-2, 3, size=exits[..., -1, :-1].shape)
    exits[..., -1, -1] += 60
    return exits


def cut(exits):
    return ExitTable(exits=exits, edges=EDGES, noise=NOISE)


def close(found, expected):
    assert found.shape == expected.shape
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("lead", [(), (4,)], ids=["one table", "many tables"])
def test_slopes_of_curves_are_those_of_the_formulas(lead):
    exits = tables(*lead)
    close(survival_slopes(exits), derivative(survival, exits, axes=2))
    close(hazard_slopes(exits), derivative(cumulative_hazard, exits, axes=2))
    for cause in range(CAUSES):
        expected = derivative(lambda t, k=cause: cumulative_incidence(t)[..., k], exits, axes=2)
        close(incidence_slopes(exits, cause=cause), expected)


def test_slopes_hold_where_those_who_leave_are_there_for_a_part_of_their_bin():
    table = cut(tables(4))

    def rates(exits):
        return cumulative_hazard(table.group(exits), early=table.early)

    found = hazard_slopes(table.grouped, early=table.early)
    close(table.by_cells(found), derivative(rates, table.exits, axes=2))


def test_slopes_hold_where_an_event_meets_everyone_at_risk():
    exits = np.array([[[3.0, 1.0, 2.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]]])
    found, expected = survival_slopes(exits), derivative(survival, exits, axes=2)
    assert survival(exits)[0, -1] == 0
    close(found, expected)


def test_slopes_of_comparisons_are_those_of_the_formulas():
    exits = tables(4)
    kept = np.array([True] * 4 + [False] * 2)
    kept = np.stack([kept, np.ones(BINS, dtype=bool), kept, kept])

    def until(cells):
        return cut(cells).until(kept)

    shown = until(exits)
    expected = derivative(lambda t: log_rank_scores(until(t)), exits, axes=3)
    close(slopes_of_log_rank(shown, kept), expected)
    for weights in pair_weights(ARMS):

        def terms(leaving, risk, weights=weights):
            return pair_terms(leaving, risk, weights=weights, widths=WIDTHS)

        def pairs(cells, terms=terms):
            cells = until(cells)
            return terms(cells[..., :-1, :], at_risk(cells)[..., :-1]).sum(axis=-1)

        found = totals(slopes_coupled(terms, shown), kept=kept)
        close(found, derivative(pairs, exits, axes=3))


def slopes_of_log_rank(shown, kept):
    from confide.statistics.survival.comparison import log_rank_terms

    return totals(slopes_coupled(log_rank_terms, shown), kept=kept[..., None, :])


@pytest.mark.parametrize("points", [False, True], ids=["exit histogram", "per time point"])
def test_errors_are_those_of_derivatives_taken_cell_by_cell(points):
    make = point_mixing if points else exit_mixing
    mixing = make([1, 0, 2, 2], bins=BINS, causes=CAUSES)
    table = ExitTable(exits=tables(), edges=EDGES, noise=NOISE, mixing=mixing)
    exits = table.exits

    def of(estimate, axes):
        slopes = derivative(estimate, exits, axes=axes)
        return propagate(slopes, exits, axes=axes, noise=NOISE, mixing=mixing)

    mean = of(lambda t: restricted_mean(survival(table.group(t)), widths=table.widths), 2)
    found = _means(table)[1]
    close(found.sampling, mean.sampling)
    close(found.noise, mean.noise)
    close(found.kurtosis, mean.kurtosis)
    risk, events, censored = counted(table, level=0.95)
    close(risk.error, np.sqrt(of(at_risk, 2).noise))
    gone = np.sqrt(of(lambda t: np.cumsum(t[..., :-1, :], axis=-2), 2).noise)
    close(events.error, gone[..., :-1])
    close(censored.error, gone[..., -1])


def test_intervals_of_comparisons_are_those_of_derivatives_taken_cell_by_cell():
    mixing = exit_mixing([1, 0, 2], bins=BINS, causes=CAUSES)
    table = ExitTable(exits=20 * tables(), edges=EDGES, noise=NOISE, mixing=mixing)
    kept = np.all(table.usable(), axis=-2)

    def deviation(estimate, exits):
        slopes = derivative(estimate, exits, axes=3)
        of = propagate(slopes, exits, axes=3, noise=NOISE, mixing=mixing)
        return np.sqrt(of.total)

    found = concordance_band(table, level=0.95)
    error = deviation(lambda t: concordance(cut(t).until(kept), widths=WIDTHS), table.exits)
    assert found.error == pytest.approx(error, rel=1e-9)

    two = table.exits[[0, 2]]
    both = np.all(table.usable()[[0, 2]], axis=-2)
    widths = table.widths.astype(float)
    log = log_hazard_ratio(cut(two).until(both), widths=widths)
    rate = ratio_score(cut(two).until(both), log + 1e-30j, widths=widths).imag / 1e-30
    error = deviation(lambda t: ratio_score(cut(t).until(both), log, widths=widths) / -rate, two)
    found = hazard_ratio(table, arm=2, level=0.95)
    assert found.error == pytest.approx(np.exp(log) * error, rel=1e-9)

    together = table.usable_together()
    slopes = derivative(
        lambda t: log_rank_scores(table.group(cut(t).until(together))), table.exits, axes=3
    )
    felt = noise_slopes(slopes, mixing=mixing)
    shown = table.group(table.until(together))
    covariance = log_rank_covariance(shown) + NOISE.variance * felt.T @ felt
    expected = quadratic_form(log_rank_scores(shown), covariance)
    assert log_rank(table) == pytest.approx(expected, rel=1e-9)
