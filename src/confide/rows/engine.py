"""The engine port: exact integer sums of bounded contributions, and nothing else.

An engine compiles aggregates to one closed set of operators, runs them, and hands the exact sums to
the gate.  It is asked twice: ``check`` binds names and types and reads no row, so it may fail in
detail, for free; ``aggregate`` reads, after the charge.

*Privacy:* exact sums are secret until noise hides them.  :class:`ExactAggregates` cannot be
printed, compared, iterated, copied or pickled, and only the gate opens it.

References:
    [McS09] McSherry. Privacy integrated queries. SIGMOD 2009.
        https://doi.org/10.1145/1559845.1559850
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.errors import UnsupportedError
from confide.plans.pricing.individual import IndividualLoss
from confide.plans.rounds.in_turn import NextAsk
from confide.rows.records import RecordRows
from confide.rows.sources.fingerprint import SourceState
from confide.tables.aggregates.shapes import Asked, Combined, Measured
from confide.tables.records import Records
from confide.tables.schema import Dataset


class Answering(Protocol):
    """Rows that answer questions in turn, each from the noisy answers before it."""

    def answer(self, ask: NextAsk) -> tuple[int, ...]:
        """Return an exact answer; called by the gate alone, right before the noise."""


Exact: TypeAlias = tuple[int, ...] | Mapping[str, int] | Answering


class ExactAggregates:
    """Exact sums, in the order of the aggregates asked for; dies inside the gate.

    Example:
        >>> exact = ExactAggregates(((479,), {"gastrointestinal haemorrhage": 479}))
        >>> print(exact)
        <secret>
        >>> exact == exact
        Traceback (most recent call last):
        ...
        TypeError: Exact aggregates are secret: they cannot be compared.
    """

    __slots__ = ("__values",)

    def __init__(self, values: Sequence[Exact]) -> None:
        self.__values = tuple(values)

    def reveal_to_gate(self) -> tuple[Exact, ...]:
        """Return the exact sums; called by ``release/gate.py`` alone, right before the noise.

        Public cells come as one integer each, in row-major order; secret keys as a mapping from key
        to its number of distinct patients.
        """
        return self.__values

    def __repr__(self) -> str:
        return "<secret>"

    def __format__(self, spec: str) -> str:
        return "<secret>"

    def __eq__(self, other: object) -> NoReturn:
        _refuse("compared")

    def __ne__(self, other: object) -> NoReturn:
        _refuse("compared")

    def __hash__(self) -> NoReturn:  # noqa: PLE0309
        _refuse("hashed")

    def __bool__(self) -> NoReturn:  # noqa: PLE0304
        _refuse("tested")

    def __iter__(self) -> NoReturn:
        _refuse("iterated")

    def __len__(self) -> NoReturn:  # noqa: PLE0303
        _refuse("counted")

    def __copy__(self) -> NoReturn:
        _refuse("copied")

    def __deepcopy__(self, memo: object) -> NoReturn:
        _refuse("copied")

    def __reduce__(self) -> NoReturn:
        _refuse("pickled")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        _refuse("pickled")

    def __getstate__(self) -> NoReturn:
        _refuse("pickled")


def exact_vector(aggregate: Measured, answers: Iterator[Exact], *, dataset: Dataset) -> Exact:
    """Return the exact vector of an aggregate from the next answers of an engine."""
    if not isinstance(aggregate, Combined):
        return next(answers)
    sums = []
    for _ in aggregate.parts():
        answer = next(answers)
        if not isinstance(answer, tuple):
            raise UnsupportedError("The engine answered a vector with keys.")
        sums.append(answer)
    return aggregate.combined(sums, dataset=dataset)


def _refuse(what: str) -> NoReturn:
    raise TypeError(f"Exact aggregates are secret: they cannot be {what}.")


class PersonSums(Protocol):
    """What each person adds to a release: secret, kept inside the engine, closed with the release.

    Persons have numbers from 0: of one generation of prepared copies (``roster`` names it), or of
    this release alone (``roster`` is empty).
    """

    @property
    def roster(self) -> str:
        """What persons are numbered by."""

    def losses(
        self, charges: Sequence[IndividualLoss]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return who pays by their own norm, and how much in 1e-15: shape (persons,) each."""

    def identities(self) -> NDArray[np.uint64]:
        """Return shape (persons, 2): the keyed hash of each person's id, by number."""

    def sums(self, *, without: NDArray[np.int64]) -> ExactAggregates:
        """Return the exact sums of everybody but those persons, in the order asked for."""

    def close(self) -> None:
        """Forget everything."""


class Engine(Protocol):
    """What counts rows; every implementation passes ``tests/contracts/engine_contract.py``."""

    @property
    def state(self) -> SourceState:
        """What the files of the source were like when they were opened; empty without files."""

    def sound(self) -> bool:
        """Return whether it still answers; whoever keeps one open asks before a charge."""

    def check(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> None:
        """Bind the aggregates against the schema of the source, reading no rows.

        Raises:
            ContractError: If a table or column is missing, or of a type that cannot be read as
                declared; names the table and column, never a value.
        """

    def aggregate(self, aggregates: tuple[Asked, ...], *, dataset: Dataset) -> ExactAggregates:
        """Read the rows, bound them and sum them exactly.

        The result depends on the rows as a multiset: not on their order, on threads or on files.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """

    def person_sums(self, aggregates: tuple[Asked, ...], *, dataset: Dataset) -> "PersonSums":
        """Read the rows, bound them and add them up by person and cell, to be closed after use.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """

    def check_records(self, records: Records, *, dataset: Dataset) -> None:
        """Bind the rows of a job against the schema of the source, reading none; as ``check``."""

    def records(self, records: Records, *, dataset: Dataset) -> RecordRows:
        """Read and bound the rows of a job.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """

    def identity(self, person_id: str) -> tuple[int, int] | None:
        """Return the keyed hash of a person id as it is written; None if it cannot be one."""

    def identities(
        self, person_ids: Sequence[str], *, as_texts: bool = False
    ) -> tuple[tuple[int, int] | None, ...]:
        """Return the same of each of many ids, or of each as it is where ids are texts."""

    def problems(self) -> Mapping[str, str]:
        """Return why declared tables cannot be used, by table; from names and types alone."""

    def explain(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> tuple[str, ...]:
        """Return how the aggregates would be read; from public facts alone, reading no rows.

        Raises:
            ContractError: If the source lacks what they name.
        """

    def close(self) -> None:
        """Close the connection and remove temporary files."""
