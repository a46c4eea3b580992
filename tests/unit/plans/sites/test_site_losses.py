"""What a sum over sites costs, by who looks; numbers computed by another program."""

import math
from fractions import Fraction

import numpy as np
import pytest

from confide.plans.sites.site_losses import of_one_part, site_losses
from confide.plans.sites.tolerance import Tolerance

EXAMPLES = [  # n, d, c, t: outsider, after drops, all others collude
    ((3, 0, 1, 3), 0.013333, 0.013333, 0.04),
    ((5, 1, 1, 4), 0.012, 0.015, 0.06),
    ((10, 2, 1, 6), 0.014, 0.0175, 0.14),
    ((10, 3, 3, 7), 0.008, 0.011429, 0.08),
    ((20, 4, 4, 13), 0.012, 0.015, 0.24),
]


@pytest.mark.L4
@pytest.mark.parametrize(("held", "outsider", "after", "all_others"), EXAMPLES)
def test_losses_are_the_published_ones(held, outsider, after, all_others):
    n, d, c, t = held
    tolerance = Tolerance(sites=n, drops=d, colluders=c, threshold=t)
    losses = site_losses(Fraction("0.02"), tolerance=tolerance)
    assert float(losses.charged) == 0.02
    assert float(losses.outsider) == pytest.approx(outsider, abs=1e-6)
    assert float(losses.outsider_after_drops) == pytest.approx(after, abs=1e-6)
    assert float(losses.all_others_collude) == pytest.approx(all_others)
    assert [float(losses.at_sites(k)) for k in (1, 2, 3)] == pytest.approx([0.02, 0.08, 0.18])


@pytest.mark.parametrize("parts", [2, 3, 7])
@pytest.mark.parametrize("moved", [1, 2, 5, 40])
def test_a_pure_sum_that_all_others_collude_against_loses_no_more_than_is_stated(parts, moved):
    """The largest log-ratio of one part alone and of itself moved, by its law; and it comes near."""
    scale, shape = 3.0, 1 / parts
    k = np.arange(700)
    steps = np.log((k[:-1] + shape) / (k[:-1] + 1))
    one = np.exp(np.concatenate(([0.0], np.cumsum(steps))) - k / scale)
    law = np.correlate(one, one, "full")[400:-400]
    found = np.abs(np.log(law[moved:] / law[:-moved])).max()
    stated = of_one_part(moved / scale, parts=parts, moved=moved, numbers=1)
    assert moved / scale < found <= stated * (1 + 1e-9)
    assert found > 0.5 * stated


def test_one_part_loses_most_where_a_person_moves_many_numbers_a_little():
    few, many = (of_one_part(1.0, parts=3, moved=12, numbers=n) for n in (2, 12))
    assert 1 < few < many == pytest.approx(1 + 12 * math.log(3))
    assert of_one_part(1.0, parts=3, moved=12, numbers=99) == many
