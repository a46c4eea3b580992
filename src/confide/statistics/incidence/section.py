"""What study.yaml says of incidence."""

from dataclasses import dataclass, field
from typing import Any

from confide.plans.person_time import Per
from confide.plans.plan import Statistic
from confide.statistics.incidence.spec import Incidence
from confide.statistics.shared_sections import RateSection, labels
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidenceSection(RateSection):
    """Events over person-time."""

    time: str
    events: str = ""
    compare: str | list[str] = field(default_factory=list)

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        return Incidence(
            **self.rate_fields(common, dataset=dataset),
            time=self.time,
            events=self.events,
            compare=labels(self.compare),
            expect_rate=self.expect.rate,
        )

    def error_unit(self, dataset: Dataset) -> str:
        """Return what the rate is per."""
        del dataset
        return Per(number=self.per, time=self.person_time).unit
