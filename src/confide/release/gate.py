"""The gate: the only door between rows and anyone.

::

    check the plan against its statistics         measurements and charges are derived again
    check the plan against the source's schema    no row is read, nothing is charged
    reserve the charge                            durable; refused for public reasons only
    record that reading begins                    durable
    leave patients out (where a policy says so)   durable: who is in, and what they paid
    aggregate, add noise                          in memory; exact values die here
    commit the noisy payload                      durable; the answer exists nowhere else
    publish the stored bytes                      again and again, the same

A growing release passes again for its next periods: the published coordinates are taken from the
stored answer, noise is drawn for the new ones only, and the ledger lets each step happen once.

*Privacy:* noise for statistics is drawn here and nowhere else.  After reading has begun every
failure becomes :class:`ReleaseFailedError`, whose text is constant, and the charge stays: whether
something failed may depend on the data.

References:
    [RRUV16] Rogers, Roth, Ullman, Vadhan. Privacy odometers and filters. NeurIPS 2016.
        https://arxiv.org/abs/1605.08294
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from confide.budget.ledger import (
    ChargeRequest,
    Entry,
    Growth,
    Ledger,
    Reservation,
    Step,
    StoredRelease,
)
from confide.budget.per_patient.store import PatientStore
from confide.errors import (
    ContractError,
    PolicyError,
    UnsupportedError,
)
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import Entropy
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.growth import appended, continued, growing_question, grown_to
from confide.plans.mechanisms import vector
from confide.plans.plan import Measurement, Noisy, Plan
from confide.plans.rounds.in_turn import ask_in_turn
from confide.plans.soundness.soundness import require_sound
from confide.release.asking import charge_request
from confide.release.certificate.certificate import require_statable
from confide.release.growing import ended, growth_of, step_taken
from confide.release.left_out import require_somebody
from confide.release.noisy import NoisyAggregates, read_payload, shows_noisy
from confide.release.passage import Answering, BoughtAnswer, Passage
from confide.release.patients import AdmittedRows, EverybodysRows, require_caps_in_force, rows_of
from confide.release.published import refuse_alike
from confide.rows.engine import Engine, Exact, ExactAggregates, exact_vector
from confide.tables.aggregates.shapes import Asked, InRounds, parts

_SALT = 16  # octets


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Everything that a release passes through.

    Attributes:
        ledger: Where charges and payloads are stored.
        engine: What reads rows.
        entropy: What noise is made of.
        report_incident: Told the incident id and the failure, for the steward's local log only.
        require_consent: Refuses once others withdrew than those whom the engine leaves out.
        rehearse: Refuses a plan whose answer could not be certified and reported.
        patients: Where per-patient budgets are; needed under a policy that leaves patients out.
    """

    ledger: Ledger
    engine: Engine
    entropy: Entropy
    report_incident: Callable[[str, BaseException], None]
    require_consent: Callable[[], None]
    rehearse: Callable[[Plan], None]
    patients: PatientStore | None = None

    def release(
        self,
        plan: Plan,
        *,
        analyst: str,
        request_key: str,
        again: bool = True,
        progress: Callable[[str], None] = lambda _: None,
    ) -> StoredRelease:
        """Return the stored noisy payload of a plan, charging it unless this request already was.

        Args:
            plan: What to release.
            analyst: Account that asks.
            request_key: A retry with the same key returns the same bytes and costs nothing.
            again: Charge it although another charge for the same was made just before.
            progress: Told the name of each stage.

        Raises:
            PolicyError: If a cap would be passed, or the terms differ; nothing is charged.
            ContractError: If the plan does not follow from its statistics, the source lacks what it
                names, or, without ``again``, the same was charged before; nothing is charged.
            UnsupportedError: If its answer could not be certified and reported; nothing is charged.
            ReleaseFailedError: If anything fails after reading began; the charge stays.
        """
        self._check(plan, progress=progress)
        taken = step_taken(plan, ledger=self.ledger, analyst=analyst, request_key=request_key)
        if taken is not None:
            return self._stored(taken)
        if self.ledger.known(plan.digest(), analyst=analyst, request_key=request_key) is None:
            require_somebody(plan, ledger=self.ledger)
            self.rehearse(plan)
        stop = grown_to(plan)
        step = None
        if stop is not None:
            step = Step(question=growing_question(plan), start=0, stop=stop)
        request = charge_request(plan, analyst=analyst, request_key=request_key, step=step)
        return self._pass(plan, request, before=None, again=again, progress=progress)

    def advance(
        self,
        plan: Plan,
        *,
        analyst: str,
        request_key: str,
        progress: Callable[[str], None] = lambda _: None,
    ) -> StoredRelease:
        """Return a growing release with its next periods, which were charged when it was opened.

        The periods so far are taken from the stored answer, never read or noised again.

        Args:
            plan: What was released before, with more periods.
            analyst: Account that asks.
            request_key: A retry with the same key returns the same bytes.
            progress: Told the name of each stage.

        Raises:
            PolicyError: If the step is not the next one of that release; nothing is read.
            ContractError: If the plan does not grow, or does not follow from its statistics.
            ReleaseFailedError: If anything fails after reading began; the release then grows no
                more.
        """
        stop, growth = grown_to(plan), growth_of(plan, ledger=self.ledger)
        if stop is None or growth is None:
            self._check(plan, progress=progress)
            raise ContractError(
                "No release of this study grows; nothing was charged for these periods.",
                hint="Run the study first, with one running count and `through`; afterwards only "
                "`through` and the snapshot may change.",
            )
        done = self._done(growth, stop=stop)
        if done is not None:
            return self._stored(done)
        step = Step(
            question=growth.question, start=growth.position, stop=stop, continues=growth.opened
        )
        before = self.ledger.stored(growth.latest)
        opening = read_payload(self.ledger.stored(growth.opened).payload).plan
        plan = continued(plan, before=opening)
        self._check_source(plan, progress=progress)
        self.rehearse(plan)
        request = charge_request(plan, analyst=analyst, request_key=request_key, step=step)
        return self._pass(plan, request, before=before, progress=progress)

    def _done(self, growth: Growth, *, stop: int) -> Entry | None:
        """Return the answered entry of a step that was taken already; None of a later one."""
        if stop > growth.position:
            return None
        taken = {
            entry.step.stop: entry
            for entry in self.ledger.of_growth(growth)
            if entry.step is not None and entry.payload_sha256
        }
        if stop in taken:
            return taken[stop]
        if growth.busy and self.ledger.is_under_way(growth.busy):
            raise PolicyError(
                f"Entry {growth.busy} publishes later periods of entry {growth.opened} just now.",
                hint="Wait for it to end and ask again: they are delivered at no charge.",
            )
        over = ended(growth)
        published = sorted(stop for stop, entry in taken.items() if not entry.withheld)
        later = f"; it publishes no later ones, as it grows no more: {over}" if over else ""
        told = ", ".join(map(str, published)) or "no"
        raise PolicyError(
            f"The release of entry {growth.opened} has passed these periods{later}.",
            hint=f"It was published with {told} periods: set `through` to one of these"
            f"{'' if over else ', or later'}.",
        )

    def _stored(self, entry: Entry) -> StoredRelease:
        """Return an answer that was stored, and record that it is published."""
        payload = self.ledger.stored(entry.number).payload
        return StoredRelease(entry=self.ledger.publish(entry), payload=payload)

    def _check(self, plan: Plan, *, progress: Callable[[str], None]) -> None:
        """Refuse a plan under other caps, or as :meth:`_check_source` does; reads no row."""
        require_caps_in_force(plan, ledger=self.ledger, store=self.patients)
        self._check_source(plan, progress=progress)

    def _check_source(self, plan: Plan, *, progress: Callable[[str], None]) -> None:
        """Refuse a plan that is not sound, or that the source cannot answer; reads no row."""
        progress("check")
        if plan.federation is not None:
            raise ContractError(
                "The plan is over sites; no site releases it alone.",
                hint="Take part in its run: confide federate serve-site",
            )
        require_sound(plan)
        require_statable(plan)
        self.engine.check(asked_of(plan), dataset=plan.dataset)

    def _pass(
        self,
        plan: Plan,
        request: ChargeRequest,
        *,
        before: StoredRelease | None,
        again: bool = True,
        progress: Callable[[str], None],
    ) -> StoredRelease:
        def admit(held: Reservation) -> Answering:
            if not again:
                refuse_alike(plan, ledger=self.ledger, reserved=held.entry)
            rows = rows_of(
                plan,
                held.entry,
                engine=self.engine,
                ledger=self.ledger,
                store=self.patients,
                entropy=self.entropy,
            )
            return lambda: self._answer(plan, rows, before=before, progress=progress)

        passage = Passage(
            ledger=self.ledger,
            entropy=self.entropy,
            report_incident=self.report_incident,
            require_consent=self.require_consent,
        )
        return passage.take(request, admit=admit, progress=progress)

    def _answer(
        self,
        plan: Plan,
        rows: EverybodysRows | AdmittedRows,
        *,
        before: StoredRelease | None,
        progress: Callable[[str], None],
    ) -> BoughtAnswer:
        progress("read")
        exact, members = rows.read(asked_of(plan))
        progress("noise")
        if before is None:
            noisy = self._randomize(plan, exact)
        else:
            noisy = self._grow(plan, exact, before=read_payload(before.payload))
        return BoughtAnswer(payload=noisy.payload(), members=members)

    def _randomize(self, plan: Plan, exact: ExactAggregates) -> NoisyAggregates:
        answers = iter(exact.reveal_to_gate())
        values: list[Noisy] = []
        for measurement in plan.measurements:
            secret = exact_vector(measurement.aggregate, answers, dataset=plan.dataset)
            if isinstance(measurement.aggregate, InRounds):
                values.append(self._in_rounds(measurement, secret, plan=plan))
            else:
                values.append(_noisy(measurement, secret, entropy=self.entropy))
        return NoisyAggregates(plan=plan, values=tuple(values), salt=self._salt(plan))

    def _in_rounds(self, measurement: Measurement, rows: Exact, *, plan: Plan) -> Noisy:
        """Ask, add noise, and ask again with what the noisy answers say."""
        aggregate, mechanism = measurement.aggregate, measurement.mechanism
        if (
            not isinstance(aggregate, InRounds)
            or not isinstance(mechanism, DiscreteLaplace | DiscreteGaussian)
            or isinstance(rows, tuple | Mapping)
        ):
            raise UnsupportedError("The mechanism does not suit its aggregate.")
        noisy: tuple[int, ...] = ()
        while ask := ask_in_turn(aggregate, noisy, mechanism=mechanism, dataset=plan.dataset):
            noisy = (*noisy, *mechanism.randomize(rows.answer(ask), entropy=self.entropy))
        return noisy

    def _grow(
        self, plan: Plan, exact: ExactAggregates, *, before: NoisyAggregates
    ) -> NoisyAggregates:
        """Return the published coordinates of a growing release, and noise on the new ones."""
        (measurement,), (old,) = plan.measurements, before.values
        start, stop = grown_to(before.plan), grown_to(plan)
        answers = iter(exact.reveal_to_gate())
        secret = exact_vector(measurement.aggregate, answers, dataset=plan.dataset)
        if start is None or stop is None or not isinstance(secret, tuple):
            raise UnsupportedError("The release does not grow.")
        new = tuple(value for place, value in enumerate(secret) if place % stop >= start)
        noisy = vector(_noisy(measurement, new, entropy=self.entropy))
        values = appended(vector(old), noisy, start=start, stop=stop)
        return NoisyAggregates(plan=plan, values=(values,), salt=self._salt(plan))

    def _salt(self, plan: Plan) -> str:
        """Return what keeps the payload's digest from giving away answers that a rule withholds."""
        return "" if shows_noisy(plan.study) else self.entropy.octets(_SALT).tobytes().hex()


def asked_of(plan: Plan) -> tuple[Asked, ...]:
    """Return what the engine answers: the parts of each vector, in the order of the plan."""
    return tuple(part for measured in plan.measurements for part in parts(measured.aggregate))


def _noisy(measurement: Measurement, secret: Exact, *, entropy: Entropy) -> Noisy:
    match measurement.mechanism:
        case DiscreteLaplace() | DiscreteGaussian() if isinstance(secret, tuple):
            return measurement.mechanism.randomize(secret, entropy=entropy)
        case KeyThreshold() if isinstance(secret, Mapping):
            keys = sorted(secret)
            counts = np.array([secret[key] for key in keys], dtype=np.int64)
            selected = measurement.mechanism.select(counts, entropy=entropy)
            chosen = zip(selected.positions.tolist(), selected.noisy.tolist(), strict=True)
            return {keys[position]: noisy for position, noisy in chosen}
        case SetSelection() | Peeling() | QuantileSet() if isinstance(secret, tuple):
            return measurement.mechanism.select(secret, entropy=entropy)
        case _:
            raise UnsupportedError("The mechanism does not suit its aggregate.")
