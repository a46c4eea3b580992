"""The policy of one data holder: what may be spent on whom, how useful it must be, who decides.

A policy is a public document: its caps, floors and planning counts come from laws, boards and
published tables, never from the data.  It is versioned and has a digest, to which the ledger, each
approval and each certificate refer.

*Privacy:* a cap of scope ``patient`` with ``enforce: plan`` charges everyone the worst case, so it
holds for each patient.  ``enforce: drop`` charges each patient what their own rows cost and leaves
them out, silently, of a release that would pass the cap [FZ21]; nothing about it is published.

References:
    [FZ21] Feldman, Zrnic. Individual privacy accounting via a Rényi filter. NeurIPS 2021.
        https://arxiv.org/abs/2008.11193
"""

import enum
import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from confide.errors import ContractError
from confide.plans.canonical import canonical_bytes, encode
from confide.privacy.accounting.concentrated import rho_for
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import atto, nano
from confide.privacy.measure import LedgerMeasure, Measure, Mixed
from confide.privacy.odds import epsilon_for_odds
from confide.privacy.unit import Entity


class CapScope(enum.Enum):
    """Over whose releases a cap adds up."""

    RELEASE = "release"
    PATIENT = "patient"
    DATASET = "dataset"
    PROJECT = "project"
    ANALYST = "analyst"


class Window(enum.Enum):
    """Over what time a cap adds up; any 12 months may hold two calendar years' caps."""

    RELEASE = "release"
    CALENDAR_YEAR = "calendar-year"
    ROLLING = "rolling-365d"
    LIFETIME = "lifetime"


class Basis(enum.Enum):
    """Why a cap stands."""

    LEGAL = "legal"
    ETHICS = "ethics"
    INTERNAL = "internal"


class Enforce(enum.Enum):
    """How a patient's cap is kept: by the worst case of every plan, or by leaving rows out."""

    PLAN = "plan"
    DROP = "drop"


class Participation(enum.Enum):
    """Who may be in what: everyone in every release, or as the profiles declare."""

    EVERY_RELEASE = "every-release"
    PROFILES = "profiles"


class Metric(enum.Enum):
    """In what a floor of utility is stated."""

    MDAPE = "mdape"
    P95 = "p95"
    RMSE = "rmse"
    INTERVAL_WIDTH = "interval-width"


class Noise(enum.Enum):
    """Noise that a planned release would have."""

    LAPLACE = "laplace"
    DISCRETE_LAPLACE = "discrete-laplace"
    GAUSSIAN = "gaussian"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """An amount in one of three forms; exactly one is set.

    Attributes:
        epsilon: In nats; under zcdp read at the policy's report-delta.
        rho: Under zcdp alone.
        odds_factor: The most by which the odds about one patient may change: ε ≤ ln of it.
    """

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    odds_factor: Fraction | None = None

    def __post_init__(self) -> None:
        given = [v for v in (self.epsilon, self.rho, self.odds_factor) if v is not None]
        if len(given) != 1 or given[0] <= 0 or (self.odds_factor or 2) <= 1:
            raise ContractError(
                "Expected one limit > 0 (an odds factor > 1).",
                hint='Write {epsilon: "0.5"}, {rho: "0.02"} under zcdp, or {odds-factor: "1.5"}.',
            )

    def units(self, *, measure: Measure, delta: Fraction) -> int:
        """Return the limit in 1e-9 of the measure, rounded down.

        Args:
            measure: Of the policy.
            delta: At which an ε is read under zcdp: report-delta less what selections may spend.

        Raises:
            ContractError: If the limit does not say anything under that measure.
        """
        match measure:
            case Measure.PURE if self.epsilon is not None:
                return nano(self.epsilon)
            case Measure.PURE if self.odds_factor is not None:
                return nano(epsilon_for_odds(self.odds_factor).epsilon)
            case Measure.ZCDP if self.rho is not None:
                return nano(self.rho)
            case Measure.ZCDP if self.epsilon is not None:
                return nano(rho_for(self.epsilon, delta=delta))
            case Measure.PURE | Measure.ZCDP:
                raise ContractError(
                    f"A limit is not stated in a form that holds under {measure.value}.",
                    hint="Under pure: epsilon or odds-factor. Under zcdp: rho or epsilon; "
                    "no finite factor bounds the odds there.",
                )
            case _:
                assert_never(measure)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCap:
    """An upper bound that every release has to respect.

    Attributes:
        id: Name in conflicts, refusals and certificates.
        basis: Law, ethics board, or the house.
        priority: 1 is never relaxed; larger numbers give way first.
        scope: Over whose releases it adds up; for project and analyst, each has its own.
        window: Over what time.
        limit: How much.
        enforce: For scope patient: worst case, or leaving rows out.
    """

    id: str
    basis: Basis
    priority: int
    scope: CapScope
    window: Window
    limit: Limit
    enforce: Enforce = Enforce.PLAN


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """In which planned releases one kind of patient can appear, declared, and why.

    Attributes:
        id: Name in conflicts.
        releases: Ids of planned releases; one that no profile names is in all of them.
        why: The public reason.
        at_most: In how many runs of them one patient is, at most, within a cap's window; all if 0.
    """

    id: str
    releases: tuple[str, ...]
    why: str
    at_most: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """How releases of one importance are weighed and approved.

    Attributes:
        id: Name.
        weight: Share of head-room; > 0.
        approvals: Roles that may approve.
        needed: How many different roles of them must; all of them when 0.
        ceiling: The most that one release of the tier may cost; None for no more than the caps.
        audience: For whom its releases may be; for anyone when empty.
    """

    id: str
    weight: Fraction = Fraction(1)
    approvals: tuple[str, ...] = ()
    needed: int = 0
    ceiling: Limit | None = None
    audience: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """The least that a planned release must be good for.

    Attributes:
        id: Name in conflicts.
        priority: As of a cap.
        metric: Median absolute percentage error, 95 % bound of the relative error, or RMSE or width
            of the 95 % interval in counts.
        at_most: The most that the metric may be; a share for mdape and p95.
        planning_count: A public count to plan with.
        source: Where that count is published.
    """

    id: str
    priority: int
    metric: Metric
    at_most: Fraction
    planning_count: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRelease:
    """One release that the policy makes room for.

    Attributes:
        id: Name.
        tier: Its importance.
        sensitivity: By how much one privacy unit can change it, in counts.
        noise: Law of the noise.
        utility: What it must be good for; nothing is set aside without.
        project: For caps of scope project.
        period: When: 2027, 2027-Q1, 2027-03, 2027-03-15, or first/last day; any time if empty.
        runs: How often within the period, each at the same spend.
        query: What is asked: a count, or a histogram whose smallest cell is planned for.
    """

    id: str
    tier: str
    sensitivity: int = 1
    noise: Noise = Noise.LAPLACE
    utility: Utility | None = None
    project: str = ""
    period: str = ""
    runs: int = 1
    query: str = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Someone with roles; ``key`` is the Ed25519 public key that signs their decisions, as hex."""

    name: str
    roles: tuple[str, ...]
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """Who decides, and for how long a decision holds."""

    separation_of_duties: bool = True
    expires_after_days: int = 30
    people: tuple[Person, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A policy file, version by version.

    Attributes:
        id: Name, the same through all versions.
        version: Counts up from 1.
        effective: First day on which it holds, as 2027-01-31.
        owner: Whom to ask.
        unit: Whom it protects.
        adjacency: Which data sets are neighbours.
        measure: In what losses are counted; under mixed that of its limits, ε.
        report_delta: δ at which losses are shown, and ε limits read, under zcdp and mixed.
        selection_delta: The part of it that selections of keys may spend over a lifetime.
        caps: Upper bounds.
        profiles: Declared participation; without one, everyone may be in every release.
        participation: Whether profiles stand for everyone, or beside the worst case.
        tiers: Importance of releases.
        releases: What the policy makes room for.
        round_down_to: Grid of allocated amounts.
        workflow: Who decides.
        languages: Of documents that are made under it.
        mixed: Whether releases of ε and of ρ count under its caps, each at what it costs.
    """

    id: str
    version: int
    effective: str
    owner: str = ""
    unit: Entity
    adjacency: Adjacency
    measure: Measure
    report_delta: Fraction = Fraction(0)
    selection_delta: Fraction = Fraction(0)
    caps: tuple[PolicyCap, ...]
    profiles: tuple[Profile, ...] = ()
    tiers: tuple[Tier, ...] = ()
    releases: tuple[PlannedRelease, ...] = ()
    round_down_to: Fraction = Fraction(1, 10_000)
    workflow: Workflow = Workflow()
    participation: Participation = Participation.EVERY_RELEASE
    languages: tuple[str, ...] = ("en",)
    mixed: bool = False

    def units(self, cap: PolicyCap) -> int:
        """Return the limit of one of its caps in 1e-9 of its measure, rounded down."""
        return self.units_of(cap.limit)

    def ceiling(self, tier: str) -> int:
        """Return what a release of a tier with a ceiling may cost, like the limit of a cap."""
        limit = next(each.ceiling for each in self.tiers if each.id == tier)
        if limit is None:
            raise ContractError(f"Tier {tier!r} has no ceiling.")
        return self.units_of(limit)

    def units_of(self, limit: Limit) -> int:
        """Return a limit in 1e-9 of its measure, rounded down.

        Raises:
            ContractError: If it says nothing under that measure.
        """
        if self.mixed and self.measure is Measure.PURE and limit.rho is not None:
            raise ContractError(
                "A limit is stated in ρ, and everything is in ε under mixed.",
                hint='Write {epsilon: "0.5"}; it holds at report-delta.',
            )
        if self.mixed and limit.odds_factor is not None:
            raise ContractError(
                "An odds factor bounds no noise but that of ε, and mixed takes both.",
                hint='Write {epsilon: "0.5"}; it holds at report-delta.',
            )
        return limit.units(measure=self.measure, delta=self.epsilon_delta)

    def counts_in(self, measure: LedgerMeasure) -> bool:
        """Return whether a ledger of some measure counts as the policy says."""
        if isinstance(measure, Mixed):
            return self.mixed and atto(self.epsilon_delta) == measure.atto
        return not self.mixed and self.measure is measure

    @property
    def epsilon_delta(self) -> Fraction:
        """The δ at which an ε is read under zcdp and mixed: what selections of keys leave."""
        return self.report_delta - self.selection_delta

    def digest(self) -> str:
        """Return the SHA-256 of the policy as canonical JSON, as hex."""
        return hashlib.sha256(canonical_bytes(encode(self))).hexdigest()
