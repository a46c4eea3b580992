"""Sections that kinds share: of a number, a share, areas, a choice, time, and rates."""

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, Literal

from confide.errors import ContractError
from confide.plans.person_time import Per, PersonTime
from confide.plans.public_numbers import PublicNumber
from confide.statistics.section import (
    Condition,
    Counting,
    Day,
    Exact,
    ExpectSection,
    Form,
    Positive,
    StatisticSection,
    WholeRange,
    exact,
)
from confide.tables.expression import DatePart
from confide.tables.relation import EPOCH
from confide.tables.schema import Dataset
from confide.tables.spine import Spine

NO_GROUPS = {"by": "A group is one of the covariates."}
CONDITION = "Say whom it befell as a condition: of: {stroke: [yes]}."


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSection(StatisticSection):
    """A statistic of one number."""

    column: str
    by: list[str] = field(default_factory=list)

    def error_unit(self, dataset: Dataset) -> str:
        """Return the unit of the column."""
        return self.domain_of(self.column, dataset=dataset).unit


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedSection(NumberSection):
    """A statistic that lies between the declared bounds of its column."""

    def whole_range(self, dataset: Dataset) -> WholeRange:
        """Return the distance of the declared bounds."""
        of = self.domain_of(self.column, dataset=dataset)
        return WholeRange(
            width=(of.upper - of.lower) * of.scale,
            unit=f" {of.unit}".rstrip(),
            hint="Any number between the declared bounds is as good; ask for a smaller error.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionSection(PlacedSection):
    """A statistic of the distribution of its column over public cells."""

    bins: Counting | None = None
    edges: Annotated[list[Exact], Form.TWO_OR_MORE] | None = None

    def stated_cells(self, name: str) -> dict[str, Any]:
        """Return the fields of the cells, where they are stated.

        Raises:
            ContractError: If they are stated twice.
        """
        if self.bins is not None and self.edges is not None:
            raise ContractError(
                f"{name} {self.id!r} states both bins and edges.", hint="Keep one of them."
            )
        bins: dict[str, Any] = {} if self.bins is None else {"bins": self.bins}
        return bins | ({} if self.edges is None else {"edges": tuple(self.edges)})


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareSection(StatisticSection):
    """A share of patients for whom a condition holds."""

    of: Condition
    by: list[str] = field(default_factory=list)
    per: Counting = 1

    def whole_range(self, dataset: Dataset) -> WholeRange:
        """Return the width of [0, per]."""
        del dataset
        return WholeRange(
            width=Fraction(self.per),
            unit="" if self.per == 1 else f" per {self.per}",
            hint='Write {name}: "3 %" for three percentage points, or per: 100.',
        )

    def per_one(self) -> int:
        """Return what the share is reported per."""
        return self.per


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaSection(StatisticSection):
    """A statistic of the areas of a spine."""

    spine: str | None = None
    count: Literal["patients", "events"] = "patients"

    def declared_spine(self, dataset: Dataset) -> Spine:
        """Return the spine that is named, or the only one.

        Raises:
            ContractError: If none is named and there is not exactly one.
        """
        if self.spine is not None:
            return dataset.spine(self.spine)
        if len(dataset.spines) != 1:
            raise ContractError(
                f"Statistic {self.id!r} does not say which spine it is about.",
                hint="Write spine: name, of one that dataset.yaml declares.",
            )
        return dataset.spines[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceSection(StatisticSection):
    """A choice among public candidates."""

    size: Counting = 1
    lead: Positive | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverTimeSection(StatisticSection):
    """A statistic with a time axis."""

    over: str
    every: DatePart | None = None
    since: Day | None = None
    until: Day | None = None

    def axis(self) -> dict[str, Any]:
        """Return the fields of the time axis."""
        return {
            "over": self.over,
            "every": self.every,
            "since": day_number(self.since),
            "until": day_number(self.until),
        }


def day_number(day: dt.date | None) -> int | None:
    """Return days since 1970-01-01."""
    return None if day is None else day.toordinal() - EPOCH


@dataclass(frozen=True, slots=True, kw_only=True)
class RateExpectSection(ExpectSection):
    """Public planning values of a rate."""

    rate: Positive | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightExpectSection(ExpectSection):
    """Public planning values of a weighted statistic."""

    weight: Positive | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSection(StatisticSection):
    """A statistic of events and those at risk of them."""

    of: Condition = field(default_factory=dict)
    by: list[str] = field(default_factory=list)
    per: Counting = 1000
    person_time: PersonTime = PersonTime.YEARS
    expect: RateExpectSection = field(default_factory=RateExpectSection)

    def rate_fields(self, common: dict[str, Any], *, dataset: Dataset) -> dict[str, Any]:
        """Return what the specs of all rates share."""
        del dataset
        per = Per(number=self.per, time=self.person_time)
        return common | {"of": self.of, "by": tuple(self.by), "per": per}


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardSection(RateSection):
    """A rate adjusted for strata."""

    strata: list[str] = field(default_factory=list)
    time: str = ""
    population: dict[str, Any] = field(default_factory=dict)

    def rate_fields(self, common: dict[str, Any], *, dataset: Dataset) -> dict[str, Any]:
        """Return what the specs of adjusted rates share."""
        return RateSection.rate_fields(self, common, dataset=dataset) | {
            "strata": tuple(self.strata),
            "time": self.time,
            "population": public_numbers(self.population),
        }


def labels(compare: str | list[str]) -> tuple[str, ...]:
    """Return labels of which one may be written alone."""
    return (compare,) if isinstance(compare, str) else tuple(compare)


def public_numbers(table: Mapping[str, Any] | Fraction) -> tuple[PublicNumber, ...]:
    """Return the numbers of a mapping by label, or of mappings by further labels inside it.

    A number alone has no label.

    Raises:
        ContractError: If one of them is not a number ≥ 0.

    Example:
        >>> [n.keys for n in public_numbers({"North": {"0-39": "120"}, "South": {"0-39": "90"}})]
        [('North', '0-39'), ('South', '0-39')]
    """
    if isinstance(table, Fraction):
        return (PublicNumber(keys=(), value=table),)
    return tuple(_numbers(table, keys=()))


def _numbers(table: Mapping[str, Any], *, keys: tuple[str, ...]) -> Iterator[PublicNumber]:
    for label, content in table.items():
        here = (*keys, str(label))
        if isinstance(content, Mapping):
            yield from _numbers(content, keys=here)
            continue
        try:
            value = exact(content)
        except ValueError as error:
            raise ContractError(f"{', '.join(here)}: {error}.") from None
        yield PublicNumber(keys=here, value=value)
