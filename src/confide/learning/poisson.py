"""Poisson regression as a scikit-learn estimator: rates of counts, per person-time if given.

*Privacy:* as :mod:`confide.statistics.person_time.poisson`; see :mod:`.model`.  More events than
the public bound count as the bound.

References:
    [MN89] McCullagh, Nelder. Generalized linear models, 2nd ed., ch. 6. Chapman and Hall 1989.
        https://doi.org/10.1201/9780203753736
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from confide.arrays import Floats
from confide.errors import ContractError, UnboundedError
from confide.learning.columns import Bounds, Feature, declared
from confide.learning.hazard import HAZARD_METHODS
from confide.learning.in_memory import OUTCOME, column_of
from confide.learning.ledger_folder import TemporaryLedger
from confide.learning.model import (
    TIME,
    DPChosenModel,
    middles,
    predicting_of,
    values_of,
)
from confide.privacy.exact import Number
from confide.release.site.seal import sealing


class DPPoissonRegression(DPChosenModel):
    """Poisson regression under differential privacy, with the patient as privacy unit.

    Beside those of :class:`~.model.DPModel` there are the parameters:

    - ``most_events``: events of a row that count, no more than needed;
    - ``exposure``: (lower, upper) of the person-time of a row, above 0; None where it is alike;
    - ``rows_per_patient``: most rows of a patient, which weigh as one together;
    - ``method``: "rounds"; "wide" for few events against their bound, which predicts and has no
      intervals; or "auto", which takes "wide" where it is expected to rank better by public
      numbers, and "rounds" elsewhere and where there are none;
    - ``hold_out``, ``recalibrate``, ``subgroups``: as :class:`~.model.DPChosenModel` has them;
    - ``expect_rows``, ``expect_share``: public planning number of patients, and mean events over
      ``most_events`` (a tenth where none is named), by which "auto" decides and "wide" goes.

    Attributes:
        coef_: Coefficients that predict, log rate per unit of each term; shape (terms,).
        intercept_: The intercept that goes with them.
        method_: The method that was taken.
        evaluation_: Observed over expected events, calibration slope and C-statistic on held-out
            patients, by quantity.
    """

    methods = HAZARD_METHODS
    evaluated = ("observed to expected", "calibration slope", "concordance")
    _estimator_type = "regressor"

    def __init__(  # noqa: PLR0913 - parameters are public facts, each with a default
        self,
        *,
        bounds: Bounds = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        missing: Mapping[str, Any] | None = None,
        most_events: int | None = None,
        exposure: tuple[Any, Any] | None = None,
        epsilon: Number = "1",
        delta: Number = "1e-6",
        lifetime: Number | None = None,
        workspace: str | Path | TemporaryLedger | None = None,
        lineage: str = "patients",
        population: int | None = None,
        level: Number = "0.95",
        rows_per_patient: int = 1,
        method: str = "auto",
        expect_rows: int | None = None,
        expect_share: Number | None = None,
        hold_out: Number = "0",
        recalibrate: str = "none",
        subgroups: Sequence[str] | None = None,
    ) -> None:
        self.bounds = bounds
        self.categories = categories
        self.missing = missing
        self.most_events = most_events
        self.exposure = exposure
        self.epsilon = epsilon
        self.delta = delta
        self.lifetime = lifetime
        self.workspace = workspace
        self.lineage = lineage
        self.population = population
        self.level = level
        self.rows_per_patient = rows_per_patient
        self.method = method
        self.expect_rows = expect_rows
        self.expect_share = expect_share
        self.hold_out = hold_out
        self.recalibrate = recalibrate
        self.subgroups = subgroups

    @sealing
    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any,
        *,
        exposure: Any = None,
        patients: Any = None,
        request: str | None = None,
    ) -> Self:
        """Charge the ledger, fit, and keep what was published.

        Args:
            X: Rows; shape (rows, columns).
            y: Numbers of events; shape (rows,).
            exposure: Person-time of each row, where the parameter bounds it; shape (rows,).
            patients: Id of each row's patient; or ``"rows"``, which protects single rows.
            request: A word that asks for the same fit again, as after one that failed: another draw
                and another charge.

        Raises:
            ContractError: If something is not declared, or was learnt from the data; nothing is
                charged.
            UnboundedError: If the number of events has no bound.
            PolicyError: If the lifetime would be passed; nothing is charged.
            ReleaseFailedError: If anything fails after reading began; the charge stays.
        """
        if (exposure is None) != (self.exposure is None):
            raise ContractError(
                "Person-time is given to fit and bounded by the parameter, or neither.",
                hint="Write exposure=(30, 365) of the model and fit(X, y, exposure=days).",
            )
        beside = {OUTCOME: column_of(y)}
        if exposure is not None:
            beside[TIME] = column_of(exposure)
        return self._fit(X, beside, patients=patients, request=request, holding_out=self._holds_out)

    def predict(self, X: Any) -> Floats:  # noqa: N803
        """Return the rate that the model predicts, per unit of person-time; shape (rows,)."""
        log_rate = self._terms(X) @ self.coef_ + self.intercept_
        return np.asarray(np.exp(np.clip(log_rate, -700, 700)))

    def _statistic(self) -> str:
        return "poisson-regression"

    def _beside(self) -> dict[str, dict[str, Any]]:
        if self.most_events is None:
            raise UnboundedError(
                "A number of events has no bound, and that of the data is not public.",
                hint="Write most_events=5 from clinical knowledge; more count as five.",
            )
        events = {"kind": "number", "lower": "0", "upper": str(self.most_events), "step": "1"}
        if self.exposure is None:
            return {OUTCOME: events}
        (time,) = declared((TIME,), bounds={TIME: self.exposure}, categories=None)
        return {OUTCOME: events, TIME: time.section()}

    def _asked(self) -> dict[str, Any]:
        time = {} if self.exposure is None else {"time": TIME}
        return {"events": OUTCOME, "method": self._method(), **time, **self._judged()}

    def _take(self, features: tuple[Feature, ...]) -> None:
        """Keep what predicts, with the intercept moved from the middle of the bounds to 0."""
        found = predicting_of(self.estimates_)
        values = values_of(found)
        self.evaluation_ = self._said()
        self.terms_ = tuple(each.key[0] for each in found[1:])
        self.coef_ = values[1:]
        self.intercept_ = float(values[0] - self.coef_ @ middles(features))

    def _exactly(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return the share of deviance that is explained, of rows with equal person-time."""
        y = np.asarray(y, dtype=np.float64)

        def deviance(mean: Floats) -> float:
            logs = np.log(np.where(y > 0, y, 1) / np.where(y > 0, mean, 1))
            return float((y * logs - y + mean).sum())

        return 1 - deviance(self.predict(X)) / deviance(np.full(len(y), y.mean()))
