"""The sections of policy.yaml, as written; ``policy.py`` checks them against each other."""

import re
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from confide.budget.policy.policy import (
    Basis,
    CapScope,
    Enforce,
    Metric,
    Noise,
    Participation,
    Window,
)
from confide.drawing.words import languages
from confide.files.accounting import CountedIn
from confide.files.texts import Counting, Day, Exact, Positive, Section
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity


def _yes_or_no(value: object) -> bool:
    if value in ("true", "false"):
        return value == "true"
    raise ValueError("expected true or false")


def _days(value: object) -> int:
    if isinstance(value, str) and re.fullmatch(r"[1-9][0-9]{0,3}d", value, re.ASCII):
        return int(value[:-1])
    raise ValueError("expected days such as 30d")


def _approvals(value: object) -> object:
    return {"roles": value} if isinstance(value, list) else value


def _previews(value: object) -> str:
    if value != "true":
        raise ValueError("expected true: a preview reads no data and costs nothing")
    return "true"


def _spends(value: object) -> str:
    if value != "false":
        raise ValueError("expected false: only a person's key signs a decision to spend")
    return "false"


YesNo = Annotated[
    bool, BeforeValidator(_yes_or_no), WithJsonSchema({"enum": ["true", "false", True, False]})
]
Days = Annotated[
    int, BeforeValidator(_days), WithJsonSchema({"type": "string", "pattern": "^[1-9][0-9]{0,3}d$"})
]


def _known(language: str) -> str:
    if language not in languages(part="legal"):
        raise ValueError(f"expected one of {', '.join(languages(part='legal'))}")
    return language


Language = Annotated[str, AfterValidator(_known)]


class AboutSection(Section):
    """Name and version of the policy."""

    id: str
    version: Counting
    effective: Day
    owner: str = ""
    languages: tuple[Language, ...] = ("en",)


class ProtectsSection(Section):
    """What one unit means everywhere below."""

    unit: Entity
    adjacency: Adjacency


class AccountingSection(Section):
    """How losses add up, and δ."""

    measure: CountedIn = CountedIn.MIXED
    report_delta: Exact | None = None
    selection_delta: Exact = Fraction(0)


class LimitSection(Section):
    """One amount, in one of three forms."""

    epsilon: Positive | None = None
    rho: Positive | None = None
    odds_factor: Positive | None = None


class CapSection(Section):
    """An upper bound."""

    id: str
    basis: Basis
    priority: Counting
    scope: CapScope
    window: Window | None = None
    limit: LimitSection
    enforce: Enforce = Enforce.PLAN


class ProfileSection(Section):
    """In which releases one kind of patient can appear."""

    id: str
    releases: list[str]
    at_most: Counting | None = None
    why: str


class ParticipationSection(Section):
    """Who can be touched by what; declared, never looked up in the data."""

    default: Participation = Participation.EVERY_RELEASE
    profiles: list[ProfileSection] = Field(default_factory=list)


class ApprovalsSection(Section):
    """Who approves: so many of these roles."""

    roles: list[str]
    needed: Counting | None = None


_APPROVALS_SCHEMA = {
    "anyOf": [
        {"type": "array", "items": {"type": "string"}},
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["roles"],
            "properties": {
                "roles": {"type": "array", "items": {"type": "string"}},
                "needed": {"type": ["integer", "string"], "minimum": 1},
            },
        },
    ]
}


class TierSection(Section):
    """Importance of releases, and who approves them."""

    id: str
    weight: Positive = Fraction(1)
    approvals: Annotated[
        ApprovalsSection | None,
        BeforeValidator(_approvals),
        WithJsonSchema(_APPROVALS_SCHEMA),
    ] = None
    ceiling: LimitSection | None = None
    audience: list[Literal["public", "registered", "internal"]] = Field(default_factory=list)


class PlanningCountSection(Section):
    """A public count to plan with."""

    value: Counting
    source: str = ""


class UtilitySection(Section):
    """The least that a release must be good for."""

    id: str
    priority: Counting
    metric: Metric
    at_most: Positive
    planning_count: PlanningCountSection


class ReleaseSection(Section):
    """One release that the policy makes room for."""

    id: str
    tier: str
    query: Literal["count", "histogram"] = "count"
    sensitivity: Counting = 1
    mechanism: Noise = Noise.LAPLACE
    period: str = ""
    runs: Counting = 1
    project: str = ""
    utility: UtilitySection | None = None


class AllocateSection(Section):
    """How head-room is divided."""

    objective: Literal["lexicographic-max-min"] = "lexicographic-max-min"
    round_down_to: Positive | None = None


class PersonSection(Section):
    """Someone with roles, and the key that signs their decisions."""

    name: str
    roles: list[str]
    key: str


class AgentsSection(Section):
    """What software may do by itself: preview, and never spend."""

    may_preview: Annotated[
        str, BeforeValidator(_previews), WithJsonSchema({"enum": ["true", True]})
    ] = "true"
    may_spend: Annotated[
        str, BeforeValidator(_spends), WithJsonSchema({"enum": ["false", False]})
    ] = "false"


class WorkflowSection(Section):
    """Who decides, and for how long a decision holds."""

    separation_of_duties: YesNo = True
    expires_after: Days = 30
    agents: AgentsSection = Field(default_factory=AgentsSection)
    people: list[PersonSection] = Field(default_factory=list)


class PolicyFile(Section):
    """The sections of policy.yaml."""

    policy: AboutSection
    protects: ProtectsSection
    accounting: AccountingSection
    caps: list[CapSection]
    participation: ParticipationSection = Field(default_factory=ParticipationSection)
    tiers: list[TierSection] = Field(default_factory=list)
    releases: list[ReleaseSection] = Field(default_factory=list)
    allocate: AllocateSection = Field(default_factory=AllocateSection)
    workflow: WorkflowSection = Field(default_factory=WorkflowSection)
