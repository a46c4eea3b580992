"""What a model in rounds publishes: ratios, coefficients, those that predict, sum of weights."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from confide.plans.estimates import PREDICTS_ONLY, Covers, Estimate, Forecast
from confide.plans.estimation.intervals import Component, quantile, variance
from confide.plans.rounds.model_fit import DROWNED, ModelFit
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import Scale
from confide.tables.aggregates.descent_terms import RESIDUAL, UNIT, Term
from confide.tables.relation import domain
from confide.tables.schema import Dataset, Domain

DROWNED_FLAG = "drowned in noise"
STOPPED = "stopped short"
TOO_FEW_EVENTS = "too few events"
FEW_EVENTS = "few events"
TOO_FEW = "denominator too small"


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Whose estimates they are.

    Attributes:
        statistic: Its id.
        ratio: What the power of a coefficient is: odds ratio, rate ratio, hazard ratio.
        level: Coverage of each interval.
    """

    statistic: str
    ratio: str
    level: float

    def of_term(
        self,
        found: ModelFit,
        place: int,
        *,
        key: tuple[str, ...],
        step: tuple[float, str],
        slope: bool,
    ) -> list[Estimate]:
        """Return what is published of one term."""
        size, unit = step
        parts = [
            Component(variance=max(float(found.sampling[place]), 0.0)),
            Component(variance=max(float(found.noise[place]), 0.0)),
        ]
        error = size * math.sqrt(variance(parts))
        width = quantile(parts, level=self.level) * error
        value = size * float(found.coefficients[place])
        reasons = _reasons(found, place)
        told = not reasons or reasons == (DROWNED_FLAG,)
        warned = (FEW_EVENTS,) if not reasons and found.scarce[place] else ()
        flags = reasons or warned
        log_ratio = Estimate(
            statistic=self.statistic,
            quantity="coefficient" if slope else "intercept",
            key=key,
            value=value if told else None,
            standard_error=None if reasons else error,
            lower=None if reasons else value - width,
            upper=None if reasons else value + width,
            level=self.level,
            covers=Covers.SAMPLING_AND_NOISE,
            unit=unit,
            flags=flags,
        )
        predicting = self.predicting(found, place, key=key, step=step)
        if not slope:
            return [log_ratio, predicting]
        ratio = Estimate(
            statistic=self.statistic,
            quantity=self.ratio,
            key=key,
            value=_exp(value) if told else None,
            standard_error=None,
            lower=None if reasons else _exp(value - width),
            upper=None if reasons else _exp(value + width),
            level=self.level,
            covers=Covers.SAMPLING_AND_NOISE,
            unit=unit,
            flags=flags,
        )
        return [ratio, log_ratio, predicting]

    def predicting(
        self, found: ModelFit, place: int, *, key: tuple[str, ...], step: tuple[float, str]
    ) -> Estimate:
        """Return the coefficient of one term to predict with."""
        size, unit = step
        return Estimate(
            statistic=self.statistic,
            quantity="prediction coefficient",
            key=key,
            value=size * float(found.predicting[place]) if found.usable else None,
            standard_error=None,
            lower=None,
            upper=None,
            level=self.level,
            covers=Covers.SAMPLING_AND_NOISE,
            unit=unit,
            flags=(TOO_FEW,) if not found.usable else (STOPPED,) if found.stopped else (),
        )

    def predicting_only(
        self, found: ModelFit, place: int, *, key: tuple[str, ...], step: tuple[float, str]
    ) -> Estimate:
        """Return the coefficient of one term of a model that does nothing else, as it says."""
        alone = self.predicting(found, place, key=key, step=step)
        return replace(alone, flags=(*alone.flags, *((PREDICTS_ONLY,) if found.usable else ())))

    def weighed(
        self, found: ModelFit, *, width: float, key: tuple[str, ...] = ("all",)
    ) -> Estimate:
        """Return the noisy sum of the weights, at most 1 a patient, ∓ ``width``.

        It is no number of rows: unusual covariates weigh less.
        """
        return Estimate(
            statistic=self.statistic,
            quantity="sum of weights",
            key=key,
            value=max(found.rows, 0.0),
            standard_error=None,
            lower=max(found.rows - width, 0.0),
            upper=found.rows + width,
            level=self.level,
            covers=Covers.NOISE,
            unit="1",
            flags=() if found.usable else (TOO_FEW,),
        )


def _reasons(found: ModelFit, place: int) -> tuple[str, ...]:
    """Return why a coefficient has no interval; of a drowned one the value is still shown."""
    if not found.usable:
        return (TOO_FEW,)
    if found.stopped:
        return (STOPPED,)
    if found.drowned[place] > DROWNED:
        return (DROWNED_FLAG,)
    if found.few[place]:
        return (TOO_FEW_EVENTS,)
    return (STOPPED,) if found.short[place] else ()


def forecast_of(curve: float, *, noise: float, scale: Scale, level: float, note: str) -> Forecast:
    """Return the noise's error of the coefficient of one standard deviation of a covariate.

    Args:
        curve: Planned Σ of the slopes of the means.
        noise: Standard deviation of the noise of an answer.
        scale: Of the answers.
        level: Coverage.
        note: What was planned with.
    """
    one = noise / (scale.gradients[-1] * UNIT * RESIDUAL)
    late = scale.rounds - scale.early
    parts = [Component(variance=(one / curve) ** 2 / late)]
    error = math.sqrt(variance(parts))
    return Forecast(
        half_width=quantile(parts, level=level) * error,
        median_error=quantile(parts, level=0.5) * error,
        level=level,
        unit="1",
        notes=(note,),
    )


def label_of(
    term: Term, names: tuple[str, ...], *, aggregate: DescentAggregate, dataset: Dataset
) -> str:
    """Return what a coefficient is of: a name, a category against its reference, or the centre."""
    if term.covariate < 0:
        return centres_of(names, aggregate=aggregate, dataset=dataset)
    name, of = names[term.covariate], _domain(term, aggregate=aggregate, dataset=dataset)
    return name if term.level is None else f"{name}: {of.keys[term.level]} vs {of.keys[0]}"


def centres_of(names: tuple[str, ...], *, aggregate: DescentAggregate, dataset: Dataset) -> str:
    """Return where all covariates are at the middle of their bounds, or their reference."""
    parts = []
    for name, covariate in zip(names, aggregate.covariates, strict=True):
        of = domain(covariate, dataset=dataset)
        middle = of.physical(Fraction(of.lower + of.upper, 2))
        parts.append(f"{name} {of.keys[0]}" if of.keys else f"{name} {middle:g}")
    return ", ".join(parts)


def step_of(term: Term, *, aggregate: DescentAggregate, dataset: Dataset) -> tuple[float, str]:
    """Return how many units of its term one physical unit is, and the unit of a coefficient."""
    if term.covariate < 0 or term.level is not None:
        return 1.0, "1"
    of = _domain(term, aggregate=aggregate, dataset=dataset)
    half = float(of.scale) * (of.upper - of.lower) / 2
    return 1 / half, "1" if of.unit in ("", "1") else f"1/({of.unit})"


def _domain(term: Term, *, aggregate: DescentAggregate, dataset: Dataset) -> Domain:
    return domain(aggregate.covariates[term.covariate], dataset=dataset)


def _exp(value: float) -> float:
    return math.exp(max(-700.0, min(700.0, value)))
