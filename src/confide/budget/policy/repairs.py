"""The smallest single repairs of a policy that cannot be met, in the terms of its author.

One number is changed and the rest stays: the cap that is passed, the error or the planning count of
one release, the errors of all releases in conflict by one factor, or in how many releases one
patient can be.  Whatever has priority 1 is never changed.

*Utility:* each repair is the least on its grid (1e-9; whole counts) with which the policy can be
met: the predicate is exact and does not turn back, so bisection finds it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from confide.budget.policy.change import (
    Change,
    Repair,
    utility_of,
    with_count,
    with_error,
    with_limit,
    with_releases,
)
from confide.budget.policy.conflict import Conflict
from confide.budget.policy.floors import floor_of, floors
from confide.budget.policy.policy import (
    CapScope,
    Enforce,
    Limit,
    Metric,
    PlannedRelease,
    Policy,
    PolicyCap,
    Profile,
)
from confide.budget.policy.rows import Row, fits, rows
from confide.privacy.amount import NANO

RELATIVE = (Metric.MDAPE, Metric.P95)
NEVER = 1  # the priority of what gives way to nothing
LARGEST = 10**12  # of a planning count, and of a limit or error in steps of 1e-9
_MOST_LISTED = 24  # releases that are tried one by one


def can_be_met(policy: Policy, *, spent: Mapping[str, int]) -> bool:
    """Return whether a policy can be met, exactly."""
    return fits(rows(policy, spent=spent), floors(policy))


def single_repairs(
    policy: Policy, *, found: tuple[Conflict, ...], spent: Mapping[str, int]
) -> tuple[Repair, ...]:
    """Return the smallest single repairs; what gives way first stands first."""
    written = rows(policy, spent=spent)
    tried = _Tried(policy=policy, found=found, spent=spent, written=written, floors=floors(policy))
    one_by_one = tried.yielding()[:_MOST_LISTED]
    made = (
        *(_error(release, tried=tried) for release in one_by_one),
        *(_count(release, tried=tried) for release in one_by_one),
        _all_errors(tried),
        *_appearances(tried),
        *_caps(tried),
    )
    repairs = [repair for repair in made if repair is not None]
    return tuple(sorted(repairs, key=lambda repair: -repair.priority))


def in_conflict(policy: Policy, found: tuple[Conflict, ...]) -> tuple[PlannedRelease, ...]:
    """Return the releases whose floors take part in a conflict, in the order of the policy."""
    names = {name for conflict in found for name in conflict.weights}
    return tuple(release for release in policy.releases if release.id in names)


def least(enough: Callable[[int], bool], *, above: int, largest: int = LARGEST) -> int | None:
    """Return the least n > ``above`` that is enough; None when none up to ``largest`` is.

    Example:
        >>> least(lambda n: n * n >= 2027, above=40)
        46
    """
    step = 1
    while not enough(min(above + step, largest)):
        if above + step >= largest:
            return None
        step *= 2
    low, high = above + step // 2, min(above + step, largest)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _caps(tried: "_Tried") -> Iterator[Repair | None]:
    """Yield the raise of a cap that is enough; with a second cap passed, one alone is not."""
    names = {conflict.row.cap for conflict in tried.found}
    return (_cap(cap, tried=tried) for cap in tried.policy.caps if cap.id in names)


def _cap(cap: PolicyCap, *, tried: "_Tried") -> Repair | None:
    form, before = _form(cap.limit)

    def raised(steps: int) -> Policy:
        return with_limit(tried.policy, cap.id, Limit(**{form: Fraction(steps, NANO)}))

    def enough(steps: int) -> bool:
        return fits(rows(raised(steps), spent=tried.spent), tried.floors)

    others = [row for row in tried.written if row.cap != cap.id]
    if cap.priority <= NEVER or not fits(others, tried.floors):
        return None
    after = least(enough, above=int(before * NANO))
    if after is None:
        return None
    return Repair(
        change=Change.CAP,
        subjects=(cap.id,),
        before=before,
        after=Fraction(after, NANO),
        policy=raised(after),
        priority=cap.priority,
    )


def _form(limit: Limit) -> tuple[str, Fraction]:
    match limit:
        case Limit(epsilon=Fraction() as amount):
            return "epsilon", amount
        case Limit(rho=Fraction() as amount):
            return "rho", amount
        case Limit(odds_factor=Fraction() as amount):
            return "odds_factor", amount
        case _:
            raise AssertionError(limit)


def _error(release: PlannedRelease, *, tried: "_Tried") -> Repair | None:
    utility = utility_of(release)

    def relaxed(steps: int) -> PlannedRelease:
        return with_error(release, Fraction(steps, NANO))

    largest = NANO if utility.metric in RELATIVE else LARGEST  # an error of 100 % says nothing
    after = tried.least_of_one(release, relaxed, above=int(utility.at_most * NANO), largest=largest)
    if after is None:
        return None
    return Repair(
        change=Change.ERROR,
        subjects=(release.id,),
        before=utility.at_most,
        after=Fraction(after, NANO),
        policy=with_releases(tried.policy, {release.id: relaxed(after)}),
        priority=utility.priority,
    )


def _count(release: PlannedRelease, *, tried: "_Tried") -> Repair | None:
    utility = utility_of(release)

    def larger(count: int) -> PlannedRelease:
        return with_count(release, count)

    if utility.metric not in RELATIVE:
        return None
    after = tried.least_of_one(release, larger, above=utility.planning_count, largest=LARGEST)
    if after is None:
        return None
    return Repair(
        change=Change.COUNT,
        subjects=(release.id,),
        before=Fraction(utility.planning_count),
        after=Fraction(after),
        policy=with_releases(tried.policy, {release.id: larger(after)}),
        priority=utility.priority,
    )


def _all_errors(tried: "_Tried") -> Repair | None:
    """Return the least factor on the errors of all releases in conflict."""
    releases = tried.yielding()

    def relaxed(steps: int) -> dict[str, PlannedRelease]:
        factor = Fraction(steps, NANO)
        return {r.id: with_error(r, utility_of(r).at_most * factor) for r in releases}

    def enough(steps: int) -> bool:
        changed = {
            name: floor_of(release, measure=tried.policy.measure)
            for name, release in relaxed(steps).items()
        }
        return fits(tried.written, {**tried.floors, **changed})

    after = least(enough, above=NANO, largest=1000 * NANO) if len(releases) > 1 else None
    if after is None:
        return None
    return Repair(
        change=Change.ERRORS,
        subjects=tuple(release.id for release in releases),
        before=Fraction(1),
        after=Fraction(after, NANO),
        policy=with_releases(tried.policy, relaxed(after)),
        priority=min(utility_of(release).priority for release in releases),
    )


def _appearances(tried: "_Tried") -> Iterator[Repair | None]:
    """Yield, for each patient's cap that is passed, in how many runs one patient can be."""
    for conflict in tried.found:
        caps = (each for each in tried.policy.caps if each.id == conflict.row.cap)
        cap = next(caps, None)  # none where the conflict is with a tier's ceiling
        if cap is not None and cap.scope is CapScope.PATIENT and not tried.policy.mixed:
            yield _fewer(conflict.row, cap=cap, tried=tried)


def _fewer(row: Row, *, cap: PolicyCap, tried: "_Tried") -> Repair | None:
    """Return the most runs that fit; kept by the engine, since a declaration protects nobody."""

    def declared(runs: int) -> Policy:
        known = tried.policy.profiles
        base = next((p for p in known if p.id == row.whom), None) or Profile(
            id="everyone", releases=tuple(r.id for r in tried.policy.releases), why=""
        )
        profile = replace(base, at_most=runs)
        others = tuple(p for p in known if p.id != base.id) if row.whom else ()
        caps = tuple(
            replace(each, enforce=Enforce.DROP) if each.id == cap.id else each
            for each in tried.policy.caps
        )
        return replace(tried.policy, profiles=(profile, *others), caps=caps)

    for runs in range(row.most - 1, 0, -1):
        changed = declared(runs)
        if fits(rows(changed, spent=tried.spent), tried.floors):
            return Repair(
                change=Change.APPEARANCES,
                subjects=(cap.id, row.whom),
                before=Fraction(row.most),
                after=Fraction(runs),
                policy=changed,
                priority=cap.priority,
            )
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """A policy that cannot be met, written out once.

    Attributes:
        policy: As it stands.
        found: Its conflicts.
        spent: Before, by cap.
        written: Its rows.
        floors: Its floors.
    """

    policy: Policy
    found: tuple[Conflict, ...]
    spent: Mapping[str, int]
    written: tuple[Row, ...]
    floors: Mapping[str, int]

    def yielding(self) -> tuple[PlannedRelease, ...]:
        """Return the releases in conflict whose floor may be lowered."""
        releases = in_conflict(self.policy, self.found)
        return tuple(r for r in releases if utility_of(r).priority > NEVER)

    def least_of_one(
        self,
        release: PlannedRelease,
        changed: Callable[[int], PlannedRelease],
        *,
        above: int,
        largest: int,
    ) -> int | None:
        """Return the least number with which one release fits; None when none is enough."""
        if not fits(self.written, {**self.floors, release.id: 1}):
            return None
        touched = [row for row in self.written if release.id in row.runs]

        def enough(steps: int) -> bool:
            floor = floor_of(changed(steps), measure=self.policy.measure)
            return fits(touched, {**self.floors, release.id: floor})

        return least(enough, above=above, largest=largest)
