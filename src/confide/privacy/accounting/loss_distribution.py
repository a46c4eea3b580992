"""Laws of a privacy loss on a grid, in integers that are rounded up: never below the true δ.

Law.  The loss of an outcome is ℓ = ln P/Q; (P, Q) dominates a mechanism if its δ(ε) = E_P(1 −
e^{ε−ℓ})₊ is at least that of every pair of neighbours, in both orders.  What dominates each event,
chosen by whoever sees what came before, dominates all of them as a product [ZDW22, thm. 10], whose
loss is a sum: a convolution.

*A count with discrete Gaussian noise*, of which a person moves one cell by one: x ~ P has the loss
(1 − 2x)/(2σ²), so n of them have (n − 2S)/(2σ²), on a lattice of step 1/σ², without any rounding of
losses.  Noise is σ²-sub-Gaussian
[CKS20, sec. 3], so beyond R there is at most 2e^{−(R+1)²/(2σ²)}, which is put at infinity.

*Any pure event* is dominated by randomised response of its ε [KOV15].

*A choice by the exponential mechanism* of ε has, given a pair of neighbours, losses within a range
[t − ε, t] [DDR20], so at most the δ of two losses t and t − ε that balance: (1 − e^{t−ε})(1 −
e^{x−t})/(1 − e^{−ε}) at x.  The greatest over t is at t = (x + ε)/2, (1 − e^{(x−ε)/2})²/(1 −
e^{−ε}), which is δ of the loss of density ½e^{(x−ε)/2}/(1 − e^{−ε}) on [−ε, ε]: convex in e^x.
Split as below on a lattice of step h from −ε on, it has tanh(h/4)·e^{(ℓ−ε)/2}/(1 − e^{−ε}) from
either side at each ℓ.

*Laws of two lattices* meet on a third, of step h, by splitting: the mass p at ℓ in [jh, (j+1)h)
goes to both ends, so that both laws keep their mass there, p and pe^{−ℓ}.  The share of the upper
end is (1 − e^{−(ℓ−jh)})/(1 − e^{−h}).  To forget where a mass came from is post-processing, which
gives the law before from the law after; so the latter dominates [DGKKM22].

*Privacy:* masses are integers in 2⁻⁸⁰.  Every mass is rounded up, at every step: exp is raised by
more than its error, quotients and products are raised to the next integer.  δ(ε) increases in each
mass, and what is cut off counts in full, so what :meth:`LossDistribution.delta_at` returns is an
upper bound.  A convolution is one product of two long integers, hence exact.
*Utility:* rounding adds less than 1e-17; splitting adds h²/4 to the variance of the loss.

References:
    [ZDW22] Zhu, Dong, Wang. Optimal accounting of differential privacy via characteristic function.
        AISTATS 2022. https://arxiv.org/abs/2106.08567
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
    [DDR20] Dong, Durfee, Rogers. Optimal differential privacy composition for exponential
        mechanisms. ICML 2020. https://arxiv.org/abs/1909.13830
    [KOV15] Kairouz, Oh, Viswanath. The composition theorem for differential privacy. ICML 2015.
        https://arxiv.org/abs/1311.0776
    [DGKKM22] Doroshenko, Ghazi, Kamath, Kumar, Manurangsi. Connect the dots: tighter discrete
        approximations of privacy loss distributions. PoPETs 2022(4).
        https://arxiv.org/abs/2207.04380
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from confide.privacy.accounting.gaussian_curve import gaussian_delta_above

_BITS = 80
CERTAIN = 1 << _BITS
"""Steps of a mass in one."""

_SLOT = 22  # bytes of one mass in a long integer: 2·(80 + 1) bits, and 2¹⁴ summands
_ULP = sys.float_info.epsilon
_SHARE = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class LossDistribution:
    """The law of a loss under P, from above.

    Attributes:
        start: The least loss, in nats.
        step: Between losses.
        masses: Of each loss from the least on, in 2⁻⁸⁰.
        infinite: Mass at infinity, in 2⁻⁸⁰.
    """

    start: Fraction
    step: Fraction
    masses: tuple[int, ...]
    infinite: int = 0

    def losses(self) -> list[float]:
        """Return the losses in nats, rounded."""
        start, step = float(self.start), float(self.step)
        return [start + place * step for place in range(len(self.masses))]

    def beside(self, other: "LossDistribution", *, cut: int) -> "LossDistribution":
        """Return the law of the sum of this loss and another of the same step.

        Args:
            other: Independent of this one.
            cut: Most that is put at infinity at either end, in 2⁻⁸⁰.
        """
        both = _convolved(self.masses, other.masses)
        infinite = self.infinite + other.infinite
        return _trimmed(self.start + other.start, self.step, both, infinite, cut=cut)

    def times(self, count: int, *, cut: int) -> "LossDistribution":
        """Return the law of the sum of so many losses like this one; at least one."""
        square, found = self, None
        for bit in range(count.bit_length()):
            if count >> bit & 1:
                found = square if found is None else found.beside(square, cut=cut)
            if count >> bit + 1:
                square = square.beside(square, cut=cut)
        return self if found is None else found

    def on_grid(self, step: Fraction) -> "LossDistribution":
        """Return a law on the whole multiples of a step that dominates this one."""
        whole = math.lcm(self.start.denominator, self.step.denominator, step.denominator)
        start, between, wide = (int(each * whole) for each in (self.start, self.step, step))
        first = start // wide
        masses = [0] * ((start + between * (len(self.masses) - 1)) // wide - first + 2)
        h = wide / whole
        kept = -math.expm1(-h)
        for place, mass in enumerate(self.masses):
            lower, rest = divmod(start + place * between, wide)
            up = _share(-math.expm1(-rest / whole) / kept)
            down = _share(math.exp(-rest / whole) * -math.expm1(-(wide - rest) / whole) / kept)
            masses[lower - first] += -(-mass * down // _SHARE)
            masses[lower - first + 1] += -(-mass * up // _SHARE)
        return LossDistribution(
            start=first * step, step=step, masses=tuple(masses), infinite=self.infinite
        )

    def delta_at(self, *, spread: float = 0.0) -> Callable[[float], float]:
        """Return δ as a function of ε, from above.

        Args:
            spread: μ of an independent Gaussian loss, of mean μ²/2 and variance μ², added to this.
        """
        pairs = [
            (loss, mass / CERTAIN) for loss, mass in zip(self.losses(), self.masses, strict=True)
        ]
        infinite = self.infinite / CERTAIN
        # Losses are off by a few ulp, masses by one, sums by less than one a term.
        raised = 1 + _ULP * (len(pairs) + 64)
        off = 8 * _ULP * (1 + max(abs(pairs[0][0]), abs(pairs[-1][0])))

        def delta(epsilon: float) -> float:
            at = epsilon - off - 4 * _ULP * abs(epsilon)
            if spread:
                found = (mass * gaussian_delta_above(at - ell, mu=spread) for ell, mass in pairs)
            else:
                found = (-mass * math.expm1(at - ell) for ell, mass in pairs if ell > at)
            return raised * (sum(found) + infinite)

        return delta


def no_loss() -> LossDistribution:
    """Return the law of no event: a loss of 0."""
    return LossDistribution(start=Fraction(0), step=Fraction(1), masses=(CERTAIN,))


def unit_gaussian(sigma_squared: Fraction, *, left_out: float) -> LossDistribution:
    """Return the law of a count with discrete Gaussian noise that a person moves by one.

    Args:
        sigma_squared: Of the noise, in squared counts.
        left_out: About which probability is put at infinity; the exact one counts.
    """
    s2 = float(sigma_squared)
    reach = math.ceil(math.sqrt(2 * s2 * math.log(2 / left_out)))
    scale = (1 + 16 * _ULP) / _normaliser_below(s2)
    right = [_mass(scale * _weight_above(x, s2)) for x in range(reach + 1)]
    beyond = _mass(2 * _weight_above(reach + 1, s2))
    return LossDistribution(
        start=(1 - 2 * reach) / (2 * sigma_squared),
        step=1 / sigma_squared,
        masses=(*right[:0:-1], *right),
        infinite=beyond,
    )


def response_law(epsilon: Fraction) -> LossDistribution:
    """Return the law of randomised response, which dominates every ε-DP event."""
    rare = math.exp(-float(epsilon)) * (1 + (4 + float(epsilon)) * _ULP)
    kept = (1 + 4 * _ULP) / (1 + math.exp(-float(epsilon)) * (1 - (4 + float(epsilon)) * _ULP))
    return LossDistribution(
        start=-epsilon, step=2 * epsilon, masses=(_mass(rare * kept), _mass(kept))
    )


def choice_law(epsilon: Fraction, *, cells: int) -> LossDistribution:
    """Return the law of a choice by the exponential mechanism, on so many steps."""
    e = float(epsilon)
    step = 2 * epsilon / cells
    each = math.tanh(float(step) / 4) / -math.expm1(-e) * (1 + 32 * _ULP)
    weights = (math.exp(-e + place * float(step) / 2) for place in range(cells + 1))
    raised = (1 + 8 * _ULP * (1 + e)) * each
    masses = [_mass(2 * raised * weight) for weight in weights]
    for end in (0, -1):
        masses[end] = -(-masses[end] // 2)
    return LossDistribution(start=-epsilon, step=step, masses=tuple(masses))


def _normaliser_below(s2: float) -> float:
    """Return a lower bound of Σ_z e^{−z²/(2σ²)}: all of its terms are positive."""
    if s2 >= 1:  # Poisson's formula without its further terms, all positive
        return math.sqrt(2 * math.pi * s2) * (1 - 16 * _ULP)
    weights = (math.exp(-z * z / (2 * s2)) for z in range(1, 12))
    return (1 + 2 * math.fsum(weights)) * (1 - 512 * _ULP)


def _weight_above(x: int, s2: float) -> float:
    exponent = x * x / (2 * s2)
    return math.exp(-exponent) * (1 + (4 + 4 * exponent) * _ULP)


def _mass(chance: float) -> int:
    return math.ceil(math.ldexp(chance * (1 + 4 * _ULP), _BITS))


def _share(part: float) -> int:
    """Return a share from above, in 2⁻⁶²: of quotients with an error of a few ulp."""
    return min(_SHARE, math.ceil(math.ldexp(part * (1 + 32 * _ULP), 62)))


def _convolved(one: tuple[int, ...], other: tuple[int, ...]) -> list[int]:
    """Return Σ one[i]·other[k − i] in 2⁻⁸⁰, each rounded up: the digits of one long product."""
    product = _long(one) * (_long(one) if one is other else _long(other))
    count = len(one) + len(other) - 1
    digits = product.to_bytes(_SLOT * (count + 1), "little")
    sums = (
        int.from_bytes(digits[at : at + _SLOT], "little") for at in range(0, _SLOT * count, _SLOT)
    )
    return [-(-each >> _BITS) for each in sums]


def _long(masses: tuple[int, ...]) -> int:
    return int.from_bytes(b"".join(m.to_bytes(_SLOT, "little") for m in masses), "little")


def _trimmed(
    start: Fraction, step: Fraction, masses: list[int], infinite: int, *, cut: int
) -> LossDistribution:
    """Return a law whose ends, of at most ``cut`` each, are put at infinity."""
    low, high, below, above = 0, len(masses), 0, 0
    while low < high - 1 and below + masses[low] <= cut:
        below += masses[low]
        low += 1
    while high > low + 1 and above + masses[high - 1] <= cut:
        high -= 1
        above += masses[high]
    return LossDistribution(
        start=start + low * step,
        step=step,
        masses=tuple(masses[low:high]),
        infinite=infinite + below + above,
    )
