"""What a sum over sites costs each patient, and what others than the charged would be.

*Law.*  Each part of the noise has σᵢ² = σ²/m with m = n − d − c, so ρ = Δ²/(2σ²) is charged, which
holds although d sites drop out and c others and the coordinator share what they know.  Somebody
outside sees n or n − d parts and has less, ρm/n or ρm/(n − d).  Should *all* other sites collude,
one part is left: mρ.  Whoever is a patient of k sites moves the sum k times as far: k²ρ.

In ε charged are m Pólya parts, which are discrete Laplace noise of scale b.  Somebody outside has
no less: further parts keep its tails, P[Z = z]/P[Z = z + 1] → e^(1/b).  Of one part alone, G − G′
of shape s = 1/m, the probability falls with |z|, and

    P[z]/P[z + D] ≤ max_j P[G = j]/P[G = j + D] = e^(D/b)·D!·Γ(s)/Γ(D + s),   z ≥ 0, at j = 0;

a pair z < 0 < z + D is one of a smaller D.  ln(D!·Γ(s)/Γ(D + s)) is concave and 0 at 0, so a person
who moves D in all, in c numbers at most, loses no more than D/b + c times that of D/c.  Whoever is
a patient of k sites moves the sum k times as far: kε.

*Privacy:* these are terms in Δ²; κ (``noise/distributed``) is below 10⁻³⁷ a coordinate and in the
charge.  All of it is for those who cannot break X25519 and ChaCha20: it is computational.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from confide.plans.sites.tolerance import Tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteLosses:
    """Losses in ρ, by who looks.

    Attributes:
        charged: What each site's ledger is charged.
        outsider: Of who sees the sum alone, all sites alive.
        outsider_after_drops: The same, as many dropped out as may.
        all_others_collude: Should every other site act with the coordinator.
    """

    charged: Fraction
    outsider: Fraction
    outsider_after_drops: Fraction
    all_others_collude: Fraction

    def at_sites(self, k: int) -> Fraction:
        """Return the loss of a patient of k sites."""
        return self.charged * k * k


def of_one_part(epsilon: float, *, parts: int, moved: int, numbers: int) -> float:
    """Return ε of one Pólya part alone, should all others be known.

    Args:
        epsilon: What m parts lose.
        parts: m.
        moved: How far one person moves the vector in the L1 norm, at k sites.
        numbers: Its length.

    Example:
        A count at ε = ½ where two parts are counted on; e^ε then doubles:

        >>> round(of_one_part(0.5, parts=2, moved=1, numbers=10), 4) == round(0.5 + math.log(2), 4)
        True
    """
    spread, shape = min(moved, numbers), 1 / parts
    each = moved / spread
    more = math.lgamma(each + 1) + math.lgamma(shape) - math.lgamma(each + shape)
    return epsilon + spread * more


def site_losses(rho: Fraction, *, tolerance: Tolerance) -> SiteLosses:
    """Return what ρ means for whom.

    Example:
        Ten hospitals, two may drop out, one may collude:

        >>> from confide.plans.sites.tolerance import Tolerance
        >>> held = Tolerance(sites=10, drops=2, colluders=1, threshold=6)
        >>> losses = site_losses(Fraction("0.02"), tolerance=held)
        >>> float(losses.outsider), float(losses.all_others_collude), float(losses.at_sites(3))
        (0.014, 0.14, 0.18)
    """
    m = tolerance.honest
    return SiteLosses(
        charged=rho,
        outsider=rho * m / tolerance.sites,
        outsider_after_drops=rho * m / tolerance.least_alive,
        all_others_collude=rho * m,
    )
