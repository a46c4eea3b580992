"""What a sum over sites costs, by who looks; numbers computed by another program."""

from fractions import Fraction

import pytest

from confide.plans.sites.site_losses import site_losses
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
