"""Which published release a growing plan goes on from, by the plan and the ledger alone.

*Privacy:* no row is read; steps of one question are one mechanism (:mod:`confide.plans.growth`).

References:
    [DMRST22] Denisov, McMahan, Rush, Smith, Thakurta. Improved differential privacy for SGD via
        optimal private linear operators on adaptive streams. NeurIPS 2022, thm. 2.1.
        https://arxiv.org/abs/2202.08312
"""

from confide.budget.growth import Growth
from confide.budget.ledger import Ledger
from confide.errors import ContractError
from confide.plans.growth import growing_question, grown_to
from confide.plans.plan import Plan


def growth_of(plan: Plan, *, ledger: Ledger) -> Growth | None:
    """Return the last release of the plan's question that was published; None if there is none."""
    if grown_to(plan) is None:
        return None
    question = growing_question(plan)
    same = [
        growth
        for growth in ledger.growths(plan.dataset.lineage)
        if growth.question == question and growth.latest  # another may have been cancelled
    ]
    return same[-1] if same else None


def growable(plan: Plan, *, ledger: Ledger) -> int | None:
    """Return the entry of a release that grows to a plan's periods at no charge, if there is one.

    By the plan and the ledger alone.
    """
    stop, growth = grown_to(plan), growth_of(plan, ledger=ledger)
    if stop is None or growth is None or growth.closed or stop <= growth.position:
        return None
    return growth.opened


def refuse_growable(plan: Plan, *, ledger: Ledger) -> None:
    """Refuse to charge a plan again whose periods were charged.

    Raises:
        ContractError: If a release grows to the plan's periods at no charge.
    """
    entry = growable(plan, ledger=ledger)
    if entry is not None:
        raise ContractError(
            f"The release of ledger entry {entry} was charged for all of these periods, and "
            "can publish the next ones at no charge.",
            hint="Use `confide advance`; for fresh noise and a charge of its own, `confide run "
            "--request KEY`.",
        )
