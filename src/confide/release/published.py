"""Whether a study's period was published before under another plan, by the plan and the ledger.

A study of a period is one question about that period.  Another snapshot, a longer range of a
column, another error make another plan, which is another draw of noise and another charge.  That
is never what a second run of the same month means by itself, so it has to be asked for.

*Privacy:* decided before anything is charged, by names and dates on the chain alone.
"""

from confide.budget.ledger import Entry, Ledger
from confide.errors import ContractError
from confide.plans.plan import Plan


def published_before(plan: Plan, *, ledger: Ledger) -> tuple[Entry, ...]:
    """Return the entries that answered a plan's study and period under another plan, oldest first.

    None where the plan itself was answered: it is then delivered again, at no charge.
    """
    study = plan.study
    if not study.period:
        return ()
    asked = ledger.of_study(plan.dataset.lineage, study=study.id, period=study.period)
    same = tuple(entry for entry in asked if entry.payload_sha256)
    mine = plan.digest()
    return () if any(entry.plan_digest == mine for entry in same) else same


def told_before(entries: tuple[Entry, ...], *, plan: Plan) -> str:
    """Return what was published of a plan's period, and what is different now."""
    study, last = plan.study, entries[-1]
    now = plan.dataset.snapshot
    differs = (
        f"from snapshot {last.snapshot!r}; this one is {now!r}"
        if last.snapshot != now
        else f"from the same snapshot {now!r}, under another plan"
    )
    times = "" if len(entries) == 1 else f", and {len(entries) - 1} times before"
    return (
        f"Study {study.id!r} has published {study.period} already: ledger entry {last.number} of "
        f"{last.at[:10]}, {last.amount.text(last.measure)}{times}, {differs}."
    )


def refuse_again(plan: Plan, *, ledger: Ledger) -> None:
    """Refuse to charge a period a second time that a study has published.

    Raises:
        ContractError: If it was published under another plan; nothing is charged.
    """
    before = published_before(plan, ledger=ledger)
    if before:
        raise ContractError(
            f"{told_before(before, plan=plan)} Nothing was charged.",
            hint="To publish the period anew, with a charge of its own: confide run --again, or "
            "again=True in Python.",
        )
