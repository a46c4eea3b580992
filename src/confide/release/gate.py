"""The gate: the only door between rows and anyone.

::

    check the plan against its statistics         measurements and charges are derived again
    check the plan against the source's schema    no row is read, nothing is charged
    reserve the charge                            durable; refused for public reasons only
    record that reading begins                    durable
    aggregate, add noise                          in memory; exact values die here
    commit the noisy payload                      durable; the answer exists nowhere else
    publish the stored bytes                      again and again, the same

*Privacy:* noise for statistics is drawn here and nowhere else.  After reading has begun every
failure becomes :class:`ReleaseFailedError`, whose text is constant, and the charge stays: whether
something failed may depend on the data.

References:
    [RRUV16] Rogers, Roth, Ullman, Vadhan. Privacy odometers and filters. NeurIPS 2016.
        https://arxiv.org/abs/1605.08294
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import assert_never

import numpy as np

from confide.budget.amount import Amount
from confide.budget.ledger import (
    ChargeRequest,
    Entry,
    Ledger,
    Measure,
    Reservation,
    StoredRelease,
)
from confide.errors import ReleaseFailedError, UnsupportedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import Entropy
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.canonical import canonical_bytes
from confide.plans.events import events_json
from confide.plans.plan import Measurement, Noisy, Plan
from confide.plans.soundness import require_sound
from confide.release.noisy import NoisyAggregates
from confide.rows.engine import Engine, Exact, ExactAggregates
from confide.tables.aggregate import Aggregate, KeyedAggregate, MomentAggregate, combined, parts
from confide.tables.ranked import RankedFeatures, scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Everything that a release passes through.

    Attributes:
        ledger: Where charges and payloads are stored.
        engine: What reads rows.
        entropy: What noise is made of.
        report_incident: Told the incident id and the failure, for the steward's local log only.
    """

    ledger: Ledger
    engine: Engine
    entropy: Entropy
    report_incident: Callable[[str, BaseException], None]

    def release(
        self,
        plan: Plan,
        *,
        analyst: str,
        request_key: str,
        progress: Callable[[str], None] = lambda _: None,
    ) -> StoredRelease:
        """Return the stored noisy payload of a plan, charging it unless this request already was.

        Args:
            plan: What to release.
            analyst: Account that asks.
            request_key: A retry with the same key returns the same bytes and costs nothing.
            progress: Told the name of each stage.

        Raises:
            PolicyError: If a cap would be passed, or the terms differ; nothing is charged.
            ContractError: If the plan does not follow from its statistics, or the source lacks what
                it names; nothing is charged.
            ReleaseFailedError: If anything fails after reading began; the charge stays.
        """
        progress("check")
        require_sound(plan)
        self.engine.check(_asked(plan), dataset=plan.dataset)
        progress("charge")
        held = self.ledger.reserve(_request(plan, analyst=analyst, request_key=request_key))
        match held:
            case StoredRelease(entry=entry, payload=payload):
                return StoredRelease(entry=self.ledger.publish(entry), payload=payload)
            case Reservation():
                entry, payload = self._answer(plan, held, progress=progress)
                progress("publish")
                return StoredRelease(entry=self.ledger.publish(entry), payload=payload)
            case _:
                assert_never(held)

    def _answer(
        self, plan: Plan, held: Reservation, *, progress: Callable[[str], None]
    ) -> tuple[Entry, bytes]:
        self.ledger.start_reading(held)
        try:
            progress("read")
            exact = self.engine.aggregate(_asked(plan), dataset=plan.dataset)
            progress("noise")
            payload = self._randomize(plan, exact).payload()
        except BaseException as failure:
            incident = f"{self.entropy.below(2**64):016x}"
            self.ledger.burn(held, incident=incident)
            self.report_incident(incident, failure)
            if isinstance(failure, Exception):
                raise ReleaseFailedError(incident) from None
            raise
        progress("commit")
        return self.ledger.commit(held, payload=payload), payload

    def _randomize(self, plan: Plan, exact: ExactAggregates) -> NoisyAggregates:
        answers = iter(exact.reveal_to_gate())
        values = tuple(
            _noisy(measurement, _secret(measurement, answers, plan=plan), entropy=self.entropy)
            for measurement in plan.measurements
        )
        return NoisyAggregates(plan=plan, values=values)


def _asked(plan: Plan) -> tuple[Aggregate | KeyedAggregate, ...]:
    """Return what the engine answers: moments as their parts, in the order of the plan."""
    return tuple(part for measured in plan.measurements for part in parts(measured.aggregate))


def _secret(measurement: Measurement, answers: Iterator[Exact], *, plan: Plan) -> Exact:
    """Return the exact vector of a measurement from the next answers of the engine."""
    aggregate = measurement.aggregate
    if not isinstance(aggregate, MomentAggregate | RankedFeatures):
        return next(answers)
    sums = []
    for _ in parts(aggregate):
        answer = next(answers)
        if not isinstance(answer, tuple):
            raise UnsupportedError("The engine answered a vector with keys.")
        sums.append(answer)
    if isinstance(aggregate, RankedFeatures):
        return scores(aggregate, sums, dataset=plan.dataset)
    return combined(aggregate, sums, dataset=plan.dataset)


def _noisy(measurement: Measurement, secret: Exact, *, entropy: Entropy) -> Noisy:
    match measurement.mechanism:
        case DiscreteLaplace() | DiscreteGaussian() if isinstance(secret, tuple):
            return measurement.mechanism.randomize(secret, entropy=entropy)
        case KeyThreshold() if not isinstance(secret, tuple):
            keys = sorted(secret)
            counts = np.array([secret[key] for key in keys], dtype=np.int64)
            selected = measurement.mechanism.select(counts, entropy=entropy)
            chosen = zip(selected.positions.tolist(), selected.noisy.tolist(), strict=True)
            return {keys[position]: noisy for position, noisy in chosen}
        case SetSelection() | Peeling() if isinstance(secret, tuple):
            return measurement.mechanism.select(secret, entropy=entropy)
        case _:
            raise UnsupportedError("The mechanism does not suit its aggregate.")


def _request(plan: Plan, *, analyst: str, request_key: str) -> ChargeRequest:
    return ChargeRequest(
        analyst=analyst,
        request_key=request_key,
        plan_digest=plan.digest(),
        lineage=plan.dataset.lineage,
        unit=plan.dataset.unit.entity,
        adjacency=plan.dataset.adjacency,
        measure=Measure(plan.dataset.measure.value),
        amount=Amount(nano=plan.nano, delta_atto=plan.atto),
        events_json=events_json(plan),
        plan_json=canonical_bytes(plan.to_json()).decode(),
    )
