"""Putting predicted risks right: a + b·η in place of the log odds η [Ste04].

The line comes from held-out patients who are counted apart from those who then judge it, so that
its evaluation is not flattered.  They cost nothing more: nobody is in both histograms.

*Utility:* the line is drawn to "no change" (:mod:`confide.plans.rounds.held_out`).

*Privacy:* post-processing of noisy counts.

References:
    [Ste04] Steyerberg, Borsboom, van Houwelingen, Eijkemans, Habbema. Validation and updating of
        predictive logistic regression models. Stat. Med. 23(16), 2004.
        https://doi.org/10.1002/sim.1844
"""

from typing import assert_never

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.held_out import (
    AS_PREDICTED,
    LEAST_SLOPE,
    CalibrationLine,
    Recalibration,
    drawn_to_none,
)
from confide.plans.simulation import Simulation
from confide.statistics.logistic.calibration import (
    bounded,
    calibration_in_the_large,
    calibration_line,
)
from confide.statistics.logistic.evaluation import ScoreHistogram, with_draws
from confide.statistics.logistic.predictions import Predicted, predicted


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
    (intercept,) = drawn_to_none(calibration_in_the_large(whole, told=told)[:, None])
    return CalibrationLine(intercept=intercept)


def _turned(whole: Floats, *, told: Predicted, noise: float) -> CalibrationLine:
    """Return a line; one of slope 1 where risks or patients tell no other."""
    if told.alike:
        return _moved(whole, told=told)
    line = np.column_stack(calibration_line(whole, told=told, noise=noise))
    if not bounded(line[:, 1]):
        return _moved(whole, told=told)
    known = line[~np.isnan(line[:, 1])]
    intercept, turned = drawn_to_none(known - np.array([0.0, 1.0]))
    return CalibrationLine(intercept=intercept, slope=max(LEAST_SLOPE, 1 + turned))
