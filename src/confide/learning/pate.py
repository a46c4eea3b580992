"""PATE as a scikit-learn estimator: teachers on shards of patients, noisy votes, a student.

*Privacy:* as :mod:`confide.jobs.learning.pate.votes`; each fit is a plan, a charge and a
certificate.  Patients are the unit, or hospitals, with one teacher each.  Public rows must be
public: their digest is in the plan.  Student and labels follow from noisy votes and public rows.

*Utility:* teacher and student may be any classifiers of scikit-learn, pipelines and searches too;
what they learn, they learn inside a shard, or from noisy labels.

References:
    [PSMRTE18] Papernot, Song, Mironov, Raghunathan, Talwar, Erlingsson. Scalable private learning
        with PATE. ICLR 2018. https://arxiv.org/abs/1802.08908
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats
from confide.errors import ContractError
from confide.files.accounting import AmountSection, amount_nano
from confide.files.texts import read_section
from confide.jobs.learning.pate.job import VOTES, Pate, ask, read_votes
from confide.jobs.learning.pate.student import Learns, check_student, fitted, try_student
from confide.jobs.learning.pate.teachers import check_teacher, try_teacher
from confide.jobs.learning.pate.votes import Aggregation, NoisyVotes, calibrated, moved_by
from confide.learning.columns import (
    Bounds,
    Feature,
    encoded,
    labels_of,
    made_up_rows,
)
from confide.learning.conventions import not_fitted
from confide.learning.estimator import ROW_BY_ROW, Estimator, stacked
from confide.learning.in_memory import OUTCOME, PATIENT, ROWS, column_of, frame_of, request_of
from confide.learning.ledger_folder import TemporaryLedger
from confide.learning.refusals import refuse_callers, refuse_learnt_steps
from confide.privacy.amount import from_nano
from confide.privacy.exact import Number
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.unit import Entity
from confide.release.site.seal import sealing
from confide.service.releasing.jobs import planned, run_job
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.records import Records
from confide.tables.relation import Relation
from confide.workspace import Workspace

HOSPITAL = "hospital"
MADE_UP = 2000
"""Rows on which a teacher is tried."""
HOPELESS = 0.25
"""Where unanimous teachers are outvoted by noise more often, a fit is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feasibility:
    """What labels will be like, from public numbers alone.

    Attributes:
        noise: Standard deviation of the noise on each count, in votes.
        lead: Votes by which a class must lead for its label to be right with 95 %, of two classes.
        wrong_if_unanimous: Chance of a wrong label where all teachers agree.
        wrong_if_three_quarters: The same where three of four teachers agree, of two classes.
    """

    noise: float
    lead: int
    wrong_if_unanimous: float
    wrong_if_three_quarters: float


class PATEClassifier(Estimator):
    """Private aggregation of teacher ensembles, with the patient or the hospital as privacy unit.

    Parameters are public facts, and kept as they were given:

    - ``teacher``: an unfitted classifier of scikit-learn; its copies each see one shard;
    - ``student``: another, which learns from public rows; the teacher's kind when None;
    - ``teachers``: number of shards of patients, or of hospitals;
    - ``aggregation``: ``"gaussian"``, ``"laplace"``, or ``"confident"``: answer only where teachers
      agree;
    - ``threshold``, ``answers``: of ``"confident"``: how many votes are agreement, and how many
      queries are answered at most;
    - ``learns``: what the student learns from: ``"votes"``, rows of each class weighted by its
      noisy votes, or ``"labels"``, the class with most of them;
    - ``rows``: how many rows each patient or hospital keeps at most; 1 of a patient when None;
    - ``bounds``, ``categories``, ``missing``, ``epsilon``, ``delta``, ``lifetime``, ``workspace``,
      ``lineage``, ``population``: as of :class:`~confide.learning.logistic.DPLogisticRegression`;
    - ``classes``: the labels, the first of which stands where a shard says nothing.

    Attributes:
        student_: The fitted student.
        labels_: Place in ``classes`` of each public row's label; −1 where it was refused.
        votes_: Noisy counts by class; shape (queries, classes), NaN where refused.
        classes_: The labels.
        certificate_: Signed JSON.
        release_: All that was published, to be saved.
        n_features_in_: Number of columns.
    """

    _estimator_type = "classifier"

    def __init__(  # noqa: PLR0913 - parameters are public facts, each with a default
        self,
        *,
        teacher: Any = None,
        student: Any = None,
        teachers: int = 250,
        aggregation: str = "gaussian",
        threshold: int | None = None,
        answers: int | None = None,
        learns: str = "votes",
        rows: int | None = None,
        bounds: Bounds = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        missing: Mapping[str, Any] | None = None,
        classes: Sequence[Any] = (0, 1),
        epsilon: Number = "1",
        delta: Number = "1e-6",
        lifetime: Number | None = None,
        workspace: str | Path | TemporaryLedger | None = None,
        lineage: str = "patients",
        population: int | None = None,
    ) -> None:
        self.teacher = teacher
        self.student = student
        self.teachers = teachers
        self.aggregation = aggregation
        self.threshold = threshold
        self.answers = answers
        self.learns = learns
        self.rows = rows
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

    @sealing
    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any,
        *,
        public: Any,
        patients: Any = None,
        hospitals: Any = None,
        request: str | None = None,
        progress: Any = None,
    ) -> Self:
        """Charge the ledger, let teachers vote on public rows, and fit the student.

        Args:
            X: Rows; shape (rows, columns).
            y: Classes; shape (rows,).
            public: Public or synthetic rows without labels; shape (queries, columns).
            patients: Id of each row's patient; or
            hospitals: id of each row's hospital, which then is the privacy unit.
            request: A word that asks for the same fit again, as after one that failed: another draw
                and another charge.
            progress: Told the name of each stage.

        Raises:
            ContractError: If something is not declared, or noise would drown unanimous votes;
                nothing is charged.
            PolicyError: If the lifetime would be passed; nothing is charged.
            ReleaseFailedError: If anything fails after reading began; the charge stays.
        """
        refuse_callers()
        refuse_learnt_steps()
        entity, units = _units(patients, hospitals)
        if entity is Entity.HOSPITAL and self.rows is None:
            raise ContractError(
                "A hospital keeps at most a public number of rows, and none was declared.",
                hint="Write rows=5000, from public knowledge; further rows are left out.",
            )
        features = self._declared(X)
        terms = stacked(public, features=features, terms=encoded)
        learns = _choice(Learns, self.learns, name="learns")
        self._try(features, terms=terms, learns=learns)
        frame = frame_of(X, {OUTCOME: column_of(y)}, units, features=features)
        if entity is Entity.HOSPITAL:
            frame = frame.rename_columns([*frame.column_names[:-1], HOSPITAL])
        with self._open(features, entity=entity, frames={ROWS: frame}) as ws:
            job = self._job(ws, features, terms=terms)
            plan = planned(ws, job)
            key = request_of(plan.digest(), frame, workspace=self.workspace, word=request)
            told = (lambda _: None) if progress is None else progress
            self.release_ = run_job(ws, job, plan=plan, request=key, progress=told)
        self.classes_ = np.asarray(self.classes)
        self._keep(X, features=features, certificate=self.release_.certificate)
        self._take(terms, learns=learns)
        return self

    def feasibility(self, *, queries: int, unit: str = "patient") -> Feasibility:
        """Return what labels will be like, before anything is spent or read.

        Args:
            queries: Number of public rows.
            unit: "patient" or "hospital".

        Raises:
            ContractError: If noise would drown unanimous votes.
        """
        features = self._declared(None)
        entity = _choice(Entity, unit, name="unit")
        with self._open(features, entity=entity, frames={}) as ws:
            return _feasibility(self._votes(ws, queries=queries), teachers=self.teachers)

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return what the student takes for the chance of each class; shape (rows, classes)."""
        chances = self._fitted().predict_proba(self._placed(X, terms=encoded))
        found = np.zeros((len(chances), len(self.classes_)))
        found[:, np.asarray(self.student_.classes_, dtype=np.int64)] = chances
        return found

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the class that the student says; shape (rows,)."""
        said = self._fitted().predict(self._placed(X, terms=encoded))
        return np.asarray(self.classes_[np.asarray(said, dtype=np.int64)])

    def _exactly(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return the share of rows that are predicted right."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def _try(self, features: tuple[Feature, ...], *, terms: Floats, learns: Learns) -> None:
        """Refuse a teacher or student that cannot learn, on made-up rows and votes."""
        student = self.teacher if self.student is None else self.student
        classes = len(labels_of(self.classes))
        check_teacher(self.teacher)
        check_student(student, learns=learns)
        made_up = made_up_rows(features, count=MADE_UP)
        try_teacher(self.teacher, rows=made_up, classes=classes)
        try_student(student, terms=terms, classes=classes, learns=learns)

    def _take(self, terms: Floats, *, learns: Learns) -> None:
        answers = read_votes(self.release_.answer.files[VOTES])
        nothing = (np.nan,) * len(self.classes)
        self.votes_ = np.asarray([nothing if each is None else each for each in answers])
        refused = np.isnan(self.votes_[:, 0])
        self.labels_ = np.where(refused, -1, np.argmax(np.nan_to_num(self.votes_), axis=1))
        student = self.teacher if self.student is None else self.student
        self.student_ = fitted(student, terms=terms, votes=self.votes_, learns=learns)

    def _fitted(self) -> Any:
        if not hasattr(self, "student_"):
            raise not_fitted()
        return self.student_

    def _declared(self, table: Any) -> tuple[Feature, ...]:
        return self._named(table, own=(PATIENT, HOSPITAL, OUTCOME))

    def _open(
        self, features: tuple[Feature, ...], *, entity: Entity, frames: Mapping[str, object]
    ) -> Workspace:
        identified = HOSPITAL if entity is Entity.HOSPITAL else PATIENT
        return self._opened(
            features,
            beside={OUTCOME: {"categories": labels_of(self.classes)}},
            accounting={"measure": "zcdp", "delta": self.delta},
            frames=frames,
            entity=entity,
            identified=identified,
        )

    def _votes(self, ws: Workspace, *, queries: int) -> NoisyVotes:
        dataset = ws.declared.dataset
        given = read_section(AmountSection, {"epsilon": str(self.epsilon)}, name="epsilon")
        rho = from_nano(amount_nano(given, dataset=dataset, place="epsilon"))
        found = calibrated(
            ZeroConcentratedDP(rho=rho),
            aggregation=_choice(Aggregation, self.aggregation, name="aggregation"),
            moved=moved_by(dataset.unit.entity, adjacency=dataset.adjacency),
            queries=queries,
            answers=self.answers,
            threshold=self.threshold,
        )
        drowned = found.wrong(self.teachers)
        if drowned > HOPELESS:
            raise ContractError(
                f"Noise of ±{found.noise.standard_deviation():.0f} votes drowns {self.teachers} "
                f"teachers: a label is wrong with chance {drowned:.2f} even where all agree.",
                hint="Ask about fewer public rows, or have more teachers, or a larger ε.",
            )
        return found

    def _job(self, ws: Workspace, features: tuple[Feature, ...], *, terms: Floats) -> Pate:
        if self.teacher is None:
            raise ContractError(
                "Expected a teacher.", hint="Write teacher=DecisionTreeClassifier(max_depth=4)."
            )
        names = (*(feature.name for feature in features), OUTCOME)
        dataset = ws.declared.dataset
        return Pate(
            reads=Records(
                relation=Relation(table=ROWS),
                reads=tuple(ColumnOf(table=ROWS, column=name) for name in names),
                bounds=RowBound(max_rows=1 if self.rows is None else self.rows),
                folds=self.teachers,
                unit=dataset.unit.entity,
            ),
            teachers=self.teachers,
            classes=dataset.table(ROWS).column(OUTCOME).keys,
            asked=ask(terms, teacher=self.teacher),
            votes=self._votes(ws, queries=len(terms)),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "student_")


def _units(patients: Any, hospitals: Any) -> tuple[Entity, Any]:
    """Return the privacy unit and the id of each row's."""
    by_row = isinstance(patients, str) and patients == ROW_BY_ROW
    if (patients is None) == (hospitals is None) or by_row:
        raise ContractError(
            "Patients come to their teacher by a keyed hash of their id.",
            hint="Write fit(..., patients=ids); or hospitals=ids, for one teacher a hospital: a "
            "row's place is not an id.",
        )
    return (Entity.PATIENT, patients) if hospitals is None else (Entity.HOSPITAL, hospitals)


def _choice(kind: Any, value: str, *, name: str) -> Any:
    known = [each.value for each in kind]
    if value not in known:
        raise ContractError(f"Expected {name} as one of {', '.join(known)}, got {value!r}.")
    return kind(value)


def _feasibility(votes: NoisyVotes, *, teachers: int) -> Feasibility:
    lead = next((d for d in range(teachers + 1) if votes.wrong(d) <= 0.05), teachers + 1)
    return Feasibility(
        noise=votes.noise.standard_deviation(),
        lead=lead,
        wrong_if_unanimous=votes.wrong(teachers),
        wrong_if_three_quarters=votes.wrong(teachers // 2),
    )
