"""A policy with one thing changed; everything else stays as it was."""

import enum
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from confide.budget.policy.policy import Limit, Noise, PlannedRelease, Policy, Utility


class Change(enum.Enum):
    """What a repair changes."""

    CAP = "cap"
    ERROR = "error"
    COUNT = "count"
    ERRORS = "all-errors"
    APPEARANCES = "appearances"
    MECHANISM = "mechanism"
    MERGE = "merge"
    CELLS = "cells"
    MEASURE = "measure"
    REUSE = "reuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A change that makes a policy that cannot be met one that can.

    Attributes:
        change: What is changed.
        subjects: Ids: the cap, or the releases.
        before: The number as it stands.
        after: The least change of it that is enough.
        policy: The policy with that change made.
        priority: Of what is changed; larger numbers give way first.
    """

    change: Change
    subjects: tuple[str, ...]
    before: Fraction
    after: Fraction
    policy: Policy
    priority: int


def with_limit(policy: Policy, cap: str, limit: Limit) -> Policy:
    """Return the policy with another limit of one cap."""
    caps = tuple(replace(each, limit=limit) if each.id == cap else each for each in policy.caps)
    return replace(policy, caps=caps)


def with_releases(policy: Policy, changed: Mapping[str, PlannedRelease]) -> Policy:
    """Return the policy with some of its releases replaced, by id."""
    return replace(policy, releases=tuple(changed.get(r.id, r) for r in policy.releases))


def with_error(release: PlannedRelease, at_most: Fraction) -> PlannedRelease:
    """Return a release that may have another error."""
    return replace(release, utility=replace(utility_of(release), at_most=at_most))


def with_count(release: PlannedRelease, count: int) -> PlannedRelease:
    """Return a release planned for another public count."""
    return replace(release, utility=replace(utility_of(release), planning_count=count))


def with_noise(policy: Policy, names: Collection[str], noise: Noise) -> Policy:
    """Return the policy with some of its releases under another noise."""
    return with_releases(
        policy, {r.id: replace(r, noise=noise) for r in policy.releases if r.id in names}
    )


def without(policy: Policy, names: Collection[str]) -> Policy:
    """Return the policy without some of its releases."""
    kept = tuple(r for r in policy.releases if r.id not in names)
    profiles = tuple(
        replace(p, releases=tuple(name for name in p.releases if name not in names))
        for p in policy.profiles
    )
    return replace(policy, releases=kept, profiles=tuple(p for p in profiles if p.releases))


def utility_of(release: PlannedRelease) -> Utility:
    """Return the utility of a release that has one; a release without cannot conflict."""
    if release.utility is None:
        raise AssertionError(release.id)
    return release.utility
