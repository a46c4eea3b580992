"""Prepared copies as SELECTs: cleaned canonical integers, clustered by person and keyed order.

Of each declared table there is

- the *clustered* copy: ``p`` (the dense patient index), ``h``, ``x`` (the person's point), the
  columns ``c0, c1, …`` and how each cell was as it came, ``q0, q1, …``, in the order p, h, columns,
  qualities; so after any filter the first m rows of each person are one streaming pass;
- the *texts* of each text column, numbered as they sort, in a file of their own; the other copies
  hold the number, and the clustered one 60 bits of the text's hash beside it, ``t0, t1, …``;
- for a table with several rows a patient, the *rank projection*: ``k`` = rank · 2³² + p and the
  columns, in the order of k, of the patients whose rows have no NULL; ``rank ≤ m`` skips the rest
  of the file.  The other patients' rows are in the *partial* copy, clustered like the first.

*Privacy:* a text's number depends on what texts others have, but the order of two texts does not;
numbers order equal places only, and are never published: totals get their texts in the same query.
Which copy answers follows from public facts only (the question and the schema); patients
with and without NULLs are read by the same query, each from their own file.

References:
    [WZL20] Wilson et al. Differentially private SQL with bounded user contribution. PETS 2020.
        https://doi.org/10.2478/popets-2020-0025
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.build import (
    BIGINT,
    aliased,
    at_most,
    cast,
    equal,
    left_join,
    less,
    named,
    num,
    own,
    select,
)
from confide.rows.sources.parquet import parquet_relation
from confide.tables.schema import Dataset, Kind, Table

PLACES = 2**32
"""``k`` is rank · 2³² + p; p is below 2³¹."""
PREPARED = "prepared"
"""Folder of the copies, in that of the workspace."""
MOST_RANKS = 100
"""Later rows of a patient are not in the rank projection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCopies:
    """Read the copies in a folder, if they are those of the source."""

    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeCopies:
    """Read the source, and write copies to a folder."""

    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCopy:
    """The files of one table.

    Attributes:
        clustered: Rows by person and keyed order.
        ranks: Rows by rank of the patients without NULLs; None with one row a patient.
        partial: Clustered rows of the other patients; None with one row a patient.
        texts: Numbered texts of text columns, by index; none with the event as privacy unit.
    """

    clustered: Path
    ranks: Path | None = None
    partial: Path | None = None
    texts: Mapping[int, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """All prepared copies of a data set.

    Attributes:
        dataset: Public facts they were made under.
        tables: By declared name.
        patients: Dense patient index; None with the event as privacy unit.
        proved: What proves the ranks of each table, by :mod:`confide.rows.cells.proved_ranks`.
        relation: How queries of the engine name a file.
    """

    dataset: Dataset
    tables: Mapping[str, TableCopy]
    patients: Path | None = None
    proved: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)
    relation: Callable[[Path], exp.Table] = field(default_factory=lambda: parquet)

    def copy_of(self, table: Table) -> TableCopy:
        """Return the files of a table.

        Raises:
            ContractError: If it was not prepared.
        """
        copy = self.tables.get(table.name)
        if copy is None:
            raise ContractError(
                f"Table {table.name!r} was not found when the copies were prepared.",
                hint="Run `confide prepare` again.",
            )
        return copy

    def rows(self, table: Table, *, judged: Sequence[str] = ()) -> exp.Select:
        """Return ``p``, ``h``, ``x`` and ``c0, c1, …`` of a table, in order; texts as numbers.

        Of the texts of column i there are 60 bits too, as ``ti``.

        Args:
            table: Declared table.
            judged: Columns ``q0, q1, …`` to return too.

        Raises:
            ContractError: If it was not prepared.
        """
        rows = self._clustered(table, file=self.copy_of(table).clustered)
        more = [*judged]
        if self.patients is not None:
            texts = (i for i, column in enumerate(table.columns) if column.kind is Kind.TEXT)
            more += ["x", *(f"t{i}" for i in texts)]
        rows.set("expressions", [*rows.expressions, *map(_wide, more)])
        return rows

    def first_rows(self, table: Table, *, most: int) -> exp.Select:
        """Return the rows of rank at most ``most``, with ``p`` standing for (rank, patient).

        Raises:
            ContractError: If there is no rank projection.
        """
        copy = self.copy_of(table)
        if copy.ranks is None:
            raise ContractError(f"Table {table.name!r} has no rank projection.")
        key = own("k")
        inside = [at_most(num(PLACES), key), less(key, num((most + 1) * PLACES))]
        columns = [
            _wide(f"c{index}")
            for index, column in enumerate(table.columns)
            if column.kind is not Kind.TEXT
        ]
        return select(named(key, "p"), *columns, of=self.relation(copy.ranks), where=inside)

    def partial_rows(self, table: Table) -> exp.Select:
        """Return the rows of the patients that the rank projection leaves out, in order.

        Raises:
            ContractError: If there is no rank projection.
        """
        copy = self.copy_of(table)
        if copy.partial is None:
            raise ContractError(f"Table {table.name!r} has no rank projection.")
        return self._clustered(table, file=copy.partial)

    def with_texts(
        self, query: exp.Query, table: Table, *, column: int, front: str = "tag"
    ) -> exp.Select:
        """Return the totals of a query with the text of each key in place of its number.

        Args:
            query: Rows (``front``, ``cell``, ``n``).
            table: Whose column the keys are in.
            column: Its place.
            front: ``tag``, or ``p`` of sums by person.

        Raises:
            ContractError: If the texts were not prepared.
        """
        texts = aliased(parquet(self._texts_of(table, column=column)), "d")
        columns = [own(front, "q"), named(own("text", "d"), "cell"), own("n", "q")]
        join = left_join(texts, on=equal(own("id", "d"), own("cell", "q")))
        return select(*columns, of=query, joins=[join])

    def _texts_of(self, table: Table, *, column: int) -> Path:
        path = self.copy_of(table).texts.get(column)
        if path is None:
            raise ContractError(f"The texts of table {table.name!r} were not prepared.")
        return path

    def files(self) -> tuple[Path, ...]:
        """Return every file."""
        found = [self.patients]
        for copy in self.tables.values():
            found += [copy.clustered, copy.ranks, copy.partial, *copy.texts.values()]
        return tuple(path for path in found if path is not None)

    def _clustered(self, table: Table, *, file: Path) -> exp.Select:
        """Return what both clustered copies hold; texts come as numbers, where persons do."""
        whole = [f"c{i}" for i, c in enumerate(table.columns) if c.kind is Kind.TEXT]
        columns: list[exp.Expr] = [
            own(f"c{i}") if self.patients is None and f"c{i}" in whole else _wide(f"c{i}")
            for i in range(len(table.columns))
        ]
        person = [] if self.patients is None else [own("p"), _wide("h")]
        return select(*person, *columns, of=self.relation(file))


def parquet(path: Path, *, alias: str | None = None) -> exp.Table:
    """Return a Parquet file as a relation."""
    table = parquet_relation(path)
    if alias is not None:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    return table


def _wide(name: str) -> exp.Expr:
    return named(cast(own(name), BIGINT), name)
