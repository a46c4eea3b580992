"""Linear regression as a scikit-learn estimator: one noisy look at the moments, no rounds.

*Privacy:* as :mod:`confide.statistics.regression.linear`; see :mod:`.model`.  Bounds of the target
are public too, and values beyond them count as those on them.

References:
    [Wan18] Wang. Revisiting differentially private linear regression: optimal and adaptive
        prediction & estimation in unbounded domain. UAI 2018. https://arxiv.org/abs/1803.02596
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from confide.arrays import Floats
from confide.learning.columns import Bounds, Feature, declared
from confide.learning.in_memory import OUTCOME, column_of
from confide.learning.ledger_folder import TemporaryLedger
from confide.learning.model import (
    DPModel,
    middles,
    of_quantity,
    values_of,
)
from confide.privacy.exact import Number
from confide.release.site.seal import sealing


class DPLinearRegression(DPModel):
    """Linear regression under differential privacy, with the patient as privacy unit.

    Beside those of :class:`~.model.DPModel` there is the parameter ``target``: (lower, upper) of
    what is explained.  One row of each patient is kept.

    Attributes:
        coef_: Coefficients, per unit of each term; shape (terms,).
        intercept_: The intercept that goes with them.
    """

    _estimator_type = "regressor"

    def __init__(  # noqa: PLR0913 - parameters are public facts, each with a default
        self,
        *,
        bounds: Bounds = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        missing: Mapping[str, Any] | None = None,
        target: tuple[Any, Any] | None = None,
        epsilon: Number = "1",
        delta: Number = "1e-6",
        lifetime: Number | None = None,
        workspace: str | Path | TemporaryLedger | None = None,
        lineage: str = "patients",
        population: int | None = None,
        level: Number = "0.95",
    ) -> None:
        self.bounds = bounds
        self.categories = categories
        self.missing = missing
        self.target = target
        self.epsilon = epsilon
        self.delta = delta
        self.lifetime = lifetime
        self.workspace = workspace
        self.lineage = lineage
        self.population = population
        self.level = level

    @sealing
    def fit(self, X: Any, y: Any, *, patients: Any = None, request: str | None = None) -> Self:  # noqa: N803
        """Charge the ledger, fit, and keep what was published.

        Args:
            X: Rows; shape (rows, columns).
            y: Targets; shape (rows,).
            patients: Id of each row's patient; or ``"rows"``, which protects single rows.
            request: A word that asks for the same fit again, as after one that failed: another draw
                and another charge.

        Raises:
            ContractError: If something is not declared, or was learnt from the data; nothing is
                charged.
            UnboundedError: If the target has no bounds.
            PolicyError: If the lifetime would be passed; nothing is charged.
            ReleaseFailedError: If anything fails after reading began; the charge stays.
        """
        return self._fit(X, {OUTCOME: column_of(y)}, patients=patients, request=request)

    def predict(self, X: Any) -> Floats:  # noqa: N803
        """Return the target that the model predicts; shape (rows,)."""
        return np.asarray(self._terms(X) @ self.coef_ + self.intercept_)

    def _statistic(self) -> str:
        return "linear-regression"

    def _beside(self) -> dict[str, dict[str, Any]]:
        pairs = {} if self.target is None else {OUTCOME: self.target}
        (target,) = declared((OUTCOME,), bounds=pairs, categories=None)
        return {OUTCOME: target.section()}

    def _asked(self) -> dict[str, Any]:
        return {"outcome": OUTCOME}

    def _take(self, features: tuple[Feature, ...]) -> None:
        """Keep the coefficients in the order of the columns; the statistic has numbers first."""
        by_key = {each.key[0]: each for each in of_quantity(self.estimates_, "coefficient")}
        self.terms_ = tuple(
            name
            for feature in features
            for name in (
                [f"{feature.name}: {label} vs {feature.labels[0]}" for label in feature.labels[1:]]
                if feature.labels
                else [feature.name]
            )
        )
        self.coef_ = values_of([by_key[name] for name in self.terms_])
        (intercept,) = values_of(of_quantity(self.estimates_, "intercept"))
        self.intercept_ = float(intercept - self.coef_ @ middles(features))

    def _exactly(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return R²."""
        y = np.asarray(y, dtype=np.float64)
        left = float(((y - self.predict(X)) ** 2).sum())
        return 1 - left / float(((y - y.mean()) ** 2).sum())
