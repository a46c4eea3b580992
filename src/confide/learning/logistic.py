"""Logistic regression as a scikit-learn estimator, for two classes or several.

*Privacy:* as :mod:`confide.statistics.logistic.regression`, and with three classes or more as
:mod:`confide.statistics.logistic.multinomial`; see :mod:`.model`.  Which classes occur is not
public.

References:
    [CP93] Carroll, Pederson. On robustness in the logistic regression model. JRSS B 55(3), 1993.
        https://doi.org/10.1111/j.2517-6161.1993.tb01934.x
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats
from confide.errors import ContractError
from confide.learning.columns import Bounds, Feature, labels_of
from confide.learning.in_memory import OUTCOME, column_of
from confide.learning.ledger_folder import TemporaryLedger
from confide.learning.model import (
    DPChosenModel,
    middles,
    predicting_of,
    values_of,
)
from confide.privacy.exact import Number
from confide.release.site.seal import sealing

METHODS = ("auto", "rounds", "one-shot", "wide")
EVALUATED = ("auc", "calibration slope", "calibration intercept", "brier score")


class DPLogisticRegression(DPChosenModel):
    """Logistic regression under differential privacy, with the patient as privacy unit.

    Beside those of :class:`~.model.DPModel` there are the parameters:

    - ``classes``: the outcomes; of two, that of the model last; of several, the reference first;
    - ``hold_out``, ``recalibrate``, ``subgroups``: as :class:`~.model.DPChosenModel` has them;
    - ``rows_per_patient``: most rows of a patient, which weigh as one together;
    - ``method``: "rounds"; "wide" for many terms, few patients or a rare class, or "one-shot" (of
      two classes), which predict and have no intervals; or "auto", which takes "wide" where it is
      expected to rank better by the public numbers, and "rounds" elsewhere and where there are
      none;
    - ``expect_rows``: public planning number of rows, by which "auto" decides, and which "wide"
      goes by;
    - ``expect_share``: public planning share of the rows of the last class, or of several of the
      rarest one, by which "auto" decides too.

    Attributes:
        coef_: Coefficients that predict, per unit of each term; shape (1, terms), or (classes,
            terms) for three classes or more, those of the reference being 0.
        intercept_: The intercepts that go with them; shape (1,) or (classes,).
        classes_: The outcomes.
        method_: The method that was taken.
        evaluation_: AUC, calibration and Brier score on held-out patients, by quantity; of several
            classes, of each against the rest.
    """

    methods = METHODS
    evaluated = EVALUATED
    _estimator_type = "classifier"

    def __init__(  # noqa: PLR0913 - parameters are public facts, each with a default
        self,
        *,
        bounds: Bounds = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        missing: Mapping[str, Any] | None = None,
        classes: tuple[Any, ...] = (0, 1),
        epsilon: Number = "1",
        delta: Number = "1e-6",
        lifetime: Number | None = None,
        workspace: str | Path | TemporaryLedger | None = None,
        lineage: str = "patients",
        population: int | None = None,
        hold_out: Number = "0",
        level: Number = "0.95",
        rows_per_patient: int = 1,
        method: str = "auto",
        expect_rows: int | None = None,
        expect_share: Number | None = None,
        recalibrate: str = "none",
        subgroups: Sequence[str] | None = None,
    ) -> None:
        self.bounds = bounds
        self.categories = categories
        self.missing = missing
        self.classes = classes
        self.epsilon = epsilon
        self.delta = delta
        self.lifetime = lifetime
        self.workspace = workspace
        self.lineage = lineage
        self.population = population
        self.hold_out = hold_out
        self.level = level
        self.rows_per_patient = rows_per_patient
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
            y: Outcomes; shape (rows,).
            patients: Id of each row's patient; or ``"rows"``, which protects single rows.
            request: A word that asks for the same fit again, as after one that failed: another draw
                and another charge.

        Raises:
            ContractError: If something is not declared, or was learnt from the data; nothing is
                charged.
            PolicyError: If the lifetime would be passed; nothing is charged.
            ReleaseFailedError: If anything fails after reading began; the charge stays.
        """
        beside = {OUTCOME: column_of(y)}
        return self._fit(X, beside, patients=patients, request=request, holding_out=self._holds_out)

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Return the log odds that the model predicts; shape (rows,), or (rows, classes)."""
        found = self._terms(X) @ self.coef_.T + self.intercept_
        return np.asarray(found if self._several else found[:, 0])

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the chance of each class; shape (rows, classes)."""
        odds = self.decision_function(X)
        if self._several:
            powers = np.exp(odds - odds.max(axis=1, keepdims=True))
            return np.asarray(powers / powers.sum(axis=1, keepdims=True))
        chance = 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
        return np.column_stack([1 - chance, chance])

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the likeliest class; shape (rows,)."""
        odds = self.decision_function(X)
        likely = odds.argmax(axis=1) if self._several else (odds > 0).astype(np.int64)
        return np.asarray(self.classes_[likely])

    @property
    def _several(self) -> bool:
        return len(self.classes) > 2

    def _statistic(self) -> str:
        return "multinomial-regression" if self._several else "logistic-regression"

    def _beside(self) -> dict[str, dict[str, Any]]:
        names = labels_of(self.classes)
        if self._several:
            return {OUTCOME: {"categories": names}}
        return {OUTCOME: {"categories": dict(zip(names, ("no", "yes"), strict=True))}}

    def _asked(self) -> dict[str, Any]:
        held = self._judged()
        if not self._several:
            return {"of": {OUTCOME: ["yes"]}, "method": self._method(), **held}
        if self.method == "one-shot":
            raise ContractError(
                "Three classes or more are not fitted in one look.", hint='Write method="auto".'
            )
        return {"outcome": OUTCOME, "method": self._method(), **held}

    def _take(self, features: tuple[Feature, ...]) -> None:
        """Keep what predicts, with the intercept moved from the middle of the bounds to 0."""
        found = predicting_of(self.estimates_)
        self.evaluation_ = self._said()
        self.classes_ = np.asarray(self.classes)
        self.terms_ = tuple(dict.fromkeys(each.key[0] for each in found))[1:]
        values = values_of(found).reshape(1 + len(self.terms_), -1).T
        if self._several:  # the reference is the first class
            values = np.vstack([np.zeros_like(values[:1]), values])
        self.coef_ = values[:, 1:]
        self.intercept_ = values[:, 0] - self.coef_ @ middles(features)

    def _exactly(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return the share of rows that are predicted right."""
        return float(np.mean(self.predict(X) == np.asarray(y)))
