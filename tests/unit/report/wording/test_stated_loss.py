import math
from fractions import Fraction

import pytest

from confide.noise.gaussian import analytic_sigma
from confide.privacy.loss import ApproxDP
from confide.report.wording.odds_words import meaning_of_stated


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "1e-2"), ("1", "1e-3"), ("2", "1e-5")])
def test_single_outputs_of_a_gaussian_pass_a_stated_epsilon_but_not_what_is_said(epsilon, delta):
    loss = ApproxDP(epsilon=Fraction(epsilon), delta=Fraction(delta))
    told = meaning_of_stated(loss)
    sigma = analytic_sigma(float(loss.epsilon), delta=float(loss.delta))

    def passed(bound):  # the log-ratio is normal with mean 1/(2σ²) and deviation 1/σ
        return 0.5 * math.erfc((bound - 1 / (2 * sigma**2)) * sigma / math.sqrt(2))

    assert passed(float(loss.epsilon)) > float(loss.delta)  # so "but for δ" would be wrong
    assert passed(float(told.pointwise.epsilon)) <= float(told.exception)
