"""Hazard regression as a scikit-learn estimator: time to an event, over public intervals.

*Privacy:* as :mod:`confide.statistics.person_time.hazard`; see :mod:`.model`.  All intervals of a
patient are one contribution.

References:
    [Hol80] Holford. The analysis of rates and of survivorship using log-linear models. Biometrics
        36(2), 1980. https://doi.org/10.2307/2529982
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats
from confide.errors import ContractError, UnboundedError
from confide.learning.columns import Bounds, Feature, text_of
from confide.learning.containers import cells
from confide.learning.in_memory import OUTCOME, require_outcomes
from confide.learning.ledger_folder import TemporaryLedger
from confide.learning.model import (
    TIME,
    DPChosenModel,
    middles,
    predicting_of,
    values_of,
)
from confide.privacy.exact import Number, exact
from confide.release.site.seal import sealing
from confide.statistics.person_time.few_events import HazardFit

HAZARD_METHODS = tuple(each.value for each in HazardFit)


class DPHazardRegression(DPChosenModel):
    """Regression of a hazard under differential privacy, with the patient as privacy unit.

    Beside those of :class:`~.model.DPModel` there are the parameters:

    - ``edges``: of the public intervals of follow-up, from 0 to the horizon;
    - ``hold_out``, ``recalibrate``, ``subgroups``: as :class:`~.model.DPChosenModel` has them;
    - ``method``: "rounds"; "wide" for few events, which predicts and has no intervals; or "auto",
      which takes "wide" where it is expected to rank better by public numbers, and "rounds"
      elsewhere and where there are none;
    - ``expect_rows``, ``expect_share``: public planning number of patients, and share of them who
      have the event (a quarter where none is named), by which "auto" decides and "wide" goes.

    One row of each patient is kept, with all of their follow-up.

    Attributes:
        coef_: Coefficients that predict, log hazard per unit of each term; shape (terms,).
        baseline_: Log hazard in each interval where all terms are 0; shape (intervals,).
        method_: The method that was taken.
        evaluation_: Harrell's C, observed over expected events and calibration slope on held-out
            patients, by quantity.
    """

    methods = HAZARD_METHODS
    evaluated = ("concordance", "observed to expected", "calibration slope")
    _estimator_type = "survival"

    def __init__(  # noqa: PLR0913 - parameters are public facts, each with a default
        self,
        *,
        bounds: Bounds = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        missing: Mapping[str, Any] | None = None,
        edges: Sequence[Any] | None = None,
        epsilon: Number = "1",
        delta: Number = "1e-6",
        lifetime: Number | None = None,
        workspace: str | Path | TemporaryLedger | None = None,
        lineage: str = "patients",
        population: int | None = None,
        hold_out: Number = "0",
        level: Number = "0.95",
        method: str = "auto",
        expect_rows: int | None = None,
        expect_share: Number | None = None,
        recalibrate: str = "none",
        subgroups: Sequence[str] | None = None,
    ) -> None:
        self.bounds = bounds
        self.categories = categories
        self.missing = missing
        self.edges = edges
        self.epsilon = epsilon
        self.delta = delta
        self.lifetime = lifetime
        self.workspace = workspace
        self.lineage = lineage
        self.population = population
        self.hold_out = hold_out
        self.level = level
        self.method = method
        self.expect_rows = expect_rows
        self.expect_share = expect_share
        self.recalibrate = recalibrate
        self.subgroups = subgroups

    @sealing
    def fit(self, X: Any, y: Any, *, patients: Any = None, request: str | None = None) -> Self:  # noqa: N803
        """Charge the ledger, fit, and keep what was published.

        Args:
            X: Rows; shape (rows, columns).
            y: Whether follow-up ended with the event, and its time: a structured array of these
                two, as scikit-survival has it, or one of shape (rows, 2).
            patients: Id of each row's patient; or ``"rows"``, which protects single rows.
            request: A word that asks for the same fit again, as after one that failed: another draw
                and another charge.

        Raises:
            ContractError: If something is not declared, or was learnt from the data; nothing is
                charged.
            UnboundedError: If there are no intervals.
            PolicyError: If the lifetime would be passed; nothing is charged.
            ReleaseFailedError: If anything fails after reading began; the charge stays.
        """
        event, time = _event_and_time(y)
        beside = {OUTCOME: event, TIME: time}
        return self._fit(X, beside, patients=patients, request=request, holding_out=self._holds_out)

    def predict(self, X: Any) -> Floats:  # noqa: N803
        """Return the logarithm of the hazard over that at 0: who is higher dies earlier."""
        return np.asarray(self._terms(X) @ self.coef_)

    def predict_survival(self, X: Any, times: Sequence[float]) -> Floats:  # noqa: N803
        """Return the chance to be without the event at each time; shape (rows, times).

        Raises:
            ContractError: If a time is beyond the horizon.
        """
        edges = np.asarray([float(edge) for edge in self._edges()])
        at = np.asarray(times, dtype=np.float64)
        if at.size and (at.min() < 0 or at.max() > edges[-1]):
            raise ContractError(f"Expected times from 0 to the horizon {edges[-1]:g}.")
        spent = np.clip(at[:, None] - edges[:-1], 0, np.diff(edges))
        heights = spent @ np.exp(self.baseline_)
        return np.asarray(np.exp(-np.exp(self.predict(X))[:, None] * heights))

    def _edges(self) -> list[Fraction]:
        if self.edges is None:
            raise UnboundedError(
                "Follow-up has no intervals, and times of the data are not public.",
                hint="Write edges=[0, 365, 1095, 1825], from the protocol.",
            )
        return [exact(edge) for edge in self.edges]

    def _statistic(self) -> str:
        return "hazard-regression"

    def _beside(self) -> dict[str, dict[str, Any]]:
        edges = self._edges()
        if max(edges) <= 0:
            raise ContractError("Expected edges that rise from 0 to the horizon.")
        fine = Fraction(Feature(name=TIME, upper=max(edges)).section()["step"])
        step = _common([fine, *edges])
        upper = max(edges) + step  # an event beyond the horizon is none at it
        grid = {"lower": "0", "upper": text_of(upper), "step": text_of(step)}
        return {
            OUTCOME: {"categories": {"0": "no", "1": "yes"}},
            TIME: {"kind": "number", **grid},
        }

    def _asked(self) -> dict[str, Any]:
        return {
            "time": TIME,
            "of": {OUTCOME: ["yes"]},
            "edges": [text_of(edge) for edge in self._edges()],
            "method": self._method(),
            **self._judged(),
        }

    def _take(self, features: tuple[Feature, ...]) -> None:
        """Keep what predicts, with the hazards moved from the middle of the bounds to 0."""
        found = predicting_of(self.estimates_)
        intervals = len(self._edges()) - 1
        values = values_of(found)
        self.evaluation_ = self._said()
        self.terms_ = tuple(each.key[0] for each in found[intervals:])
        self.coef_ = values[intervals:]
        self.baseline_ = values[:intervals] - self.coef_ @ middles(features)

    def _exactly(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return Harrell's C."""
        event, time = _event_and_time(y)
        event, time = np.asarray(event, dtype=bool), np.asarray(time, dtype=np.float64)
        risk = self.predict(X)
        first = event[:, None] & (time[:, None] < time)
        higher = (risk[:, None] > risk) + (risk[:, None] == risk) / 2
        return float((first * higher).sum() / first.sum())


def _event_and_time(y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the two columns of outcomes.

    Raises:
        ContractError: If there are not two.
    """
    require_outcomes(y)
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None and len(names) == 2:
        event, time = (cells(y[name]) for name in names)
        return event, time
    found = cells(y, width=2)
    if found.ndim != 2 or found.shape[1] != 2:
        raise ContractError(
            "Expected y of shape (rows, 2): whether follow-up ended with the event, and its time.",
            hint="Write np.column_stack([event, days]).",
        )
    return np.asarray(found[:, 0]), np.asarray(found[:, 1])


def _common(values: Sequence[Fraction]) -> Fraction:
    """Return the greatest fraction of which all are multiples."""
    below = math.lcm(*(value.denominator for value in values))
    return Fraction(math.gcd(*(int(value * below) for value in values)), below)
