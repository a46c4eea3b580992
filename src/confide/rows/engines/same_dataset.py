"""Whether a question is about the data set that an engine was opened for."""

from dataclasses import replace

from confide.errors import ContractError
from confide.tables.schema import Dataset


def require_same(dataset: Dataset, *, ours: Dataset) -> None:
    """Refuse another data set than the one that was opened.

    Caps of patients say who is left out afterwards, not what a row is; a measure, how losses add
    up, of which a mixed ledger takes either.

    Raises:
        ContractError: If it is another.
    """
    measure = ours.measure if ours.mixed else dataset.measure
    if replace(dataset, patients=ours.patients, measure=measure) != ours:
        raise ContractError(
            "The engine was opened for another data set.", hint="Open it for this one."
        )


def without_more_values(dataset: Dataset, *, ours: Dataset) -> Dataset:
    """Return a data set without the per-patient values that follow ours, as a job asks for."""
    return replace(dataset, per_patient=dataset.per_patient[: len(ours.per_patient)])
