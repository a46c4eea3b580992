"""What engines that are asked in SQL have in common, whichever database answers.

Each compiles the same aggregates to statements of its own dialect; which of them have rows of their
own, which ids are somebody's and what a table lacks is said here once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

from sqlglot import exp

from confide.rows.cells.layout import Layout
from confide.rows.engine import Exact, ExactAggregates
from confide.rows.engines.same_dataset import require_same
from confide.rows.relational.compiler import Alone
from confide.rows.relational.shapes import compiler_of
from confide.rows.relational.statement import Statement
from confide.tables.aggregates.shapes import Asked
from confide.tables.schema import Dataset


class AskedInSql:
    """An open engine: its data set, and where its tables lie."""

    def __init__(self, *, dataset: Dataset, layout: Layout) -> None:
        self._dataset, self._layout = dataset, layout

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._dataset.id!r})"

    def close(self) -> None:
        """Close what was opened."""
        raise NotImplementedError

    def identities(
        self, person_ids: Sequence[str], *, as_texts: bool = False
    ) -> tuple[tuple[int, int] | None, ...]:
        """Return the keyed hash of each person id as it is written; None of what cannot be one.

        Args:
            person_ids: As they stand in a list, say.
            as_texts: Whether to take them as they are, as where ids are texts.
        """
        raise NotImplementedError

    def identity(self, person_id: str) -> tuple[int, int] | None:
        """Return the keyed hash of a person id as it is written; None if it cannot be one."""
        (found,) = self.identities([person_id])
        return found

    def problems(self) -> Mapping[str, str]:
        """Return why declared tables cannot be used, by table; from names and types alone."""
        found = {
            table.name: self._layout.problem(table, dataset=self._dataset)
            for table in self._dataset.tables
        }
        return {name: problem for name, problem in found.items() if problem}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _require_same(self, dataset: Dataset) -> None:
        require_same(dataset, ours=self._dataset)

    def _alone(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> dict[Asked, exp.Query]:
        """Return the query of each aggregate that has rows of its own; asked twice, it is one."""
        return {
            each: compiler.query(each, dataset, self._layout)
            for each, compiler in standing_alone(aggregates).items()
        }

    @staticmethod
    def _exact(
        summed: Mapping[int, Exact],
        *,
        asked: Sequence[Asked],
        dataset: Dataset,
        columns: Callable[[Asked], Mapping[str, Any]],
    ) -> ExactAggregates:
        """Return the exact answers: of sums, and of aggregates that have rows of their own.

        Args:
            summed: Answers of sums, by place.
            asked: All that is asked, in its order.
            dataset: Whose rows.
            columns: Reads the rows of an aggregate that has its own.
        """
        alone = {
            each: compiler.answer(each, columns(each), dataset)
            for each, compiler in standing_alone(asked).items()
        }
        return ExactAggregates(
            [alone[each] if each in alone else summed[place] for place, each in enumerate(asked)]
        )

    def _told(
        self,
        statements: Iterable[Statement],
        *,
        asked: Sequence[Asked],
        dataset: Dataset,
        begins: str,
    ) -> tuple[str, ...]:
        """Say how aggregates are read: in which statements, and what has rows of its own."""
        steps = [
            f"{each.table}: {each.way.value}, {len(each.answers)} sum(s) in one pass"
            for each in statements
        ]
        alone = standing_alone(asked)
        steps += [f"{each.relation.table}: {alone[each].way}" for each in asked if each in alone]
        return (begins, *steps, *self._layout.remarks_on_ids(dataset))


def standing_alone(aggregates: Sequence[Asked]) -> dict[Asked, Alone[Any]]:
    """Return the compiler of each aggregate that has rows of its own."""
    compilers = {each: compiler_of(each) for each in dict.fromkeys(aggregates)}
    return {each: found for each, found in compilers.items() if isinstance(found, Alone)}
