"""Price statistics: a plan of specs, from public facts alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from confide.files.accounting import asked_nano
from confide.files.dataset import DeclaredDataset
from confide.files.study import ask_from
from confide.plans.plan import Plan, Statistic, Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.pricing.roads import NO_RECORD, OnRecord, planned_by
from confide.privacy.exact import Number
from confide.tables.schema import Dataset


def priced(
    statistics: Sequence[Statistic | Mapping[str, Any]],
    *,
    declared: DeclaredDataset,
    epsilon: Number | None = None,
    rho: Number | None = None,
    study: Study | None = None,
    record: OnRecord = NO_RECORD,
) -> Plan:
    """Return a priced plan; reads and charges nothing.

    Args:
        statistics: Specs, or mappings in the words of study.yaml.
        declared: Of what.
        epsilon: Most that the plan may cost; under zcdp and mixed at the declared δ.
        rho: The same in ρ.
        study: Why; an id is made from the statistics when None.
        record: What the ledger says of a plan; one that was released keeps its noise.

    Raises:
        ContractError: If a spec does not suit the data set or the errors need more.
    """

    def make(dataset: Dataset) -> Plan:
        asks = [
            ask_from(each, dataset=dataset) if isinstance(each, Mapping) else Ask(statistic=each)
            for each in statistics
        ]
        nano = asked_nano(epsilon, rho, dataset=dataset)
        named = study or Study(id="-".join(ask.statistic.id for ask in asks)[:60] or "study")
        return make_plan(asks, study=named, dataset=dataset, nano=nano)

    of, year = declared.dataset, declared.year()
    return planned_by(make, dataset=of, year=year, record=record).taken.plan
