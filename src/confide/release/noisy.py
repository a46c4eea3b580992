"""Noisy aggregates: public from here on; whatever is computed from them costs nothing more.

The payload is the canonical JSON of the plan and its noisy integers.  It is what the ledger stores,
what a retry returns, and what every published number is recomputed from.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from confide.errors import ContractError, VerificationError
from confide.noise.peeling import Peeling
from confide.plans.canonical import Json, canonical_bytes
from confide.plans.estimates import COUNTS, MAY_BE_LOW, MAY_BE_OFF, Estimate
from confide.plans.house_rule import NoisyFile
from confide.plans.plan import Measurement, Noisy, Plan, Study
from confide.plans.rounds.in_turn import answer_length
from confide.plans.simulation import Simulation
from confide.plans.soundness.small_cells import Answered, under_rule
from confide.statistics import read_plan
from confide.tables.aggregates.shapes import Keyed, Ranked, Together
from confide.tables.schema import Dataset

FORMAT = "confide-noisy-1"
_LARGEST = 2**256
"""Beyond every noisy number: sums stay within 2¹²⁶; and small enough for floats to square."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyAggregates:
    """The noisy answers to a plan's measurements, in their order.

    Attributes:
        plan: What was asked.
        values: The answers.
        salt: Random text, where the answers are not to be published as they are: digests of the
            payload are public, and few whole numbers would be found by trying them all.
        added: Names of the sites whose numbers are in it, of a plan over sites; () of any other.
    """

    plan: Plan
    values: tuple[Noisy, ...]
    salt: str = ""
    added: tuple[str, ...] = ()

    def payload(self) -> bytes:
        """Return the canonical bytes that the ledger stores; integers are texts, of any size."""
        answers: list[Json] = []
        for measurement, noisy in zip(self.plan.measurements, self.values, strict=True):
            answer: Json = (
                [str(value) for value in noisy]
                if isinstance(noisy, tuple)
                else [[key, str(noisy[key])] for key in sorted(noisy)]
            )
            answers.append(
                {
                    "statistic": measurement.statistic,
                    "name": measurement.name,
                    "keyed": not isinstance(noisy, tuple),
                    "noisy": answer,
                }
            )
        more: dict[str, Json] = {"salt": self.salt} if self.salt else {}
        if self.added:
            more["added"] = list(self.added)
        return canonical_bytes(
            {"format": FORMAT, "plan": self.plan.to_json(), "measurements": answers, **more}
        )

    def digest(self) -> str:
        """Return the SHA-256 of the payload."""
        return hashlib.sha256(self.payload()).hexdigest()

    def estimates(self) -> tuple[Estimate, ...]:
        """Return every published number: a function of this object alone."""
        simulation = Simulation(payload_digest=self.digest())
        estimates: list[Estimate] = []
        for statistic in self.plan.statistics:
            measured = [
                (measurement, value)
                for measurement, value in zip(self.plan.measurements, self.values, strict=True)
                if measurement.statistic == statistic.id
            ]
            found = statistic.estimate(
                {measurement.name: value for measurement, value in measured},
                mechanisms=self.plan.mechanisms(statistic.id),
                dataset=self.plan.dataset,
                simulation=simulation,
            )
            answered = [
                Answered(name=measurement.name, aggregate=measurement.aggregate, noisy=value)
                for measurement, value in measured
            ]
            estimates += under_rule(
                self.plan.study, statistic, found, answered, dataset=self.plan.dataset
            )
        return flagged(estimates, dataset=self.plan.dataset)


def shows_noisy(study: Study) -> bool:
    """Return whether a study's raw noisy numbers may lie in a published folder."""
    return study.small_cells is None or study.small_cells.noisy is NoisyFile.PUBLISHED


def flagged(estimates: Iterable[Estimate], *, dataset: Dataset) -> tuple[Estimate, ...]:
    """Return estimates that say when patients may be missing from them: a public fact."""
    if not dataset.patients:
        return tuple(estimates)
    return tuple(replace(each, flags=(*each.flags, _left_out(each))) for each in estimates)


def _left_out(estimate: Estimate) -> str:
    return MAY_BE_LOW if estimate.unit in COUNTS else MAY_BE_OFF


def read_payload(payload: bytes) -> NoisyAggregates:
    """Return the noisy aggregates that a payload holds.

    Raises:
        VerificationError: If the bytes are not a payload of this format, or do not fit their plan.
    """
    try:
        body = json.loads(payload)
        if body.pop("format") != FORMAT:
            raise VerificationError("Expected a noisy payload of this format.")
        plan = read_plan(body["plan"])
        values = tuple(_read_answer(answer) for answer in body["measurements"])
        named = [(answer["statistic"], answer["name"]) for answer in body["measurements"]]
        salt, added = body.get("salt", ""), body.get("added", [])
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        ContractError,
    ) as broken:
        if isinstance(broken, VerificationError):
            raise
        raise VerificationError("The noisy payload cannot be read.") from None
    if named != [(m.statistic, m.name) for m in plan.measurements]:
        raise VerificationError("The noisy payload does not answer the measurements of its plan.")
    for measurement, value in zip(plan.measurements, values, strict=True):
        keyed = isinstance(measurement.aggregate, Keyed)
        if keyed == isinstance(value, tuple):
            raise VerificationError("A noisy answer has the wrong shape.")
        if isinstance(value, tuple):
            _require_shape(measurement, value, dataset=plan.dataset)
    if not isinstance(salt, str):
        raise VerificationError("The salt of the noisy payload is no text.")
    _require_added(plan, added)
    return NoisyAggregates(plan=plan, values=values, salt=salt, added=tuple(added))


def _require_added(plan: Plan, added: Json) -> None:
    """Refuse a sum over sites of too few of them, or of others than the plan's."""
    named = () if plan.federation is None else tuple(m.name for m in plan.federation.sites)
    least = 0 if plan.federation is None else plan.federation.tolerance.least_alive
    if not isinstance(added, list) or added != [name for name in named if name in added]:
        raise VerificationError("The noisy payload names other sites than its plan.")
    if len(added) < least:
        raise VerificationError("The noisy payload is a sum of fewer sites than its plan allows.")


def read_values(payload: bytes) -> tuple[Noisy, ...]:
    """Return the noisy numbers of a payload alone, whatever statistics its plan holds.

    Raises:
        VerificationError: If the bytes are not a payload of this format.
    """
    try:
        body = json.loads(payload)
        if body["format"] != FORMAT:
            raise VerificationError("Expected a noisy payload of this format.")
        return tuple(_read_answer(answer) for answer in body["measurements"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise VerificationError("The noisy payload cannot be read.") from None


def _require_shape(measurement: Measurement, value: tuple[int, ...], *, dataset: Dataset) -> None:
    aggregate = measurement.aggregate
    if isinstance(aggregate, Together):
        of_group, most = len(aggregate.at), aggregate.coordinates(dataset)
        groups = [value[start : start + of_group] for start in range(0, len(value), of_group)]
        known = all(0 <= position < most for position in value)
        ascending = all(list(each) == sorted(each) for each in groups)
        if len(value) != aggregate.size or not known or not ascending:
            raise VerificationError("A choice names other values than there are.")
    elif isinstance(aggregate, Ranked):
        candidates = aggregate.coordinates(dataset)
        known = all(0 <= position < candidates for position in value)
        if len(value) != aggregate.size or len(set(value)) != len(value) or not known:
            raise VerificationError("A choice names other candidates than there are.")
        ordered = isinstance(measurement.mechanism, Peeling)
        if not ordered and list(value) != sorted(value):
            raise VerificationError("A set is chosen without an order.")
    elif isinstance(aggregate, Keyed):
        raise VerificationError("A noisy answer has the wrong shape.")
    elif len(value) != answer_length(measurement, dataset=dataset):
        raise VerificationError("A noisy answer has the wrong number of cells.")


def _read_answer(answer: Json) -> Noisy:
    if answer["keyed"]:
        return {str(key): _number(value) for key, value in answer["noisy"]}
    return tuple(_number(value) for value in answer["noisy"])


def _number(value: Json) -> int:
    """Return a noisy number."""
    if not isinstance(value, int | str) or abs(int(value)) >= _LARGEST:
        raise ValueError
    return int(value)
