"""Show a ledger: the use of every cap and the newest requests."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from confide.budget.ledger import Entry, Ledger, Scope, ScopeSpent, Spent
from confide.privacy.amount import ATTO, NANO, decimal_text
from confide.privacy.measure import LedgerMeasure, Measure, Mixed
from confide.release.refusal import beside_units
from confide.service.dump import OMITTED
from confide.service.opening import open_measured
from confide.service.planning.caps import cap_name, delta_beside, in_epsilon, letter_of
from confide.service.planning.left_out import PatientCap, public_use
from confide.service.requests.standing import ToldDecision, withholding
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyInForce:
    """The policy that a ledger follows.

    Attributes:
        id: Of the policy.
        version: Of it.
        sha256: Its digest.
    """

    id: str
    version: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CapUse:
    """The use of a cap; amounts are in ε, ρ or δ, as text.

    Attributes:
        cap: Its name for people.
        letter: ε, ρ or δ.
        limit: None where there is no cap.
        spent: So far.
        free: None where there is no cap.
        epsilon: The same in ε, where amounts are in ρ.
    """

    cap: str
    letter: str
    limit: str | None
    spent: str | None
    free: str | None
    epsilon: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """A request of the ledger.

    Attributes:
        number: Of the entry.
        at: When.
        analyst: Who asked.
        study: Its id.
        request: Idempotency key.
        named: Whether somebody named that key, as for another draw of noise.
        plan: Its digest.
        amount: Charged.
        epsilon: The same in ε, where the amount is in ρ.
        state: How it ended.
        withheld: By whose decision its answer is delivered to nobody.
    """

    number: int
    at: str
    analyst: str
    study: str
    request: str
    named: bool
    plan: str
    amount: str
    epsilon: Annotated[str | None, OMITTED] = None
    state: str
    withheld: ToldDecision | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerShown:
    """What was spent of a data set.

    Attributes:
        lineage: Of the data set.
        measure: In which losses add.
        policy: In force; None where caps are in dataset.yaml.
        caps: The use of each.
        epsilon_delta: The δ of every ε beside an amount in ρ; None where amounts are in ε.
        patient_caps: Those that leave patients out.
        entries: The newest requests.
        has_earlier: Whether there are more.
    """

    lineage: str
    measure: str
    policy: PolicyInForce | None
    caps: tuple[CapUse, ...]
    epsilon_delta: str | None
    patient_caps: tuple[PatientCap, ...]
    entries: tuple[LedgerEntry, ...]
    has_earlier: bool


def show_ledger(dataset: Path, *, last: int) -> LedgerShown:
    """Return the use of every cap and the newest requests.

    Args:
        dataset: A dataset.yaml.
        last: How many requests.

    Raises:
        ContractError: If there is no ledger yet.
        MismatchError: If amounts of dataset.yaml are of another unit, adjacency or measure.
    """
    with open_measured(dataset) as (held, declared):
        of, lineage = declared.dataset, declared.dataset.lineage
        spent = held.spent(lineage)
        adopted = held.desk.policy(lineage)
        newest = held.entries(lineage, last=last + 1)
        return LedgerShown(
            lineage=lineage,
            measure="mixed" if isinstance(spent.measure, Mixed) else spent.measure.value,
            policy=None
            if adopted is None
            else PolicyInForce(
                id=adopted.policy.id, version=adopted.policy.version, sha256=adopted.digest
            ),
            caps=_caps(spent, dataset=of),
            epsilon_delta=delta_beside(of),
            patient_caps=public_use(of, ledger=held),
            entries=tuple(
                _entry(each, dataset=of, ledger=held) for each in newest[-last or len(newest) :]
            ),
            has_earlier=len(newest) > last,
        )


def _caps(spent: Spent, *, dataset: Dataset) -> tuple[CapUse, ...]:
    return tuple(_cap(use, measure=spent.measure, dataset=dataset) for use in spent.scopes)


def _cap(use: ScopeSpent, *, measure: LedgerMeasure, dataset: Dataset) -> CapUse:
    use = use.roomier()
    delta = use.scope is Scope.LIFETIME_DELTA
    per_one = ATTO if delta else NANO

    def text(units: int | None) -> str | None:
        return None if units is None else decimal_text(units, per_one=per_one)

    return CapUse(
        cap=cap_name(use),
        letter=letter_of(use, measure=measure),
        limit=text(use.cap),
        spent=text(use.used),
        free=text(use.remaining),
        epsilon=in_epsilon(dataset, delta=delta, limit=use.cap, spent=use.used, free=use.remaining),
    )


def _entry(entry: Entry, *, dataset: Dataset, ledger: Ledger) -> LedgerEntry:
    return LedgerEntry(
        number=entry.number,
        at=entry.at,
        analyst=entry.analyst,
        study=entry.study,
        request=entry.request_key,
        named=not entry.plan_digest.startswith(entry.request_key),
        plan=entry.plan_digest,
        amount=entry.amount.text(entry.measure),
        epsilon=_epsilon(entry, dataset=dataset),
        state="withheld" if entry.withheld else entry.state.value,
        withheld=withholding(entry.number, ledger=ledger),
    )


def _epsilon(entry: Entry, *, dataset: Dataset) -> str | None:
    """Return the ε of an entry whose amount is in ρ; in a mixed ledger, of it alone."""
    if entry.amount.lanes is None:
        return beside_units(entry.amount.nano, dataset=dataset)
    if entry.measure is Measure.PURE:
        return None
    return decimal_text(entry.amount.lanes.alone, per_one=NANO)
