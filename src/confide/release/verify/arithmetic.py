"""What a certificate's own numbers must satisfy, checked without data and without noisy numbers.

*Law:* discrete Laplace noise of scale b on L1 sensitivity Δ₁ gives ε = Δ₁/b [GRS12], and so
does a sum of Pólya parts of which those counted on are such noise; discrete
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
from typing import assert_never

from confide.errors import ConfideError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.mechanism import NoiseLaw
from confide.release.certificate.form import CertificateForm
from confide.release.verify.checks import Check

_RATIO = re.compile(r"[0-9]{1,60}(\.[0-9]{1,30}|/[0-9]{1,60})?", re.ASCII)


def arithmetic_checks(form: CertificateForm) -> Iterator[Check]:
    """Yield whether losses, sums and errors follow from the numbers beside them."""
    for name, problem in (
        ("scales", _scales),
        ("sums", _sums),
        ("errors", _errors),
    ):
        try:
            found = problem(form)
        except (ValueError, ZeroDivisionError, ConfideError):
            found = "cannot be read"
        yield Check(name=name, holds=not found, detail=found)


def exact(text: str | None) -> Fraction:
    """Return a number ≥ 0 from a decimal or a ratio; never from 1e999999999.

    Raises:
        ValueError: If the text is neither.
    """
    if text is None or not _RATIO.fullmatch(text):
        raise ValueError("expected an exact number")
    return Fraction(text)


def _scales(form: CertificateForm) -> str:
    """Compare the charge of each measurement with what noise and sensitivity give."""
    for place, each in enumerate(form.mechanisms):
        moved, law, charge = each.sensitivity, each.law, each.charge
        epsilon: Fraction | None
        match law.family:
            case "discrete-laplace" | "polya-difference":
                epsilon = exact(moved.l1) / exact(law.scale)
                rho = epsilon**2 / 2
            case "discrete-gaussian":
                epsilon = None
                rho = exact(moved.l2_squared) / (2 * exact(law.scale_squared))
            case "exponential-mechanism":
                continue  # its loss depends on how many are chosen: derived from the plan
            case _:
                assert_never(law.family)
        loss = epsilon if charge.rho is None else rho
        if loss is None or loss > exact(charge.rho or charge.epsilon):
            return (
                f"mechanisms[{place}]: noise of this scale loses more than is charged "
                "(the promise is stronger than the noise)"
            )
    return ""


def _sums(form: CertificateForm) -> str:
    """Compare the spend with the sum of what measurements are charged."""
    spend, charges = form.guarantee.spend, [each.charge for each in form.mechanisms]
    if spend.measure == "zcdp":
        letter, said, added = "rho", spend.rho, [exact(charge.rho) for charge in charges]
    else:
        letter, said, added = "epsilon", spend.epsilon, [exact(each.epsilon) for each in charges]
    if sum(added) != exact(said):
        return f"guarantee.spend.{letter} is not the sum of what the mechanisms are charged"
    return ""


def _errors(form: CertificateForm) -> str:
    """Compare stated error quantiles with the law of the stated noise."""
    for place, each in enumerate(form.mechanisms):
        match each.law.family:
            case "discrete-laplace":
                noise: NoiseLaw = DiscreteLaplace(scale=exact(each.law.scale))
            case "polya-difference":
                noise = PolyaDifference(scale=exact(each.law.scale), shape=exact(each.law.shape))
            case "discrete-gaussian":
                noise = DiscreteGaussian(sigma_squared=exact(each.law.scale_squared))
            case "exponential-mechanism":
                continue
            case _:
                assert_never(each.law.family)
        for name, level in (("median", 0.5), ("p95", 0.95)):
            found, said = noise.half_width(level), each.error.get(name, "")
            if said != str(found):
                return (
                    f"mechanisms[{place}].error.{name} says {said[:20]!r}, the noise "
                    f"law gives {found} (how wrong the numbers are)"
                )
    return ""
