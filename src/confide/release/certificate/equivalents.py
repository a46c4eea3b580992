"""One loss in other measures, each with the theorem that gives it; rounded against the reader.

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016, prop. 1.4.
        https://arxiv.org/abs/1605.02065
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020,
        cor. 13. https://arxiv.org/abs/2004.00010
    [KS14] Kasiviswanathan, Smith. On the "semantics" of differential privacy. J. Privacy and
        Confidentiality 6(1), 2014. https://doi.org/10.29012/jpc.v6i1.634
    [Mir17] Mironov. Rényi differential privacy. CSF 2017. https://arxiv.org/abs/1702.07476
"""

import math
from fractions import Fraction
from typing import assert_never

from confide.plans.job import JobPlan
from confide.plans.plan import Priced
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from confide.release.certificate.in_words import exceptions
from confide.release.certificate.parts import EquivalentPart

DELTAS = (Fraction(1, 10**5), Fraction(1, 10**6), Fraction(1, 10**9))
_GRID = 10**4


def equivalents(plan: Priced) -> list[EquivalentPart]:
    """Return what else the loss of a plan implies."""
    match plan.loss:
        case PureDP(epsilon=epsilon):
            return [
                EquivalentPart(
                    measure="zcdp", rho=_up(epsilon**2 / 2, grid=10**9), via="ε²/2 [BS16]"
                ),
                EquivalentPart(measure="odds", factor=_odds(epsilon), via="e^ε"),
            ]
        case ApproxDP(epsilon=epsilon, delta=delta) if isinstance(plan, JobPlan):
            rare = exceptions(epsilon, delta=delta)
            via = "e^2ε but for outputs of probability 2δ/(1 − e^−ε) [KS14, lem. 3.3]"
            factor = _odds(2 * epsilon)
            return [EquivalentPart(measure="odds", factor=factor, delta=str(rare), via=via)]
        case ApproxDP(epsilon=epsilon, delta=delta):
            via = "e^ε but for keys of one person, of probability δ"
            factor = _odds(epsilon)
            return [EquivalentPart(measure="odds", factor=factor, delta=str(delta), via=via)]
        case ZeroConcentratedDP(rho=rho, delta=delta) as loss:
            shown = [
                EquivalentPart(
                    measure="approx",
                    epsilon=_up(Fraction(epsilon_at(loss, delta=at)), grid=_GRID),
                    delta=f"{float(at):g}",
                    via="tight conversion [CKS20, cor. 13]",
                )
                for at in sorted({*DELTAS, plan.dataset.delta}, reverse=True)
                if at > delta
            ]
            if delta:
                return shown
            via = "ε(α) = ρα [BS16, def. 1.1]"
            return [*shown, EquivalentPart(measure="rdp", per_order=str(rho), via=via)]
        case _:
            assert_never(plan.loss)


def _odds(epsilon: Fraction) -> str:
    return f"{math.ceil(math.exp(min(float(epsilon), 700.0)) * 1000 * (1 + 1e-12)) / 1000:.3f}"


def _up(amount: Fraction, *, grid: int) -> str:
    steps = -(-amount * grid // 1)
    whole = Fraction(steps, grid)
    places = len(str(grid)) - 1
    return (
        f"{int(steps) // grid}.{int(steps) % grid:0{places}d}"
        if whole.denominator > 1
        else str(int(whole))
    )
