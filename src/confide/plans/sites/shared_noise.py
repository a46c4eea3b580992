"""Noise that sites add in parts: what a measurement over sites says of it.

*Law.*  Each of n sites adds discrete Gaussian noise of σᵢ² on a grid of 1/g of the measurement's
unit, g odd, so that σᵢ ≥ 3 grid points.  m = n − d − c parts alone keep ρ = (kΔ₂)²/(2mσᵢ²) + κ·kΔ₁,
where a person may be a patient of k sites, and an integer vector that moves by Δ₁ moves in at most
Δ₁ coordinates (:mod:`confide.noise.distributed.gaussian_parts`).  The coordinator rounds the sum
to the unit.

In a ledger of ε each site adds a Pólya part instead (:mod:`confide.noise.distributed.polya_parts`),
on the measurement's own grid: m parts are exactly discrete Laplace noise of scale kΔ₁/ε, which a
person who is a patient of k sites moves by kΔ₁.

*Utility:* mean 0 and variance at most nσᵢ²/g² + 1/12 (1/12 of the rounding, where g > 1), of Pólya
parts n/m times that of discrete Laplace noise: n/m times that of one trusted curator.  Intervals
are made for all n parts; where sites dropped out they are a little wide.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from confide.errors import InvalidParameterError, UnsupportedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.gaussian_parts import LEAST_VARIANCE, GaussianParts
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.distributed.polya_parts import PolyaParts
from confide.noise.distributed.unclosedness import as_bound, unclosedness
from confide.noise.mechanism import AddedNoise, Mechanism
from confide.plans.sites.federation import Federation
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.privacy.sensitivity import Sensitivity

_STEPS = 2**20
"""Parts of 1 to which σᵢ² is rounded up: more noise than needed by at most 1e-6/σᵢ²."""

_ROUNDING = Fraction(1, 12)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedNoise:
    """Noise of one measurement, of which every site adds a part: in losses of ρ or of ε.

    Attributes:
        part: Of one site, on the grid; ``part.parts`` is m.
        sites: n.
        per_person: k, of how many sites one person may be a patient.
        grid: g, grid points in one unit of the measurement; odd, and 1 of Pólya parts.

    Example:
        A count at ρ = 0.005 over ten hospitals, seven of which are counted on:

        >>> part = GaussianParts(sigma_squared_each=Fraction(100, 7), parts=7)
        >>> SharedNoise(part=part, sites=10).total.sigma_squared
        Fraction(1000, 7)
    """

    part: GaussianParts | PolyaParts
    sites: int
    per_person: int = 1
    grid: int = 1

    @classmethod
    def of_epsilon(
        cls, epsilon: Fraction, *, sensitivity: Sensitivity, federation: Federation
    ) -> "SharedNoise":
        """Return the noise that a charge in ε buys in a federation: m parts lose exactly that.

        Raises:
            InvalidParameterError: If the scale is beyond what is drawn.

        Example:
            A count at ε = ½ over five sites, three of them counted on:

            >>> part = PolyaParts(scale=Fraction(2), parts=3)
            >>> SharedNoise(part=part, sites=5).total
            PolyaDifference(scale=Fraction(2, 1), shape=Fraction(5, 3))
        """
        k, held = federation.sites_per_person, federation.tolerance
        part = PolyaParts(scale=k * sensitivity.l1 / epsilon, parts=held.honest)
        return cls(part=part, sites=held.sites, per_person=k)

    @classmethod
    def bought(
        cls, rho: Fraction, *, sensitivity: Sensitivity, federation: Federation
    ) -> "SharedNoise":
        """Return the noise that a charge in ρ buys in a federation, κ included.

        κ falls as σᵢ² grows, so that of the least σᵢ² pays for any larger one.

        Raises:
            InvalidParameterError: If κ alone loses as much as is charged.
        """
        parts, k = federation.tolerance.honest, federation.sites_per_person
        plain = k * k * sensitivity.l2_squared / (2 * parts * rho)
        grid = 1 if plain >= LEAST_VARIANCE else math.isqrt(math.ceil(LEAST_VARIANCE / plain)) | 1
        while grid * grid * plain < LEAST_VARIANCE:
            grid += 2
        least = grid * grid * plain
        rest = rho - as_bound(unclosedness(least, parts=parts)) * k * sensitivity.l1
        if rest <= 0:
            raise InvalidParameterError("Expected a larger ρ: parts of noise do not meet this one.")
        paid = math.ceil(least * rho / rest * _STEPS)
        each = Fraction(max(math.ceil(least * _STEPS) + 1, paid), _STEPS)
        part = GaussianParts(sigma_squared_each=each, parts=parts)
        return cls(part=part, sites=federation.tolerance.sites, per_person=k, grid=grid)

    @property
    def measure(self) -> Measure:
        """In which its loss is charged."""
        return Measure.PURE if isinstance(self.part, PolyaParts) else Measure.ZCDP

    @property
    def total(self) -> DiscreteGaussian | PolyaDifference:
        """The law that estimates and intervals are made with: of all parts and the rounding."""
        if isinstance(self.part, PolyaParts):
            shape = Fraction(self.sites, self.part.parts)
            return PolyaDifference(scale=self.part.scale, shape=shape)
        variance = self.sites * self.part.sigma_squared_each / self.grid**2
        return DiscreteGaussian(sigma_squared=variance + (_ROUNDING if self.grid > 1 else 0))

    def loses(self, sensitivity: Sensitivity) -> Fraction:
        """Return what m parts lose, in ε or in ρ, κ included."""
        k, moved = self.per_person, sensitivity
        if isinstance(self.part, PolyaParts):
            return Fraction(self.part.total.loss(l1=k * moved.l1).epsilon)
        far = self.grid**2 * k**2 * moved.l2_squared
        return self.part.loss(l2_squared=far, l0=k * moved.l1).rho

    def is_of(self, federation: Federation) -> bool:
        """Return whether it is shared out as a federation says, on a grid that rounds fairly."""
        held = federation.tolerance
        return (
            (self.sites, self.part.parts, self.per_person)
            == (held.sites, held.honest, federation.sites_per_person)
            and self.grid % 2 == 1
            and (self.grid >= 1 if self.measure is Measure.ZCDP else self.grid == 1)
        )

    def charged_as(self, sensitivity: Sensitivity, *, nano: int) -> AddedNoise:
        """Return the noise that a charge buys of one curator: the event that ledgers keep.

        Parts that keep the charge, as a plan has to show, lose no more than this noise does.

        Example:
            >>> from confide.privacy.unit import Entity
            >>> moved = Sensitivity(l1=1, l2_squared=1, linf=1, entity=Entity.PATIENT,
            ...                     unit="persons", because="one row")
            >>> part = GaussianParts(sigma_squared_each=Fraction(100, 7), parts=7)
            >>> SharedNoise(part=part, sites=10).charged_as(moved, nano=5_000_000)
            DiscreteGaussian(sigma_squared=Fraction(100, 1))
        """
        if isinstance(self.part, PolyaParts):
            return DiscreteLaplace(scale=Fraction(sensitivity.l1 * NANO, nano))
        return DiscreteGaussian(sigma_squared=Fraction(sensitivity.l2_squared * NANO, 2 * nano))

    def rounded(self, total: int) -> int:
        """Return the whole number nearest to a sum on the grid; g is odd, so there is one.

        Example:
            >>> part = GaussianParts(sigma_squared_each=Fraction(9), parts=2)
            >>> noise = SharedNoise(part=part, sites=3, grid=5)
            >>> [noise.rounded(total) for total in (-8, -7, 2, 3, 12)]
            [-2, -1, 0, 1, 2]
        """
        return (2 * total + self.grid) // (2 * self.grid)


def shared_noise(
    law: Mechanism, *, nano: int, sensitivity: Sensitivity, federation: Federation
) -> SharedNoise:
    """Return the parts that take the place of one curator's noise, at the same charge.

    Raises:
        InvalidParameterError: If no parts are drawn that keep the charge.
        UnsupportedError: If the mechanism adds no noise to a vector.
    """
    match law:
        case DiscreteGaussian():
            return SharedNoise.bought(
                Fraction(nano, NANO), sensitivity=sensitivity, federation=federation
            )
        case DiscreteLaplace():
            return SharedNoise.of_epsilon(
                Fraction(nano, NANO), sensitivity=sensitivity, federation=federation
            )
        case _:
            raise UnsupportedError(f"{type(law).__name__} adds no noise to a vector.")
