"""An engine over a twin: it answers plans of the data set whose twin it reads.

Those plans name queries, sheets and dialects of a source that is not there; the tables of a twin
have none of these, and are otherwise the same.
"""

from collections.abc import Mapping, Sequence

from confide.jobs.twin.rows import as_frames
from confide.rows.engine import Engine, ExactAggregates, PersonSums
from confide.rows.records import RecordRows
from confide.rows.sources.fingerprint import SourceState
from confide.tables.aggregates.shapes import Asked
from confide.tables.records import Records
from confide.tables.schema import Dataset


class TwinEngine:
    """What another engine answers, asked of tables in memory."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def state(self) -> SourceState:
        """Of no files."""
        return self._engine.state

    def sound(self) -> bool:
        """Return whether it still answers."""
        return self._engine.sound()

    def check(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> None:
        """Bind the aggregates against the twin, reading no rows; raises ContractError."""
        self._engine.check(aggregates, dataset=as_frames(dataset))

    def aggregate(self, aggregates: tuple[Asked, ...], *, dataset: Dataset) -> ExactAggregates:
        """Read the made-up rows, bound them and sum them; raises EngineError."""
        return self._engine.aggregate(aggregates, dataset=as_frames(dataset))

    def person_sums(self, aggregates: tuple[Asked, ...], *, dataset: Dataset) -> PersonSums:
        """Read the made-up rows, and add them up by person; raises EngineError."""
        return self._engine.person_sums(aggregates, dataset=as_frames(dataset))

    def check_records(self, records: Records, *, dataset: Dataset) -> None:
        """Bind the rows of a job, reading none; raises ContractError."""
        self._engine.check_records(records, dataset=as_frames(dataset))

    def records(self, records: Records, *, dataset: Dataset) -> RecordRows:
        """Read the made-up rows of a job; raises EngineError."""
        return self._engine.records(records, dataset=as_frames(dataset))

    def identity(self, person_id: str) -> tuple[int, int] | None:
        """Return the keyed hash of a person id."""
        return self._engine.identity(person_id)

    def identities(
        self, person_ids: Sequence[str], *, as_texts: bool = False
    ) -> tuple[tuple[int, int] | None, ...]:
        """Return the same of each of many ids."""
        return self._engine.identities(person_ids, as_texts=as_texts)

    def problems(self) -> Mapping[str, str]:
        """Return why tables of the twin cannot be used, of which there are none."""
        return self._engine.problems()

    def explain(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> tuple[str, ...]:
        """Return how the aggregates would be read; raises ContractError."""
        return self._engine.explain(aggregates, dataset=as_frames(dataset))

    def close(self) -> None:
        """Close the engine below."""
        self._engine.close()
