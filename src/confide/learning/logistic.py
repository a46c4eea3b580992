"""Logistic regression as a scikit-learn estimator: each fit is a plan, a charge and a certificate.

*Privacy:* as :mod:`confide.statistics.logistic.regression`, with the patient as unit: all rows of a
patient added or removed.  Bounds, categories, classes, names of columns and the number of columns
are public.  The same fit on the same rows returns the stored release and costs nothing: the request
is known by a keyed digest of plan and rows, which tells nothing to whoever lacks the folder's key.

References:
    [CP93] Carroll, Pederson. On robustness in the logistic regression model. JRSS B 55(3), 1993.
        https://doi.org/10.1111/j.2517-6161.1993.tb01934.x
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from confide.errors import ContractError
from confide.learning.columns import (
    Bounds,
    Feature,
    column,
    declared,
    each_name,
    encoded,
    label,
    names_of,
    width_of,
)
from confide.learning.conventions import Conventions
from confide.learning.in_memory import OUTCOME, PATIENT, ROWS, frame_of, request_of
from confide.learning.ledger_folder import TemporaryLedger, ledger_folder
from confide.learning.refusals import refuse_learnt_steps, refuse_tuning
from confide.plans.estimates import Estimate, Forecast
from confide.plans.plan import Plan
from confide.workspace import Workspace, open_workspace

MODEL = "model"
EVALUATED = ("auc", "calibration slope", "calibration intercept", "brier score")
Floats = NDArray[np.float64]


class DPLogisticRegression(Conventions):
    """Logistic regression under differential privacy, with the patient as privacy unit.

    Parameters are public facts, and kept as they were given:

    - ``bounds``: (lower, upper) by column, one pair for each column of an array, or one for all;
    - ``categories``: values by column, the reference first;
    - ``missing``: constants by column for missing values; rows that lack another value are dropped;
    - ``classes``: the two outcomes, that of the model last;
    - ``epsilon``, ``delta``: what a fit costs, as text;
    - ``lifetime``: ε that all fits on these patients may cost together; ``epsilon`` when None;
    - ``workspace``: folder of the ledger, or :class:`~.ledger_folder.TemporaryLedger`;
    - ``lineage``: name of the patients in the ledger;
    - ``hold_out``: share of the patients who evaluate the model instead of fitting it;
    - ``level``: coverage of intervals.

    Attributes:
        coef_: Coefficients that predict, per unit of each term; shape (1, terms).
        intercept_: The intercept that goes with them; shape (1,).
        terms_: Names of the terms.
        classes_: The two outcomes.
        estimates_: All that was published: odds ratios and coefficients with intervals.
        evaluation_: AUC, calibration and Brier score on held-out patients, by quantity.
        certificate_: Signed JSON.
        n_features_in_: Number of columns.
    """

    _estimator_type = "classifier"

    def __init__(  # noqa: PLR0913 - parameters are public facts, each with a default
        self,
        *,
        bounds: Bounds = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        missing: Mapping[str, Any] | None = None,
        classes: tuple[Any, Any] = (0, 1),
        epsilon: str | int = "1",
        delta: str = "1e-6",
        lifetime: str | int | None = None,
        workspace: str | Path | TemporaryLedger | None = None,
        lineage: str = "patients",
        hold_out: str = "0",
        level: str = "0.95",
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
        self.hold_out = hold_out
        self.level = level

    def fit(self, X: Any, y: Any, *, patients: Any = None) -> Self:  # noqa: N803
        """Charge the ledger, fit, and keep what was published.

        Args:
            X: Rows; shape (rows, columns).
            y: Outcomes; shape (rows,).
            patients: Id of each row's patient; each row is a patient of its own when None.

        Raises:
            ContractError: If something is not declared, or was learnt from the data; nothing is
                charged.
            PolicyError: If the lifetime would be passed; nothing is charged.
            ReleaseFailedError: If anything fails after reading began; the charge stays.
        """
        refuse_tuning()
        refuse_learnt_steps()
        features = self._declared(X)
        if patients is None and float(self.hold_out) > 0:
            raise ContractError(
                "Patients are held out by a keyed hash of their id, and none was given.",
                hint="Write fit(X, y, patients=ids): a row's place is not an id.",
            )
        frame = frame_of(X, y, patients, features=features)
        with self._open(features, frames={ROWS: frame}) as ws:
            plan = self._plan(ws, features)
            release = ws.release(
                plan, request=request_of(plan.digest(), frame, workspace=self.workspace)
            )
        self.estimates_ = release.of(MODEL)
        self.certificate_ = release.certificate
        self.classes_ = np.asarray(self.classes)
        self.n_features_in_ = len(features)
        if names_of(X) is not None:
            self.feature_names_in_ = np.asarray(names_of(X), dtype=object)
        self._take(features)
        return self

    def feasibility(self, *, rows: int, share: str = "0.5") -> Forecast:
        """Return the expected error of a coefficient before anything is spent.

        Args:
            rows: Public planning number of rows.
            share: Public planning share of rows with the outcome.
        """
        features = self._declared(None)
        with self._open(features, frames={}) as ws:
            plan = self._plan(ws, features, expect={"count": str(rows), "share": share})
            found = ws.forecast(plan)[MODEL]
        if isinstance(found, str):
            raise ContractError(found)
        return found

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Return the log odds that the model predicts; shape (rows,)."""
        terms = self._terms(X)
        return np.asarray(terms @ self.coef_[0] + self.intercept_[0])

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the chance of each class; shape (rows, 2)."""
        chance = 1 / (1 + np.exp(-np.clip(self.decision_function(X), -700, 700)))
        return np.column_stack([1 - chance, chance])

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the likelier class; shape (rows,)."""
        likely = (self.decision_function(X) > 0).astype(np.int64)
        return np.asarray(self.classes_[likely])

    def score(self, X: Any, y: Any, *, public: bool = False) -> float:  # noqa: N803
        """Return the share of rows that are predicted right, of patients who are public.

        Raises:
            ContractError: If it was not said that they are.
        """
        if not public:
            raise ContractError(
                "An exact score on private patients is a query that no budget was charged for.",
                hint="Write hold_out='0.2' and read evaluation_; or score(X, y, public=True) for "
                "patients whose data are public.",
            )
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def _declared(self, table: Any) -> tuple[Feature, ...]:
        names = None
        if table is not None:
            names = each_name(names_of(table), width_of(table))
        found = declared(
            names, bounds=self.bounds, categories=self.categories, missing=self.missing
        )
        for feature in found:
            if feature.name in (PATIENT, OUTCOME):
                raise ContractError(
                    f"A column is called {feature.name!r}, which the model calls its own.",
                    hint="Rename it.",
                )
        return found

    def _open(self, features: tuple[Feature, ...], *, frames: Mapping[str, object]) -> Workspace:
        first, last = (label(each) for each in self.classes)
        columns = {feature.name: feature.section() for feature in features}
        columns[OUTCOME] = {"categories": {first: "no", last: "yes"}}
        lifetime = self.epsilon if self.lifetime is None else self.lifetime
        dataset = {
            "dataset": {"id": self.lineage, "lineage": self.lineage, "snapshot": "1"},
            "source": {"kind": "frames"},
            "protects": {"unit": "patient", "id": PATIENT, "adjacency": "add-remove"},
            "accounting": {"measure": "zcdp", "delta": self.delta},
            "caps": {"lifetime": {"epsilon": _amount(lifetime)}},
            "tables": {ROWS: {"columns": columns}},
        }
        return open_workspace(dataset, frames=frames, folder=ledger_folder(self.workspace))

    def _plan(
        self, ws: Workspace, features: tuple[Feature, ...], *, expect: dict[str, str] | None = None
    ) -> Plan:
        spec = {
            "id": MODEL,
            "kind": "logistic-regression",
            "table": ROWS,
            "of": {OUTCOME: ["yes"]},
            "covariates": [feature.name for feature in features],
            "per-patient": {"rows": 1},
            "hold-out": self.hold_out,
            "level": self.level,
        }
        if expect is not None:
            spec["expect"] = expect
        return ws.plan(spec, epsilon=_amount(self.epsilon))

    def _take(self, features: tuple[Feature, ...]) -> None:
        """Keep what predicts, with the intercept moved from the middle of the bounds to 0."""
        found = _of(self.estimates_, "prediction coefficient")
        self.evaluation_ = {name: _of(self.estimates_, name) for name in EVALUATED}
        self.terms_ = tuple(estimate.key[0] for estimate in found[1:])
        values = [np.nan if each.value is None else each.value for each in found]
        middles = [m for feature in features for m in _middles(feature)]
        self.coef_ = np.asarray([values[1:]])
        self.intercept_ = np.asarray([values[0] - self.coef_[0] @ np.asarray(middles)])
        self._features = features

    def _terms(self, table: Any) -> Floats:
        if not hasattr(self, "coef_"):
            raise ContractError("The model is not fitted yet.", hint="Call fit first.")
        if not np.isfinite(self.coef_).all():
            raise ContractError(
                "There were too few patients for a model.", hint="See the flags in estimates_."
            )
        if width_of(table) != len(self._features):
            raise ContractError(f"Expected {len(self._features)} columns, got {width_of(table)}.")
        found = [
            part
            for place, feature in enumerate(self._features)
            for part in encoded(feature, column(table, place))
        ]
        return np.column_stack(found)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_class=False),
            input_tags=InputTags(categorical=True, string=True, allow_nan=True),
            non_deterministic=True,
        )


def _amount(value: str | int) -> str:
    return str(value) if isinstance(value, int) else value


def _of(estimates: Sequence[Estimate], quantity: str) -> tuple[Estimate, ...]:
    return tuple(each for each in estimates if each.quantity == quantity)


def _middles(feature: Feature) -> list[float]:
    return [0.0] * (len(feature.labels) - 1) if feature.labels else [feature.middle]
