"""``confide policy simulate``: play the planned releases against the caps, in order of time."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet
from confide.cli.policy.said import HERE, File, Spent, as_body, show, spent_from
from confide.errors import ContractError

if TYPE_CHECKING:
    from confide.budget.policy.policy import Policy, PolicyCap
    from confide.budget.policy.simulate import Run, Simulation
    from confide.drawing.words import Words
    from confide.report.policy_words import Part

MOST_YEARS = 50


def simulate(
    path: File = HERE,
    *,
    years: Annotated[int, typer.Option(help="How often the plan is repeated.")] = 1,
    visits: Annotated[
        Path | None,
        typer.Option(
            help="Public visit frequencies, a CSV of appearances,share: previews the bias of drop."
        ),
    ] = None,
    spent: Spent = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play the planned releases against the caps: what is granted, what refused, what is left."""
    from confide.budget.policy.simulate import simulate as play
    from confide.budget.policy.solve import solve
    from confide.drawing.words import load_words
    from confide.files.policy import read_policy
    from confide.report.policy_play import play_parts
    from confide.report.policy_words import title

    if not 1 <= years <= MOST_YEARS:
        raise ContractError(f"Expected 1 to {MOST_YEARS} years, got {years}.")
    policy, words, before = read_policy(path), load_words("en"), spent_from(spent)
    solution = solve(policy, spent=before)
    feasible = solution.allocation is not None
    spends = solution.floors if solution.allocation is None else solution.allocation.spends
    played = play(policy, spends=spends, years=years, spent=before)
    parts = list(play_parts(played, policy=policy, feasible=feasible, words=words))
    if visits is not None:
        parts += _previews(played, policy=policy, visits=visits, words=words)
    name = title(policy, words=words)
    Output(json=as_json, quiet=quiet).result(
        "policy-simulate",
        _body(played) | as_body(name, parts),
        show=lambda: show(name, parts),
    )


def _previews(
    played: "Simulation", *, policy: "Policy", visits: Path, words: "Words"
) -> "list[Part]":
    from confide.budget.policy.dropping import read_frequencies
    from confide.report.policy_play import drop_part, dropping_caps
    from confide.report.policy_words import Part

    frequencies = read_frequencies(visits)
    caps = dropping_caps(policy)
    if not caps:
        return [Part(sentences=(words.say("policy.play.drop-none"),))]
    return [
        drop_part(
            cap,
            runs=_first_window(cap, played=played),
            policy=policy,
            frequencies=frequencies,
            table=visits.name,
            words=words,
        )
        for cap in caps
    ]


def _first_window(cap: "PolicyCap", *, played: "Simulation") -> "tuple[Run, ...]":
    """Return the runs of the first year that were granted; frequencies are of a year."""
    from confide.budget.policy.policy import Window
    from confide.budget.policy.windows import YEAR

    granted = [each.run for each in played.played if not each.refused_by]
    if not granted:
        return ()
    first = granted[0].day
    if cap.window is Window.CALENDAR_YEAR:
        return tuple(run for run in granted if run.day.year == first.year)
    return tuple(run for run in granted if (run.day - first).days < YEAR)


def _body(played: "Simulation") -> dict[str, Any]:
    from confide.report.policy_words import exactly

    return {
        "runs": [
            {
                "day": each.run.day.isoformat(),
                "release": each.run.release.id,
                "asks": exactly(each.run.units),
                "granted": not each.refused_by,
                "refused-by": list(each.refused_by),
                "left-out": list(each.left_out),
            }
            for each in played.played
        ],
        "caps": [
            {
                "cap": use.cap,
                "whom": use.whom,
                "window": use.window,
                "limit": exactly(use.limit),
                "spent": exactly(use.spent),
            }
            for use in played.uses
        ],
        "any-365-days": {cap: exactly(units) for cap, units in played.any_year.items()},
        "one-analyst": {cap: exactly(units) for cap, units in played.one_analyst.items()},
    }
