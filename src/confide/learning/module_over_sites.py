"""Modules of PyTorch trained over sites that pool no rows: the same classifier, another door.

*Privacy:* as :mod:`confide.jobs.federated.training.spec`: the unit is a patient, of up to k sites;
or, as :mod:`confide.jobs.federated.training.fedavg`, each whole site, and so each patient.  All
members write the same parameters, module and first weights; nobody sends a program.  Each site's
ledger is charged all of ρ before its first numbers leave.
"""
# ruff: noqa: SLF001 - a second door of the classifier, which holds what both need

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from confide.errors import ContractError
from confide.files.federation.federation import read_federation
from confide.learning.columns import Feature, declared
from confide.learning.estimator import whose
from confide.learning.in_memory import OUTCOME, ROWS, column_of, frame_of
from confide.learning.module_classifier import DPModuleClassifier
from confide.learning.refusals import refuse_callers, refuse_learnt_steps
from confide.plans.job import JobPlan
from confide.plans.plan import Study
from confide.plans.sites.federation import Federation, Member
from confide.privacy.accounting.concentrated import rho_for
from confide.privacy.amount import amount
from confide.privacy.exact import Number
from confide.privacy.unit import Entity
from confide.release.site.seal import sealing
from confide.service.federation.meeting import Meeting
from confide.service.planning.loss import told_loss
from confide.service.releasing.jobs import planned
from confide.workspace import Workspace

if TYPE_CHECKING:
    from confide.jobs.learning.row_program import RowProgram
    from confide.service.federation.training import JointTraining, PlannedTraining

LOCAL_STEPS, LOCAL_RATE, CLIP_OF_UPDATES = 10, Fraction("0.3"), Fraction(1)
"""Of federated averaging, where none is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOverSites:
    """What a training over sites would do and cost.

    Attributes:
        digest: What each site's operator approves.
        plan: Its price, the same at every site.
        sites: Names of all.
        variance: Of the noise, as a multiple of that of one curator who trains on everybody.
        drowned: How long the noise of all steps is, as a multiple of the longest path that clipped
            gradients, or updates, can make; a training above 1 is refused.
        clips: Noise of a step in the mean gradient or update, in one weight, in clips.
    """

    digest: str
    plan: JobPlan
    sites: tuple[str, ...]
    variance: float
    drowned: float
    clips: float

    def __str__(self) -> str:
        """Return what an operator looks at before approving; all of it is in ``plan``."""
        return (
            f"Plan {self.digest}\n"
            f"over sites {', '.join(self.sites)}; each is charged {told_loss(self.plan).text}\n"
            f"noise: {self.variance:.3g} times the variance of one curator's; "
            f"drowned {self.drowned:.2g}; {self.clips:.2g} clips a weight and step"
        )


class ClippedOnce(enum.Enum):
    """Whose part of a sum is clipped: what one patient adds, or what one whole site adds."""

    PATIENT = "patient"
    SITE = "site"


class ModuleOverSites:
    """A :class:`~.module_classifier.DPModuleClassifier` that sites train together.

    Every member has one, with the same parameters but for ``workspace`` and ``lifetime``: a module
    with the same first weights, ``patients`` of all sites together, ``measure="zcdp"``; ``epochs``
    is the number of steps, and every patient is in each.  The classifier's own ``fit`` stays that
    of one site.

    With ``unit="site"`` it is federated averaging: ``epochs`` is the number of rounds, in each of
    which a site trains by itself and adds one update; ``clip`` is the most norm of that (1 when
    None), ``optimizer`` and ``learning_rate`` are the server's ("sgd" and 1 of plain averaging),
    and ``patients`` means nothing.  It needs many sites.

    Args:
        classifier: What is trained; fitted by :meth:`fit`.
        unit: "patient": each patient's gradient is clipped; "site": each site's whole update.
        local_steps: Steps of full batches that a site takes in a round, of ``unit="site"`` alone;
            10 when None.
        local_rate: Their length; 0.3 when None.
        federation: The federation.yaml, as every member has it.
        folder: The one that is synchronised.
        seconds: How long each word of another member is waited for.
        pause: Seconds between looks.
    """

    def __init__(
        self,
        classifier: DPModuleClassifier,
        *,
        unit: str = ClippedOnce.PATIENT.value,
        local_steps: int | None = None,
        local_rate: Number | None = None,
        federation: str | Path = "federation.yaml",
        folder: str | Path = "shared",
        seconds: float = 3600,
        pause: float = 0.2,
    ) -> None:
        self.classifier = classifier
        self._unit, self._local_steps, self._local_rate = unit, local_steps, local_rate
        self._file = Path(federation)
        self._meeting = Meeting(folder=Path(folder), seconds=seconds, pause=pause)

    def enrol(self, name: str) -> str:
        """Return ``name=key`` of this member, for whoever writes federation.yaml.

        Args:
            name: Lower-case letters, digits and hyphens.

        Raises:
            ContractError: If the name cannot be one.
        """
        with self._open(self._declared(None)) as ws:
            member = Member(name=name, key=ws.public_key)
        return f"{member.name}={member.key}"

    def plan(self, columns: Sequence[str] | None = None) -> PlanOverSites:
        """Return what a training would do and cost; reads and charges nothing.

        Args:
            columns: Names of the columns, in their order; those that are declared, when None.

        Raises:
            ContractError: If something is not declared, the module cannot be trained, no member has
                this workspace's key, or the noise of the whole training is longer than what all
                gradients or updates together can be; that says how many patients or sites would do.
            UnsupportedError: If the ledger does not count in ρ.
        """
        features = self._declared(columns)
        with self._open(features) as ws:
            made = self._planned(ws, features)[1]
            members, (weights, steps) = made.spec.federation, made.sizes
            _require_member(ws.public_key, members)
        held, k = members.tolerance, members.sites_per_person
        return PlanOverSites(
            digest=made.plan.digest(),
            plan=made.plan,
            sites=tuple(site.name for site in members.sites),
            variance=k**2 * held.sites / held.honest,
            drowned=made.spec.drowned,
            clips=made.spec.drowned * (steps / weights) ** 0.5,
        )

    @sealing
    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any,
        *,
        patients: Any,
        approve: str,
        again: bool = False,
        progress: Callable[[str], None] = lambda _: None,
    ) -> DPModuleClassifier:
        """Take part as a site: charge, add gradients, certify; return the fitted classifier.

        What has its answer in this site's ledger is delivered at no charge, whatever the rows are.

        Args:
            X: This site's rows; shape (rows, columns).
            y: Outcomes; shape (rows,).
            patients: Id of each row's patient.
            approve: Digest of :meth:`plan`, as this site's operator saw it.
            again: Take part in another run of what was charged before: another charge.
            progress: Told each stage.

        Raises:
            ContractError: If another plan was approved or is proposed, or the same was charged
                before; nothing is charged.
            PolicyError: If a cap would be passed; nothing is charged.
            RoundAbortedError: If the run ended before this site's numbers were asked for; nothing
                is charged.
            ReleaseFailedError: If it ended afterwards; the charge stays.
        """
        from confide.service.federation.training import serve_training

        refuse_callers()
        refuse_learnt_steps()
        model = self.classifier
        entity, ids = whose(patients, most=model.rows_per_patient)
        if entity is not Entity.PATIENT:
            raise ContractError("Over sites patients are protected.", hint="Write patients=ids.")
        features = model._declared(X)
        frame = frame_of(X, {OUTCOME: column_of(y)}, ids, features=features)
        with model._open(features, frames={ROWS: frame}) as ws:
            module, made = self._planned(ws, features)
            model.release_ = serve_training(
                ws.site,
                made,
                meeting=self._meeting,
                approve=approve,
                again=again,
                progress=progress,
            )
        return model._fitted(X, features=features, module=module)

    def coordinate(
        self,
        columns: Sequence[str] | None = None,
        *,
        again: bool = False,
        progress: Callable[[str], None] = lambda _: None,
    ) -> "JointTraining":
        """Propose the training, add up step by step, and return it with all sites' certificates.

        Reads no rows and charges nothing here.  Asked again after a cut, it goes on where it can.

        Args:
            columns: Names of the columns, in their order; those that are declared, when None.
            again: Begin another run: another charge at every site.
            progress: Told each step.

        Raises:
            ContractError: If this member is not the coordinator.
            RoundAbortedError: If too few sites took part in time; says which, and why if they said.
            VerificationError: If no site's certificate verifies.
        """
        from confide.service.federation.training import run_training

        features = self._declared(columns)
        with self._open(features) as ws:
            made = self._planned(ws, features)[1]
            return run_training(
                ws.site, made, meeting=self._meeting, again=again, progress=progress
            )

    def _declared(self, columns: Sequence[str] | None) -> tuple[Feature, ...]:
        model = self.classifier
        return declared(
            columns, bounds=model.bounds, categories=model.categories, missing=model.missing
        )

    def _open(self, features: tuple[Feature, ...]) -> Workspace:
        return self.classifier._open(features, frames={})

    def _planned(
        self, ws: Workspace, features: tuple[Feature, ...]
    ) -> "tuple[Any, PlannedTraining]":
        """Return the module that sees no row, and its training over the sites."""
        model = self.classifier
        if model.batch is not None:
            raise ContractError(
                "Over sites every patient is in each step.", hint="Leave out batch."
            )
        module, program = model._validated(features)
        match _unit(self._unit):
            case ClippedOnce.PATIENT:
                if (self._local_steps, self._local_rate) != (None, None):
                    raise ContractError(
                        "Local steps are of whole sites' updates; here patients are clipped.",
                        hint="Leave out local_steps and local_rate, or write unit='site'.",
                    )
                return module, self._by_patient(ws, features, module=module, program=program)
            case ClippedOnce.SITE:
                return module, self._by_site(ws, features, module=module, program=program)
            case unknown:
                assert_never(unknown)

    def _by_patient(
        self, ws: Workspace, features: tuple[Feature, ...], *, module: Any, program: "RowProgram"
    ) -> "PlannedTraining":
        from confide.jobs.federated.training.rounds import TrainingRounds
        from confide.jobs.federated.training.spec import shared_out
        from confide.jobs.learning.modules import first_weights
        from confide.service.federation.training import PlannedTraining

        model = self.classifier
        delta = model._delta(ws.declared.dataset.measure)
        training = model._training(
            ws, features, module=module, program=program, delta=delta, whole=True
        )
        spec = shared_out(
            training, federation=read_federation(self._file), dataset=ws.declared.dataset
        )
        plan = planned(ws, spec, study=Study(id="module"))
        rounds = TrainingRounds(
            spec, plan=plan, program=program, first=first_weights(module), delta=delta
        )
        return PlannedTraining(spec=spec, plan=plan, rounds=rounds)

    def _by_site(
        self, ws: Workspace, features: tuple[Feature, ...], *, module: Any, program: "RowProgram"
    ) -> "PlannedTraining":
        from confide.jobs.federated.training.fedavg import FedAvg, bought_by, require_not_drowned
        from confide.jobs.federated.training.rounds import AveragingRounds
        from confide.jobs.learning.dp_sgd import optimizer_of
        from confide.jobs.learning.modules import (
            architecture,
            first_weights,
            trained,
            weights_digest,
        )
        from confide.service.federation.training import PlannedTraining

        model, federation = self.classifier, read_federation(self._file)
        delta, weights = model._delta(ws.declared.dataset.measure), trained(module)
        squared, shared = bought_by(
            rho_for(amount(model.epsilon), delta=delta),
            parameters=weights,
            steps=model.epochs,
            federation=federation,
        )
        spec = FedAvg(
            reads=model._reads(features, unit=ws.declared.dataset.unit.entity),
            architecture=architecture(module),
            parameters=weights,
            clip=CLIP_OF_UPDATES if model.clip is None else amount(model.clip),
            steps=model.epochs,
            local_steps=LOCAL_STEPS if self._local_steps is None else self._local_steps,
            local_rate=LOCAL_RATE if self._local_rate is None else amount(self._local_rate),
            sigma_squared=squared,
            optimizer=optimizer_of(model.optimizer),
            learning_rate=amount(model.learning_rate),
            program=program.digest,
            first_weights=weights_digest(first_weights(module)),
            federation=federation,
            shared=shared,
        )
        plan = planned(ws, spec, study=Study(id="module"))
        require_not_drowned(spec, delta=delta)
        rounds = AveragingRounds(spec, plan=plan, program=program, first=first_weights(module))
        return PlannedTraining(spec=spec, plan=plan, rounds=rounds)


def _require_member(key: str, federation: Federation) -> None:
    """Refuse who is none, as a workspace of another name is: its key was made just now."""
    if all(key != each.key for each in (federation.coordinator, *federation.sites)):
        raise ContractError(
            f"No member of the federation has this workspace's key, {key}.",
            hint="Pass the workspace that was enrolled, or enrol this one, and get the others' "
            "federation.yaml.",
        )


def _unit(told: str) -> ClippedOnce:
    try:
        return ClippedOnce(told)
    except ValueError:
        raise ContractError(f"Expected unit as patient or site, got {told!r}.") from None
