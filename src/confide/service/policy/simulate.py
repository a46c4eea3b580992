"""Simulate a policy: play the planned releases against the caps, in order of time."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from confide.budget.policy.dropping import read_frequencies
from confide.budget.policy.policy import Policy, PolicyCap, Window
from confide.budget.policy.simulate import Played, Run, Simulation
from confide.budget.policy.simulate import simulate as play
from confide.budget.policy.solve import solve
from confide.budget.policy.windows import YEAR
from confide.drawing.words import Words, load_words
from confide.errors import ContractError
from confide.files.policy.policy import read_policy
from confide.report.policy.policy_play import drop_part, dropping_caps, play_parts
from confide.report.policy.policy_words import Part, exactly, title
from confide.service.grids import TextPart, text_parts
from confide.service.policy.spent_before import spent_from

MOST_YEARS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedRun:
    """A run of a planned release.

    Attributes:
        day: When.
        release: Which.
        asks: How much.
        granted: Whether.
        refused_by: Caps that do not.
        left_out: Caps that leave patients out.
    """

    day: str
    release: str
    asks: str
    granted: bool
    refused_by: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedCap:
    """The use of a cap.

    Attributes:
        cap: Its id.
        whom: Whose charges.
        window: In which.
        limit: Of it.
        spent: In the end.
    """

    cap: str
    whom: str
    window: str
    limit: str
    spent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What is granted, what refused, and what is left.

    Attributes:
        runs: In order of time.
        caps: And their use.
        any_365_days: The most of each cap in any 365 days.
        one_analyst: The most that one analyst has under each cap.
        title: For people.
        parts: For people.
    """

    runs: tuple[PlayedRun, ...]
    caps: tuple[PlayedCap, ...]
    any_365_days: Mapping[str, str]
    one_analyst: Mapping[str, str]
    title: str
    parts: tuple[TextPart, ...]


def simulate_policy(
    path: Path, *, years: int = 1, visits: Path | None = None, spent: Iterable[str] = ()
) -> Simulated:
    """Play the planned releases against the caps.

    Args:
        path: A policy.yaml.
        years: How often the plan is repeated.
        visits: Public visit frequencies, which preview the bias of leaving patients out.
        spent: Before, each as ID=AMOUNT or ID@WINDOW=AMOUNT.

    Raises:
        ContractError: If a file is no policy, no table, or a text no amount.
    """
    if not 1 <= years <= MOST_YEARS:
        raise ContractError(f"Expected 1 to {MOST_YEARS} years, got {years}.")
    policy, words, before = read_policy(path), load_words("en"), spent_from(spent)
    solution = solve(policy, spent=before)
    policy = solution.policy  # that of a mixed ledger in the measure in which it is planned
    feasible = solution.allocation is not None
    spends = solution.floors if solution.allocation is None else solution.allocation.spends
    played = play(policy, spends=spends, years=years, spent=before)
    parts = list(play_parts(played, policy=policy, feasible=feasible, words=words))
    if visits is not None:
        parts += _previews(played, policy=policy, visits=visits, words=words)
    return Simulated(
        runs=tuple(_run(each) for each in played.played),
        caps=tuple(
            PlayedCap(
                cap=use.cap,
                whom=use.whom,
                window=use.window,
                limit=exactly(use.limit),
                spent=exactly(use.spent),
            )
            for use in played.uses
        ),
        any_365_days={cap: exactly(units) for cap, units in played.any_year.items()},
        one_analyst={cap: exactly(units) for cap, units in played.one_analyst.items()},
        title=title(policy, words=words),
        parts=text_parts(parts),
    )


def _run(each: Played) -> PlayedRun:
    return PlayedRun(
        day=each.run.day.isoformat(),
        release=each.run.release.id,
        asks=exactly(each.run.units),
        granted=not each.refused_by,
        refused_by=tuple(each.refused_by),
        left_out=tuple(each.left_out),
    )


def _previews(played: Simulation, *, policy: Policy, visits: Path, words: Words) -> list[Part]:
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


def _first_window(cap: PolicyCap, *, played: Simulation) -> tuple[Run, ...]:
    """Return the runs of the first year that were granted; frequencies are of a year."""
    granted = [each.run for each in played.played if not each.refused_by]
    if not granted:
        return ()
    first = granted[0].day
    if cap.window is Window.CALENDAR_YEAR:
        return tuple(run for run in granted if run.day.year == first.year)
    return tuple(run for run in granted if (run.day - first).days < YEAR)
