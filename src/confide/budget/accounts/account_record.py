"""Caps, charges and whole accounts as JSON: in rows of the chain, and in checkpoints.

*Privacy:* what an account adds up to is read back to the last unit, or not at all.
"""

from collections.abc import Mapping
from typing import Any

from confide.budget.accounts.account import Account
from confide.budget.accounts.awaited import Awaited
from confide.budget.accounts.counter import Counter
from confide.budget.accounts.file_caps import held_by_file
from confide.budget.accounts.rolling import Rolling
from confide.budget.ledger import Caps, Charge, LedgerTerms, Scope
from confide.budget.policy.adoption import adopted_of
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import measure_of
from confide.privacy.unit import Entity


def caps_json(caps: Caps | None) -> dict[str, str | None] | None:
    """Return caps as they stand in the chain; null where a policy is to be adopted.

    Example:
        >>> caps_of(caps_json(Caps(lifetime=10, release=1))) == Caps(lifetime=10, release=1)
        True
    """
    if caps is None:
        return None
    return {
        "release": None if caps.release is None else str(caps.release),
        "calendar-year": None if caps.calendar_year is None else str(caps.calendar_year),
        "lifetime": str(caps.lifetime),
        "lifetime-delta": str(caps.delta_lifetime_atto),
    }


def caps_of(fields: Mapping[str, str | None] | None) -> Caps | None:
    """Return caps as they were written by ``caps_json``."""
    if fields is None:
        return None
    release, year = fields["release"], fields["calendar-year"]
    return Caps(
        release=None if release is None else int(release),
        calendar_year=None if year is None else int(year),
        lifetime=int(fields["lifetime"] or 0),
        delta_lifetime_atto=int(fields["lifetime-delta"] or 0),
    )


def charges_json(charges: tuple[Charge, ...]) -> list[dict[str, str]]:
    """Return charges as they stand in the chain."""
    return [
        {
            "scope": charge.name,
            "amount": str(charge.amount),
            "before": str(charge.before),
            "after": str(charge.after),
            "cap": str(charge.cap),
            **({"id": charge.cap_id} if charge.cap_id else {}),
            **({"order": str(charge.order)} if charge.order else {}),
            **({"epsilon": str(charge.epsilon)} if charge.epsilon is not None else {}),
        }
        for charge in charges
    ]


def charges_of(fields: list[dict[str, str]]) -> tuple[Charge, ...]:
    """Return charges as they were written by ``charges_json``."""
    found = []
    for each in fields:
        scope, _, period = each["scope"].partition("/")
        charge = Charge(
            scope=Scope(scope),
            period=period,
            amount=int(each["amount"]),
            before=int(each["before"]),
            after=int(each["after"]),
            cap=int(each["cap"]),
            cap_id=each.get("id", ""),
            order=int(each.get("order", "0")),
            epsilon=int(each["epsilon"]) if "epsilon" in each else None,
        )
        found.append(charge)
    return tuple(found)


def account_json(account: Account) -> dict[str, Any]:
    """Return all that an account holds, as JSON."""
    terms = account.terms
    return {
        "lineage": terms.lineage,
        "unit": terms.unit.value,
        "adjacency": terms.adjacency.value,
        "measure": terms.measure.value,
        "caps": caps_json(terms.caps),
        "year": account.year,
        "vouched": account.vouched,
        "joined": account.joined,
        "counters": _counters_json(account.counters),
        "tallies": _counters_json(account.tallies),
        "policy": "" if account.policy is None else account.policy.digest,
        "versions": [adopted.to_fields() for adopted in account.versions.values()],
        "days": account.rolling.days,
        "batches": {n: sorted(held.items()) for n, held in account.rolling.batches.items()},
        "kept": sorted(account.kept),
        "lost": account.lost,
        "lost-years": sorted(account.lost_years.items()),
        "lost-batches": sorted(account.rolling.lost.items()),
        "touched": sorted(account.touched),
        "charged": account.charged,
        "awaited": account.awaited.to_json(),
        "disputed": account.disputed,
    }


def account_of(fields: Mapping[str, Any]) -> Account:
    """Return the account that ``account_json`` wrote."""
    terms = LedgerTerms(
        lineage=fields["lineage"],
        unit=Entity(fields["unit"]),
        adjacency=Adjacency(fields["adjacency"]),
        measure=measure_of(fields["measure"]),
        caps=caps_of(fields["caps"]),
    )
    versions = {each["policy-sha256"]: adopted_of(each) for each in fields["versions"]}
    policy = versions[fields["policy"]] if fields["policy"] else None
    return Account(
        terms=terms,
        year=fields["year"],
        vouched=fields["vouched"],
        joined=fields["joined"],
        counters=_counters_of(fields["counters"]),
        tallies=_counters_of(fields["tallies"]),
        caps=held_by_file(terms) if policy is None else policy.held(terms.measure),
        policy=policy,
        versions=versions,
        rolling=Rolling(
            days=list(fields["days"]),
            batches={name: dict(map(tuple, held)) for name, held in fields["batches"].items()},
            lost=dict(map(tuple, fields["lost-batches"])),
        ),
        kept=set(fields["kept"]),
        lost=dict(fields["lost"]),
        lost_years=dict(map(tuple, fields["lost-years"])),
        touched=set(fields["touched"]),
        charged=fields["charged"],
        awaited=Awaited.of_json(*fields["awaited"]),
        disputed=tuple(map(tuple, fields["disputed"])),
    )


def _counters_json(counters: Mapping[str, Counter]) -> dict[str, list[int | None]]:
    return {name: [each.spent, each.cap, each.start] for name, each in counters.items()}


def _counters_of(fields: Mapping[str, list[Any]]) -> dict[str, Counter]:
    return {
        name: Counter(spent=spent, cap=cap, start=start)
        for name, (spent, cap, start) in fields.items()
    }
