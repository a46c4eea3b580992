"""Incidence, standardised rates and observed over expected events, as study.yaml writes them."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from confide.errors import ContractError
from confide.files.kinds.section import ExpectSection, StatisticSection
from confide.files.texts import Counting, Positive, exact
from confide.files.where import read_where
from confide.plans.person_time import Per, PersonTime
from confide.plans.plan import Statistic
from confide.plans.public_numbers import PublicNumber
from confide.statistics.incidence import Incidence
from confide.statistics.smr import SMR
from confide.statistics.standardized_rate import StandardizedRate
from confide.tables.filter import Everything, Predicate
from confide.tables.schema import Dataset


class RateExpectSection(ExpectSection):
    """Public planning values of a rate."""

    rate: Positive | None = None


class RateSection(StatisticSection):
    """A statistic of events and those at risk of them."""

    of: dict[str, Any] = Field(default_factory=dict)
    by: list[str] = Field(default_factory=list)
    per: Counting = 1000
    person_time: PersonTime = PersonTime.YEARS
    expect: RateExpectSection = Field(default_factory=RateExpectSection)

    def rate_fields(self, common: dict[str, Any], *, dataset: Dataset) -> dict[str, Any]:
        """Return what the specs of all rates share."""
        of: Predicate = Everything()
        if self.of:
            of = read_where(self.of, table=common["table"], dataset=dataset)
        per = Per(number=self.per, time=self.person_time)
        return common | {"of": of, "by": tuple(self.by), "per": per}


class IncidenceSection(RateSection):
    """Events over person-time."""

    kind: Literal["incidence"]
    time: str
    events: str = ""
    compare: str | list[str] = Field(default_factory=list)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        return Incidence(
            **self.rate_fields(common, dataset=dataset),
            time=self.time,
            events=self.events,
            compare=_labels(self.compare),
            expect_rate=self.expect.rate,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return what the rate is per."""
        del dataset
        return Per(number=self.per, time=self.person_time).unit


class StandardSection(RateSection):
    """A rate adjusted for strata."""

    strata: list[str] = Field(default_factory=list)
    time: str = ""
    population: dict[str, Any] = Field(default_factory=dict)

    def rate_fields(self, common: dict[str, Any], *, dataset: Dataset) -> dict[str, Any]:
        """Return what the specs of adjusted rates share."""
        return super().rate_fields(common, dataset=dataset) | {
            "strata": tuple(self.strata),
            "time": self.time,
            "population": public_numbers(self.population),
        }


class StandardizedRateSection(StandardSection):
    """A rate weighted to a standard population."""

    kind: Literal["standardized-rate"]
    standard: dict[str, Any]
    compare: str | list[str] = Field(default_factory=list)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        return StandardizedRate(
            **self.rate_fields(common, dataset=dataset),
            standard=public_numbers(self.standard),
            compare=_labels(self.compare),
            expect_rate=self.expect.rate,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return what the rate is per."""
        per = Per(number=self.per, time=self.person_time)
        one = dataset.table(self.declared_table(dataset)).one_row_per_patient
        return per.unit if self.time else per.counted(once=one or bool(self.population))


class SMRSection(StandardSection):
    """Observed over expected events."""

    kind: Literal["smr"]
    reference: dict[str, Any] | Positive

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        if self.expect.rate is not None:
            raise ContractError(
                f"Statistic {self.id!r}: an SMR expects events, not a rate.",
                hint="Write expect: {count: 40}: expected events of a group.",
            )
        return SMR(
            **self.rate_fields(common, dataset=dataset),
            reference=public_numbers(self.reference),
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return that it is a pure number."""
        del dataset
        return "1"


def _labels(compare: str | list[str]) -> tuple[str, ...]:
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
