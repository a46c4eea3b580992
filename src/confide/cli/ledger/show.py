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
    last: Annotated[int, typer.Option(min=0, help="Show so many of the newest requests.")] = 100,
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
    table(
        ("entry", "when (UTC)", "who", "study", "request", "amount", "state"),
        [_entry_row(each) for each in found.entries],
        title="Requests",
    )
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


def _entry_row(each: "LedgerEntry") -> tuple[str, ...]:
    return (
        str(each.number),
        each.at[:19].replace("T", " "),
        each.analyst,
        each.study[:24],
        each.request[:16],
        each.amount + ("" if each.epsilon is None else f" (ε {each.epsilon})"),
        each.state,
    )
