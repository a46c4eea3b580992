"""A policy for the people who answer for it: each line in plain words, each cap as odds.

*Privacy:* the odds are those of ``privacy/odds.py``: a pure loss bounds the posterior; a ρ bounds
single outputs by its textbook ε but for the reported δ, an (ε, δ) by 2ε but for δ/(1 − e^−ε), and
every test by TPR ≤ e^ε·FPR + δ.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from confide.budget.policy.change import utility_of
from confide.budget.policy.floors import floor_of
from confide.budget.policy.policy import (
    CapScope,
    Enforce,
    Participation,
    Policy,
    PolicyCap,
    Tier,
    Window,
)
from confide.budget.workflow.acts import officers
from confide.drawing.numbers import clean, percent, power_text, significant
from confide.drawing.words import Words
from confide.privacy.amount import NANO, from_nano
from confide.privacy.loss import PrivacyLoss, PureDP
from confide.privacy.measure import Measure
from confide.privacy.odds import epsilon_for_odds, posterior_bound, true_positive_bound
from confide.report.policy.policy_words import Part, down, error_text, limit_text, up
from confide.report.wording.explain import TextGrid
from confide.report.wording.guarantee import cap_loss
from confide.report.wording.odds_words import PRIOR, adjacency_text, meaning_of_any

_LARGEST = 100  # of an ε: beyond, odds are printed as none at all


@dataclass(frozen=True, slots=True, kw_only=True)
class Odds:
    """What a cap allows anyone to learn of one privacy unit.

    Attributes:
        posterior: The most that a belief of 1 % can become, rounded up.
        found: Members in 100 that a test finds which accuses 1 outsider in 100, at most.
        exception: Probability of outputs that pass the posterior.
    """

    posterior: Decimal
    found: float
    exception: Fraction


def odds_of(cap: PolicyCap, *, policy: Policy) -> tuple[int | None, Odds | None]:
    """Return a cap in 1e-9 of the measure and as odds; None for what bounds nobody.

    Example:
        See ``confide policy check``.
    """
    loss: PrivacyLoss
    if policy.measure is Measure.ZCDP and cap.limit.odds_factor is not None:
        loss = epsilon_for_odds(cap.limit.odds_factor)
        units = None
    else:
        units = policy.units(cap)
        loss = cap_loss(from_nano(units), of=policy)
    if isinstance(loss, PureDP) and loss.epsilon > _LARGEST:
        return units, None
    meaning = meaning_of_any(loss, delta=policy.report_delta)
    found = true_positive_bound(meaning.shown, false_positive_rate=PRIOR)
    return units, Odds(
        posterior=posterior_bound(meaning.pointwise, prior=PRIOR),
        found=math.ceil(found * 1000) / 10,
        exception=meaning.exception,
    )


def caps_part(policy: Policy, *, words: Words) -> Part:
    """Return the caps as a table, in the measure and as odds."""
    letter = policy.measure.letter
    cells = []
    for cap in policy.caps:
        units, odds = odds_of(cap, policy=policy)
        cells.append(
            {
                "cap": clean(cap.id),
                "basis": f"{words.say(f'policy.basis.{cap.basis.value}')}, {cap.priority}",
                "scope": _over(cap, words=words),
                "limit": limit_text(cap.limit),
                "units": "–" if units is None else down(units),
                "posterior": "–" if odds is None else percent(odds.posterior),
                "found": "–" if odds is None else significant(odds.found),
            }
        )
    names = list(cells[0])
    if all(row["limit"] == f"{letter} = {row['units']}" for row in cells):
        names.remove("units")  # limits say it already
    said = {"units": {"letter": letter}}
    head = tuple(words.say(f"policy.board-head.{n}", **said.get(n, {})) for n in names)
    rows = tuple(tuple(row[name] for name in names) for row in cells)
    grid = TextGrid(title=words.say("policy.board-caps"), head=head, rows=rows)
    read = words.say_count("policy.read", len(policy.releases))
    return Part(sentences=(read, words.say("policy.board-odds")), grid=grid)


def _over(cap: PolicyCap, *, words: Words) -> str:
    """Return over what a cap adds up, as short as a table wants it."""
    if cap.scope is CapScope.RELEASE:
        return words.say("policy.over.release")
    window = words.say(f"policy.within.{cap.window.value}")
    return words.say(f"policy.over.{cap.scope.value}", window=window)


def scope_text(cap: PolicyCap, *, words: Words) -> str:
    """Return over what a cap adds up."""
    if cap.scope is CapScope.RELEASE:
        return words.say("policy.scope.release")
    window = words.say(f"policy.window.{cap.window.value}")
    return words.say(f"policy.scope.{cap.scope.value}", window=window)


def board_parts(policy: Policy, *, words: Words) -> Iterator[Part]:
    """Yield a policy line by line, in plain words."""
    adjacency = adjacency_text(policy.unit, adjacency=policy.adjacency, words=words)
    unit = words.say(f"entity.{policy.unit.value}")
    is_pure = policy.measure is Measure.PURE and not policy.mixed
    measure = words.say(
        f"policy.board.{'mixed' if policy.mixed else policy.measure.value}",
        **({} if is_pure else {"delta": power_text(policy.report_delta)}),
    )
    yield Part(
        title=words.say("policy.board.protects-title"),
        sentences=(words.say("policy.board.protects", adjacency=adjacency, unit=unit), measure),
    )
    yield Part(
        title=words.say("policy.board.caps-title"),
        sentences=tuple(s for cap in policy.caps for s in _cap(cap, policy=policy, words=words)),
    )
    yield Part(
        title=words.say("policy.board.participation-title"),
        sentences=tuple(_participation(policy, words=words)),
    )
    if policy.releases:
        yield Part(
            title=words.say("policy.board.releases-title"),
            sentences=tuple(_releases(policy, words=words)),
        )
    yield Part(
        title=words.say("policy.board.decides-title"),
        sentences=tuple(_decides(policy, words=words)),
    )


def _cap(cap: PolicyCap, *, policy: Policy, words: Words) -> Iterator[str]:
    units, odds = odds_of(cap, policy=policy)
    letter = policy.measure.letter
    shown = limit_text(cap.limit) if units is None else f"{letter} ≤ {down(units)}"
    yield words.say(
        "policy.board.cap",
        cap=clean(cap.id),
        basis=words.say(f"policy.board-basis.{cap.basis.value}"),
        scope=scope_text(cap, words=words),
        limit=shown,
    )
    unit = words.say(f"entity.{policy.unit.value}")
    if odds is not None:
        exception = (
            words.say("odds.except", delta=power_text(odds.exception)) if odds.exception else ""
        )
        yield words.say(
            f"policy.board.odds-{policy.adjacency.value}",
            prior=percent(PRIOR),
            posterior=percent(odds.posterior),
            unit=unit,
            found=significant(odds.found),
            exception=exception,
        )
    if units is None:
        yield words.say("policy.board.pure-noise-only")
    if cap.priority == 1:
        yield words.say("policy.board.never")
    if cap.window is Window.CALENDAR_YEAR and units is not None:
        yield words.say("policy.board.twice", letter=letter, twice=down(2 * units))
    if cap.scope is CapScope.PATIENT:
        yield words.say(f"policy.board.enforce-{cap.enforce.value}")
    if cap.scope is CapScope.ANALYST:
        yield words.say("policy.board.analyst")


def _participation(policy: Policy, *, words: Words) -> Iterator[str]:
    yield words.say(f"policy.board.participation-{policy.participation.value}")
    for profile in policy.profiles:
        most = profile.at_most or len(profile.releases)
        yield words.say(
            "policy.board.profile",
            profile=clean(profile.id),
            most=str(most),
            releases=words.listed([clean(name) for name in profile.releases]),
            why=clean(profile.why),
        )
    dropped = any(cap.enforce is Enforce.DROP for cap in policy.caps)
    if policy.profiles and policy.participation is Participation.PROFILES and not dropped:
        yield words.say("policy.board.unenforced")


def _releases(policy: Policy, *, words: Words) -> Iterator[str]:
    letter = policy.measure.letter
    for release in policy.releases:
        when = words.say("policy.board.when", period=release.period) if release.period else ""
        runs = words.say("policy.board.runs", runs=str(release.runs)) if release.runs > 1 else ""
        if release.utility is None:
            yield words.say(
                "policy.board.release-free", release=clean(release.id), when=when, runs=runs
            )
            continue
        utility = utility_of(release)
        yield words.say(
            "policy.board.release",
            release=clean(release.id),
            when=when,
            runs=runs,
            query=words.say(f"policy.query.{release.query}"),
            error=error_text(release, utility.at_most, words=words),
            source=clean(utility.source),
            noise=words.say(f"policy.noise.{release.noise.value}"),
            needs=f"{letter} = {up(floor_of(release, measure=policy.measure))}",
        )


def open_tiers(policy: Policy) -> tuple[Tier, ...]:
    """Return the tiers that need nobody's approval, which any study may name."""
    return tuple(tier for tier in policy.tiers if not tier.approvals)


def open_tiers_part(policy: Policy, *, words: Words) -> Part:
    """Return what a study may do that names a tier without approvals, and who acts."""
    found = open_tiers(policy)
    sentences = [
        sentence
        for tier in found
        for sentence in (
            words.say("policy.board.tier-open", tier=clean(tier.id)),
            *_tier_bounds(tier, words=words),
        )
    ]
    return Part(title=words.say("policy.tiers-title"), sentences=tuple(sentences))


def _tier_bounds(tier: Tier, *, words: Words) -> Iterator[str]:
    name = clean(tier.id)
    if tier.ceiling is not None:
        yield words.say("policy.board.tier-ceiling", tier=name, limit=limit_text(tier.ceiling))
    if tier.audience:
        audience = words.listed([clean(each) for each in tier.audience])
        yield words.say("policy.board.tier-audience", tier=name, audience=audience)
    if not (tier.approvals or tier.ceiling or tier.audience):
        yield words.say("policy.board.tier-unbounded", tier=name)


def acts_text(policy: Policy, *, words: Words) -> str:
    """Return whose signature an officer's act needs under a policy."""
    people = [clean(person.name) for person in officers(policy)]
    if not people:
        return words.say("policy.board.acts-nobody")
    return words.say("policy.board.acts", people=words.listed(people))


def _decides(policy: Policy, *, words: Words) -> Iterator[str]:
    weights = [tier.weight for tier in policy.tiers]
    for tier in policy.tiers:
        if tier.approvals:
            needed = tier.needed or len(tier.approvals)
            yield words.say(
                "policy.board.tier",
                tier=clean(tier.id),
                needed=str(needed),
                roles=words.listed([clean(role) for role in tier.approvals]),
            )
        else:
            yield words.say("policy.board.tier-open", tier=clean(tier.id))
        yield from _tier_bounds(tier, words=words)
        if len(set(weights)) > 1:
            yield words.say(
                "policy.board.weight", tier=clean(tier.id), weight=significant(float(tier.weight))
            )
    if policy.workflow.separation_of_duties:
        yield words.say("policy.board.separation")
    yield acts_text(policy, words=words)
    yield words.say("policy.board.expires", days=str(policy.workflow.expires_after_days))
    yield words.say("policy.board.grid", grid=down(policy.round_down_to * NANO))
