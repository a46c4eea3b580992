"""What every estimator shares: a fit is a plan, a charge and a certificate.

*Privacy:* as the statistic that is asked, with the patient as unit: all rows of a patient added or
removed.  Bounds, categories, classes, names of columns and the number of columns are public.  The
same fit on the same rows returns the stored release and costs nothing: the request is known by a
keyed digest of plan and rows, which tells nothing to whoever lacks the folder's key.
"""

import hmac
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
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
    numbers,
    width_of,
)
from confide.learning.conventions import Conventions
from confide.learning.ledger_folder import TemporaryLedger, ledger_folder
from confide.learning.refusals import refuse_learnt_steps, refuse_tuning
from confide.plans.estimates import Estimate, Forecast
from confide.plans.plan import Plan
from confide.privacy.loss import ZeroConcentratedDP
from confide.release.keys import read_order_key
from confide.workspace import FOLDER, Workspace, open_workspace

MODEL, ROWS, PATIENT, OUTCOME, TIME = "model", "rows", "patient", "outcome", "time"
Floats = NDArray[np.float64]


class DPModel(Conventions):
    """A model whose parameters are public facts, and kept as they were given.

    - ``bounds``: (lower, upper) by column, one pair for each column of an array, or one for all;
    - ``categories``: values by column, the reference first;
    - ``missing``: constants by column for missing values; rows that lack another value are dropped;
    - ``epsilon``, ``delta``: what a fit costs, as text;
    - ``lifetime``: ε that all fits on these patients may cost together; ``epsilon`` when None;
    - ``workspace``: folder of the ledger, or :class:`~.ledger_folder.TemporaryLedger`;
    - ``lineage``: name of the patients in the ledger;
    - ``level``: coverage of intervals.

    Attributes:
        terms_: Names of the terms.
        estimates_: All that was published, with intervals.
        certificate_: Signed JSON.
        n_features_in_: Number of columns.
    """

    bounds: Bounds
    categories: Mapping[str, Sequence[Any]] | None
    missing: Mapping[str, Any] | None
    epsilon: str | int
    delta: str
    lifetime: str | int | None
    workspace: str | Path | TemporaryLedger | None
    lineage: str
    level: str

    @abstractmethod
    def _statistic(self) -> str:
        """Return the kind of statistic that is asked."""

    @abstractmethod
    def _beside(self) -> dict[str, dict[str, Any]]:
        """Return the columns beside the features, in the words of dataset.yaml."""

    @abstractmethod
    def _asked(self) -> dict[str, Any]:
        """Return what is asked of the rows beside the covariates, in the words of study.yaml."""

    @abstractmethod
    def _take(self, features: tuple[Feature, ...]) -> None:
        """Keep what predicts."""

    @abstractmethod
    def _exactly(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return how well rows are predicted, exactly."""

    def feasibility(self, *, rows: int, share: str | None = None) -> Forecast:
        """Return the expected error of a coefficient before anything is spent.

        Args:
            rows: Public planning number of rows.
            share: Public planning share, of what the page of the statistic says.
        """
        features = self._declared(None)
        expect = {"count": str(rows)} | ({} if share is None else {"share": share})
        with self._open(features, frames={}) as ws:
            plan = self._plan(ws, features, expect=expect)
            found = ws.forecast(plan)[MODEL]
        if isinstance(found, str):
            raise ContractError(found)
        return found

    def score(self, X: Any, y: Any, *, public: bool = False) -> float:  # noqa: N803
        """Return how well rows are predicted, of patients who are public.

        Raises:
            ContractError: If it was not said that they are.
        """
        if not public:
            raise ContractError(
                "An exact score on private patients is a query that no budget was charged for.",
                hint="Write hold_out='0.2' and read evaluation_, where the model has it; or "
                "score(X, y, public=True) for patients whose data are public.",
            )
        return self._exactly(X, y)

    def _fit(
        self,
        X: Any,  # noqa: N803
        beside: Mapping[str, NDArray[Any]],
        *,
        patients: Any,
        holding_out: bool = False,
    ) -> Self:
        refuse_tuning()
        refuse_learnt_steps()
        features = self._declared(X)
        if patients is None and holding_out:
            raise ContractError(
                "Patients are held out by a keyed hash of their id, and none was given.",
                hint="Write fit(X, y, patients=ids): a row's place is not an id.",
            )
        frame = self._frame(X, beside, patients, features=features)
        with self._open(features, frames={ROWS: frame}) as ws:
            plan = self._plan(ws, features)
            release = ws.release(plan, request=self._request(plan, frame))
        self.estimates_ = release.of(MODEL)
        self.certificate_ = release.certificate
        self.n_features_in_ = len(features)
        if names_of(X) is not None:
            self.feature_names_in_ = np.asarray(names_of(X), dtype=object)
        self._features = features
        self._take(features)
        return self

    def _declared(self, table: Any) -> tuple[Feature, ...]:
        names = None
        if table is not None:
            names = each_name(names_of(table), width_of(table))
        found = declared(
            names, bounds=self.bounds, categories=self.categories, missing=self.missing
        )
        for feature in found:
            if feature.name in (PATIENT, *self._beside()):
                raise ContractError(
                    f"A column is called {feature.name!r}, which the model calls its own.",
                    hint="Rename it.",
                )
        return found

    def _open(self, features: tuple[Feature, ...], *, frames: Mapping[str, object]) -> Workspace:
        columns = {feature.name: feature.section() for feature in features} | self._beside()
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
        self,
        ws: Workspace,
        features: tuple[Feature, ...],
        *,
        expect: dict[str, str] | None = None,
        changed: Mapping[str, str] | None = None,
    ) -> Plan:
        spec = {
            "id": MODEL,
            "kind": self._statistic(),
            "table": ROWS,
            "covariates": [feature.name for feature in features],
            "per-patient": {"rows": getattr(self, "rows_per_patient", 1)},
            "level": self.level,
            **self._asked(),
            **(changed or {}),
        }
        if expect is not None:
            spec["expect"] = expect
        return ws.plan(spec, epsilon=_amount(self.epsilon))

    def _frame(
        self,
        table: Any,
        beside: Mapping[str, NDArray[Any]],
        patients: Any,
        *,
        features: tuple[Feature, ...],
    ) -> Any:
        """Return the rows as Arrow columns, of types that depend on the declaration alone."""
        import pyarrow as pa

        found: dict[str, Any] = {}
        for place, feature in enumerate(features):
            found[feature.name] = _arrow(
                column(table, place), name=feature.name, text=bool(feature.labels)
            )
        rows = len(found[features[0].name])
        ids = np.arange(rows) if patients is None else np.asarray(patients).ravel()
        if any(len(values) != rows for values in (*beside.values(), ids)):
            raise ContractError("Expected X, y and patients to have equally many rows.")
        for name, section in self._beside().items():
            found[name] = _arrow(beside[name], name=name, text="categories" in section)
        found[PATIENT] = _arrow(ids, name=PATIENT, text=True)
        return pa.table(found)

    def _request(self, plan: Plan, frame: Any) -> str:
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, frame.schema) as stream:
            stream.write_table(frame)
        key = read_order_key(ledger_folder(self.workspace) / FOLDER)
        content = plan.digest().encode() + sink.getvalue().to_pybytes()
        return hmac.new(key, content, "sha256").hexdigest()[:32]

    def _terms(self, table: Any) -> Floats:
        """Return the terms of rows; shape (rows, terms).

        Raises:
            ContractError: If the model is not fitted, or the rows do not suit it.
        """
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
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        kind = getattr(self, "_estimator_type", None)
        classes = getattr(self, "classes", (0, 1))
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=True),
            classifier_tags=(
                ClassifierTags(multi_class=len(classes) > 2) if kind == "classifier" else None
            ),
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            input_tags=InputTags(categorical=True, string=True, allow_nan=True),
            non_deterministic=True,
        )


def rho_of(plan: Plan) -> Fraction:
    """Return the ρ of a plan under zCDP."""
    if not isinstance(plan.loss, ZeroConcentratedDP):
        raise ContractError("Models are accounted in ρ.")
    return plan.loss.rho


def of_quantity(estimates: Sequence[Estimate], quantity: str) -> tuple[Estimate, ...]:
    """Return the estimates of one quantity, in order."""
    return tuple(each for each in estimates if each.quantity == quantity)


def values_of(estimates: Sequence[Estimate]) -> Floats:
    """Return their values, NaN where there is none."""
    return np.asarray([np.nan if each.value is None else each.value for each in estimates])


def middles(features: Sequence[Feature]) -> Floats:
    """Return where the terms are at the intercept: middles of bounds, and 0 for indicators."""
    found: list[float] = []
    for feature in features:
        found += [0.0] * (len(feature.labels) - 1) if feature.labels else [feature.middle]
    return np.asarray(found)


def column_of(y: Any) -> NDArray[Any]:
    """Return outcomes as one column."""
    return np.asarray(np.asarray(y).ravel())


def _arrow(values: NDArray[Any], *, name: str, text: bool) -> Any:
    import pyarrow as pa

    if text:
        return pa.array([label(value) for value in values], type=pa.string())
    return pa.array(numbers(np.asarray(values), name=name), type=pa.float64())


def _amount(value: str | int) -> str:
    return str(value) if isinstance(value, int) else value
