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
    for each in found:
        show_unread(each.id, unread=each.unread, otherwise=each.otherwise)
    if len(found) == of:
        say("All of it is answered: confide run STUDY --out FOLDER --reuse spends nothing.")


def show_unread(name: str, *, unread: Sequence[int], otherwise: Sequence[int]) -> None:
    """Print which answers that were paid for are not read, and why."""
    if unread:
        others = ", ".join(map(str, unread))
        say(
            f"{name}: entries {others} measured it as well. Such answers are averaged of "
            "counts alone, so the one of least noise is read."
        )
    if otherwise:
        others = ", ".join(map(str, otherwise))
        say(
            f"{name}: entries {others} measured its value in other groups, rows or bounds. Of "
            "sums, means and other moments no cells are added up, so they are not read."
        )


def _met(as_precise: bool | None) -> str:
    return {True: "yes", False: "no", None: "not known before"}[as_precise]
