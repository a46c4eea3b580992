"""In what a study differs from the planned release of a policy that it names.

Nothing is refused for it: a policy makes room for releases, and caps and approvals decide.  Those
who approve are told.  The floor is compared with the law that is drawn; where the policy plans a
continuous one, an error of the next whole count is as planned
(:mod:`confide.budget.policy.floors`).

*Privacy:* made of plan, policy and a day, all of which are public.
"""

import datetime as dt
import math
from collections.abc import Iterator
from fractions import Fraction

from confide.budget.policy.floors import demand
from confide.budget.policy.policy import Metric, Noise, PlannedRelease, Policy, Utility
from confide.budget.policy.windows import DaySpan, span
from confide.drawing.numbers import clean
from confide.drawing.words import Words
from confide.errors import ContractError
from confide.noise.mechanism import NoiseLaw
from confide.plans.plan import Plan
from confide.report.policy.policy_words import error_text, value_text
from confide.statistics import STATISTICS

_ROUNDED = 1 + Fraction(1, 10**9)
"""A standard deviation is a float."""


def unlike_planned(
    plan: Plan, *, policy: Policy, words: Words, day: str | None = None
) -> list[str]:
    """Return sentences that say what is not as planned; none where all is, or nothing is planned.

    Args:
        plan: Of a study, which may name a planned release.
        policy: That plans releases.
        words: Of a language.
        day: On which it was charged, as 2027-01-31; today in UTC when None.
    """
    release = next((each for each in policy.releases if each.id == plan.study.release), None)
    if release is None:
        return []
    when = dt.datetime.now(tz=dt.UTC).date() if day is None else dt.date.fromisoformat(day)
    found = list(_differences(plan, release=release, day=when, words=words))
    return [words.say("policy.unlike.begin", release=clean(release.id)), *found] if found else []


def _differences(
    plan: Plan, *, release: PlannedRelease, day: dt.date, words: Words
) -> Iterator[str]:
    asked = sorted({_kind(plan, place) for place in range(len(plan.statistics))})
    if asked != [release.query]:
        kinds = words.listed(asked)
        yield words.say("policy.unlike.query", planned=release.query, asked=kinds)
    elif release.utility is not None:
        attained = max(_errors(plan, utility=release.utility))
        if attained > _most(release, release.utility) * _ROUNDED:
            said = error_text(release, attained, words=words)
            most = value_text(release, release.utility.at_most)
            yield words.say("policy.unlike.floor", attained=said, most=most)
    planned = span(release.period)
    if planned is not None and not _falls_in(planned, period=plan.study.period, day=day):
        yield words.say("policy.unlike.period", planned=release.period)


def _kind(plan: Plan, place: int) -> str:
    spec = plan.statistics[place]
    return next(name for name, kind in STATISTICS.items() if type(spec) is kind)


def _errors(plan: Plan, *, utility: Utility) -> Iterator[Fraction]:
    """Yield the error of each noisy vector of counts, in the metric of the utility."""
    level = demand(utility).level
    for each in plan.measurements:
        law = each.mechanism
        if not isinstance(law, NoiseLaw):
            continue
        width = law.standard_deviation() if level is None else law.half_width(float(level))
        match utility.metric:
            case Metric.MDAPE | Metric.P95:
                yield Fraction(width) / utility.planning_count
            case Metric.INTERVAL_WIDTH:
                yield 2 * Fraction(width)
            case Metric.RMSE:
                yield Fraction(width)


def _most(release: PlannedRelease, utility: Utility) -> Fraction:
    """Return the most that the metric may be, of a law of whole counts."""
    asked = demand(utility)
    if asked.level is None or release.noise is Noise.DISCRETE_LAPLACE:
        return utility.at_most
    return utility.at_most * math.ceil(asked.reach) / asked.reach


def _falls_in(planned: DaySpan, *, period: str, day: dt.date) -> bool:
    """Return whether a release on a day, or the period that it is about, is as planned."""
    if planned.first <= day <= planned.last:
        return True
    try:
        about = span(period)
    except ContractError:  # a name that is no time
        return False
    return about is not None and planned.first <= about.first and about.last <= planned.last
