"""Exact losses of mechanisms on given pairs of inputs, from their probabilities and not from draws.

Sums over the integers are cut where what is left out is below 10⁻¹²; cutting only lowers a loss, so
each value is a lower bound up to rounding.
"""

import math

import numpy as np

from confide.noise.randomized_response import RandomizedResponse
from confide.noise.unary_encoding import UnaryEncoding

LEFT_OUT = 1e-12


def largest_log_ratio(noise, *, shift):
    """max ln P[Z = z]/P[Z = z − shift] over the bulk of the law: ε of one moved coordinate."""
    width = noise.half_width(1 - LEFT_OUT)
    return max(math.log(noise.pmf(z) / noise.pmf(z - shift)) for z in range(-width, width + 1))


def renyi_per_order(noise, *, shift, alpha=2):
    """D_α(Z ‖ Z + shift)/α, which ρ-zCDP bounds by ρ."""
    wide = range(-40 * noise.half_width(0.5) - 40 * abs(shift), 40 * noise.half_width(0.5) + 1)
    logs = [(noise.pmf(z), noise.pmf(z - shift)) for z in wide]
    total = math.fsum(p * (p / q) ** (alpha - 1) for p, q in logs if p > 0 and q > 0)
    return math.log(total) / (alpha - 1) / alpha


class SumOfParts:
    """The law of the sum of m discrete Gaussian parts, by convolution of positive numbers."""

    def __init__(self, part, *, parts, reach=40):
        width = reach * part.half_width(0.5)
        one = np.array([part.pmf(z) for z in range(-width, width + 1)])
        self._law = one
        for _ in range(parts - 1):
            self._law = np.convolve(self._law, one)
        self._middle = parts * width

    def pmf(self, z):
        """P[Z = z]; 0 beyond what was added up."""
        place = z + self._middle
        return float(self._law[place]) if 0 <= place < len(self._law) else 0.0

    def half_width(self, level):
        """The least w with P[|Z| ≤ w] ≥ level."""
        w, inside = 0, self.pmf(0)
        while inside < level:
            w += 1
            inside += 2 * self.pmf(w)
        return w


class SumOfPolya(SumOfParts):
    """The law of the sum of m Pólya parts, by convolution of their weights."""

    def __init__(self, noise):
        m, scale = noise.parts, float(noise.scale)
        k = np.arange(1, math.ceil(60 * scale))
        chances = np.cumprod((m * (k - 1) + 1) / (m * k) * math.exp(-1 / scale))
        one = np.concatenate(([1.0], chances)) * (-math.expm1(-1 / scale)) ** (1 / m)
        whole = one
        for _ in range(m - 1):
            whole = np.convolve(whole, one)[: one.size]
        self._law = np.correlate(whole, whole, "full")
        self._middle = whole.size - 1


def chance_of_a_lone_key(rule):
    """At most how often one of the k keys of one person alone appears: δ of the selection."""
    return rule.keys_per_person * rule.noise().cdf(1 - rule.threshold())


def log_ratio_of_answer(survey):
    """The largest ln P[answer | true]/P[answer | another is true]."""
    keep, lie = survey.keep_probability(), survey.lie_probability()
    match survey:
        case RandomizedResponse():
            return math.log(keep / lie)
        case UnaryEncoding():  # the one is affirmed and the other is not
            return math.log(keep / lie * (1 - lie) / (1 - keep))


def laplace_curve(noise_multiplier):
    """The Rényi divergence of continuous Laplace noise with b/Δ, by order."""
    epsilon = 1 / noise_multiplier

    def curve(alpha):
        # e^{(α−1)ε} is factored out: it overflows at large orders.
        rest = alpha + (alpha - 1) * math.exp(-(2 * alpha - 1) * epsilon)
        return epsilon + math.log(rest / (2 * alpha - 1)) / (alpha - 1)

    return curve
