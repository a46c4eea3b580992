"""Why the ledger says no, in words that name the fix.

*Privacy:* every reason here depends on declared facts and earlier charges only, never on rows.
"""

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction

from confide.budget.accountant import is_unexplained
from confide.budget.accounts.account import Account
from confide.budget.accounts.held import Held
from confide.budget.accounts.required_terms import require_same_terms
from confide.budget.growth import Growth, Step
from confide.budget.ledger import (
    Charge,
    ChargeRequest,
    LedgerTerms,
    Reservation,
    Scope,
    State,
)
from confide.budget.policy.adoption import Adopted
from confide.budget.policy.counters import ROLLING, YEAR, Occasion, kind_of, window_of, year_of
from confide.budget.policy.policy import Policy, Window
from confide.budget.stores.store import Store
from confide.budget.workflow.acts import ADOPTED, OFFICER, Officers, silent, unsigned
from confide.budget.workflow.acts import officers as officers_of
from confide.budget.workflow.rules import Refused
from confide.errors import (
    ApprovalMissingError,
    BudgetExhaustedError,
    BurnedError,
    ContractError,
    PolicyError,
)
from confide.privacy.amount import ATTO, NANO, Amount, decimal_text
from confide.privacy.measure import Measure, letter_in

_LAST_DAY = "9998-12-31"  # of which a day 365 days later has a date


def exhausted(account: Account, amount: Amount, *, when: Occasion) -> BudgetExhaustedError | None:
    """Return the refusal by the tightest cap that would be passed, if one would."""
    charges = account.charges(amount, when=when)
    passed = [charge for charge in charges if charge.after > charge.cap]
    if not passed:
        return None
    charge = min(passed, key=lambda each: each.cap - each.before)
    return refused_by(charge, account=account)


def refused_by(charge: Charge, *, account: Account) -> BudgetExhaustedError:
    """Return the refusal by one cap: what was asked, what is left, and when more will be.

    *Privacy:* made of the ledger's public amounts and confirmed days.
    """
    delta = charge.scope is Scope.LIFETIME_DELTA
    letter, per_one = ("δ", ATTO) if delta else (account.terms.measure.letter, NANO)
    letter = letter_in(charge.order, letter=letter)
    left, name = charge.cap - charge.before, charge.cap_id or charge.scope.value
    available = available_on(charge, account=account)
    return BudgetExhaustedError(
        f"Requested {letter}={decimal_text(charge.amount, per_one=per_one)}, "
        f"remaining {letter}={decimal_text(left, per_one=per_one)} (cap {name}), "
        f"difference {decimal_text(charge.amount - left, per_one=per_one)}.",
        cap=name,
        requested=Fraction(charge.amount, per_one),
        remaining=Fraction(left, per_one),
        hint=_way_out(charge, left=left, available=available),
        available=available,
    )


def available_on(charge: Charge, *, account: Account) -> str:
    """Return the first day on which a cap can hold less than now; "" when none is known.

    A year begins, or what was charged by a confirmed day leaves a rolling window.
    """
    match window_of(kind_of(charge.name)):
        case Window.CALENDAR_YEAR.value:
            return f"{(year_of(charge.name) or account.year) + 1}-01-01"
        case Window.ROLLING.value:
            return account.comes_back(charge.name) or ""
        case _:
            return ""


def under_policy(adopted: Adopted) -> PolicyError:
    """Return the refusal of caps where a policy holds them."""
    policy = adopted.policy
    return PolicyError(
        f"The caps of this lineage are those of policy {policy.id!r}, version {policy.version}.",
        hint="Write policy: policy.yaml in dataset.yaml instead of caps:. To change a cap, adopt "
        "the next version: confide ledger adopt --reason ...",
    )


def is_policys(account: Account, *, terms: LedgerTerms, charged: bool) -> bool:
    """Return whether a registration leaves the caps to a policy: in force, or to be adopted.

    Raises:
        PolicyError: If a policy is in force and the terms bring caps of their own.
        MismatchError: If unit, adjacency or measure are not those of the lineage.
    """
    if account.policy is None and (terms.caps is not None or not charged):
        return False
    require_same_terms(account.terms, new=terms)
    if account.policy is not None and terms.caps is not None:
        raise under_policy(account.policy)
    return True


def uncapped(account: Account) -> PolicyError:
    """Return the refusal of a lineage for which nothing was decided, or not again."""
    lineage = account.terms.lineage
    if account.disputed:
        others = "; ".join(", ".join(each) for each in account.disputed)
        return PolicyError(
            f"Lineage {lineage!r} was charged under {others} in rows that are lost, and goes on "
            f"under {', '.join(account.terms.names)}: the two do not add up, so nothing may be "
            "spent.",
            hint="An officer decides: a backup of before these rows were lost; or another lineage "
            "in dataset.yaml, with what is left in mind.",
        )
    if account.awaited.versions:
        version, digest = account.awaited.versions[-1]
        return PolicyError(
            f"Version {version} of the policy of lineage {lineage!r} was in rows of the ledger "
            f"that are lost (sha256 {digest[:16]}): nothing may be spent until it is adopted "
            "again.",
            hint="Put that version of the policy file in place, and run: "
            "confide ledger adopt --reason ...",
        )
    return PolicyError(
        f"No policy was adopted for lineage {lineage!r}, so nothing may be spent.",
        hint="Run: confide ledger adopt --reason ...",
    )


def unapproved(refused: Refused) -> PolicyError:
    """Return the refusal of a charge that the policy does not admit."""
    if refused.missing:
        return ApprovalMissingError(refused.message, missing=refused.missing, hint=refused.hint)
    return PolicyError(refused.message, hint=refused.hint)


def withheld(number: int) -> PolicyError:
    """Return the refusal of an answer that somebody decided not to deliver."""
    return PolicyError(
        f"The answer of entry {number} is withheld; its charge stays.",
        hint="Why is on record: confide request list",
    )


def require_same_question(held: Held, *, request: ChargeRequest) -> None:
    """Refuse a key that comes back with another amount or other events."""
    entry = held.entry
    same = (
        entry.lineage == request.lineage
        and entry.amount == request.amount
        and held.events_json == request.events_json
    )
    if not same:
        raise ContractError(
            f"Request key {request.request_key!r} belongs to another charge of the same plan.",
            hint="Its answer is delivered, at no charge, by the command that asked for it, as "
            "confide advance. A new key is a new charge.",
        )


def require_next(step: Step, *, growths: Mapping[int, Growth], lineage: str) -> None:
    """Refuse a free step that is not the next one of a release that was charged for it."""
    growth = growths.get(step.continues or 0)
    problem = "no such release grows" if growth is None else growth.problem(step, lineage=lineage)
    if problem:
        over = growth is None or growth.closed
        raise PolicyError(
            f"The release of entry {step.continues} cannot go on: {problem}.",
            hint="What is published of it stays. To go on, run the study anew, from its next "
            "period on, which is charged."
            if over
            else "Each period is measured once. Ask for the next ones, or run the study anew, "
            "which is charged.",
        )


def require_in_window(account: Account, *, opened: Held) -> None:
    """Refuse a free step once what was charged for it counts no more under a cap that holds.

    Else the budgets of several windows could be published in one.
    """
    over = account.window_over(opened.when)
    if not over:
        return
    number, year = opened.entry.number, opened.when.year
    when = f"charged in {year}, and {account.year} is open"
    if over != YEAR:
        when = "charged, and its last step taken, in 365 days that are over"
    raise PolicyError(
        f"The release of entry {number} cannot go on: it was {when}, and a cap of window "
        f"{over} holds.",
        hint="What was charged for it counts no more, so nothing is published under it. What is "
        "published of it stays; run the study anew, from its next period on, which is charged.",
    )


def require_counting(account: Account, *, paid: Held) -> None:
    """Refuse to read under a charge that left its window while it waited."""
    if account.window_over(paid.when) != ROLLING:
        return
    raise PolicyError(
        f"What entry {paid.entry.number} was charged counts no more under a cap of window "
        f"{ROLLING}: days were confirmed while it waited. Nothing was read.",
        hint="Ask again, at a charge of its own.",
    )


def require_covered(amount: Amount, *, recomputed: Amount, measure: Measure) -> None:
    """Refuse a charge below what its own events cost, or of no event at all."""
    if is_unexplained(amount, cost=recomputed):
        raise ContractError(
            f"A charge of {amount.text(measure)} was asked for, and no event says for what.",
            hint="Only a step of a release that was charged before has no events.",
        )
    if not amount.covers(recomputed):
        raise ContractError(
            f"Expected a charge of at least {recomputed.text(measure)}, "
            f"got {amount.text(measure)}.",
            hint="The events of the plan cost more than it asks to be charged.",
        )


def state_error(held: Held, *, wanted: str) -> PolicyError:
    """Return why a request in this state cannot do what is wanted."""
    number, state = held.entry.number, held.entry.state
    if state is State.BURNED:
        return burned(number)
    return PolicyError(
        f"Entry {number} is {state.value} and cannot be {wanted}.",
        hint="Run the same again to get what it has.",
    )


def require_owner(held: Held, *, reservation: Reservation, owner: str) -> None:
    """Refuse a reservation that another open ledger made."""
    if not held.owner == reservation.owner == owner:
        raise PolicyError(
            f"Entry {reservation.entry.number} was reserved by another process or ledger.",
            hint="Reserve, read and commit with the same open ledger.",
        )


def burned(number: int) -> BurnedError:
    """Return the refusal of a key that died."""
    return BurnedError(
        f"Entry {number} died after reading began; its charge stays.",
        hint="To ask again, and be charged again, use a new request key.",
    )


def in_progress(number: int) -> PolicyError:
    """Return the refusal of a request that somebody is working on."""
    return PolicyError(
        f"The same request is in progress already, as entry {number}, perhaps in another terminal.",
        hint="Wait for it to end, then run the same again: its answer costs nothing more.",
    )


def require_none_under_way(requests: Iterable[Held], *, store: Store) -> None:
    """Refuse to replace the key while another process has a release under way.

    Raises:
        PolicyError: If one does: it could not commit its answer, and its charge would stay.
    """
    for held in requests:
        if held.owner != store.owner and store.is_alive(held.owner):
            raise PolicyError(
                f"Entry {held.entry.number} is under way in another process, which could not "
                "commit its answer under a new key: its charge would stay.",
                hint="Wait for it to end, or stop its process, and run this again.",
            )


def _way_out(charge: Charge, *, left: int, available: str) -> str:
    rolling = window_of(kind_of(charge.name)) == Window.ROLLING.value
    if rolling and available:
        later = f"some comes back on {available}, with: confide ledger confirm-day {available}"
    elif rolling:
        later = (
            "some comes back 365 days after the day is next confirmed: confide ledger confirm-day"
        )
    elif available:
        later = f"wait for the year after {int(available[:4]) - 1}"
    else:
        later = ""
    if left <= 0:
        nothing = "Nothing is left under this cap"
        return f"{nothing}; {later}." if later and charge.cap_id else f"{nothing}."
    ask = "Ask for no more than what remains"
    if charge.order and charge.epsilon is not None:
        rho = decimal_text(left // charge.order, per_one=NANO)
        cap = f"this cap of ε={decimal_text(charge.epsilon, per_one=NANO)}"
        why = f"Losses that are not pure, or pass {cap}, count at order {charge.order}"
        ask = f"{why}. {ask}, which is ρ={rho}"
    if charge.scope is Scope.RELEASE:
        return f"{ask}: a larger error, or fewer statistics."
    return f"{ask}, or {later}." if later else f"{ask}."


def require_act(
    kind: str,
    policies: Iterable[Policy],
    *,
    named: Iterable[Collection[str]],
    officers: Officers,
) -> None:
    """Refuse an act without the signatures that it takes.

    Args:
        kind: Of its row.
        policies: An officer of each signs.
        named: Groups of keys that lost rows name; one of each signs.
        officers: Keys of those who do it.
    """
    keys = frozenset(officer.public_key.hex() for officer in officers)
    _require_officers(kind, policies, keys=keys)
    _require_named(kind, named, keys=keys)


def _require_officers(kind: str, policies: Iterable[Policy], *, keys: frozenset[str]) -> None:
    """Refuse an officer's act that no officer of a policy in force signs."""
    for policy in unsigned(policies, keys=keys):
        people = officers_of(policy)
        names = ", ".join(person.name for person in people)
        raise ApprovalMissingError(
            f"This is an officer's act ({kind}), and policy {policy.id!r}, version "
            f"{policy.version}, names people: one of {names} must sign it"
            + ("; the key that was given is none of theirs." if keys else "."),
            missing=tuple(sorted({OFFICER} & {r for p in people for r in p.roles})),
            hint="They run: confide ledger adopt --reason ... --officer THEIRS.key"
            if kind == ADOPTED
            else "They run the same command with --officer THEIRS.key.",
        )


def _require_named(kind: str, groups: Iterable[Collection[str]], *, keys: frozenset[str]) -> None:
    """Refuse to go on from an older ledger without those whom the rows that were lost name."""
    for group in silent(groups, keys=keys):
        names = ", ".join(f"ed25519:{key}" for key in group)
        raise ApprovalMissingError(
            "The anchor knows rows that are lost, and a policy was in force in them that names "
            f"people: one of its officers must sign to go on without them ({names}).",
            missing=(OFFICER,),
            hint="Put back and adopt the newest policy that the lost rows let hold. For another "
            "they run: confide ledger adopt --reason ... --officer THEIRS.key"
            if kind == ADOPTED
            else "They run the same command with --officer THEIRS.key. Or restore a backup that "
            "holds the policy: confide ledger restore FOLDER.",
        )


def unopened(year: int, *, now: int, account: Account) -> PolicyError:
    """Return the refusal to open a year."""
    if year == now < account.year:
        return PolicyError(
            f"The budget of {account.year} is open, which a clock that was ahead began: no year "
            "before it opens again, and until then all is charged to it.",
            hint="Where a cap by calendar year holds, let the next version of the policy hold one "
            f"of window {ROLLING} in its place.",
        )
    return PolicyError(
        f"Expected the year of the clock, after {account.vouched}, got {year}; the clock shows "
        f"{now}."
    )


def undecided(why: str) -> PolicyError:
    """Return the refusal of a decision that somebody may not make."""
    return PolicyError(f"This cannot be decided: {why}.", hint="Who may: confide request list")


def require_day(day: str, *, today: str, last: str) -> None:
    """Refuse to confirm a day that is not that of the clock, or not after the last one.

    Raises:
        PolicyError: If it is not.
    """
    hint = "If the clock is wrong, set it right first."
    if day == today == last:
        raise PolicyError(
            f"The day {day} was confirmed already.", hint="Nothing is left to do today."
        )
    if day != today or day <= last:
        after = f", after {last}" if last else ""
        raise PolicyError(
            f"Expected the day of the clock, {today} in UTC{after}, got {day}.", hint=hint
        )
    if day > _LAST_DAY:
        raise PolicyError(f"No charge of {day} could ever leave a window of 365 days.", hint=hint)
