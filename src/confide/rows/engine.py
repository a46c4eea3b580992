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

from collections.abc import Mapping, Sequence
from typing import NoReturn, Protocol, TypeAlias

from confide.plans.descent import Ask
from confide.tables.aggregate import Asked
from confide.tables.schema import Dataset


class Answering(Protocol):
    """Rows that answer questions in turn, each from the noisy answers before it."""

    def answer(self, ask: Ask) -> tuple[int, ...]:
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


def _refuse(what: str) -> NoReturn:
    raise TypeError(f"Exact aggregates are secret: they cannot be {what}.")


class Engine(Protocol):
    """What counts rows; every implementation passes ``tests/contracts/engine_contract.py``."""

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

    def problems(self) -> Mapping[str, str]:
        """Return why declared tables cannot be used, by table; from names and types alone."""

    def explain(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> tuple[str, ...]:
        """Return how the aggregates would be read; from public facts alone, reading no rows.

        Raises:
            ContractError: If the source lacks what they name.
        """

    def close(self) -> None:
        """Close the connection and remove temporary files."""
