"""Putting predicted risks right: a + b·η in place of the log odds η [Ste04].

The line comes from held-out patients who are counted apart from those who then judge it, so that
its evaluation is not flattered.  They cost nothing more: nobody is in both histograms.

*Utility:* the line is drawn to "no change" by the share of its distance that is error [EM73], so
that few patients or much noise leave the risks as they were.

*Privacy:* post-processing of noisy counts.

References:
    [Ste04] Steyerberg, Borsboom, van Houwelingen, Eijkemans, Habbema. Validation and updating of
        predictive logistic regression models. Stat. Med. 23(16), 2004.
        https://doi.org/10.1002/sim.1844
    [EM73] Efron, Morris. Stein's estimation rule and its competitors. JASA 68(341), 1973.
        https://doi.org/10.1080/01621459.1973.10481350
"""

import enum
from typing import assert_never

import numpy as np

from confide.arrays import Floats
from confide.plans.simulation import Simulation
from confide.statistics.logistic.calibration import (
    bounded,
    calibration_in_the_large,
    calibration_line,
)
from confide.statistics.logistic.evaluation import ScoreHistogram, with_draws
from confide.statistics.logistic.predictions import (
    AS_PREDICTED,
    CalibrationLine,
    Predicted,
    predicted,
)

_LEAST_SLOPE = 0.01


class Recalibration(enum.Enum):
    """What of the log odds is put right."""

    NONE = "none"
    INTERCEPT = "intercept"
    LINE = "line"


def recalibrated(
    found: ScoreHistogram, *, theta: Floats, kind: Recalibration, simulation: Simulation
) -> CalibrationLine:
    """Return the line by which log odds are moved.

    Args:
        found: Patients who calibrate.
        theta: The model, intercept first; shape (d,).
        kind: What is put right.
        simulation: Source of reproducible draws.
    """
    if not found.usable:
        return AS_PREDICTED
    told = predicted(theta, stretch=found.stretch)
    whole = with_draws(found, simulation=simulation, purpose="recalibration")
    match kind:
        case Recalibration.NONE:
            return AS_PREDICTED
        case Recalibration.INTERCEPT:
            return _moved(whole, told=told)
        case Recalibration.LINE:
            return _turned(whole, told=told, noise=found.noise)
        case _:
            assert_never(kind)


def _moved(whole: Floats, *, told: Predicted) -> CalibrationLine:
    (intercept,) = _drawn(calibration_in_the_large(whole, told=told)[:, None])
    return CalibrationLine(intercept=intercept)


def _turned(whole: Floats, *, told: Predicted, noise: float) -> CalibrationLine:
    """Return a line; one of slope 1 where risks or patients tell no other."""
    if told.alike:
        return _moved(whole, told=told)
    line = np.column_stack(calibration_line(whole, told=told, noise=noise))
    if not bounded(line[:, 1]):
        return _moved(whole, told=told)
    known = line[~np.isnan(line[:, 1])]
    intercept, turned = _drawn(known - np.array([0.0, 1.0]))
    return CalibrationLine(intercept=intercept, slope=max(_LEAST_SLOPE, 1 + turned))


def _drawn(whole: Floats) -> list[float]:
    """Return the first of some vectors, drawn to 0 by their error; shape (1 + runs, k)."""
    first, spread = whole[0], np.atleast_2d(np.cov(whole[1:], rowvar=False))
    far = float(first @ np.linalg.solve(spread + 1e-12 * np.eye(len(first)), first))
    share = max(0.0, 1 - len(first) / max(far, 1e-12))
    return [float(v) + 0.0 for v in first * share]  # never −0
