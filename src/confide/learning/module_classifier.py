"""Modules of PyTorch as scikit-learn classifiers: each fit is a plan, a charge and a certificate.

*Privacy:* as :mod:`confide.jobs.learning.dp_sgd`, with the patient as unit: all rows of a patient
added or removed; or one row, where ``patients="rows"`` asks for that weaker promise. Bounds,
categories, classes, the module, the planning number of patients and all settings are public. The
weights that a training starts from are published: they must not come from the patients. The same
fit on the same rows is the stored release and costs nothing; after a crash it goes on where it
stopped.

References:
    [ACGMMTZ16] Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang. Deep learning with
        differential privacy. CCS 2016. https://arxiv.org/abs/1607.00133
"""

import copy
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, assert_never

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats
from confide.errors import ContractError
from confide.learning.columns import (
    Bounds,
    Feature,
    declared,
    encoded,
    labels_of,
)
from confide.learning.conventions import not_fitted
from confide.learning.estimator import Estimator, whose
from confide.learning.in_memory import OUTCOME, PATIENT, ROWS, column_of, frame_of, request_of
from confide.learning.ledger_folder import TemporaryLedger
from confide.learning.refusals import refuse_callers, refuse_learnt_steps
from confide.plans.job import JobPlan
from confide.plans.plan import Study
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import amount
from confide.privacy.exact import Number
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.release.jobs.job_certificate import JobRelease
from confide.release.site.seal import sealing
from confide.service.releasing.jobs import last_part, planned, run_in_parts
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.records import Records
from confide.tables.relation import Relation
from confide.workspace import Workspace

if TYPE_CHECKING:
    from confide.jobs.learning.dp_sgd import DPSGD
    from confide.jobs.learning.row_program import RowProgram

BATCH, EPOCHS = 512, 20
"""Patients expected in a batch, and times that each patient is expected to be drawn."""


class DPModuleClassifier(Estimator):
    """A module of PyTorch, trained by DP-SGD with the patient as privacy unit.

    Parameters are public facts, and kept as they were given:

    - ``module``: of PyTorch, from numbers in [−1, 1] and indicators of all categories but the first
      of each column to one number a class; for two classes one number will do;
    - ``patients``: planning number of patients;
    - ``bounds``, ``categories``, ``missing``, ``classes``: of columns, as in
      :class:`~.logistic.DPLogisticRegression`;
    - ``rows_per_patient``: rows that each patient keeps;
    - ``batch``: patients expected in a batch; 512, or a tenth of fewer than 5,120, when None;
    - ``epochs``: times that each patient is expected to be drawn;
    - ``clip``: most norm of one patient's gradient; when None that of ‖x‖ for a linear module,
      which loses nothing, else 4;
    - ``optimizer``, ``learning_rate``: what is made of noisy gradients;
    - ``checkpoints``: parts that are durable by themselves;
    - ``epsilon``, ``delta``: what a fit costs;
    - ``lifetime``, ``lifetime_delta``: what all fits on these patients may cost together; one fit
      when None;
    - ``measure``: "pure", where ε and δ of all fits add up; or "zcdp", as in a ledger that other
      models share, where ε is met at ``delta`` and noise is some 40 % larger;
    - ``workspace``: folder of the ledger, or :class:`~.ledger_folder.TemporaryLedger`;
    - ``lineage``: name of the patients in the ledger; ``population``: their public planning number,
      with which δ may be larger.

    Attributes:
        module_: The trained module, in float64.
        release_: Files, plan and certificate; ``release_.save(folder)`` publishes them.
        certificate_: Signed JSON.
        classes_: The outcomes.
        n_features_in_: Number of columns.
    """

    _estimator_type = "classifier"

    def __init__(  # noqa: PLR0913 - parameters are public facts, each with a default
        self,
        *,
        module: Any = None,
        patients: int | None = None,
        bounds: Bounds = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        missing: Mapping[str, Any] | None = None,
        classes: tuple[Any, ...] = (0, 1),
        rows_per_patient: int = 1,
        batch: int | None = None,
        epochs: int = EPOCHS,
        clip: Number | None = None,
        optimizer: str = "adam",
        learning_rate: Number = "0.03",
        checkpoints: int = 5,
        epsilon: Number = "1",
        delta: Number = "1e-6",
        lifetime: Number | None = None,
        lifetime_delta: Number | None = None,
        measure: str = "pure",
        workspace: str | Path | TemporaryLedger | None = None,
        lineage: str = "patients",
        population: int | None = None,
    ) -> None:
        self.module = module
        self.patients = patients
        self.bounds = bounds
        self.categories = categories
        self.missing = missing
        self.classes = classes
        self.rows_per_patient = rows_per_patient
        self.batch = batch
        self.epochs = epochs
        self.clip = clip
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.checkpoints = checkpoints
        self.epsilon = epsilon
        self.delta = delta
        self.lifetime = lifetime
        self.lifetime_delta = lifetime_delta
        self.measure = measure
        self.workspace = workspace
        self.lineage = lineage
        self.population = population

    @sealing
    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any,
        *,
        patients: Any = None,
        request: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Self:
        """Charge the ledger, train, and keep what was published.

        Args:
            X: Rows; shape (rows, columns).
            y: Outcomes; shape (rows,).
            patients: Id of each row's patient; or ``"rows"``, which protects single rows.
            request: A word that asks for the same fit again, as after one that failed: another draw
                and another charge.
            progress: Told each stage; a terminal's standard error when None.

        Raises:
            ContractError: If something is not declared, or the module cannot be trained; nothing is
                charged.
            PolicyError: If the lifetime would be passed; nothing is charged.
            ReleaseFailedError: If anything fails after reading began; the charge stays.
        """
        from confide.jobs.learning.module_training import ModuleTraining
        from confide.jobs.learning.modules import first_weights

        refuse_callers()
        refuse_learnt_steps()
        entity, ids = whose(patients, most=self.rows_per_patient)
        features = self._declared(X)
        module, program = self._validated(features)
        frame = frame_of(X, {OUTCOME: column_of(y)}, ids, features=features)
        with self._open(features, entity=entity, frames={ROWS: frame}) as ws:
            spec, plan = self._planned(ws, features, module=module, program=program)
            key = request_of(plan.digest(), frame, workspace=self.workspace, word=request)
            runner = ModuleTraining(
                spec,
                plan=plan,
                program=program,
                first=first_weights(module),
                delta=self._delta(plan.dataset.measure),
            )
            self.release_ = run_in_parts(
                ws,
                spec,
                plan=plan,
                runner=runner,
                request=key,
                progress=progress or _to_terminal,
            )
        return self._fitted(X, features=features, module=module)

    def _fitted(self, X: Any, *, features: tuple[Feature, ...], module: Any) -> Self:  # noqa: N803
        """Keep what the release says."""
        from confide.jobs.learning.module_training import published
        from confide.jobs.learning.walk import MODEL

        self.module_ = published(module, self.release_.answer.files[MODEL])
        self.classes_ = np.asarray(self.classes)
        self._keep(X, features=features, certificate=self.release_.certificate)
        return self

    def plan(
        self, columns: Sequence[str] | None = None, *, unit: str = Entity.PATIENT.value
    ) -> JobPlan:
        """Return what a fit would do and cost; reads and charges nothing.

        Args:
            columns: Names of the columns, in their order; those that are declared, when None.
            unit: "patient"; or "event", for fits with ``patients="rows"`` in the same ledger.
        """
        features = declared(
            columns, bounds=self.bounds, categories=self.categories, missing=self.missing
        )
        module, program = self._validated(features)
        with self._open(features, entity=Entity(unit), frames={}) as ws:
            return self._planned(ws, features, module=module, program=program)[1]

    def checkpoint(
        self, columns: Sequence[str] | None = None, *, unit: str = Entity.PATIENT.value
    ) -> JobRelease | None:
        """Return the last durable weights in the ledger, certified; None where there are none.

        They were charged for, also where the training ended early.  Free.

        Args:
            columns: Names of the columns, in their order; those that are declared, when None.
            unit: As of :meth:`plan`.
        """
        features = declared(
            columns, bounds=self.bounds, categories=self.categories, missing=self.missing
        )
        with self._open(features, entity=Entity(unit), frames={}) as ws:
            return last_part(ws)

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the chance of each class; shape (rows, classes)."""
        inputs = self._inputs(X)
        import torch

        asked = copy.deepcopy(self.module_)  # which may keep what it sees, and is not kept itself
        with torch.no_grad():
            found = asked(torch.from_numpy(inputs)).numpy()
        if found.shape[1] == 1:
            chance = 1 / (1 + np.exp(-np.clip(found[:, 0], -700, 700)))
            return np.column_stack([1 - chance, chance])
        odds = np.exp(found - found.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the likeliest class; shape (rows,)."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likeliest])

    def _exactly(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return the share of rows that are predicted right."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    # --- public facts ---

    def _declared(self, table: Any) -> tuple[Feature, ...]:
        return self._named(table, own=(PATIENT, OUTCOME))

    def _validated(self, features: tuple[Feature, ...]) -> "tuple[Any, RowProgram]":
        """Return a copy of the module that sees no row, and what it does to one."""
        from confide.jobs.learning.modules import program_of, validated

        width = sum(max(1, len(feature.labels) - 1) for feature in features)
        classes = len(labels_of(self.classes))
        module = validated(self.module, features=width, classes=classes)
        return module, program_of(module, features=width, classes=classes)

    def _planned(
        self, ws: Workspace, features: tuple[Feature, ...], *, module: Any, program: "RowProgram"
    ) -> "tuple[DPSGD, JobPlan]":
        """Return the training and its price."""
        delta = self._delta(ws.declared.dataset.measure)
        spec = self._training(ws, features, module=module, program=program, delta=delta)
        return spec, planned(ws, spec, study=Study(id="module"), delta=delta)

    def _training(
        self,
        ws: Workspace,
        features: tuple[Feature, ...],
        *,
        module: Any,
        program: "RowProgram",
        delta: Fraction,
        whole: bool = False,
    ) -> "DPSGD":
        """Return the training at ε with a δ; of everybody in each step and in one part if whole."""
        from confide.jobs.learning.dp_sgd import DPSGD, noise_for, optimizer_of
        from confide.jobs.learning.modules import (
            architecture,
            first_weights,
            trained,
            usual_clip,
            weights_digest,
        )

        if not isinstance(self.patients, int) or self.patients < 1:
            raise ContractError(
                "Gradients are divided by the number of patients expected in a batch, and the "
                "number in the data is not public.",
                hint="Write patients=5000: a planning number, as from a register or a paper.",
            )
        batch = self.patients if whole else self.batch or min(BATCH, -(-self.patients // 10))
        rate = min(Fraction(1), Fraction(batch, self.patients))
        steps = math.ceil(self.epochs / rate)
        clip = usual_clip(module, terms=len(features)) * self.rows_per_patient
        if self.clip is not None:
            clip = amount(self.clip)
        return DPSGD(
            reads=self._reads(features, unit=ws.declared.dataset.unit.entity),
            architecture=architecture(module),
            parameters=trained(module),
            clip=clip,
            rate=rate,
            patients=self.patients,
            steps=steps,
            sigma_squared=noise_for(
                amount(self.epsilon),
                delta=delta,
                rate=rate,
                steps=steps,
                adjacency=Adjacency.ADD_REMOVE,
                measure=ws.declared.dataset.measure,
            ),
            optimizer=optimizer_of(self.optimizer),
            learning_rate=amount(self.learning_rate),
            checkpoints=1 if whole else min(self.checkpoints, steps),
            program=program.digest,
            first_weights=weights_digest(first_weights(module)),
        )

    def _reads(self, features: tuple[Feature, ...], *, unit: Entity) -> Records:
        """Return the rows that a training reads: covariates, then the outcome."""
        names = [*(feature.name for feature in features), OUTCOME]
        return Records(
            relation=Relation(table=ROWS),
            reads=tuple(ColumnOf(table=ROWS, column=name) for name in names),
            bounds=RowBound(max_rows=self.rows_per_patient),
            unit=unit,
        )

    def _delta(self, measure: Measure) -> Fraction:
        """Return the δ that is charged: all of it, or the half that is kept for it beside ρ."""
        match measure:
            case Measure.PURE:
                return amount(self.delta)
            case Measure.ZCDP:
                return amount(self.delta) / 2
            case _:
                assert_never(measure)

    def _open(
        self,
        features: tuple[Feature, ...],
        *,
        entity: Entity = Entity.PATIENT,
        frames: Mapping[str, object],
    ) -> Workspace:
        return self._opened(
            features,
            beside={OUTCOME: {"categories": labels_of(self.classes)}},
            accounting={"measure": self.measure, "delta": self.lifetime_delta or self.delta},
            frames=frames,
            entity=entity,
        )

    def _inputs(self, table: Any) -> Floats:
        if not hasattr(self, "module_"):
            raise not_fitted()
        return self._placed(table, terms=_scaled)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "module_")


def _to_terminal(stage: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"{stage}\n")


def _scaled(feature: Feature, values: NDArray[Any]) -> list[Floats]:
    """Return the inputs of one feature: a number from its bounds to [−1, 1], or indicators."""
    found = encoded(feature, values)
    if feature.labels:
        return found
    low, high = float(feature.lower), float(feature.upper)
    return [(2 * found[0] - low - high) / (high - low)]
