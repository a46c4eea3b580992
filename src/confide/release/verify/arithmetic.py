"""What a certificate's own numbers must satisfy, checked without data and without noisy numbers.

*Law:* discrete Laplace noise of scale b on L1 sensitivity Δ₁ gives ε = Δ₁/b [GRS12]; discrete
Gaussian noise gives ρ = Δ₂²/(2σ²) [CKS20]; under zCDP an ε-DP measurement is charged ε²/2.  Charges
add up, after = before + amount ≤ cap, and the spend is their sum.

References:
    [GRS12] Ghosh, Roughgarden, Sundararajan. Universally utility-maximizing privacy mechanisms.
        SIAM J. Comput. 41(6), 2012. https://doi.org/10.1137/09076828X
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
"""

import re
from collections.abc import Iterator
from fractions import Fraction

from confide.errors import ConfideError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.canonical import Json
from confide.release.verify.checks import Check

_RATIO = re.compile(r"[0-9]{1,60}(\.[0-9]{1,30}|/[0-9]{1,60})?", re.ASCII)
_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, ConfideError)


def arithmetic_checks(certificate: Json) -> Iterator[Check]:
    """Yield whether losses, sums and errors follow from the numbers beside them."""
    for name, problem in (
        ("scales", _scales),
        ("sums", _sums),
        ("errors", _errors),
    ):
        try:
            found = problem(certificate)
        except _UNREADABLE:
            found = "cannot be read"
        yield Check(name=name, holds=not found, detail=found)


def exact(text: str) -> Fraction:
    """Return a number ≥ 0 from a decimal or a ratio; never from 1e999999999.

    Raises:
        ValueError: If the text is neither.
    """
    if not isinstance(text, str) or not _RATIO.fullmatch(text):
        raise ValueError("expected an exact number")
    return Fraction(text)


def _scales(certificate: Json) -> str:
    """Compare the charge of each measurement with what noise and sensitivity give."""
    for place, each in enumerate(certificate["mechanisms"]):
        moved, law, charge = each["sensitivity"], each["law"], each["charge"]
        epsilon: Fraction | None
        match law["family"]:
            case "discrete-laplace":
                epsilon = exact(moved["l1"]) / exact(law["scale"])
                rho = epsilon**2 / 2
            case "discrete-gaussian":
                epsilon = None
                rho = exact(moved["l2-squared"]) / (2 * exact(law["scale-squared"]))
            case "exponential-mechanism":
                continue  # its loss depends on how many are chosen: derived from the plan
            case _:
                return f"mechanisms[{place}].law.family is unknown, so nothing says what it loses"
        loss = rho if "rho" in charge else epsilon
        if loss is None or loss > exact(charge.get("rho", charge.get("epsilon"))):
            return (
                f"mechanisms[{place}]: noise of this scale loses more than is charged "
                "(the promise is stronger than the noise)"
            )
    return ""


def _sums(certificate: Json) -> str:
    """Compare the spend with the sum of what measurements are charged."""
    spend, total = certificate["guarantee"]["spend"], Fraction(0)
    letter = "rho" if spend["measure"] == "zcdp" else "epsilon"
    for each in certificate["mechanisms"]:
        total += exact(each["charge"][letter])
    if total != exact(spend[letter]):
        return f"guarantee.spend.{letter} is not the sum of what the mechanisms are charged"
    return ""


def _errors(certificate: Json) -> str:
    """Compare stated error quantiles with the law of the stated noise."""
    for place, each in enumerate(certificate["mechanisms"]):
        law, error = each["law"], each["error"]
        match law["family"]:
            case "discrete-laplace":
                noise: DiscreteLaplace | DiscreteGaussian = DiscreteLaplace(
                    scale=exact(law["scale"])
                )
            case "discrete-gaussian":
                noise = DiscreteGaussian(sigma_squared=exact(law["scale-squared"]))
            case _:
                continue
        for name, level in (("median", 0.5), ("p95", 0.95)):
            found = noise.half_width(level)
            if error[name] != str(found):
                return (
                    f"mechanisms[{place}].error.{name} says {str(error[name])[:20]!r}, the noise "
                    f"law gives {found} (how wrong the numbers are)"
                )
    return ""
