"""policy.yaml: what one institution allows; public facts only, strictly read.

See docs/reference/policy.md; the JSON Schema is generated from the models in
``policy_sections.py``.
"""

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from confide.budget.policy.policy import (
    CapScope,
    Enforce,
    Limit,
    Noise,
    Person,
    PlannedRelease,
    Policy,
    PolicyCap,
    Profile,
    Tier,
    Utility,
    Window,
    Workflow,
)
from confide.budget.policy.windows import span
from confide.errors import ConfideError, ContractError, UnknownNameError, in_file
from confide.files.accounting import CountedIn
from confide.files.policy.policy_sections import (
    CapSection,
    LimitSection,
    PolicyFile,
    ProfileSection,
    ReleaseSection,
    TierSection,
    UtilitySection,
)
from confide.files.texts import read_section
from confide.files.yaml_text import read_yaml
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_KEY = re.compile(r"[0-9a-f]{64}", re.ASCII)
_GRIDS = {
    CountedIn.PURE: Fraction(1, 10**4),
    CountedIn.ZCDP: Fraction(1, 10**6),
    CountedIn.MIXED: Fraction(1, 10**4),
}


def read_policy(path: Path) -> Policy:
    """Return what a policy.yaml declares.

    Raises:
        ContractError: If it breaks its contract; the message names the place.
    """
    with in_file(path.name):
        return policy_from(read_yaml(path), name=path.name)


def policy_from(value: object, *, name: str = "policy.yaml") -> Policy:
    """Return what the content of a policy.yaml declares.

    Raises:
        ContractError: If it breaks its contract; the message names the place.
    """
    file = read_section(PolicyFile, value, name=name)
    reader = _Reader(file=file, name=name)
    reader.check_ids()
    accounting = file.accounting
    report_delta = reader.report_delta()
    policy = Policy(
        id=file.policy.id,
        version=file.policy.version,
        effective=file.policy.effective.isoformat(),
        owner=file.policy.owner,
        unit=file.protects.unit,
        adjacency=file.protects.adjacency,
        measure=accounting.measure.limits,
        mixed=accounting.measure is CountedIn.MIXED,
        report_delta=report_delta,
        selection_delta=accounting.selection_delta,
        caps=tuple(reader.cap(section) for section in file.caps),
        profiles=tuple(reader.profile(section) for section in file.participation.profiles),
        tiers=tuple(reader.tier(section) for section in file.tiers),
        releases=tuple(reader.release(section) for section in file.releases),
        round_down_to=reader.grid(),
        workflow=reader.workflow(),
        participation=file.participation.default,
        languages=file.policy.languages,
    )
    reader.check_limits(policy)
    return policy


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """The sections of one file, checked against each other; errors name the place and the fix."""

    file: PolicyFile
    name: str

    def refuse(self, place: str, message: str, *, hint: str) -> ContractError:
        return ContractError(f"{self.name}: {place}: {message}", hint=hint)

    @property
    def adds_or_removes(self) -> bool:
        """Whether neighbours differ by the rows of a unit, and not by a unit for another."""
        return self.file.protects.adjacency is Adjacency.ADD_REMOVE

    @property
    def is_mixed(self) -> bool:
        return self.file.accounting.measure is CountedIn.MIXED

    def check_ids(self) -> None:
        """Refuse ids that are unsayable or stand twice, and ids that nothing declares."""
        file = self.file
        utilities = [r.utility.id for r in file.releases if r.utility is not None]
        self._unique("policy", [file.policy.id])
        self._unique("caps", [cap.id for cap in file.caps])
        self._unique("participation → profiles", [p.id for p in file.participation.profiles])
        self._unique("tiers", [tier.id for tier in file.tiers])
        self._unique("releases", [release.id for release in file.releases])
        self._unique("releases → utility", utilities)
        self._unique("workflow → people", [p.name for p in file.workflow.people], names=True)
        if not file.caps:
            raise self.refuse("caps", "no cap.", hint="A policy allows nothing without a cap.")
        releases = [release.id for release in file.releases]
        for profile in file.participation.profiles:
            place = f"participation → profiles → {profile.id} → releases"
            self._known("release", profile.releases, known=releases, place=place)
            self._unique(place, profile.releases)
        for release in file.releases:
            place = f"releases → {release.id} → tier"
            self._known("tier", [release.tier], known=[t.id for t in file.tiers], place=place)

    def _unique(self, place: str, ids: Sequence[str], *, names: bool = False) -> None:
        for each in ids:
            if not names and not _ID.fullmatch(each):
                raise self.refuse(
                    place,
                    f"{each[:40]!r} is no id.",
                    hint="Use up to 64 letters, digits and . _ -, such as rare-q1.",
                )
            if ids.count(each) > 1:
                raise self.refuse(place, f"{each!r} stands twice.", hint="Rename one of them.")

    def _known(self, kind: str, ids: Iterable[str], *, known: Sequence[str], place: str) -> None:
        for each in ids:
            if each not in known:
                unknown = UnknownNameError(kind, each, known=known)
                message = f"there is no {kind} {each[:40]!r}."
                raise self.refuse(place, message, hint=unknown.hint)

    def report_delta(self) -> Fraction:
        """Return the δ at which losses are shown."""
        section = self.file.accounting
        match section.measure, section.report_delta:
            case CountedIn.PURE, None:
                delta = Fraction(0)
            case CountedIn.PURE, _:
                raise self.refuse(
                    "accounting → report-delta",
                    "says nothing under pure.",
                    hint="Leave it out, or write measure: mixed.",
                )
            case CountedIn.ZCDP | CountedIn.MIXED as measure, None:
                name = measure.value
                raise self.refuse(
                    "accounting",
                    f"{name} needs a report-delta, at which ε is shown and caps in ε are read.",
                    hint=f"Write accounting: {{measure: {name}, report-delta: 1e-6}}.",
                )
            case _, given:
                delta = given
        if section.measure is not CountedIn.PURE and not section.selection_delta < delta < 1:
            raise self.refuse(
                "accounting",
                "expected 0 ≤ selection-delta < report-delta < 1.",
                hint="Usual: report-delta: 1e-6, selection-delta: 5e-7.",
            )
        if not 0 <= section.selection_delta < 1:
            raise self.refuse(
                "accounting → selection-delta",
                "expected a probability.",
                hint="Leave it out unless keys are selected from the data.",
            )
        return delta

    def cap(self, section: CapSection) -> PolicyCap:
        """Return a cap whose window suits its scope."""
        place = f"caps → {section.id}"
        window = section.window
        if section.scope is CapScope.RELEASE:
            window = window or Window.RELEASE
        if window is None:
            raise self.refuse(
                place,
                f"no window for scope {section.scope.value}.",
                hint="Write window: calendar-year, rolling-365d or lifetime.",
            )
        if (section.scope is CapScope.RELEASE) is not (window is Window.RELEASE):
            hint = "A release has the window release, everything else a window of time."
            message = f"window {window.value} does not suit scope {section.scope.value}."
            raise self.refuse(place, message, hint=hint)
        if section.enforce is Enforce.DROP and section.scope is not CapScope.PATIENT:
            raise self.refuse(
                place,
                f"enforce: drop leaves out patients; scope {section.scope.value} has none.",
                hint="Write scope: patient, or enforce: plan.",
            )
        if section.enforce is Enforce.DROP and self.is_mixed and not self.adds_or_removes:
            raise self.refuse(
                place,
                "enforce: drop counts under mixed what adding or removing a patient's rows costs.",
                hint="Write adjacency: add-remove, or accounting: {measure: zcdp, ...}.",
            )
        return PolicyCap(
            id=section.id,
            basis=section.basis,
            priority=section.priority,
            scope=section.scope,
            window=window,
            limit=self.limit(section.limit, place=f"{place} → limit"),
            enforce=section.enforce,
        )

    def limit(self, section: LimitSection, *, place: str) -> Limit:
        """Return a limit that is stated in one form."""
        given = [v for v in (section.epsilon, section.rho, section.odds_factor) if v is not None]
        if len(given) != 1 or (section.odds_factor is not None and section.odds_factor <= 1):
            raise self.refuse(
                place,
                "expected one limit, an odds factor > 1.",
                hint='Write {epsilon: "0.5"}, {rho: "0.02"} under zcdp, or {odds-factor: "1.5"}.',
            )
        return Limit(epsilon=section.epsilon, rho=section.rho, odds_factor=section.odds_factor)

    def profile(self, section: ProfileSection) -> Profile:
        """Return a profile that names at least one release, and says why."""
        place = f"participation → profiles → {section.id}"
        if not section.releases:
            hint = "Name the releases, or leave the profile out."
            raise self.refuse(place, "no releases.", hint=hint)
        if not section.why.strip():
            hint = 'Give the public reason: why: "recall interval is 4 months".'
            raise self.refuse(place, "no reason.", hint=hint)
        return Profile(
            id=section.id,
            releases=tuple(section.releases),
            why=section.why,
            at_most=section.at_most or 0,
        )

    def tier(self, section: TierSection) -> Tier:
        """Return a tier whose approvals can be given."""
        approvals = section.approvals
        roles = () if approvals is None else tuple(approvals.roles)
        needed = 0 if approvals is None else approvals.needed or 0
        place = f"tiers → {section.id} → approvals"
        self._unique(place, roles)
        if needed > len(roles):
            message = f"{needed} approvals of {len(roles)} roles."
            raise self.refuse(place, message, hint="Name more roles, or need fewer.")
        people = self.file.workflow.people
        held = {role for person in people for role in person.roles}
        missing = [role for role in roles if people and role not in held]
        if missing and (not needed or len(roles) - len(missing) < needed):
            message = f"nobody in workflow → people has the role {missing[0]!r}."
            raise self.refuse(place, message, hint="Give the role to someone.")
        ceiling = None
        if section.ceiling is not None:
            ceiling = self.limit(section.ceiling, place=f"tiers → {section.id} → ceiling")
        self._unique(f"tiers → {section.id} → audience", section.audience)
        return Tier(
            id=section.id,
            weight=section.weight,
            approvals=roles,
            needed=needed,
            ceiling=ceiling,
            audience=tuple(section.audience),
        )

    def release(self, section: ReleaseSection) -> PlannedRelease:
        """Return a planned release of a period and noise that exist."""
        place = f"releases → {section.id}"
        try:
            span(section.period)
        except ContractError as error:
            message = str(error).removesuffix(error.hint).strip()
            raise self.refuse(f"{place} → period", message, hint=error.hint) from None
        measure = self.file.accounting.measure
        if section.mechanism is Noise.GAUSSIAN and measure is not CountedIn.ZCDP:
            message, hint = (
                ("is planned with either noise under mixed.", "Leave mechanism out.")
                if measure is CountedIn.MIXED
                else (
                    "no finite ε bounds Gaussian noise.",
                    "Write discrete-laplace, or accounting: {measure: mixed, report-delta: 1e-6}.",
                )
            )
            raise self.refuse(f"{place} → mechanism", message, hint=hint)
        utility = None
        if section.utility is not None:
            utility = self.utility(section.utility, place=f"{place} → utility")
        return PlannedRelease(
            id=section.id,
            tier=section.tier,
            sensitivity=section.sensitivity,
            noise=section.mechanism,
            query=section.query,
            utility=utility,
            project=section.project,
            period=section.period,
            runs=section.runs,
        )

    def utility(self, section: UtilitySection, *, place: str) -> Utility:
        """Return a floor whose planning count has a public source."""
        if not section.planning_count.source.strip():
            raise self.refuse(
                f"{place} → planning-count",
                "no source.",
                hint="Say where the count is published, or name the certificate it comes from: "
                'source: "registry bulletin 2025". It may not be read off the data.',
            )
        return Utility(
            id=section.id,
            priority=section.priority,
            metric=section.metric,
            at_most=section.at_most,
            planning_count=section.planning_count.value,
            source=section.planning_count.source,
        )

    def grid(self) -> Fraction:
        """Return the grid of allocated amounts."""
        grid = self.file.allocate.round_down_to or _GRIDS[self.file.accounting.measure]
        if (grid * NANO).denominator != 1:
            raise self.refuse(
                "allocate → round-down-to",
                "expected a multiple of 1e-9, the grid of the ledger.",
                hint='Usual: round-down-to: "0.0001".',
            )
        return grid

    def workflow(self) -> Workflow:
        """Return who decides; keys are 32 bytes of hexadecimal digits."""
        section = self.file.workflow
        keys = [person.key for person in section.people]
        for person in section.people:
            place = f"workflow → people → {person.name}"
            if keys.count(person.key) > 1:
                raise self.refuse(
                    f"{place} → key",
                    "the same key stands twice: it would be one person under two names.",
                    hint="Each makes a key of their own: confide request key --out THEIRS.key.",
                )
            self._unique(f"{place} → roles", person.roles)
            if not _KEY.fullmatch(person.key):
                raise self.refuse(
                    f"{place} → key",
                    "expected an Ed25519 public key, 64 hexadecimal digits.",
                    hint="Copy what they were told by: confide request key --out THEIRS.key.",
                )
        return Workflow(
            separation_of_duties=section.separation_of_duties,
            expires_after_days=section.expires_after,
            people=tuple(
                Person(name=p.name, roles=tuple(p.roles), key=p.key) for p in section.people
            ),
        )

    def check_limits(self, policy: Policy) -> None:
        """Refuse a limit that says nothing under the measure."""
        for cap in policy.caps:
            odds = cap.limit.odds_factor is not None
            if odds and policy.measure is Measure.ZCDP and cap.scope is CapScope.RELEASE:
                continue  # it binds releases of pure noise
            self._counted(functools.partial(policy.units, cap), place=f"caps → {cap.id} → limit")
        for tier in policy.tiers:
            if tier.ceiling is not None:
                place = f"tiers → {tier.id} → ceiling"
                self._counted(functools.partial(policy.ceiling, tier.id), place=place)

    def _counted(self, units: Callable[[], int], *, place: str) -> None:
        try:
            units()
        except ConfideError as error:
            message = str(error).removesuffix(error.hint).strip()
            raise self.refuse(place, message, hint=error.hint) from None
