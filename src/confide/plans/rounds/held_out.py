"""Patients who are held out: who puts a model right, who judges it, and by which subgroups.

One concept for every family of models in rounds.  Half of those who are held out may *calibrate*:
what is predicted on the scale of the link, η, becomes a + b·η.  The others *evaluate*, and are
never those who calibrate, so that no evaluation is flattered.  Subgroups by m columns are further
counts of those who evaluate, one a column by its values, with √m times the noise; each column adds
up to all who evaluate, and these totals are averaged by what their noise leaves.

The line is drawn to "no change" by the share of its distance that is error [EM73], so that few
patients or much noise leave predictions as they were.

*Privacy:* post-processing of noisy counts; :mod:`confide.tables.aggregates.descent` has the lemma.

References:
    [EM73] Efron, Morris. Stein's estimation rule and its competitors. JASA 68(341), 1973.
        https://doi.org/10.1080/01621459.1973.10481350
"""

import enum
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from confide.arrays import Floats
from confide.errors import ContractError
from confide.plans.estimates import Covers, Estimate
from confide.tables.aggregates.descent_terms import PARTS
from confide.tables.aggregates.shapes import Fitted
from confide.tables.relation import domain
from confide.tables.schema import Dataset

TOO_FEW = "too few held out"
HELD_OUT, RECALIBRATED, CALIBRATING = "held out", "recalibrated", "calibrating"
BY_RISK = "risk "
"""What keys of ranges and values of predicted risk begin with."""


class Recalibration(enum.Enum):
    """What is put right of what is predicted, on the scale of the link."""

    NONE = "none"
    INTERCEPT = "intercept"
    LINE = "line"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationLine:
    """What was predicted on the scale of the link, moved to a + b·η.

    Attributes:
        intercept: a.
        slope: b, above 0.
    """

    intercept: float = 0.0
    slope: float = 1.0


AS_PREDICTED = CalibrationLine()
LEAST_SLOPE = 0.01
"""Least b."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """Noisy counts of held-out patients, by what they are for.

    Attributes:
        calibrating: Of those who calibrate, if anybody does; shape (cells,).
        evaluating: Of those who evaluate; shape (cells,).
        blurred: Noise of a count of these over that of any other.
        subgroups: Of them, by label; each of shape (cells,).
    """

    calibrating: Floats | None
    evaluating: Floats
    blurred: float
    subgroups: tuple[tuple[str, Floats], ...]


def judges(
    counts: Sequence[float],
    *,
    aggregate: Fitted,
    names: Sequence[str],
    dataset: Dataset,
) -> Judges:
    """Take noisy counts of held-out patients apart.

    Args:
        counts: Those of the aggregate's scores.
        aggregate: The model.
        names: Of the columns of subgroups.
        dataset: Public facts.
    """
    cells = aggregate.score_cells
    parts = list(np.asarray(counts, dtype=np.float64).reshape(-1, cells))
    first = parts.pop(0) if aggregate.calibrating else None
    if not aggregate.subgroups:
        (only,) = parts
        return Judges(calibrating=first, evaluating=only, blurred=1.0, subgroups=())
    labelled: list[tuple[str, Floats]] = []
    whole, weight = np.zeros(cells), 0.0
    for name, column in zip(names, aggregate.subgroups, strict=True):
        keys = domain(column, dataset=dataset).keys
        own, parts = parts[: len(keys)], parts[len(keys) :]
        whole, weight = whole + np.sum(own, axis=0) / len(keys), weight + 1 / len(keys)
        labelled += [(f"{name}: {key}", each) for key, each in zip(keys, own, strict=True)]
    return Judges(
        calibrating=first,
        evaluating=whole / weight,
        blurred=1 / math.sqrt(weight),
        subgroups=tuple(labelled),
    )


def require_judges(
    statistic: str, *, hold_out: Fraction, recalibrate: Recalibration, subgroups: Sequence[str]
) -> None:
    """Refuse columns that are named twice, and a recalibration on nobody.

    Raises:
        ContractError: If they are.
    """
    if len(set(subgroups)) != len(subgroups):
        raise ContractError(
            f"Regression {statistic!r} names a column of subgroups twice.", hint="Name it once."
        )
    if recalibrate is not Recalibration.NONE and hold_out * PARTS < 2:
        raise ContractError(
            f"Regression {statistic!r} is recalibrated on patients who are held out.",
            hint="Write hold-out: 0.3; half of them calibrate, half evaluate.",
        )


def calibrating(held_out: int, recalibrate: Recalibration) -> int:
    """Return how many thousandths of the patients calibrate: half of those who are held out."""
    return held_out // 2 if recalibrate is not Recalibration.NONE else 0


def drawn_to_none(whole: Floats) -> list[float]:
    """Return the first of some vectors, drawn to 0 by their error.

    Args:
        whole: The vector, then those of other patients; shape (1 + runs, k).
    """
    first, spread = whole[0], np.atleast_2d(np.cov(whole[1:], rowvar=False))
    far = float(first @ np.linalg.solve(spread + 1e-12 * np.eye(len(first)), first))
    share = max(0.0, 1 - len(first) / max(far, 1e-12))
    return [float(v) + 0.0 for v in first * share]  # never −0


def told_line(
    line: CalibrationLine,
    *,
    predicting: Sequence[Estimate],
    statistic: str,
    level: float,
    flags: tuple[str, ...],
    intercepts: int = 1,
) -> Iterator[Estimate]:
    """Yield how predictions were put right, and the coefficients that follow.

    Args:
        line: By which they were, per unit of the coefficients.
        predicting: Coefficients that predict, intercepts first.
        statistic: Id of the statistic.
        level: Of its intervals; these numbers have none.
        flags: Why nothing is told of the line, or of its slope.
        intercepts: How many intercepts there are.
    """
    known = TOO_FEW not in flags
    for name, told in (("intercept", line.intercept), ("slope", line.slope)):
        yield Estimate(
            statistic=statistic,
            quantity=f"recalibration {name}",
            key=(RECALIBRATED,),
            value=told if known else None,
            standard_error=None,
            lower=None,
            upper=None,
            level=level,
            covers=Covers.SAMPLING_AND_NOISE,
            unit="1",
            flags=() if known and name == "intercept" else flags,
        )
    for place, each in enumerate(predicting):
        value = None if each.value is None else line.slope * each.value
        if value is not None and place < intercepts:
            value += line.intercept
        yield replace(each, quantity="recalibrated coefficient", value=value)
