"""Numbers of distinct patients by the values of a text column, which are secret themselves.

*Lemma:* one patient keeps at most so many keys, of which each counts one
(:func:`confide.tables.bound_contributions.sensitivity`); keys are published behind a noisy
threshold.
"""

from dataclasses import dataclass
from typing import ClassVar

from confide.errors import ContractError
from confide.privacy.sensitivity import Sensitivity
from confide.tables.aggregates.cells import MOST_CELLS
from confide.tables.aggregates.told import Telling
from confide.tables.aggregates.value import Ones, Step, step_of, value_range
from confide.tables.bound_contributions import ContributionBounds, sensitivity
from confide.tables.expression import ColumnOf, Expression
from confide.tables.relation import Relation, check, column_of
from confide.tables.schema import Dataset, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedAggregate:
    """Distinct patients per value of a text column; the keys themselves are secret.

    Attributes:
        relation: Which rows.
        key: Text column.
        bounds: Most keys that one privacy unit keeps.
    """

    axes: ClassVar[tuple[Expression, ...]] = ()
    counts: ClassVar[bool] = True

    relation: Relation
    key: ColumnOf
    bounds: ContributionBounds

    @property
    def reads(self) -> tuple[Expression, ...]:
        """What must be known of a row that is kept, beside what the filter says."""
        return (self.key,)

    def check(self, dataset: Dataset) -> None:
        """Refuse keys that are undeclared, or public already."""
        check(self.relation, dataset=dataset)
        if self.key.table != self.relation.table:
            raise ContractError("Key selection needs a text column of its own table.")
        if column_of(self.key, dataset).kind is not Kind.TEXT:
            raise ContractError(
                f"Column {self.key.column!r} has public categories, so its keys need no selection.",
                hint="Use a histogram; every category is published, with noise.",
            )

    def sensitivity(self, dataset: Dataset, *, counted: str) -> Sensitivity:
        """Return how far one privacy unit moves the counts of all keys."""
        return sensitivity(
            self.bounds,
            values=value_range(Ones(), dataset=dataset, counted=counted),
            cells=MOST_CELLS,  # any number: the keys are not public
            entity=dataset.unit.entity,
            adjacency=dataset.adjacency,
        )

    def step(self, dataset: Dataset) -> Step:
        """Return what one step of a count is worth."""
        return step_of(Ones(), dataset=dataset)

    def told(self, say: Telling) -> str:
        """Return what is measured, in words."""
        return f"number of patients per value of {say.of(self.key)}, {say.rows(self.relation)}"
