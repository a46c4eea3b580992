"""Structural repairs: the same public need, met in another way, with no cap and no error relaxed.

- another mechanism: the discrete Laplace law needs less than the textbook's bound; Gaussian noise
  under zcdp;
- merged periods: k alike releases become fewer, whose planning counts add up;
- coarser cells: c neighbouring cells become one, for the least whole c;
- zcdp instead of pure, where no cap of priority 1 would say less than before;
- reuse: a question that was already answered costs nothing.

*Privacy:* a cap of priority 1 stays as it is.  Turning ε into (ε, δ) would weaken it, so zcdp is
offered only where such caps are odds factors of releases with pure noise, which mean the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from confide.budget.policy.change import (
    Change,
    Repair,
    utility_of,
    with_count,
    with_noise,
    with_releases,
    without,
)
from confide.budget.policy.conflict import Conflict
from confide.budget.policy.floors import floor_of
from confide.budget.policy.policy import CapScope, Noise, PlannedRelease, Policy
from confide.budget.policy.repairs import NEVER, RELATIVE, can_be_met, in_conflict
from confide.budget.policy.rows import PURE_NOISE
from confide.budget.policy.windows import span
from confide.privacy.measure import Measure

REPORT_DELTA = Fraction(1, 10**6)
"""At which a policy that becomes zcdp reports, unless its author says otherwise."""

_MOST_CELLS = 10
_LAST = 10**6  # nothing gives way: structural repairs stand after the others


def structural_repairs(
    policy: Policy, *, found: tuple[Conflict, ...], spent: Mapping[str, int]
) -> tuple[Repair, ...]:
    """Return the structural repairs that are enough, each with the least change of its kind."""
    releases = in_conflict(policy, found)
    tried = (
        *_mechanisms(policy, releases=releases, spent=spent),
        _merged(policy, releases=releases, spent=spent),
        _coarser(policy, releases=releases, spent=spent),
        _zcdp(policy, spent=spent),
        _reused(policy, releases=releases, spent=spent),
    )
    return tuple(repair for repair in tried if repair is not None)


def _repair(
    change: Change, names: Sequence[str], *, before: int, after: int, policy: Policy
) -> Repair:
    return Repair(
        change=change,
        subjects=tuple(names),
        before=Fraction(before),
        after=Fraction(after),
        policy=policy,
        priority=_LAST,
    )


def _mechanisms(
    policy: Policy, *, releases: Sequence[PlannedRelease], spent: Mapping[str, int]
) -> Iterator[Repair]:
    others = [Noise.DISCRETE_LAPLACE]
    if policy.measure is Measure.ZCDP and _keeps_gaussian(policy):
        others.append(Noise.GAUSSIAN)
    for noise in others:
        names = [release.id for release in releases if release.noise is not noise]
        changed = with_noise(policy, names, noise)
        if names and can_be_met(changed, spent=spent):
            yield _repair(Change.MECHANISM, names, before=len(names), after=0, policy=changed)


def _keeps_gaussian(policy: Policy) -> bool:
    """Return whether no cap of priority 1 would fall silent about Gaussian noise."""
    return not any(c.priority <= NEVER and c.limit.odds_factor is not None for c in policy.caps)


def _merged(
    policy: Policy, *, releases: Sequence[PlannedRelease], spent: Mapping[str, int]
) -> Repair | None:
    """Return the least merging of neighbouring periods that is enough."""
    if len(releases) < 2 or not all(_alike(a, b) for a, b in pairwise(releases)):
        return None
    for groups in range(len(releases) - 1, 0, -1):
        ends = [len(releases) * i // groups for i in range(groups + 1)]
        parts = [releases[a:b] for a, b in pairwise(ends)]
        changed = policy
        for part in parts:
            changed = _with_one(changed, part)
        if can_be_met(changed, spent=spent):
            names = [release.id for release in releases]
            before = len(releases)
            return _repair(Change.MERGE, names, before=before, after=groups, policy=changed)
    return None


def _alike(one: PlannedRelease, other: PlannedRelease) -> bool:
    mine, theirs = utility_of(one), utility_of(other)
    same = replace(mine, id=theirs.id, planning_count=theirs.planning_count, source=theirs.source)
    merged = replace(one, id=other.id, period=other.period, utility=theirs)
    relative, once = mine.metric in RELATIVE, one.runs == 1
    return relative and once and same == theirs and merged == other


def _with_one(policy: Policy, part: Sequence[PlannedRelease]) -> Policy:
    """Return the policy with some releases merged into the first of them."""
    if len(part) == 1:
        return policy
    total = sum(utility_of(release).planning_count for release in part)
    spans = [found for release in part if (found := span(release.period)) is not None]
    period = ""
    if len(spans) == len(part):
        period = f"{min(s.first for s in spans)}/{max(s.last for s in spans)}"
    first = replace(with_count(part[0], total), period=period)
    changed = with_releases(policy, {first.id: first})
    gone = {release.id for release in part[1:]}
    named = tuple(
        replace(p, releases=tuple(dict.fromkeys(first.id if n in gone else n for n in p.releases)))
        for p in changed.profiles
    )
    return without(replace(changed, profiles=named), gone)


def _coarser(
    policy: Policy, *, releases: Sequence[PlannedRelease], spent: Mapping[str, int]
) -> Repair | None:
    relative = [r for r in releases if utility_of(r).metric in RELATIVE]
    for cells in range(2, _MOST_CELLS + 1):
        larger = {r.id: with_count(r, cells * utility_of(r).planning_count) for r in relative}
        changed = with_releases(policy, larger)
        if relative and can_be_met(changed, spent=spent):
            return _repair(Change.CELLS, list(larger), before=1, after=cells, policy=changed)
    return None


def _zcdp(policy: Policy, *, spent: Mapping[str, int]) -> Repair | None:
    """Return the policy under zcdp, each release with the noise that needs less there."""
    if policy.mixed or policy.measure is Measure.ZCDP or spent or not _stays_true(policy):
        return None
    moved = replace(policy, measure=Measure.ZCDP, report_delta=REPORT_DELTA)
    gaussian = _keeps_gaussian(policy)
    changed = {r.id: _cheaper(r, gaussian=gaussian) for r in policy.releases}
    moved = with_releases(moved, changed)
    if not can_be_met(moved, spent=spent):
        return None
    names = [r.id for r in policy.releases if changed[r.id] != r]
    return _repair(Change.MEASURE, names, before=0, after=1, policy=moved)


def _stays_true(policy: Policy) -> bool:
    """Return whether zcdp can read all caps and ceilings, and caps of priority 1 mean the same."""
    for cap in policy.caps:
        odds = cap.limit.odds_factor is not None
        if odds and cap.scope is not CapScope.RELEASE:
            return False
        if cap.priority <= NEVER and not odds:
            return False
    return all(tier.ceiling is None or tier.ceiling.odds_factor is None for tier in policy.tiers)


def _cheaper(release: PlannedRelease, *, gaussian: bool) -> PlannedRelease:
    choices = [release] if release.noise in PURE_NOISE else []
    if gaussian:
        choices.append(replace(release, noise=Noise.GAUSSIAN))
    return min(choices, key=lambda choice: floor_of(choice, measure=Measure.ZCDP))


def _reused(
    policy: Policy, *, releases: Sequence[PlannedRelease], spent: Mapping[str, int]
) -> Repair | None:
    """Return the fewest releases that would have to be answered from what is published."""
    dearest = sorted(releases, key=lambda r: -r.runs * floor_of(r, measure=policy.measure))
    for some in range(1, len(dearest)):
        names = [release.id for release in dearest[:some]]
        changed = without(policy, names)
        if can_be_met(changed, spent=spent):
            before = len(releases)
            return _repair(Change.REUSE, names, before=before, after=some, policy=changed)
    return None
