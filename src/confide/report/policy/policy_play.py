"""A simulated year of releases in words, with the bias that leaving patients out would bring.

*Privacy:* policies and visit frequencies are public.
"""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

from confide.budget.policy.attained import deviation
from confide.budget.policy.dropping import losses
from confide.budget.policy.policy import CapScope, Enforce, Policy, PolicyCap, Window
from confide.budget.policy.simulate import Played, Run, Simulation
from confide.drawing.numbers import MINUS, clean, percent, significant
from confide.drawing.words import Words
from confide.report.policy.policy_words import Part, exactly, planned_in
from confide.report.wording.explain import TextGrid


def play_parts(
    simulation: Simulation, *, policy: Policy, feasible: bool, words: Words
) -> Iterator[Part]:
    """Yield what was granted and refused, and how full the caps are in the end."""
    refused = sum(bool(played.refused_by) for played in simulation.played)
    count = len(simulation.played)
    told = (
        words.say(
            "policy.play.some",
            granted=str(count - refused),
            count=str(count),
            refused=str(refused),
        )
        if refused
        else words.say_count("policy.play.whole", count)
    )
    yield Part(
        sentences=(
            words.say(f"policy.play.{'feasible' if feasible else 'at-floors'}"),
            *planned_in(policy, words=words, met=feasible),
            told,
        )
    )
    yield Part(grid=_runs(simulation, policy=policy, words=words))
    yield Part(grid=_caps(simulation, policy=policy, words=words))
    yield Part(sentences=tuple(_remarks(simulation, policy=policy, words=words)))


def decision(played: Played, *, words: Words) -> str:
    """Return what became of a run."""
    if played.refused_by:
        return words.say("policy.play.refused", caps=words.listed(played.refused_by))
    if played.left_out:
        profiles = [clean(name) or words.say("policy.everyone") for name in played.left_out]
        return words.say("policy.play.left-out", profiles=words.listed(profiles))
    return words.say("policy.play.granted")


def _runs(simulation: Simulation, *, policy: Policy, words: Words) -> TextGrid:
    rows = []
    for played in simulation.played:
        left = "–"
        if played.left is not None:
            left = words.say(
                "policy.play.tightest",
                left=exactly(max(0, played.left)),
                cap=clean(played.tightest),
            )
        run = played.run
        rows.append(
            (
                run.day.isoformat(),
                clean(run.release.id),
                exactly(run.units),
                decision(played, words=words),
                left,
            )
        )
    names = ("day", "release", "asks", "decision", "left")
    return TextGrid(
        title=words.say("policy.play.title", letter=policy.measure.letter),
        head=tuple(words.say(f"policy.play-head.{name}") for name in names),
        rows=tuple(rows),
    )


def _caps(simulation: Simulation, *, policy: Policy, words: Words) -> TextGrid:
    rows = tuple(
        (
            clean(use.cap),
            clean(use.whom) or words.say("policy.everyone"),
            use.window or words.say("policy.no-window"),
            exactly(use.limit),
            exactly(use.spent),
            exactly(max(0, use.limit - use.spent)),
        )
        for use in simulation.uses
    )
    names = ("cap", "whom", "window", "limit", "spent", "free")
    return TextGrid(
        title=words.say("policy.play.caps-title", letter=policy.measure.letter),
        head=tuple(words.say(f"policy.play-head.{name}") for name in names),
        rows=rows,
    )


def _remarks(simulation: Simulation, *, policy: Policy, words: Words) -> Iterator[str]:
    for cap in policy.caps:
        if cap.window is Window.CALENDAR_YEAR and cap.id in simulation.any_year:
            units = policy.units(cap)
            yield words.say(
                "policy.play.any-year",
                cap=clean(cap.id),
                limit=exactly(units),
                twice=exactly(2 * units),
                fullest=exactly(simulation.any_year[cap.id]),
            )
        if cap.window is Window.ROLLING:
            yield words.say("policy.play.rolling", cap=clean(cap.id))
    for cap in policy.caps:
        if cap.id in simulation.one_analyst:
            yield words.say(
                "policy.play.analyst",
                cap=clean(cap.id),
                limit=exactly(policy.units(cap)),
                fullest=exactly(simulation.one_analyst[cap.id]),
            )
    plans = {cap.id for cap in policy.caps if cap.enforce is Enforce.PLAN}
    if policy.profiles and any(use.whom and use.cap in plans for use in simulation.uses):
        yield words.say("policy.play.profiles-only")


def dropping_caps(policy: Policy) -> tuple[PolicyCap, ...]:
    """Return the caps that are kept by leaving patients out."""
    return tuple(
        cap for cap in policy.caps if cap.scope is CapScope.PATIENT and cap.enforce is Enforce.DROP
    )


def drop_part(
    cap: PolicyCap,
    *,
    runs: tuple[Run, ...],
    policy: Policy,
    frequencies: Mapping[int, Fraction],
    table: str,
    words: Words,
) -> Part:
    """Return who is still counted in each run of one window, with the bias beside the noise."""
    lost = losses([run.units for run in runs], limit=policy.units(cap), frequencies=frequencies)
    rows = []
    for run, loss in zip(runs, lost, strict=True):
        utility = run.release.utility
        bias, noise = "–", significant(_deviation(run, policy=policy), digits=3)
        if utility is not None:
            missing = float(loss.undercount) * utility.planning_count
            shown = significant(math.ceil(missing * 10) / 10, digits=3)
            bias = f"{MINUS if missing else ''}{shown} of {utility.planning_count:,}"
        rows.append(
            (
                run.day.isoformat(),
                clean(run.release.id),
                percent(loss.patients),
                percent(Fraction(math.floor(loss.counted * 1000), 1000)),
                percent(loss.undercount),
                bias,
                noise,
            )
        )
    names = ("day", "release", "patients", "counted", "undercount", "bias", "noise")
    title = words.say("policy.play.drop-title", cap=clean(cap.id), table=clean(table))
    return Part(
        title=title,
        sentences=(
            words.say("policy.play.drop-each", runs=str(len(runs))),
            words.say("policy.play.drop-never"),
        ),
        grid=TextGrid(
            title="",
            head=tuple(words.say(f"policy.play-head.{name}") for name in names),
            rows=tuple(rows),
        ),
    )


def _deviation(run: Run, *, policy: Policy) -> float:
    if not run.units:
        return math.inf
    return deviation(run.release, units=run.units, measure=policy.measure)
