"""Check a policy: its first mistake, its caps as odds, and whether it can be met."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from confide.budget.policy.policy import Policy, PolicyCap
from confide.budget.policy.solve import Solution, solve
from confide.drawing.words import Words, load_words
from confide.files.policy.policy import read_policy
from confide.report.policy.policy_board import (
    acts_text,
    caps_part,
    odds_of,
    open_tiers,
    open_tiers_part,
)
from confide.report.policy.policy_words import Part, exactly, limit_text, title
from confide.service.dump import ASIDE
from confide.service.grids import TextPart, text_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTier:
    """A tier whose releases nobody approves.

    Attributes:
        id: Of the tier.
        ceiling: Of one release; None where there is none.
        audience: Who may see them.
    """

    id: str
    ceiling: str | None
    audience: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCap:
    """A cap of a policy, and what it means.

    Attributes:
        id: Of the cap.
        basis: In law.
        priority: Among the caps.
        scope: Of what.
        window: Over which charges add up.
        enforce: How.
        limit: As the policy says it.
        units: The same in the measure.
        posterior_of_1_percent: What a suspicion of 1 % becomes at most.
        true_positive_rate_at_1_percent: Of the best attacker who errs in 1 %.
    """

    id: str
    basis: str
    priority: int
    scope: str
    window: str
    enforce: str
    limit: str
    units: str | None
    posterior_of_1_percent: str | None
    true_positive_rate_at_1_percent: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPolicy:
    """A policy without a mistake.

    Attributes:
        policy: Its id.
        version: Of it.
        digest: Of its content.
        effective: From when.
        measure: In which losses add.
        releases: That are planned.
        tiers_without_approval: Whose releases nobody approves.
        caps: And what they mean.
        can_be_met: Whether the releases fit under the caps.
        title: For people.
        parts: For people.
    """

    policy: str
    version: int
    digest: str
    effective: str
    measure: str
    releases: tuple[str, ...]
    tiers_without_approval: tuple[OpenTier, ...]
    caps: tuple[CheckedCap, ...]
    can_be_met: bool
    title: Annotated[str, ASIDE]
    parts: Annotated[tuple[TextPart, ...], ASIDE]


def check_policy(path: Path) -> CheckedPolicy:
    """Read a policy, show its caps as odds, and say if it can be met.

    Raises:
        ContractError: That names its first mistake.
    """
    policy, words = read_policy(path), load_words("en")
    solution = solve(policy)
    return CheckedPolicy(
        policy=policy.id,
        version=policy.version,
        digest=policy.digest(),
        effective=policy.effective,
        measure="mixed" if policy.mixed else policy.measure.value,
        releases=tuple(release.id for release in policy.releases),
        tiers_without_approval=tuple(
            OpenTier(
                id=tier.id,
                ceiling=None if tier.ceiling is None else limit_text(tier.ceiling),
                audience=tuple(tier.audience),
            )
            for tier in open_tiers(policy)
        ),
        caps=tuple(_cap(cap, policy=policy) for cap in policy.caps),
        can_be_met=solution.allocation is not None,
        title=title(policy, words=words),
        parts=text_parts(_parts(policy, solution=solution, words=words)),
    )


def _parts(policy: Policy, *, solution: Solution, words: Words) -> Iterator[Part]:
    yield caps_part(policy, words=words)
    if solution.allocation is not None:
        yield Part(sentences=(words.say("policy.met"),))
    else:
        unmet = words.say_count("policy.not-met", len(solution.conflicts))
        yield Part(sentences=(unmet, words.say("policy.see-solve")))
    if open_tiers(policy):
        yield open_tiers_part(policy, words=words)
    yield Part(sentences=(acts_text(policy, words=words),))


def _cap(cap: PolicyCap, *, policy: Policy) -> CheckedCap:
    units, odds = odds_of(cap, policy=policy)
    return CheckedCap(
        id=cap.id,
        basis=cap.basis.value,
        priority=cap.priority,
        scope=cap.scope.value,
        window=cap.window.value,
        enforce=cap.enforce.value,
        limit=limit_text(cap.limit),
        units=None if units is None else exactly(units),
        posterior_of_1_percent=None if odds is None else str(odds.posterior),
        true_positive_rate_at_1_percent=None if odds is None else odds.found,
    )
