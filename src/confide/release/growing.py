"""Which published release a growing plan goes on from, or would repeat, by plan and ledger alone.

The horizon of a growing release is charged once.  A later snapshot with the same periods, or one
with more, is another plan, hence another draw and another charge: that has to be asked for.

*Privacy:* no row is read; steps of one question are one mechanism (:mod:`confide.plans.growth`).

References:
    [DMRST22] Denisov, McMahan, Rush, Smith, Thakurta. Improved differential privacy for SGD via
        optimal private linear operators on adaptive streams. NeurIPS 2022, thm. 2.1.
        https://arxiv.org/abs/2202.08312
"""

from confide.budget.growth import Growth
from confide.budget.ledger import Entry, Ledger
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
    if stop is None or growth is None or ended(growth) or stop <= growth.position:
        return None
    return growth.opened


def has_periods(plan: Plan, *, ledger: Ledger) -> bool:
    """Return whether the periods of a growing plan were taken, so that no row is read for them."""
    stop, growth = grown_to(plan), growth_of(plan, ledger=ledger)
    return stop is not None and growth is not None and stop <= growth.position


def step_taken(plan: Plan, *, ledger: Ledger, analyst: str, request_key: str) -> Entry | None:
    """Return the step of a growing release that was answered under a request's own key."""
    entry = ledger.known(plan.digest(), analyst=analyst, request_key=request_key)
    return entry if entry is not None and entry.continues and entry.payload_sha256 else None


def grown_before(
    plan: Plan, *, ledger: Ledger, analyst: str, request_key: str
) -> tuple[Growth, ...]:
    """Return releases that were charged for the periods of a growing plan, oldest first.

    They are of the plan's question, or of its study with another horizon, error or bound: whatever
    it asks for, its published periods would be drawn anew.  None where the request itself is known
    to the ledger, which then delivers what it has; nor where nothing was ever published, unless
    somebody is at it.
    """
    if ledger.known(plan.digest(), analyst=analyst, request_key=request_key) is not None:
        return ()
    return _alike(plan, ledger=ledger)


def _alike(plan: Plan, *, ledger: Ledger) -> tuple[Growth, ...]:
    if grown_to(plan) is None:
        return ()
    question, study = growing_question(plan), plan.study
    asked = ledger.of_study(plan.dataset.lineage, study=study.id, period=study.period)
    opened = {entry.number for entry in asked}
    return tuple(
        growth
        for growth in ledger.growths(plan.dataset.lineage)
        if (growth.question == question or growth.opened in opened)
        and (growth.latest or ledger.is_under_way(growth.opened))  # another may have been cancelled
    )


def told_grown(growths: tuple[Growth, ...], *, plan: Plan) -> str:
    """Return what was charged and published of a growing plan's periods."""
    question = growing_question(plan)
    last = next((each for each in reversed(growths) if each.question == question), growths[-1])
    if not last.latest:
        return (
            f"Somebody opens a release of study {plan.study.id!r} that grows, of ledger entry "
            f"{last.opened}, which is charged for all of its periods and under way."
        )
    if last.question != question:
        return (
            f"Study {plan.study.id!r} has a release that grows, of ledger entry {last.opened}, "
            f"and asks now under another plan: its {last.position} published periods would be "
            "drawn anew."
        )
    over, published = ended(last), f"{last.position} are published"
    so_far = f"it grows no more: {over}" if over else published
    return (
        f"The release of ledger entry {last.opened} was charged for all of these periods; {so_far}."
    )


def ended(growth: Growth) -> str:
    """Return why a release grows no more; "" while it may."""
    return growth.closed or ("an answer of it is withheld" if growth.withheld else "")


def refuse_grown(plan: Plan, *, ledger: Ledger, analyst: str, request_key: str) -> None:
    """Refuse to charge periods a second time that a release which grows was charged for.

    Raises:
        ContractError: If there is one, and the request is not known; nothing is charged.
    """
    growths = grown_before(plan, ledger=ledger, analyst=analyst, request_key=request_key)
    if growths:
        raise _grown(growths, plan=plan)


def refuse_grown_beside(plan: Plan, *, ledger: Ledger, reserved: Entry) -> None:
    """Refuse to open a release that grows where another was charged before for its periods.

    Raises:
        ContractError: If there is one; nothing was read, and the charge is given back.
    """
    alike = _alike(plan, ledger=ledger)
    growths = tuple(growth for growth in alike if growth.opened < reserved.number)
    if growths:
        raise _grown(growths, plan=plan)


def _grown(growths: tuple[Growth, ...], *, plan: Plan) -> ContractError:
    return ContractError(
        f"{told_grown(growths, plan=plan)} Nothing was charged.",
        hint="`confide advance` delivers what it published and nobody withheld, and its next "
        "periods, at no charge. For fresh noise, with a charge of its own: confide run "
        "--again, or again=True in Python.",
    )
