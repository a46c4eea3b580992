"""What study.yaml says of standardized rate."""

from dataclasses import dataclass, field
from typing import Any

from confide.plans.person_time import Per
from confide.plans.plan import Statistic
from confide.statistics.shared_sections import StandardSection, labels, public_numbers
from confide.statistics.standardized_rate.spec import StandardizedRate
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardizedRateSection(StandardSection):
    """A rate weighted to a standard population."""

    standard: dict[str, Any]
    compare: str | list[str] = field(default_factory=list)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        return StandardizedRate(
            **self.rate_fields(common, dataset=dataset),
            standard=public_numbers(self.standard),
            compare=labels(self.compare),
            expect_rate=self.expect.rate,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return what the rate is per."""
        per = Per(number=self.per, time=self.person_time)
        one = dataset.table(self.declared_table(dataset)).one_row_per_patient
        return per.unit if self.time else per.counted(once=one or bool(self.population))
