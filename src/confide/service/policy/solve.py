"""Solve a policy: a division of the budget, or the contradiction and its repairs."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from confide.budget.policy.conflict import Conflict
from confide.budget.policy.policy import PlannedRelease
from confide.budget.policy.solve import Solution, solve
from confide.drawing.words import Words, load_words
from confide.errors import ContractError
from confide.files.policy.policy import read_policy
from confide.regular_file import write_bytes
from confide.report.policy.policy_conflict import refused_parts, repair_text
from confide.report.policy.policy_words import Part, allocation_parts, exactly, title
from confide.service.dump import ASIDE
from confide.service.grids import TextPart, text_parts
from confide.service.policy.spent_before import spent_from

ENDINGS = (".svg", ".png", ".html")


@dataclass(frozen=True, slots=True, kw_only=True)
class DividedRelease:
    """What a planned release gets.

    Attributes:
        id: Of the release.
        floor: What it needs.
        spend: What it gets; None where the policy cannot be met.
        head_room: How much more than it needs.
    """

    id: str
    floor: str
    spend: str | None
    head_room: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DividedCap:
    """What is planned under a cap.

    Attributes:
        cap: Its id.
        whom: Whose charges.
        window: In which.
        limit: Of it.
        spent: Before.
        planned: Beside that.
    """

    cap: str
    whom: str
    window: str
    limit: str
    spent: str
    planned: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What one release needs under a cap that is too small.

    Attributes:
        release: Its id.
        times: How often.
        floor: What it needs once.
    """

    release: str
    times: int
    floor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldConflict:
    """A cap that allows less than releases need.

    Attributes:
        cap: Its id.
        whom: Whose charges.
        window: In which.
        allows: What is free.
        needs: What is needed.
        sum: Of what.
    """

    cap: str
    whom: str
    window: str
    allows: str
    needs: str
    sum: tuple[Need, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldRepair:
    """A change after which a policy can be met.

    Attributes:
        change: Of what kind.
        subjects: Of what.
        before: As it is.
        after: As it would be.
        words: For people.
    """

    change: str
    subjects: tuple[str, ...]
    before: str
    after: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """A division of the budget, or why there is none.

    Attributes:
        policy: Its id.
        version: Of it.
        digest: Of its content.
        measure: In which losses add.
        planned_in: In which the amounts below are; under mixed the one that gives more.
        can_be_met: Whether the releases fit under the caps.
        releases: What each gets.
        caps: What is planned under each.
        conflicts: Caps that are too small.
        repairs: What would help.
        title: For people.
        parts: For people.
    """

    policy: str
    version: int
    digest: str
    measure: str
    planned_in: str
    can_be_met: bool
    releases: tuple[DividedRelease, ...]
    caps: tuple[DividedCap, ...]
    conflicts: tuple[ToldConflict, ...]
    repairs: tuple[ToldRepair, ...]
    title: Annotated[str, ASIDE]
    parts: Annotated[tuple[TextPart, ...], ASIDE]


def solve_policy(path: Path, *, spent: Iterable[str] = (), figure: Path | None = None) -> Solved:
    """Divide the budget over the releases, or show what contradicts and what would repair it.

    Args:
        path: A policy.yaml.
        spent: Before, each as ID=AMOUNT or ID@WINDOW=AMOUNT.
        figure: A file that ends in .svg, .png or .html; it is drawn there.

    Raises:
        ContractError: If a file is no policy, no figure, or a text no amount.
    """
    if figure is not None and figure.suffix not in ENDINGS:
        raise ContractError(
            f"Cannot draw {figure.name}.", hint=f"Give a name that ends in {', '.join(ENDINGS)}."
        )
    policy, words = read_policy(path), load_words("en")
    solution = solve(policy, spent=spent_from(spent))
    if figure is not None:
        from confide.report.policy.policy_chart import chart_file

        write_bytes(figure, chart_file(solution, kind=figure.suffix, words=words))
    return Solved(
        policy=policy.id,
        version=policy.version,
        digest=policy.digest(),
        measure="mixed" if policy.mixed else policy.measure.value,
        planned_in=solution.policy.measure.value,
        can_be_met=solution.allocation is not None,
        releases=tuple(_release(each, solution=solution) for each in policy.releases),
        caps=_caps(solution),
        conflicts=tuple(_conflict(conflict) for conflict in solution.conflicts),
        repairs=_repairs(solution, words=words),
        title=title(policy, words=words),
        parts=text_parts(_parts(solution, words=words)),
    )


def _parts(solution: Solution, *, words: Words) -> Iterable[Part]:
    if solution.allocation is None:
        return refused_parts(solution, words=words)
    return allocation_parts(solution, words=words)


def _release(release: PlannedRelease, *, solution: Solution) -> DividedRelease:
    division = solution.allocation
    spend = None if division is None else exactly(division.spends[release.id])
    room = None if division is None else division.head_room.get(release.id)
    return DividedRelease(
        id=release.id,
        floor=exactly(solution.floors[release.id]),
        spend=spend,
        head_room=None if room is None else float(room),
    )


def _caps(solution: Solution) -> tuple[DividedCap, ...]:
    division = solution.allocation
    spends = solution.floors if division is None else division.spends
    return tuple(
        DividedCap(
            cap=row.cap,
            whom=row.whom,
            window=row.window,
            limit=exactly(row.limit),
            spent=exactly(row.spent),
            planned=exactly(int(row.used(spends))),
        )
        for row in solution.rows
    )


def _conflict(conflict: Conflict) -> ToldConflict:
    return ToldConflict(
        cap=conflict.row.cap,
        whom=conflict.row.whom,
        window=conflict.row.window,
        allows=exactly(conflict.row.free),
        needs=exactly(conflict.needs),
        sum=tuple(
            Need(release=name, times=times, floor=exactly(conflict.floors[name]))
            for name, times in conflict.weights.items()
        ),
    )


def _repairs(solution: Solution, *, words: Words) -> tuple[ToldRepair, ...]:
    return tuple(
        ToldRepair(
            change=repair.change.value,
            subjects=tuple(repair.subjects),
            before=str(repair.before),
            after=str(repair.after),
            words=repair_text(repair, solution=solution, words=words),
        )
        for repair in solution.repairs
    )
