"""What each person adds to a release, stored inside the engine for as long as the release lasts.

Each statement's kept rows are added up by person and cell into a temporary table, once; norms and
sums are both read from there, so what a person pays is about the integers that are summed.

*Lemma* (the guard).  Nobody keeps more than the bounds say: the rows, cells and rows in a cell of
each person are counted in the stored tables themselves, whichever query made them.

*Privacy:* nothing here leaves the gate.  The object prints as ``<secret>``; its tables are in the
engine's memory or its own temporary folder, and are dropped when the release is done.  Whoever is
left out is left out of every sum.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Self, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from confide.errors import ContractError, EngineError
from confide.plans.pricing.individual import IndividualLoss, OwnLoss
from confide.rows.cells.build import (
    BIGINT,
    HUGEINT,
    STAR,
    cast,
    equal,
    left_join,
    minus,
    missing,
    named,
    num,
    own,
    own_table,
    select,
)
from confide.rows.cells.identity import identities
from confide.rows.cells.session import Session
from confide.rows.cells.stream import SUMS
from confide.rows.copies.copies import Copies, parquet
from confide.rows.engine import Exact, ExactAggregates
from confide.rows.relational.norms import losses_query
from confide.rows.relational.sql import OnePass
from confide.rows.relational.statement import COUNT, FIRST_SUM, Statement, vector
from confide.rows.relational.summand import Part
from confide.tables.aggregates.shapes import parts
from confide.tables.bound_contributions import (
    CellBound,
    ContributionBounds,
    OneEvent,
    RowBound,
    rows_per_unit,
)
from confide.tables.schema import Dataset

_Read: TypeAlias = Callable[[exp.Query], Mapping[str, Any]]
"""Gives the columns of a query, by name."""
PEOPLE, LEFT_OUT, HANDED = "people", "left_out", "handed over"


class PersonSums:
    """The bounded contributions of one release; made by the engine, dies in the gate."""

    def __init__(
        self,
        stored: Sequence[Statement],
        *,
        asked: int,
        dataset: Dataset,
        copies: Copies | None,
        on: Session,
        read: _Read | None = None,
    ) -> None:
        self._dataset, self._copies, self._session = dataset, copies, on
        self._read = read
        self._statements, self._asked = tuple(stored), asked
        self._lent: list[str] = []
        self._roster = self._index()

    def __repr__(self) -> str:
        return "<secret>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("Sums by person are secret: they cannot be pickled.")

    @property
    def roster(self) -> str:
        """What persons are numbered by: one index of patients; "" for this release alone.

        An index that was written anew may number otherwise, even of the same source: so its name is
        that of the file itself.
        """
        return self._roster

    def _index(self) -> str:
        """Return the name of the index of patients as it is now."""
        if self._copies is None:
            return ""
        file = self._patients()
        stat = file.stat()
        written = (stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        return hashlib.sha256(repr((file.parent.name, *written)).encode()).hexdigest()[:32]

    def _require_same_index(self) -> None:
        if self._index() != self._roster:
            raise EngineError("the index of patients was replaced")

    def store(self) -> None:
        """Read the rows, bound them and add them up by person and cell.

        Raises:
            EngineError: If reading failed, or somebody kept more than the bounds.
        """
        for number, statement in enumerate(self._statements):
            self._store(number, statement)
        if self._copies is None:
            self._session.make(PEOPLE, _numbered([_raw(i) for i in range(len(self._statements))]))
        for number, statement in enumerate(self._statements):
            if self._copies is None:
                self._session.make(_kept(number), _renumbered(_raw(number), statement))
                self._session.drop(_raw(number))
            ((rows, cells, most),) = self._session.rows(_worst(self._table(number)))
            _guard((rows or 0, cells or 0, most or 0), bounds=statement.bounds)
        self._require_same_index()

    def _store(self, number: int, statement: Statement) -> None:
        """Keep a statement's sums by person and cell; of another engine, what it hands over."""
        query = _summed(statement)
        if self._read is None:
            self._session.make(_raw(number), query)
            return
        self._session.lend(HANDED, dict(self._read(query)))
        sums = [named(cast(own(name), HUGEINT), name) for name in _columns(statement)[1:]]
        plain = [named(cast(own(name), BIGINT), name) for name in ("cell", "n")]
        try:
            self._session.make(_raw(number), select(own("p"), *plain, *sums, of=own_table(HANDED)))
        finally:
            self._session.take_back(HANDED)

    def losses(
        self, charges: Sequence[IndividualLoss]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return who pays by their own norm, and how much in 1e-15: shape (persons,) each.

        Args:
            charges: Of each measurement, in the order in which they were asked for.
        """
        places, at = [], 0
        for charge in charges:
            length = len(parts(charge.measurement.aggregate))
            if isinstance(charge, OwnLoss):
                places.append((charge, tuple(self._part(at + i) for i in range(length))))
            at += length
        if not places:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        query = losses_query(places, dataset=self._dataset, lend=self._lend)
        found = self._session.arrays(query)
        return found["p"].astype(np.int64), found["loss"].astype(np.int64)

    def identities(self) -> NDArray[np.uint64]:
        """Return shape (persons, 2): the keyed hash of each person's id, by number."""
        if self._copies is None:
            query = identities(own_table(PEOPLE), of="id", by="p")
        else:
            query = identities(parquet(self._patients()), of="id", by="p")
        words = self._session.arrays(query)
        self._require_same_index()
        return np.stack([words["high"], words["low"]], axis=1)

    def sums(self, *, without: NDArray[np.int64]) -> ExactAggregates:
        """Return the exact sums of everybody but those persons, in the order asked for."""
        self._lend(LEFT_OUT, {"p": without})
        exact: dict[int, Exact] = {}
        for number, statement in enumerate(self._statements):
            rows = self._session.rows(_totals(self._table(number), statement))
            for position, column in statement.answers:
                exact[position] = vector(rows, column=column, cells=statement.cells)
        return ExactAggregates([exact[position] for position in range(self._asked)])

    def close(self) -> None:
        """Drop the tables."""
        for name in self._lent:
            self._session.take_back(name)
        for number in range(len(self._statements)):
            self._session.drop(_raw(number))
            self._session.drop(_kept(number))
        self._session.drop(PEOPLE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _table(self, number: int) -> str:
        return _raw(number) if self._copies is not None else _kept(number)

    def _part(self, position: int) -> Part:
        for number, statement in enumerate(self._statements):
            for answered, column in statement.answers:
                if answered == position:
                    return Part(table=self._table(number), column=_column(column))
        raise ContractError("A vector was not asked for.")

    def _patients(self) -> Any:
        if self._copies is None or self._copies.patients is None:
            raise ContractError("There is no index of patients.", hint="Run `confide prepare`.")
        return self._copies.patients

    def _lend(self, name: str, columns: dict[str, Any]) -> None:
        self._lent.append(name)
        self._session.lend(name, columns)


def _raw(number: int) -> str:
    return f"raw{number}"


def _kept(number: int) -> str:
    return f"kept{number}"


def _column(column: int) -> str:
    return "n" if column == COUNT else f"s{column - FIRST_SUM}"


def _columns(statement: Statement) -> list[str]:
    last = max((column for _, column in statement.answers), default=COUNT)
    return ["n", *(f"s{i}" for i in range(last - COUNT))]


def _summed(statement: Statement) -> exp.Select:
    """Return a statement's rows, the number of kept ones as a plain integer."""
    sums = [own(name) for name in _columns(statement) if name != "n"]
    n = named(cast(own("n"), BIGINT), "n")
    return select(own("p"), own("cell"), n, *sums, of=statement.query)


def _numbered(tables: Sequence[str]) -> exp.Select:
    """Return ``id`` and ``p``, from 0, of every person in some tables."""
    each: exp.Query = select(own("p"), of=own_table(tables[0]))
    for name in tables[1:]:
        each = exp.Union(this=each, expression=select(own("p"), of=own_table(name)), distinct=False)
    met = select(named(own("p"), "id"), of=each, by=[own("p")])
    place = minus(exp.Window(this=exp.RowNumber()), num(1))
    return select(own("id"), named(place, "p"), of=met)


def _renumbered(name: str, statement: Statement) -> exp.Select:
    columns = [own(column, "r") for column in ("cell", *_columns(statement))]
    same = exp.Join(this=own_table(PEOPLE, "i"), on=equal(own("id", "i"), own("p", "r")))
    return select(own("p", "i"), *columns, of=own_table(name, "r"), joins=[same])


def _worst(name: str) -> exp.Select:
    """Return the most rows, cells and rows in a cell of one person."""
    each = select(
        named(exp.Sum(this=own("n")), "a"),
        named(exp.Count(this=STAR), "b"),
        named(exp.Max(this=own("n")), "c"),
        of=own_table(name),
        by=[own("p")],
    )
    return select(*(exp.Max(this=own(column)) for column in ("a", "b", "c")), of=each)


def _guard(worst: tuple[int, int, int], *, bounds: ContributionBounds) -> None:
    """Refuse sums of which somebody kept more than the bounds say."""
    match bounds:
        case RowBound(max_rows=m):
            limits = (m, m, m)
        case CellBound(max_cells=k, max_rows_per_cell=r):
            limits = (rows_per_unit(bounds), k, r)
        case OneEvent():
            raise EngineError("events have no persons")
        case _:
            assert_never(bounds)
    if any(found > limit for found, limit in zip(worst, limits, strict=True)):
        raise EngineError("contribution bound not enforced")


def _totals(name: str, statement: Statement) -> exp.Select:
    """Return (tag, ``cell``, ``n``, sums) over everybody who is not left out."""
    sums = [named(exp.Sum(this=own(column, "k")), column) for column in _columns(statement)]
    out = left_join(own_table(LEFT_OUT, "o"), on=equal(own("p", "o"), own("p", "k")))
    return select(
        named(num(SUMS), "tag"),
        own("cell", "k"),
        *sums,
        of=own_table(name, "k"),
        joins=[out],
        where=[missing(own("p", "o"))],
        by=[own("cell", "k")],
    )


def stored_sums(
    compiled: OnePass,
    *,
    asked: int,
    dataset: Dataset,
    copies: Copies | None,
    on: Session,
    read: _Read | None = None,
) -> PersonSums:
    """Read the rows of some statements, bound them and add them up by person and cell.

    Args:
        compiled: The statements.
        asked: Number of aggregates that were asked for.
        dataset: Public facts.
        copies: Prepared copies that they read, if there are.
        on: Where the sums are stored: DuckDB.
        read: Gives the columns of a query, where another engine reads the rows: it hands over what
            each person adds to each cell, and this process is trusted with it.  Nothing is sorted
            there for several statements.

    Raises:
        EngineError: If reading failed, or somebody kept more than the bounds.
    """
    stored, statements = False, compiled.statements
    sums = PersonSums(statements, asked=asked, dataset=dataset, copies=copies, on=on, read=read)
    try:
        with compiled.sorted(on):
            sums.store()
        stored = True
    finally:
        if not stored:
            sums.close()
    return sums
