"""``confide policy solve``: a division of the budget, or the contradiction and its repairs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet
from confide.cli.policy.said import HERE, REFUSED, File, Spent, show, spent_from
from confide.errors import ContractError
from confide.regular_file import write_bytes

if TYPE_CHECKING:
    from confide.budget.policy.conflict import Conflict
    from confide.budget.policy.solve import Solution
    from confide.drawing.words import Words
    from confide.report.policy_words import Part

ENDINGS = (".svg", ".png", ".html")


def solve(
    path: File = HERE,
    *,
    figure: Annotated[
        Path | None, typer.Option(help="Draw it: a file that ends in .svg, .png or .html.")
    ] = None,
    spent: Spent = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Divide the budget over the releases, or show what contradicts and what would repair it."""
    from confide.budget.policy.solve import solve as solved
    from confide.drawing.words import load_words
    from confide.files.policy import read_policy
    from confide.report.policy_words import title

    if figure is not None and figure.suffix not in ENDINGS:
        raise ContractError(
            f"Cannot draw {figure.name}.", hint=f"Give a name that ends in {', '.join(ENDINGS)}."
        )
    policy, words = read_policy(path), load_words("en")
    solution = solved(policy, spent=spent_from(spent))
    output = Output(json=as_json, quiet=quiet)
    output.result(
        "policy-solve",
        _body(solution, words=words),
        show=lambda: show(title(policy, words=words), _parts(solution, words=words)),
    )
    if figure is not None:
        from confide.report.policy_chart import written

        write_bytes(figure, written(solution, kind=figure.suffix, words=words))
        output.note(f"Drawn to {figure}.")
    if solution.allocation is None:
        raise typer.Exit(REFUSED)


def _parts(solution: "Solution", *, words: "Words") -> "tuple[Part, ...]":
    from confide.report.policy_conflict import refused_parts
    from confide.report.policy_words import allocation_parts

    if solution.allocation is None:
        return tuple(refused_parts(solution, words=words))
    return allocation_parts(solution, words=words)


def _body(solution: "Solution", *, words: "Words") -> dict[str, Any]:
    from confide.report.policy_conflict import repair_text
    from confide.report.policy_words import exactly

    policy, division = solution.policy, solution.allocation
    spends = solution.floors if division is None else division.spends
    return {
        "policy": policy.id,
        "version": policy.version,
        "digest": policy.digest(),
        "measure": policy.measure.value,
        "can-be-met": division is not None,
        "releases": [
            {
                "id": release.id,
                "floor": exactly(solution.floors[release.id]),
                "spend": None if division is None else exactly(division.spends[release.id]),
                "head-room": None
                if division is None or release.id not in division.head_room
                else float(division.head_room[release.id]),
            }
            for release in policy.releases
        ],
        "caps": [
            {
                "cap": row.cap,
                "whom": row.whom,
                "window": row.window,
                "limit": exactly(row.limit),
                "spent": exactly(row.spent),
                "planned": exactly(int(row.used(spends))),
            }
            for row in solution.rows
        ],
        "conflicts": [_conflict(conflict) for conflict in solution.conflicts],
        "repairs": [
            {
                "change": repair.change.value,
                "subjects": list(repair.subjects),
                "before": str(repair.before),
                "after": str(repair.after),
                "words": repair_text(repair, solution=solution, words=words),
            }
            for repair in solution.repairs
        ],
    }


def _conflict(conflict: "Conflict") -> dict[str, Any]:
    from confide.report.policy_words import exactly

    return {
        "cap": conflict.row.cap,
        "whom": conflict.row.whom,
        "window": conflict.row.window,
        "allows": exactly(conflict.row.free),
        "needs": exactly(conflict.needs),
        "sum": [
            {"release": name, "times": times, "floor": exactly(conflict.floors[name])}
            for name, times in conflict.weights.items()
        ],
    }
