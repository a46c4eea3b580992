"""Whether what a study asks was published before, by the plan and the ledger.

A study of a period is one question about that period.  Another snapshot, a longer range of a
column, another error make another plan, which is another draw of noise and another charge; so does
the very same plan for another login or under another key.  That is never what a second run of the
same month means by itself, so it has to be asked for.  A study without a period is asked again
under a key of its own, which is asking for it.  Not so over sites: there the key is a run, which
the coordinator picks, and a charge that came to nothing may have given the coordinator its sum.

*Privacy:* decided before anything is charged, by names and dates on the chain alone.
"""

from confide.budget.ledger import Entry, Ledger, State
from confide.errors import ContractError
from confide.plans.plan import Plan, Priced
from confide.release.growing import growth_of, refuse_grown, refuse_grown_beside

KEY = 32
"""Hexadecimal digits of a plan that are the key of its request where none is named."""


def key_of_plan(plan: Priced) -> str:
    """Return the key of a request where none is named: a second run of a plan costs nothing."""
    return plan.digest()[:KEY]


def published_before(
    plan: Plan, *, ledger: Ledger, analyst: str, request_key: str
) -> tuple[Entry, ...]:
    """Return the entries that answered what a plan asks, oldest first, where it would be charged.

    Of a study with a period all of that period, under whatever plan; of another one those of the
    same plan, unless a key of its own is named.  One that somebody is at counts as well: it will
    have an answer.  None where this very request is known to the ledger, which then delivers what
    it has, at no charge.
    """
    if ledger.known(plan.digest(), analyst=analyst, request_key=request_key) is not None:
        return ()
    return _alike(plan, ledger=ledger, request_key=request_key)


def has_answer(plan: Priced, *, ledger: Ledger, analyst: str, request_key: str) -> bool:
    """Return whether a request has its answer, which is delivered without reading a row."""
    known = ledger.known(plan.digest(), analyst=analyst, request_key=request_key)
    return known is not None and bool(known.payload_sha256)


def answered_request(
    plan: Priced, *, ledger: Ledger, request_key: str | None = None
) -> Entry | None:
    """Return the last request of a plan that has its answer, whoever asked; None without one.

    Args:
        plan: What was asked.
        ledger: Where.
        request_key: Under which; under any when None.
    """
    asked = ledger.of_plan(plan.dataset.lineage, digest=plan.digest())
    keyed = (e for e in asked if request_key in {None, e.request_key})
    answered = [e for e in keyed if e.payload_sha256]
    return answered[-1] if answered else None


def lost_or_answered(plan: Priced, *, ledger: Ledger, before: int | None = None) -> str:
    """Return what became of a plan over sites that was charged before; "" if it never was.

    Args:
        plan: What is asked.
        ledger: Of a site.
        before: Only entries before this one count; all when None.
    """
    for entry in reversed(ledger.of_plan(plan.dataset.lineage, digest=plan.digest())):
        came_to = entry.payload_sha256 or ledger.is_under_way(entry.number)
        if (before is None or entry.number < before) and (
            came_to or _is_lost(entry, digest=plan.digest())
        ):
            return (
                f"The same was charged before: ledger entry {entry.number} of {entry.at[:10]} is "
                f"{entry.state.value}."
            )
    return ""


def is_released(plan: Plan, *, ledger: Ledger) -> bool:
    """Return whether a plan was published, or is under way, or is one that grows at no charge."""
    asked = ledger.of_plan(plan.dataset.lineage, digest=plan.digest())
    is_there = any(e.payload_sha256 or ledger.is_under_way(e.number) for e in asked)
    return is_there or growth_of(plan, ledger=ledger) is not None


def _alike(plan: Plan, *, ledger: Ledger, request_key: str) -> tuple[Entry, ...]:
    study, lineage = plan.study, plan.dataset.lineage
    if study.period:
        asked = ledger.of_study(lineage, study=study.id, period=study.period)
    elif request_key == key_of_plan(plan) or plan.federation is not None:
        asked = ledger.of_plan(lineage, digest=plan.digest())
    else:
        return ()
    return tuple(
        e
        for e in asked
        if e.payload_sha256
        or ledger.is_under_way(e.number)
        or (plan.federation is not None and _is_lost(e, digest=plan.digest()))
    )


def _is_lost(entry: Entry, *, digest: str) -> bool:
    """Return whether rows were read for a plan and the ledger has no answer, but others may."""
    return entry.plan_digest == digest and entry.state in {State.READING, State.BURNED}


def told_before(entries: tuple[Entry, ...], *, plan: Plan) -> str:
    """Return what was published of a plan's period, and what is different now."""
    study, last = plan.study, entries[-1]
    now = plan.dataset.snapshot
    if not last.payload_sha256:
        of = f"{study.period} of study {study.id!r}" if study.period else f"Study {study.id!r}"
        how = "was charged before" if last.state is State.BURNED else "is under way"
        return (
            f"{of} {how}: ledger entry {last.number} of {last.at[:10]}, "
            f"{last.amount.text(last.measure)}, for {last.analyst} with the key "
            f"{last.request_key}, is {last.state.value}."
        )
    if last.plan_digest == plan.digest():
        differs = f"under this very plan, for {last.analyst} with the key {last.request_key}"
    elif last.snapshot != now:
        differs = f"from snapshot {last.snapshot!r}; this one is {now!r}"
    else:
        differs = f"from the same snapshot {now!r}, under another plan"
    times = "" if len(entries) == 1 else f", and {len(entries) - 1} times before"
    what = f"has published {study.period}" if study.period else "is published"
    return (
        f"Study {study.id!r} {what} already: ledger entry {last.number} of "
        f"{last.at[:10]}, {last.amount.text(last.measure)}{times}, {differs}"
        f"{'; it is withheld' if last.withheld else ''}."
    )


def refuse_again(plan: Plan, *, ledger: Ledger, analyst: str, request_key: str) -> None:
    """Refuse to charge a second time what a study has published, or what grows.

    Raises:
        ContractError: If it was published, and this very request is not known; nothing is charged.
    """
    asked = {"analyst": analyst, "request_key": request_key}
    refuse_grown(plan, ledger=ledger, **asked)
    before = published_before(plan, ledger=ledger, **asked)
    if before:
        raise ContractError(
            f"{told_before(before, plan=plan)} Nothing was charged.", hint=_hint(before, plan=plan)
        )


def refuse_alike(plan: Plan, *, ledger: Ledger, reserved: Entry) -> None:
    """Refuse to read for a charge before which another was made for the same; it is given back.

    Of two that are asked for at the same moment each sees the other's charge, and the first goes
    on.

    Raises:
        ContractError: If there is one.
    """
    refuse_grown_beside(plan, ledger=ledger, reserved=reserved)
    alike = _alike(plan, ledger=ledger, request_key=reserved.request_key)
    before = tuple(entry for entry in alike if entry.number < reserved.number)
    if before:
        raise ContractError(
            f"{told_before(before, plan=plan)} Nothing was charged.", hint=_hint(before, plan=plan)
        )


def _hint(before: tuple[Entry, ...], *, plan: Plan) -> str:
    last, free = before[-1], ""
    if plan.federation is not None:
        return (
            "Its sum may be known to the coordinator. For another run, with a charge of its own: "
            "confide federate serve-site --again."
        )
    if not last.payload_sha256:
        free = "Wait for it to end. "
    elif last.plan_digest == plan.digest() and not last.withheld:
        free = (
            "Its login has it again at no charge, with that key as --request; --reuse may answer "
            "others from it. "
        )
    return (
        f"{free}To publish it anew, with a charge of its own: confide run --again, "
        "or again=True in Python."
    )
