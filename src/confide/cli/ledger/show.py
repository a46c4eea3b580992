"""``confide ledger show``: the use of every cap and the newest requests."""

from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.service.ledger.show import CapUse, LedgerEntry, LedgerShown


def show_ledger(
    dataset: Dataset = HERE,
    *,
    last: Annotated[int, typer.Option(min=0, help="Show so many of the newest requests.")] = 12,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show the use of every cap and the newest requests."""
    from confide.service.ledger.show import show_ledger as shown

    found = shown(dataset, last=last)
    Output(json=as_json, quiet=quiet).result("ledger", found, show=lambda: _show(found))


def _show(found: "LedgerShown") -> None:
    from confide.cli.planning.caps import at_delta
    from confide.cli.planning.left_out import show_patient_caps
    from confide.cli.request.words import withheld_text

    policy = found.policy
    under = "" if policy is None else f" under {policy.id}, version {policy.version}"
    table(
        ("cap", "limit", "spent", "free"),
        [_cap_row(cap) for cap in found.caps],
        title=f"Budget of {found.lineage}{under}{at_delta(found.epsilon_delta)}",
        right=(1, 2, 3),
    )
    show_patient_caps(found.patient_caps)
    named = any(each.named for each in found.entries)
    table(
        ("entry", "when (UTC)", "who", "study", *(("request",) if named else ()), "cost", "state"),
        [_entry_row(each, named=named) for each in found.entries],
        title="Requests",
    )
    if found.has_earlier:
        say(f"There are earlier ones: --last {10 * max(1, len(found.entries))}")
    for each in found.entries:
        if each.withheld:
            say(withheld_text(each.number, each.withheld))


def _cap_row(cap: "CapUse") -> tuple[str, ...]:
    from confide.cli.planning.caps import beside, left_text, used_text

    def more(name: str) -> str:
        return beside(name, epsilon=cap.epsilon)

    return (
        cap.cap,
        "no cap" if cap.limit is None else f"{cap.letter} {left_text(cap.limit)}{more('limit')}",
        "–" if cap.spent is None else used_text(cap.spent, limit=cap.limit) + more("spent"),
        "–" if cap.free is None else left_text(cap.free) + more("free"),
    )


def _entry_row(each: "LedgerEntry", *, named: bool) -> tuple[str, ...]:
    return (
        str(each.number),
        each.at[:16].replace("T", " "),
        _short(each.analyst, most=12),
        _short(each.study, most=20),
        *((_short(_told(each.request), most=12) if each.named else "",) if named else ()),
        _cost(each),
        each.state,
    )


def _told(request: str) -> str:
    """Return the key of a request; those of parts of a job are "3, part 2"."""
    return request.replace("\N{SYMBOL FOR UNIT SEPARATOR}", ", part ")


def _short(text: str, *, most: int) -> str:
    """Return a text, cut with a sign of it."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _cost(each: "LedgerEntry") -> str:
    """Return what a request cost, ε first, rounded up."""
    from confide.cli.planning.caps import used_text

    parts = (part.split("=") for part in each.amount.split(", "))
    cost = ", ".join(f"{letter} {used_text(amount, limit=None)}" for letter, amount in parts)
    if each.epsilon is None:
        return cost
    return f"ε {used_text(each.epsilon, limit=None)} ({cost})"
