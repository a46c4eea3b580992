"""What the noisy answers of a model say, however it was fitted."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.class_walk import walk_classes
from confide.plans.rounds.classes import by_class
from confide.plans.rounds.descent import walk
from confide.plans.rounds.model_fit import ModelFit, dispersion, fitted, fitted_classes
from confide.plans.rounds.wide import walk_widely
from confide.plans.rounds.wide_terms import WideTerms
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import UNIT, Family
from confide.tables.aggregates.shapes import Fitted
from confide.tables.aggregates.wide_models.scale import wide_scale_of
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundModel:
    """A model, and what its scores are read by.

    Attributes:
        model: Its coefficients.
        theta: A mean score, or of hazards the log hazard of each interval where βᵀu is 0; and how
            scores are spread, as the bins of scores are made from it.  Of classes their
            coefficients of terms of mean 0 and variance 1; shape (K, d + 1).
        noise: Standard deviation of the noise of the sum of weights.
        scores: What counts of held-out patients are multiplied by; 0 where there are none.
        scored: How many counts there are.
        dispersion: Of counts, the variance of outcomes over their slope, in units of their bound.
        cut: Of counts, events at which those of a held-out patient are cut, and which they are in
            units of; 0 for their bound.
    """

    model: ModelFit
    theta: Floats
    noise: float
    scores: int
    scored: int
    dispersion: float = 1.0
    cut: int = 0


def told(
    aggregate: Fitted, answers: Sequence[int], *, sigma: float, dataset: Dataset
) -> FoundModel:
    """Return what noisy answers of standard deviation ``sigma`` say."""
    if aggregate.wide:
        wide = wide_scale_of(aggregate, dataset=dataset)
        walked = walk_widely(wide, answers, sigma=sigma)
        return FoundModel(
            model=_predicting(walked.coefficients, found=walked.found),
            theta=np.concatenate([walked.levels, walked.score[1:]]),
            noise=sigma / (wide.means * UNIT),
            scores=wide.scores,
            scored=wide.scored,
            dispersion=walked.found.dispersion,
            cut=walked.found.cut,
        )
    scale = scale_of(aggregate, dataset=dataset)
    walked_on = walk(aggregate, answers, sigma=sigma, dataset=dataset)
    counted = aggregate.family is Family.POISSON
    return FoundModel(
        model=fitted(aggregate, answers, sigma=sigma, dataset=dataset),
        theta=walked_on.theta,
        noise=sigma / (scale.moments * UNIT**2),
        scores=scale.scores,
        scored=scale.scored,
        dispersion=dispersion(walked_on, scale=scale) if counted else 1.0,
    )


def told_classes(
    aggregate: Fitted, answers: Sequence[int], *, reference: int, sigma: float, dataset: Dataset
) -> FoundModel:
    """Return what noisy answers say of several classes, against one of them."""
    if aggregate.wide:
        wide = wide_scale_of(aggregate, dataset=dataset)
        walked = walk_classes(wide, answers, sigma=sigma)
        found = walked.coefficients
        apart = np.delete(found, reference, axis=0) - found[reference]
        return FoundModel(
            model=_predicting(apart.ravel(), found=walked.found),
            theta=walked.standard,
            noise=sigma / (wide.means * UNIT),
            scores=wide.scores,
            scored=wide.scored,
        )
    scale = scale_of(aggregate, dataset=dataset)
    walked_on = walk(aggregate, answers, sigma=sigma, dataset=dataset)
    return FoundModel(
        model=fitted_classes(aggregate, answers, reference=reference, sigma=sigma, dataset=dataset),
        theta=by_class(walked_on.theta, classes=aggregate.classes),
        noise=sigma / (scale.moments * UNIT**2),
        scores=scale.scores,
        scored=scale.scored,
    )


def _predicting(coefficients: Floats, *, found: WideTerms) -> ModelFit:
    """Return a model of which coefficients predict, and no error is known."""
    unknown = np.full(len(coefficients), math.inf)
    never = np.zeros(len(coefficients), dtype=np.bool_)
    return ModelFit(
        coefficients=coefficients,
        sampling=unknown,
        noise=unknown,
        predicting=coefficients,
        drowned=np.zeros(len(coefficients)),
        few=never,
        scarce=never,
        short=never,
        rows=found.rows,
        usable=found.usable,
        stopped=False,
    )
