"""Textbook calculations: what several losses are together, and what noise one loss takes.

*Privacy:* arithmetic on numbers that the caller gives; nothing is read or charged.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity in private data
        analysis. TCC 2006. https://doi.org/10.1007/11681878_14
    [KOV15] Kairouz, Oh, Viswanath. The composition theorem for differential privacy. ICML 2015.
        https://arxiv.org/abs/1311.0776
    [WRRW23] Whitehouse, Ramdas, Rogers, Wu. Fully-adaptive composition in differential privacy.
        ICML 2023. https://arxiv.org/abs/2203.05481
    [BW18] Balle, Wang. Improving the Gaussian mechanism for differential privacy: analytical
        calibration and optimal denoising. ICML 2018. https://arxiv.org/abs/1805.06530
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from statistics import NormalDist

from confide.drawing.numbers import epsilon_text, percent, power_text, significant
from confide.drawing.words import Words
from confide.errors import ContractError, InvalidParameterError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.gaussian import analytic_sigma, classical_sigma
from confide.noise.laplace import ContinuousLaplace
from confide.privacy.accounting.compose import (
    adaptive,
    advanced,
    compose,
    least,
    optimal,
    to_approximate,
    to_zcdp,
)
from confide.privacy.accounting.concentrated import rho_for
from confide.privacy.accounting.mixed import least_cap
from confide.privacy.accounting.renyi import RenyiCurve, improved_epsilon, pure_curve
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from confide.privacy.unit import Entity
from confide.report.wording.explain import Explanation, TextGrid
from confide.report.wording.odds_words import meaning_of, meaning_of_stated, odds_sentences

MOST = 10_000
"""Losses that are composed at most."""
_LEVEL = 0.95
_NONE = "–"


def composition(
    losses: Sequence[PureDP | ZeroConcentratedDP], *, delta: Fraction, words: Words
) -> Explanation:
    """Explain what losses are together by each rule of composition.

    Args:
        losses: Of releases about the same patients, in any order; none has a δ of its own.
        delta: At which the sum may be undercut; 0 leaves the sum alone.
        words: Language.

    Raises:
        ContractError: If there are none, or more than 10,000; or one is in ρ and δ is 0.
        InvalidParameterError: If they are together more than can be told as odds.

    Example:
        >>> from confide.drawing.words import load_words
        >>> tiles = [PureDP(epsilon=Fraction(1, 10))] * 100
        >>> told = composition(tiles, delta=Fraction("1e-6"), words=load_words("en"))
        >>> [row[1] for row in told.grids[0].rows]
        ['10', '6.309', '4.775', '5.222', '5.074', '5.082', '5.757']
    """
    if not 0 < len(losses) <= MOST:
        raise ContractError(f"Expected 1 to {MOST:,} losses, got {len(losses):,}.")
    if not delta and not all(isinstance(loss, PureDP) for loss in losses):
        raise ContractError("A ρ has an ε at a δ alone.", hint="Add --delta 1e-6.")
    total = _sum(losses)
    together = ApproxDP(epsilon=total or Fraction(0), delta=Fraction(0))
    if delta and 0 < (best := least(losses, delta=delta)).epsilon < (total or math.inf):
        together = best
    sentences = _odds(together, words=words)  # refuses what is too large for any rule
    rows = tuple(
        (
            words.say(f"textbook.rule.{name}"),
            epsilon_text(epsilon),
            words.say(f"textbook.for.{who}"),
        )
        for name, epsilon, who in _rules(losses, delta=delta)
    )
    head = tuple(words.say(f"textbook.head.{name}") for name in ("rule", "epsilon", "for"))
    count, at = f"{len(losses):,}", power_text(delta)
    return Explanation(
        title=words.say("textbook.composition", count=count),
        sentences=sentences,
        grids=(TextGrid(title=words.say("textbook.rules", delta=at), head=head, rows=rows),),
    )


def _odds(loss: ApproxDP, *, words: Words) -> tuple[str, ...]:
    pure = PureDP(epsilon=loss.epsilon)
    meaning = meaning_of_stated(loss) if loss.delta else meaning_of(pure, delta=loss.delta)
    return odds_sentences(meaning, unit=Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE, words=words)


def _sum(losses: Sequence[PureDP | ZeroConcentratedDP]) -> Fraction | None:
    """Return Σε; None where a loss has no ε without a δ."""
    epsilons = [Fraction(loss.epsilon) for loss in losses if isinstance(loss, PureDP)]
    return sum(epsilons, Fraction(0)) if len(epsilons) == len(losses) else None


def _rules(
    losses: Sequence[PureDP | ZeroConcentratedDP], *, delta: Fraction
) -> Iterator[tuple[str, Fraction, str]]:
    """Yield each rule, its ε rounded up, and whether losses may be chosen as one goes."""
    total, pure = _sum(losses), [loss for loss in losses if isinstance(loss, PureDP)]
    if total is not None:
        yield "sum", total, "chosen"
    if not delta:
        return
    if total is not None:
        yield "advanced", advanced(pure, delta=delta).epsilon, "fixed"
    if total is not None and len(set(pure)) == 1:
        yield "optimal", optimal(pure[0], count=len(pure), delta=delta).epsilon, "fixed"
    rho = compose([to_zcdp(loss) for loss in losses])
    yield "concentrated", to_approximate(rho, delta=delta).epsilon, "chosen"
    renyi = improved_epsilon(_added_curves(losses), delta=float(delta))
    yield "renyi", _up(renyi), "fixed"
    yield "mixed", least_cap(losses, delta=delta), "chosen"
    if total is not None:
        yield "filter", adaptive(pure, delta=delta).epsilon, "chosen"


def _added_curves(losses: Sequence[PureDP | ZeroConcentratedDP]) -> RenyiCurve:
    curves = [(count, _curve(each)) for each, count in Counter(losses).items()]
    return lambda order: sum(count * curve(order) for count, curve in curves)


def _curve(loss: PureDP | ZeroConcentratedDP) -> RenyiCurve:
    if isinstance(loss, PureDP):
        return pure_curve(float(loss.epsilon))
    rho = float(loss.rho)
    return lambda order: order * rho


def _up(value: float) -> Fraction:
    return Fraction(math.nextafter(value * (1 + 1e-12), math.inf))


def noise(
    epsilon: Fraction, *, delta: Fraction, sensitivity: Fraction, words: Words
) -> Explanation:
    """Explain what noise gives one answer (ε, δ), by each mechanism.

    Args:
        epsilon: Of the answer.
        delta: 0 leaves out Gaussian noise.
        sensitivity: By how much one patient moves the answer, in its unit.
        words: Language.

    Raises:
        ContractError: If a number is not positive, or δ is not below 1.

    Example:
        A mean of 5,000 pressures from 80 to 200 mmHg, by the textbook's two Gaussian rules:

        >>> from confide.drawing.words import load_words
        >>> told = noise(
        ...     Fraction(1, 2), delta=Fraction("1e-6"), sensitivity=Fraction("0.024"),
        ...     words=load_words("en"),
        ... )
        >>> [row[1] for row in told.grids[0].rows]
        ['0.06788', '0.2543', '0.1934', '–']
    """
    if epsilon <= 0 or sensitivity <= 0 or not 0 <= delta < 1:
        raise ContractError(
            "Expected ε > 0, a sensitivity > 0 and 0 ≤ δ < 1.",
            hint="Write confide explain noise 0.5 --delta 1e-6 --sensitivity 1.",
        )
    laws = _laws(epsilon, delta=delta, sensitivity=sensitivity)
    rows = [(words.say(f"textbook.law.{name}"), *map(significant, errors)) for name, errors in laws]
    truth = percent(1 / (1 + math.exp(-float(epsilon))))
    rows.append((words.say("textbook.response", truth=truth), _NONE, _NONE))
    head = tuple(words.say(f"textbook.head.{name}") for name in ("law", "deviation", "errors"))
    said = {"sensitivity": significant(float(sensitivity))}
    loss = ApproxDP(epsilon=epsilon, delta=delta)
    return Explanation(
        title=words.say("textbook.noise", epsilon=epsilon_text(epsilon), **said),
        sentences=_odds(loss, words=words),
        grids=(TextGrid(title=words.say("textbook.laws", **said), head=head, rows=tuple(rows)),),
    )


def _laws(
    epsilon: Fraction, *, delta: Fraction, sensitivity: Fraction
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield each law that applies, its standard deviation and what 95 % of its errors keep to."""
    pure, far = PureDP(epsilon=epsilon), NormalDist().inv_cdf((1 + _LEVEL) / 2)
    continuous = ContinuousLaplace.calibrate(pure, l1=sensitivity)
    yield "laplace", (math.sqrt(continuous.variance()), continuous.half_width(_LEVEL))
    if sensitivity.denominator == 1:
        whole = DiscreteLaplace.calibrate(pure, l1=sensitivity.numerator)
        yield "discrete-laplace", (whole.standard_deviation(), whole.half_width(_LEVEL))
    if delta:
        given = {"delta": float(delta), "sensitivity": float(sensitivity)}
        for name, rule in (("classical", classical_sigma), ("analytic", analytic_sigma)):
            try:
                sigma = rule(float(epsilon), **given)
            except InvalidParameterError:  # the classical rule is proved for ε < 1 alone
                continue
            yield name, (sigma, far * sigma)
        if sensitivity.denominator == 1:
            rho = ZeroConcentratedDP(rho=rho_for(epsilon, delta=delta))
            law = DiscreteGaussian.calibrate(rho, l2_squared=sensitivity.numerator**2)
            errors = (law.standard_deviation(), float(law.half_width(_LEVEL)))
            yield "discrete-gaussian", errors
