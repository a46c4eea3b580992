"""The plan: everything that a release will do and cost, fixed before any row is read.

It holds public facts only; ledger, approval, certificate and cache refer to its digest.

*Privacy:* measurements compose by addition of their charges: ε under ``pure`` (basic composition
[DR14, thm 3.16]), ρ under ``zcdp`` [BS16, lem. 1.7]; the δ of key selections adds up beside them.
The noise is computed from the charge, which is an integer on a nano grid, so what is billed is
exactly what the noise gives.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014.
        https://doi.org/10.1561/0400000042
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol, TypeAlias, runtime_checkable

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.canonical import Json, digest, encode
from confide.plans.estimates import Estimate, Forecast
from confide.plans.events import PrivacyEvent, study_events_json
from confide.plans.house_rule import SmallCells
from confide.plans.simulation import Simulation
from confide.plans.sites.federation import Federation
from confide.plans.sites.shared_noise import SharedNoise, charged_as
from confide.privacy.amount import Amount
from confide.privacy.loss import PrivacyLoss
from confide.privacy.sensitivity import Sensitivity
from confide.tables.aggregates.shapes import Measured
from confide.tables.filter import Everything, Predicate
from confide.tables.schema import Dataset

DEFAULT_LEVEL = Fraction(95, 100)

# Ids name the published files, also on disks that do not tell capitals apart.
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
NAME_BYTES, REMARK_BYTES = 256, 4096  # of UTF-8: a name stands in counters and heads for good

Noisy: TypeAlias = "tuple[int, ...] | Mapping[str, int]"
"""A noisy vector over cells, noisy counts of keys that passed, or positions of those chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a statistic wants measured, before anything is said about its budget.

    Attributes:
        name: Unique within the statistic: "count", "sum".
        aggregate: The exact vector.
        sensitivity: How far one privacy unit moves it.
        weight: Share of the statistic's budget, relative to its other questions.
    """

    name: str
    aggregate: Measured
    sensitivity: Sensitivity
    weight: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic(ABC):
    """One statistic: what it asks, how well it will do, and what it makes of the answers.

    ``estimate`` is a function of noisy numbers and the plan alone.

    Attributes:
        id: Unique within the study.
        table: Whose rows.
        where: Which rows; of a model or a test those that lack one of the values are left out.
        level: Coverage of each interval.
        expect: Public planning number of rows (of a group), where errors depend on it.
        title: Headline in the report.
    """

    id: str
    table: str
    where: Predicate = field(default_factory=Everything)
    level: Fraction = DEFAULT_LEVEL
    expect: Fraction | None = None
    title: str = ""

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the parts of an estimate's key: its groups, where a kind says nothing else."""
        return self.by if isinstance(self, Grouped) else ()

    def settled(self, amount: Fraction | None, *, dataset: Dataset) -> "Statistic":
        """Return the statistic with chosen what it leaves to public facts and its budget.

        Args:
            amount: What it may spend, in the measure's unit; None where it names an error, which
                an interval has to keep.
            dataset: Public facts.
        """
        del amount, dataset
        return self

    @abstractmethod
    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return what must be measured; raises if the statistic does not suit the data set."""

    @abstractmethod
    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the expected error under the mechanisms, from public facts only."""

    @abstractmethod
    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return the published numbers with their intervals."""


@runtime_checkable
class Grouped(Protocol):
    """A statistic with a number for each group."""

    @property
    def by(self) -> tuple[str, ...]:
        """Columns of the groups."""


@runtime_checkable
class Explaining(Protocol):
    """A model."""

    @property
    def covariates(self) -> tuple[str, ...]:
        """Columns that explain the outcome."""


@runtime_checkable
class Conditioned(Protocol):
    """A statistic of those rows, among all, that satisfy a condition."""

    @property
    def of(self) -> Predicate:
        """The condition."""


@runtime_checkable
class WithOutcome(Protocol):
    """A model of a column."""

    @property
    def outcome(self) -> str:
        """That column."""


@runtime_checkable
class WithEvents(Protocol):
    """A rate of the events that a column counts."""

    @property
    def events(self) -> str:
        """That column; "" where rows are counted."""


@runtime_checkable
class WithTime(Protocol):
    """A statistic of the time that patients were followed."""

    @property
    def time(self) -> str | None:
        """Column of the time; "" or None where there is none."""


@runtime_checkable
class InIntervals(WithTime, Protocol):
    """A statistic of when something happens."""

    @property
    def edges(self) -> tuple[object, ...]:
        """Ends of the intervals of time."""


@runtime_checkable
class OfColumn(Protocol):
    """A statistic of the values of a column."""

    @property
    def column(self) -> str:
        """That column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One noisy vector: what is summed, how far one unit moves it, what noise hides it.

    Attributes:
        statistic: Id of the statistic it belongs to.
        name: Name of the question.
        aggregate: The exact vector.
        sensitivity: How far one privacy unit moves it.
        mechanism: The noise.
        nano: Charge in 1e-9 of the measure's unit (ε or ρ).
        atto: Charge in 1e-18 of δ; 0 but for key selection.
        shared: Parts that sites add, of which ``mechanism`` is then the law of all together.
    """

    statistic: str
    name: str
    aggregate: Measured
    sensitivity: Sensitivity
    mechanism: Mechanism
    nano: int
    atto: int = 0
    shared: SharedNoise | None = None

    @property
    def amount(self) -> Amount:
        """Its charge."""
        return Amount(nano=self.nano, atto=self.atto)

    @property
    def event(self) -> PrivacyEvent:
        """What an accountant needs of it: of parts of noise, the one that they are charged as."""
        moved, parts = self.sensitivity, self.shared
        return PrivacyEvent(
            mechanism=charged_as(moved.l2_squared, nano=self.nano) if parts else self.mechanism,
            l1=moved.l1,
            l2_squared=moved.l2_squared,
            reach=moved.reach,
            set_reach=moved.set_reach,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """The earlier release that a study replaces.

    Attributes:
        id: Of its certificate.
        payload_sha256: Of its noisy payload, which fixes its plan and all of its numbers.
    """

    id: str
    payload_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Why the release is made; shown to approvers and readers.

    Attributes:
        id: Short name.
        title: One line.
        purpose: Why.
        audience: "public", "registered" or "internal".
        period: Which run of a repeated study this is; "" for a single one.
        tier: Importance, of those in the policy; decides who approves.
        project: To which it belongs, of those that the policy caps.
        release: Planned release of the policy that it is.
        region: Where the patients are from.
        licence: Under which the numbers may be used.
        supersedes: The release that this one replaces.
        small_cells: House rule for small noisy counts.
    """

    id: str
    title: str = ""
    purpose: str = ""
    audience: str = "public"
    period: str = ""
    tier: str = ""
    project: str = ""
    release: str = ""
    region: str = ""
    licence: str = ""
    supersedes: Superseded | None = None
    small_cells: SmallCells | None = None

    def __post_init__(self) -> None:
        for name in ("id", "audience", "period", "tier", "project", "release"):
            _require_bytes(name, getattr(self, name), most=NAME_BYTES)
        for name in ("title", "purpose", "region", "licence"):
            _require_bytes(name, getattr(self, name), most=REMARK_BYTES)


class Priced(Protocol):
    """What everything that spends has in common: why, on what, and what it costs."""

    @property
    def study(self) -> Study:
        """Why."""

    @property
    def dataset(self) -> Dataset:
        """Every public fact that it relies on: lineage, unit, adjacency, measure."""

    @property
    def amount(self) -> Amount:
        """Total charge."""

    @property
    def loss(self) -> PrivacyLoss:
        """The whole loss to any one privacy unit."""

    @property
    def events_json(self) -> str:
        """Canonical JSON of the events, which the ledger stores beside the charge."""

    def to_json(self) -> Json:
        """Return it as JSON."""

    def digest(self) -> str:
        """Return the SHA-256 of its canonical JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A study, complete and priced.

    Attributes:
        study: Why.
        dataset: Every public fact that it relies on.
        statistics: The specs, in order.
        measurements: What will be noised, in order.
        version: Of this format; a field is never removed or redefined.
        federation: Sites whose sums are added; None of one site's own.
    """

    study: Study
    dataset: Dataset
    statistics: tuple[Statistic, ...]
    measurements: tuple[Measurement, ...]
    version: int = 1
    federation: Federation | None = None

    def __post_init__(self) -> None:
        ids = [statistic.id for statistic in self.statistics]
        for name in ids:
            if not _FILE_NAME.fullmatch(name):
                raise ContractError(
                    f"Statistic id {name[:40]!r} cannot name a file.",
                    hint="Use at most 64 letters, digits, dots, hyphens and underscores.",
                )
        folded = [name.casefold() for name in ids]
        again = next((name for i, name in enumerate(folded) if name in folded[:i]), None)
        if again is not None:
            raise ContractError(
                f"Two statistics have the id {again!r}.", hint="Give each statistic its own id."
            )
        if not self.measurements:
            raise ContractError("The plan measures nothing.", hint="Add a statistic to the study.")

    @property
    def amount(self) -> Amount:
        """Total charge; its δ is that of key selections."""
        return Amount.total(measurement.amount for measurement in self.measurements)

    @property
    def loss(self) -> PrivacyLoss:
        """The whole plan's loss to any one privacy unit."""
        return self.amount.loss(self.dataset.measure)

    @property
    def events_json(self) -> str:
        """Canonical JSON of the events, which the ledger stores beside the charge."""
        events = (measurement.event for measurement in self.measurements)
        return study_events_json(events, measure=self.dataset.measure)

    def to_json(self) -> Json:
        """Return the plan as JSON; :func:`confide.statistics.read_plan` reads it back."""
        return encode(self)

    def digest(self) -> str:
        """Return the SHA-256 of the canonical JSON of every field."""
        return digest(self.to_json())

    def of(self, statistic: str) -> tuple[Measurement, ...]:
        """Return the measurements of one statistic."""
        return tuple(m for m in self.measurements if m.statistic == statistic)

    def mechanisms(self, statistic: str) -> dict[str, Mechanism]:
        """Return the noise of each question of one statistic."""
        return {m.name: m.mechanism for m in self.of(statistic)}


def _require_bytes(name: str, text: str, *, most: int) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > most:
        raise ContractError(
            f"study → {name} takes {size} bytes in UTF-8, and at most {most} are kept.",
            hint="Write a shorter one; most letters outside ASCII take 2 to 4 bytes.",
        )
