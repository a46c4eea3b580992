"""Discrete Gaussian noise in parts, for losses in ρ: each site adds one, m honest ones are enough.

*Law.*  Each part is exactly discrete Gaussian of σᵢ².  Their sum is charged as what it is, not as a
discrete Gaussian: ρ = l2_squared/(2mσᵢ²) + κ·l0 (:mod:`.unclosedness`), where l0 is the number of
coordinates that one privacy unit may move.  So a coarse grid is refused: σᵢ ≥ 3 always, and κ is
then below 1.1·10⁻³⁸ a coordinate.

*Privacy:* m is the number of survivors whose part nobody knows.  A site knows its own part, so m is
one less than the survivors at the least.  *Utility:* with all n sites alive the variance is nσᵢ²,
n/m times that of one curator who is trusted with all records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from confide.errors import InvalidParameterError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.distributed.unclosedness import as_bound, unclosedness
from confide.noise.entropy import Entropy
from confide.privacy.loss import ZeroConcentratedDP

LEAST_VARIANCE = Fraction(9)
"""σᵢ² in squared grid points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianParts:
    """Noise of which each site adds one part.

    Attributes:
        sigma_squared_each: σᵢ² of one part, in squared grid points, at least 9.
        parts: m ≥ 2, how many parts are counted on.

    Raises:
        InvalidParameterError: If a number is out of its range.

    Example:
        A histogram (a patient is in one cell) over ten hospitals, seven of them counted on:

        >>> target = ZeroConcentratedDP(rho=Fraction(1, 200))
        >>> noise = GaussianParts.calibrate(target, l2_squared=1, l0=1, parts=7)
        >>> round(noise.variance(alive=7)), round(noise.variance(alive=10))
        (100, 143)
    """

    sigma_squared_each: Fraction
    parts: int

    def __post_init__(self) -> None:
        require_parts(self.parts)
        if self.sigma_squared_each < LEAST_VARIANCE:
            raise InvalidParameterError(
                "Expected σ ≥ 3 grid points in each part of the noise.",
                hint="Measure on a finer grid, or spend less.",
            )
        object.__setattr__(self, "sigma_squared_each", self.noise.sigma_squared)

    @classmethod
    def calibrate(
        cls, target: ZeroConcentratedDP, *, l2_squared: int, l0: int, parts: int
    ) -> "GaussianParts":
        """Return the least noise whose m parts together meet a target, κ included.

        Args:
            target: Without δ.
            l2_squared: Of one privacy unit, in squared grid points; of a patient at k sites k²
                times that.
            l0: Coordinates that one privacy unit may move.
            parts: m.

        Raises:
            InvalidParameterError: If each part's σ would be below 3 grid points.
        """
        require_parts(parts)
        rho = Fraction(target.rho)
        if target.delta:
            raise InvalidParameterError("Expected a target without δ.")
        first = max(l2_squared / (2 * parts * rho), LEAST_VARIANCE)
        rest = rho - as_bound(unclosedness(first, parts=parts)) * l0
        if rest <= 0:
            raise InvalidParameterError("Expected a larger ρ: parts of noise do not meet this one.")
        return cls(sigma_squared_each=l2_squared / (2 * parts * rest), parts=parts)

    @property
    def noise(self) -> DiscreteGaussian:
        """The law of one part, which a site draws from."""
        return DiscreteGaussian(sigma_squared=self.sigma_squared_each)

    def loss(self, *, l2_squared: int, l0: int) -> ZeroConcentratedDP:
        """Return the loss of the sum of m parts.

        Example:
            >>> noise = GaussianParts(sigma_squared_each=Fraction(25), parts=4)
            >>> f"{float(noise.loss(l2_squared=1, l0=1).rho):.4f}"
            '0.0050'
        """
        kappa = as_bound(unclosedness(self.sigma_squared_each, parts=self.parts))
        rho = Fraction(l2_squared) / (2 * self.parts * self.sigma_squared_each) + kappa * l0
        return ZeroConcentratedDP(rho=rho)

    def randomize(self, exact: Sequence[int], *, entropy: Entropy) -> tuple[int, ...]:
        """Return ``exact`` plus one part of fresh noise; the only method that sees exact values."""
        return self.noise.randomize(exact, entropy=entropy)

    def variance(self, *, alive: int) -> float:
        """Return the noise variance of a coordinate of a sum of so many sites."""
        return alive * self.noise.variance()


def require_parts(parts: object) -> None:
    """Refuse noise of fewer than two parts.

    Raises:
        InvalidParameterError: If there are fewer, or their number is no integer.

    Example:
        >>> require_parts(2)
    """
    if not isinstance(parts, int) or isinstance(parts, bool) or parts < 2:
        raise InvalidParameterError(f"Expected two parts of noise or more, got {parts!r}.")
