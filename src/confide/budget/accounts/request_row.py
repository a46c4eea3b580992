"""The row of a request in the chain, granted or refused."""

from dataclasses import replace
from typing import Any

from confide.budget.accountant import Accountant
from confide.budget.accounts.account_record import charges_json
from confide.budget.ledger import Charge, ChargeRequest
from confide.budget.plan_text import plan_in
from confide.budget.policy.counters import Occasion
from confide.privacy.measure import LedgerMeasure, Mixed


def in_lanes_of(
    measure: LedgerMeasure, request: ChargeRequest, *, recompute: Accountant
) -> ChargeRequest:
    """Return a request with what its events cost in the lanes of a mixed lineage."""
    if not isinstance(measure, Mixed) or not request.amount.nano:
        return request
    cost = recompute(request.events_json, measure=request.measure, mixed=measure)
    return replace(request, amount=replace(request.amount, lanes=cost.lanes))


def row_fields(
    request: ChargeRequest,
    *,
    measure: LedgerMeasure,
    when: Occasion,
    charges: tuple[Charge, ...],
    under: int,
) -> dict[str, Any]:
    """Return what the chain says of a request, but for who holds it.

    Args:
        request: What is asked.
        measure: Of the lineage; of a mixed one the row says that of the request as well.
        when: To what it counts.
        charges: What it does to each cap; none when it is refused.
        under: The approved request that admits it; 0 where none is needed.
    """
    fields: dict[str, Any] = {
        "lineage": request.lineage,
        "analyst": request.analyst,
        "request-key": request.request_key,
        "plan-digest": request.plan_digest,
        "nano": str(request.amount.nano),
        "delta-atto": str(request.amount.atto),
        "events": request.events_json,
        "plan": request.plan_json,
        "year": str(when.year),
        "charges": charges_json(charges),
    }
    if measure is not request.measure:
        fields["measure"] = request.measure.value
        if request.amount.lanes is not None:
            fields["lanes"] = request.amount.lanes.to_fields()
    if request.step is not None:
        fields["step"] = request.step.to_fields()
    named = {"tier": request.tier, "project": request.project, "planned": request.planned}
    fields |= {name: text for name, text in named.items() if text}
    return fields | ({"submission": str(under)} if under else {})


def read_off(plan_json: str) -> dict[str, Any]:
    """Return what an entry says of its recorded plan: study, period, snapshot, if it leaves out."""
    try:
        plan = plan_in(plan_json)
        study, dataset = plan["study"], plan["dataset"]
        return {
            "study": str(study["id"]),
            "period": str(study.get("period", "")),
            "snapshot": str(dataset.get("snapshot", "")),
            "filtered": bool(dataset.get("patients")),
        }
    except (KeyError, TypeError, AttributeError):
        return {}
