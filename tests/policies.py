"""Policies for tests: the textbook's conflict, and random ones of every shape."""

import math
from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from confide.budget.policy.floors import floor_of
from confide.budget.policy.policy import (
    Basis,
    CapScope,
    Enforce,
    Limit,
    Metric,
    Noise,
    Participation,
    PlannedRelease,
    Policy,
    PolicyCap,
    Profile,
    Tier,
    Utility,
    Window,
)
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.adjacency import Adjacency
from confide.privacy.directed import exp_ceil
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity

LEGAL = PolicyCap(
    id="legal-release",
    basis=Basis.LEGAL,
    priority=1,
    scope=CapScope.RELEASE,
    window=Window.RELEASE,
    limit=Limit(odds_factor=Fraction("1.5")),
)
ANNUAL = PolicyCap(
    id="ethics-annual",
    basis=Basis.ETHICS,
    priority=2,
    scope=CapScope.PATIENT,
    window=Window.CALENDAR_YEAR,
    limit=Limit(epsilon=Fraction("0.5")),
)
LIFE = PolicyCap(
    id="dataset-life",
    basis=Basis.INTERNAL,
    priority=3,
    scope=CapScope.DATASET,
    window=Window.LIFETIME,
    limit=Limit(epsilon=Fraction(4)),
)


def utility(name, *, count=40, at_most="0.10", metric=Metric.MDAPE, priority=3):
    return Utility(
        id=f"u-{name}",
        priority=priority,
        metric=metric,
        at_most=Fraction(at_most),
        planning_count=count,
        source="registry bulletin 2025",
    )


def textbook(counts=(40, 40, 40), *, noise=Noise.LAPLACE, caps=(LEGAL, ANNUAL, LIFE)):
    releases = tuple(
        PlannedRelease(
            id=f"rare-q{i}",
            tier="critical",
            noise=noise,
            utility=utility(f"rare-q{i}", count=count),
        )
        for i, count in enumerate(counts, 1)
    )
    return Policy(
        id="north-hospital",
        version=3,
        effective="2027-01-01",
        unit=Entity.PATIENT,
        adjacency=Adjacency.ADD_REMOVE,
        measure=Measure.PURE,
        caps=tuple(caps),
        tiers=(Tier(id="critical", weight=Fraction(4)), Tier(id="routine")),
        releases=releases,
    )


PERIODS = ("", "2027", "2027-Q1", "2027-03", "2027-12-20", "2028-02", "2028-11-05/2029-01-10")


def limit_near(units, *, form):
    """A limit of about so many 1e-9 of the measure, in one of the forms."""
    amount = Fraction(max(units, 1000), 10**9)
    if form == "odds_factor":
        return Limit(odds_factor=Fraction(exp_ceil(min(amount, Fraction(50)), grid=10**6), 10**6))
    if form == "epsilon-at-delta":
        epsilon = epsilon_at(ZeroConcentratedDP(rho=amount), delta=Fraction("1e-6"))
        return Limit(epsilon=Fraction(math.ceil(epsilon * 10**6), 10**6))
    return Limit(**{form: amount})


@st.composite
def policies(draw, *, measures=(Measure.PURE, Measure.ZCDP), most=6):
    """Any policy; caps of about the size of what releases need, so that half are in conflict."""
    measure = draw(st.sampled_from(measures))
    noises = list(Noise) if measure is Measure.ZCDP else [Noise.LAPLACE, Noise.DISCRETE_LAPLACE]
    metrics = st.sampled_from(list(Metric))
    releases = []
    for i in range(draw(st.integers(1, most))):
        metric = draw(metrics)
        relative = metric in (Metric.MDAPE, Metric.P95)
        at_most = draw(st.integers(2, 40)) / Fraction(100) if relative else draw(st.integers(2, 60))
        asked = utility(
            f"r{i}",
            count=draw(st.integers(10, 400)),
            at_most=at_most,
            metric=metric,
            priority=draw(st.integers(1, 5)),
        )
        releases.append(
            PlannedRelease(
                id=f"r{i}",
                tier=draw(st.sampled_from(["critical", "routine"])),
                sensitivity=draw(st.integers(1, 3)),
                noise=draw(st.sampled_from(noises)),
                utility=asked if draw(st.integers(0, 7)) else None,
                project=draw(st.sampled_from(["", "a", "b"])),
                period=draw(st.sampled_from(PERIODS)),
                runs=draw(st.sampled_from([1, 1, 1, 3])),
            )
        )
    names = [release.id for release in releases]
    profiles = tuple(
        Profile(
            id=f"p{i}",
            releases=tuple(draw(st.lists(st.sampled_from(names), min_size=1, unique=True))),
            why="declared",
            at_most=draw(st.integers(0, 3)),
        )
        for i in range(draw(st.integers(0, 2)))
    )
    zcdp = measure is Measure.ZCDP
    forms = st.sampled_from(["epsilon-at-delta", "rho"]) if zcdp else st.just("epsilon")
    needs = {release.id: floor_of(release, measure=measure) for release in releases}
    total = sum(needs[release.id] * release.runs for release in releases)
    caps = []
    for i in range(draw(st.integers(1, 4))):
        scope = draw(st.sampled_from([s for s in CapScope if s is not CapScope.ANALYST]))
        single = scope is CapScope.RELEASE
        windows = [w for w in Window if (w is Window.RELEASE) is single]
        share = draw(st.integers(85, 400)) if single else draw(st.integers(40, 250))
        units = (max(needs.values()) if single else total) * share // 100
        odds = single and draw(st.booleans())
        caps.append(
            PolicyCap(
                id=f"c{i}",
                basis=Basis.INTERNAL,
                priority=draw(st.integers(1, 4)),
                scope=scope,
                window=draw(st.sampled_from(windows)),
                limit=limit_near(units, form="odds_factor" if odds else draw(forms)),
                enforce=draw(st.sampled_from(list(Enforce)))
                if scope is CapScope.PATIENT
                else Enforce.PLAN,
            )
        )
    life = limit_near(total * draw(st.integers(95, 300)) // 100, form=draw(forms))
    tiers = list(textbook().tiers)
    if draw(st.integers(0, 2)) == 0:
        most_of_one = max(needs.values()) * draw(st.integers(85, 400)) // 100
        place = draw(st.integers(0, len(tiers) - 1))
        ceiling = limit_near(most_of_one, form=draw(forms))
        tiers[place] = replace(tiers[place], ceiling=ceiling)
    caps.append(replace(LIFE, id="life", limit=life))
    return replace(
        textbook(),
        measure=measure,
        report_delta=Fraction("1e-6") if zcdp else Fraction(0),
        caps=tuple(caps),
        tiers=tuple(tiers),
        profiles=profiles,
        releases=tuple(releases),
        participation=draw(st.sampled_from(list(Participation))),
        round_down_to=Fraction(1, 10**6) if zcdp else Fraction(1, 10**4),
    )
