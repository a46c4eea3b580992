"""Whether somebody decided that an answer is delivered to nobody, as ledger or chain say it.

A growing release repeats its periods: once an answer of it is withheld, so is every later one.

*Privacy:* reads decisions, which name people and reasons and no data.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from confide.budget.chain.chain import Event
from confide.budget.ledger import Ledger
from confide.release.verify.checks import Check

NAME = "answer"


def withheld_in_ledger(entry: int, *, ledger: Ledger, name: str = NAME) -> tuple[Check, ...]:
    """Return a check that says who withheld the answer of an entry, when and why; none if nobody.

    Args:
        entry: Its number in the ledger.
        ledger: That holds it.
        name: Of the check.
    """
    made = ledger.withholding(entry)
    if made is None:
        return ()
    who = f"{made.person} ({made.role}) on {made.at[:10]}"
    return (_said(f"withheld by {who}: {made.reason}", name=name),)


def withheld_in_rows(entry: int, *, rows: Sequence[Event], name: str = NAME) -> tuple[Check, ...]:
    """Return a check that says that the answer of an entry is withheld; none if it is not.

    Args:
        entry: Its number in the chain.
        rows: Of the chain, as exported.
        name: Of the check.
    """
    fields = {row.number: row.fields() for row in rows}
    asked = fields.get(entry, {})
    for said in fields.values():
        if said.get("kind") != "withheld":
            continue
        number = int(said["entry"])
        if number == entry or _repeats(asked, entry, fields.get(number, {}), number):
            when = f"on {str(said['at'])[:10]} by a {said['role']}"
            return (_said(f"withheld {when}: {said['reason']}", name=name),)
    return ()


def _repeats(one: Mapping[str, Any], entry: int, other: Mapping[str, Any], number: int) -> bool:
    """Return whether the answer of an entry holds the periods of another."""
    mine, theirs = one.get("step"), other.get("step")
    if not mine or not theirs:
        return False
    same = (mine["continues"] or str(entry)) == (theirs["continues"] or str(number))
    return same and int(mine["stop"]) >= int(theirs["stop"])


def _said(detail: str, *, name: str) -> Check:
    told = f"{detail}. It is delivered to nobody and used no more; its charge stays"
    return Check(name=name, holds=True, detail=told, caution=True)
