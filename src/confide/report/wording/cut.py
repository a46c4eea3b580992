"""Where a bound on what a patient adds may cut: said beside headline, table and methods.

*Privacy:* reads the plan, which is public: the sentence is the same whether anything was left out.
"""

from collections.abc import Sequence
from typing import assert_never

from confide.drawing.cells import Cell
from confide.drawing.words import Words
from confide.plans.estimates import COUNTS
from confide.plans.plan import Plan, Statistic
from confide.plans.soundness.count_limits import limits_of
from confide.plans.soundness.cuts import Bounds, cutting
from confide.tables.aggregates.degrees import DegreeBounds
from confide.tables.bound_contributions import CellBound, OneEvent, RowBound


def cut_text(
    statistic: Statistic, *, plan: Plan, cells: Sequence[Cell], words: Words
) -> tuple[str, ...]:
    """Return the sentences that go with a statistic whose bound or limit may cut; else nothing."""
    stops = tuple(
        words.say("cut.stops", name=words.named(each.name), most=f"{each.at_most:,}")
        for each in limits_of(plan, statistic)
    )
    bounds = cutting(plan, statistic)
    if bounds is None:
        return stops
    numbers = [cell for cell in cells if cell.outer is not None]
    if cells and not numbers:
        which = "choice"
    else:
        which = "low" if all(cell.unit in COUNTS for cell in numbers) else "other"
    return (
        words.say(f"cut.{which}", kept=_kept(bounds, rows_matter=which == "other", words=words)),
        *stops,
    )


def _kept(bounds: Bounds, *, rows_matter: bool, words: Words) -> str:
    """Return how much of a patient counts; where a group only counts patients, not the records."""
    match bounds:
        case RowBound(max_rows=rows) | CellBound(max_cells=1, max_rows_per_cell=rows):
            return words.say_count("bounded.kept", rows)
        case CellBound(max_cells=cells, max_rows_per_cell=1) if not rows_matter:
            return words.say_count("cut.groups", cells)
        case CellBound(max_cells=cells, max_rows_per_cell=rows):
            return words.say(
                "cut.in-each",
                groups=words.say_count("cut.groups", cells),
                rows=words.say_count("bounded.kept", rows),
            )
        case OneEvent():
            return words.say_count("bounded.kept", 1)
        case DegreeBounds(at_most=most):
            return words.say_count("cut.contacts", most)
        case _:
            assert_never(bounds)
