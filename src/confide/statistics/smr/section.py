"""What study.yaml says of smr."""

from dataclasses import dataclass
from typing import Any

from confide.errors import ContractError
from confide.plans.plan import Statistic
from confide.statistics.section import Positive
from confide.statistics.shared_sections import StandardSection, public_numbers
from confide.statistics.smr.spec import SMR
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class SMRSection(StandardSection):
    """Observed over expected events."""

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
