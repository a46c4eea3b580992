"""What every estimator shares: a fit is a plan, a charge and a certificate.

*Privacy:* as the statistic that is asked, with the patient as unit: all rows of a patient added or
removed; or one row, where ``patients="rows"`` asks for that weaker promise. Bounds, categories,
classes, names of columns and the number of columns are public. The same fit on the same rows
returns the stored release and costs nothing: the request is known by a keyed digest of plan and
rows, which tells nothing to whoever lacks the folder's key.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats
from confide.errors import ContractError, UnknownNameError
from confide.learning.columns import (
    Feature,
    encoded,
)
from confide.learning.conventions import not_fitted
from confide.learning.estimator import Estimator, whose
from confide.learning.in_memory import PATIENT, ROWS, frame_of, request_of
from confide.learning.refusals import refuse_callers, refuse_learnt_steps
from confide.plans.estimates import Estimate, Forecast
from confide.plans.plan import Plan
from confide.privacy.exact import Number, exact
from confide.privacy.unit import Entity
from confide.statistics.logistic.regression import ONE_LOOK, WIDE
from confide.workspace import Workspace

MODEL, TIME = "model", "time"
_TAKEN = {ONE_LOOK: "one-shot", WIDE: "wide"}


class DPModel(Estimator):
    """A model whose parameters are public facts, and kept as they were given.

    - ``bounds``: (lower, upper) by column, one pair for each column of an array, or one for all;
    - ``categories``: values by column, the reference first;
    - ``missing``: constants by column for missing values; rows that lack another value are dropped;
    - ``epsilon``, ``delta``: what a fit costs;
    - ``lifetime``: ε that all fits on these patients may cost together; ``epsilon`` when None;
    - ``workspace``: folder of the ledger, or :class:`~.ledger_folder.TemporaryLedger`;
    - ``lineage``: name of the patients in the ledger;
    - ``population``: public planning number of the patients, with which δ may be up to 1e-4 (and
      at most a hundredth of one over it);
    - ``level``: coverage of intervals.

    Attributes:
        terms_: Names of the terms.
        estimates_: All that was published, with intervals.
        certificate_: Signed JSON.
        n_features_in_: Number of columns.
    """

    delta: Number
    level: Number

    _score_hint = (
        "Write hold_out='0.2' and read evaluation_, where the model has it; or "
        "score(X, y, public=True) for patients whose data are public."
    )

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

    def feasibility(
        self, *, rows: int, share: Number | None = None, unit: str = Entity.PATIENT.value
    ) -> Forecast:
        """Return the expected error of a coefficient before anything is spent.

        Args:
            rows: Public planning number of rows.
            share: Public planning share, of what the page of the statistic says.
            unit: "patient"; or "event", for fits with ``patients="rows"`` in the same ledger.
        """
        features = self._declared(None)
        expect = {"count": rows} | ({} if share is None else {"share": share})
        with self._open(features, entity=Entity(unit), frames={}) as ws:
            plan = self._plan(ws, features, expect=expect)
            found = ws.forecast(plan)[MODEL]
        if isinstance(found, str):
            raise ContractError(found)
        return found

    def _fit(
        self,
        X: Any,  # noqa: N803
        beside: Mapping[str, NDArray[Any]],
        *,
        patients: Any,
        request: str | None,
        holding_out: bool = False,
    ) -> Self:
        refuse_callers()
        refuse_learnt_steps()
        features = self._declared(X)
        entity, ids = whose(patients, most=getattr(self, "rows_per_patient", 1))
        if ids is None and holding_out:
            raise ContractError(
                "Patients are held out by a keyed hash of their id, and none was given.",
                hint="Write fit(X, y, patients=ids): a row's place is not an id.",
            )
        texts = [name for name, section in self._beside().items() if "categories" in section]
        frame = frame_of(X, beside, ids, features=features, texts=texts)
        with self._open(features, entity=entity, frames={ROWS: frame}) as ws:
            plan = self._plan(ws, features)
            key = request_of(plan.digest(), frame, workspace=self.workspace, word=request)
            release = ws.release(plan, request=key)
        self.estimates_ = release.of(MODEL)
        self._keep(X, features=features, certificate=release.certificate)
        self._take(features)
        return self

    def _declared(self, table: Any) -> tuple[Feature, ...]:
        return self._named(table, own=(PATIENT, *self._beside()))

    def _open(
        self,
        features: tuple[Feature, ...],
        *,
        entity: Entity = Entity.PATIENT,
        frames: Mapping[str, object],
    ) -> Workspace:
        return self._opened(
            features,
            beside=self._beside(),
            accounting={"measure": "zcdp", "delta": self.delta},
            frames=frames,
            entity=entity,
        )

    def _plan(
        self,
        ws: Workspace,
        features: tuple[Feature, ...],
        *,
        expect: dict[str, Number] | None = None,
        changed: Mapping[str, Number] | None = None,
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
        return ws.plan(spec, epsilon=self.epsilon)

    def _terms(self, table: Any) -> Floats:
        """Return the terms of rows; shape (rows, terms).

        Raises:
            ContractError: If the model is not fitted, or the rows do not suit it.
        """
        if not hasattr(self, "coef_"):
            raise not_fitted()
        if not np.isfinite(self.coef_).all():
            raise ContractError(
                "There were too few patients for a model.", hint="See the flags in estimates_."
            )
        return self._placed(table, terms=encoded)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    @property
    def _multi_class(self) -> bool:
        return len(getattr(self, "classes", (0, 1))) > 2


def of_quantity(estimates: Sequence[Estimate], quantity: str) -> tuple[Estimate, ...]:
    """Return the estimates of one quantity, in order."""
    return tuple(each for each in estimates if each.quantity == quantity)


def predicting_of(estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """Return the coefficients to predict with: recalibrated ones, where there are any."""
    moved = of_quantity(estimates, "recalibrated coefficient")
    return moved or of_quantity(estimates, "prediction coefficient")


def values_of(estimates: Sequence[Estimate]) -> Floats:
    """Return their values, NaN where there is none."""
    return np.asarray([np.nan if each.value is None else each.value for each in estimates])


def middles(features: Sequence[Feature]) -> Floats:
    """Return where the terms are at the intercept: middles of bounds, and 0 for indicators."""
    found: list[float] = []
    for feature in features:
        found += [0.0] * (len(feature.labels) - 1) if feature.labels else [feature.middle]
    return np.asarray(found)


class DPChosenModel(DPModel):
    """A model of whose fits public numbers choose one, where ``method`` is "auto".

    It may hold patients out, who put it right and judge it:

    - ``hold_out``: share of the patients who evaluate the model instead of fitting it;
    - ``recalibrate``: "intercept" or "line", which half of those who are held out put right, so
      that the other half judges what predicts; "none" otherwise;
    - ``subgroups``: names of columns with categories, by whose values it is judged too.

    Attributes:
        method_: The method that was taken.
        evaluation_: What held-out patients say, by quantity.
    """

    methods: ClassVar[tuple[str, ...]]
    evaluated: ClassVar[tuple[str, ...]]
    method: str
    expect_rows: Number | None
    hold_out: Number
    recalibrate: str
    subgroups: Sequence[str] | None

    @property
    def _holds_out(self) -> bool:
        return exact(self.hold_out) > 0

    def _judged(self) -> dict[str, Any]:
        """Return who is held out, and for what, in the words of study.yaml."""
        found: dict[str, Any] = {"hold-out": self.hold_out}
        if self.recalibrate != "none":
            found["recalibrate"] = self.recalibrate
        if self.subgroups is not None:
            found["subgroups"] = list(self.subgroups)
        return found

    def _said(self) -> dict[str, tuple[Estimate, ...]]:
        """Return what held-out patients say, by quantity."""
        return {name: of_quantity(self.estimates_, name) for name in self.evaluated}

    def _method(self) -> str:
        """Return the method that is asked for: of "auto" without a number of patients, rounds."""
        if self.method not in self.methods:
            raise UnknownNameError("method", str(self.method), known=self.methods)
        unknown = self.method == "auto" and self.expect_rows is None
        return "rounds" if unknown else str(self.method)

    def _public(self) -> dict[str, Number] | None:
        """Return the public numbers by which a fit is chosen and goes; None where it needs none."""
        if self.expect_rows is None or self._method() not in ("auto", "wide"):
            return None
        share = getattr(self, "expect_share", None)
        return {"count": self.expect_rows} | ({} if share is None else {"share": share})

    def _plan(
        self,
        ws: Workspace,
        features: tuple[Feature, ...],
        *,
        expect: dict[str, Number] | None = None,
        changed: Mapping[str, Number] | None = None,
    ) -> Plan:
        """Return the plan of the method that public numbers choose, and keep which that is.

        A fit in rounds does not depend on them, so its plan does not hold them.
        """
        public = self._public()
        plan = super()._plan(ws, features, expect=expect or public, changed=changed)
        (measurement,) = plan.measurements
        self.method_ = _TAKEN.get(measurement.name, "rounds")
        if public is None or expect is not None or self.method_ == "wide":
            return plan
        return super()._plan(ws, features, changed={"method": self.method_})
