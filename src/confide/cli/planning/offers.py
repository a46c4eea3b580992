"""What published releases already answer of a plan, for people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from confide.cli.output import say, table

if TYPE_CHECKING:
    from confide.service.planning.offers import Offer


def show_offered(found: "Sequence[Offer]", *, of: int) -> None:
    """Print what is free, out of ``of`` statistics."""
    if not found:
        return
    rows = [
        (
            each.id,
            ", ".join(
                f"entry {entry} ({released[:10]})"
                for entry, released in zip(each.entries, each.released, strict=True)
            ),
            "" if each.level is None else f"±{each.text} ({100 * float(each.level):g} %)",
            _met(each.as_precise),
        )
        for each in found
    ]
    head = ("statistic", "from", "result within", "as precise as planned")
    table(head, rows, title="Published before: costs nothing")
    if len(found) == of:
        say("All of it is answered: confide run STUDY --out FOLDER --reuse spends nothing.")


def _met(as_precise: bool | None) -> str:
    return {True: "yes", False: "no", None: "not known before"}[as_precise]
