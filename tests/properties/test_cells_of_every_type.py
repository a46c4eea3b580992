"""No cell of any type makes a plan refused, a query fail, or moves more than its own patient.

Every native type of every source is declared as every kind of column, and as the id, over rows that
nobody would notice and over rows with one patient more for each odd cell.  Names and types alone
refuse the same columns of both, in the same words; what they accept is answered with the odd cells
too, and each patient moves their own cell of the answer, no further than one patient may.
"""

import unicodedata
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from confide.errors import ConfideError
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.aggregates.value import Ones, Plain
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.expression import BinOf, ColumnOf, DatePart, PartOf, QualityOf
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Table
from confide.tables.schema import Kind as ColumnKind
from confide.tables.source import Source, SourceKind
from native_types import IN_ARROW, IN_DUCKDB, IN_FILES_ALONE, IN_MEMORY_ALONE, NativeType
from queried import nest, queried
from rows_world import KEY, dataset
from source_kinds import KINDS, Kind, Stored, opened, prepared

PLAIN = 2
"""Patients with a plain cell; those with odd cells come after them."""
MOST = 40
LOWER, UPPER = 0, 10
KEYS = CellBound(max_cells=3)
ROWS = RowBound(max_rows=1)


OWN = (
    *(("true", 0), ("false", 1), ("2020-01-01", 0), ("infinity", 1), ("0.001", 0), ("-0.001", 1)),
    *((str(uuid.UUID(int=1)), 0), (str(uuid.UUID(int=0)), 1)),
)
"""Codes as types of their own write them: a type that can have none of a category's is refused."""


def column(kind: ColumnKind, of: NativeType) -> Column:
    """Return the column of a type, declared as a kind."""
    name = f"{of.name} as {kind.value}"
    match kind:
        case ColumnKind.NUMBER:
            return Column(name=name, kind=kind, source=of.name, lower=LOWER, upper=UPPER)
        case ColumnKind.DATE:
            return Column(name=name, kind=kind, source=of.name, lower=18000, upper=18500)
        case ColumnKind.CATEGORY:
            return Column(
                name=name, kind=kind, source=of.name, keys=("one", "two", "rest"), other=2,
                codes=(("-1", 1), ("1", 0), ("2", 1), ("3", 2), ("a", 1), ("\u00e4", 1), *OWN),
            )  # fmt: skip
        case ColumnKind.TEXT:
            return Column(name=name, kind=kind, source=of.name)


WHO = Column(name="who", kind=ColumnKind.NUMBER, source="who", lower=0, upper=MOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A native type as a kind of column, or as the id of a table when ``column`` is None."""

    of: NativeType
    column: Column | None = None

    @property
    def name(self) -> str:
        return f"{self.of.name} as id" if self.column is None else self.column.name

    def table(self) -> Table:
        if self.column is None:
            return Table(
                name=self.name, source=self.of.name, columns=(WHO,), id_column=self.of.name
            )
        return Table(name=self.name, source=self.of.name, columns=(self.column, WHO))

    def questions(self) -> tuple[Aggregate | KeyedAggregate, ...]:
        """Return what is asked, apart for each patient where an answer has room for it."""
        person = BinOf(of=ColumnOf(table=self.name, column="who"), edges=tuple(range(MOST + 1)))
        relation = Relation(table=self.name)

        def ask(*axes: Any, value: Any = None) -> Aggregate:
            return Aggregate(
                relation=relation, axes=(person, *axes), value=value or Ones(), bounds=ROWS
            )

        if self.column is None:
            return (ask(),)
        x = ColumnOf(table=self.name, column=self.column.name)
        read = ask(QualityOf(of=x))  # sees cells that the other questions drop
        match self.column.kind:
            case ColumnKind.NUMBER:
                return read, ask(value=Plain(of=x))
            case ColumnKind.DATE:
                return read, ask(PartOf(of=x, part=DatePart.YEAR))
            case ColumnKind.CATEGORY:
                return read, ask(x)
            case ColumnKind.TEXT if self.of.name in TEXTS:
                return read, KeyedAggregate(relation=relation, key=x, bounds=KEYS)
            case ColumnKind.TEXT:
                return (read,)


TEXTS = {"varchar", "enum", "string", "string-view", "dictionary-text"} | {
    each.name for each in IN_DUCKDB if each.name.startswith("collate")
}


AS_TEXT = TEXTS | {"uuid", "large-string"}


def world(declared: Sequence[Declared]) -> Dataset:
    return dataset(tables=tuple(each.table() for each in declared), per_patient=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """Types of a source, and how rows of them are stored."""

    name: str
    types: tuple[NativeType, ...]
    kind: Kind | None = None
    copied: bool = False
    nested: bool = False

    def declared(self) -> tuple[Declared, ...]:
        """Return each type as each kind of column, and as an id."""
        return tuple(
            Declared(of=of, column=None if kind is None else column(kind, of))
            for of in self.types
            for kind in (*ColumnKind, None)
        )

    def world(self, declared: Sequence[Declared]) -> Dataset:
        """Return a data set that declares them, where rows lie nested by queries."""
        return queried(world(declared), json=False) if self.nested else world(declared)

    def stored(self, folder: Path, *, odd: bool) -> Stored:
        folder.mkdir(parents=True)
        if self.kind is None:
            stored = in_duckdb(folder, self.types, odd=odd)
            with duckdb.connect(str(folder / stored.source.path)) as connection:
                for of in self.types if self.nested else ():
                    nest(connection, of.name, json=False)
            return stored
        return self.kind.store(folder, {of.name: in_arrow(of, odd=odd) for of in self.types})


def in_duckdb(folder: Path, types: tuple[NativeType, ...], *, odd: bool) -> Stored:
    with duckdb.connect(str(folder / "rows.duckdb")) as connection:
        for of in types:
            cells = [of.plain] * PLAIN + [*of.odd] * odd
            cast = f"CAST(? AS {of.of.split(' COLLATE ')[0]})"
            connection.execute(
                f'CREATE TABLE "{of.name}" (pid BIGINT, who BIGINT, "{of.name}" {of.of})'
            )
            connection.executemany(
                f'INSERT INTO "{of.name}" VALUES (?, ?, {cast})',
                [(who, who, cell) for who, cell in enumerate(cells)],
            )
    return Stored(source=Source(kind=SourceKind.DUCKDB, path="rows.duckdb"), base=folder)


def in_arrow(of: NativeType, *, odd: bool) -> pa.Table:
    cells = of.array(of.odd if odd else ())
    numbers = pa.array(range(len(cells)))
    return pa.table({"pid": numbers, "who": numbers, of.name: cells})


def named(name: str) -> Kind:
    return next(kind for kind in KINDS if kind.name == name)


IN_FILES, IN_MEMORY = (*IN_ARROW, *IN_FILES_ALONE), (*IN_ARROW, *IN_MEMORY_ALONE)
IN_STRUCTS = tuple(t for t in IN_DUCKDB if t.name != "list")  # which no query may give
IN_POLARS = tuple(t for t in IN_MEMORY if not t.name.startswith("timestamp-s"))
NATIVE = (
    Native(name="duckdb", types=IN_DUCKDB),
    Native(name="duckdb, prepared", types=IN_DUCKDB, copied=True),
    Native(name="duckdb, queries", types=IN_STRUCTS, nested=True),
    *(
        Native(name=name, types=IN_FILES, kind=named(name))
        for name in (
            "parquet",
            "parquet, no statistics",
            "parquet, version 1, no dictionary, int96",
            "parquet, parts",
        )
    ),
    Native(name="parquet, prepared", types=IN_FILES, kind=named("parquet"), copied=True),
    Native(name="arrow", types=IN_MEMORY, kind=named("arrow")),
    Native(name="pandas, Arrow", types=IN_MEMORY, kind=named("pandas, Arrow")),
    Native(name="polars", types=IN_POLARS, kind=named("polars")),
)


def outcomes(native: Native, stored: Stored, declared: Sequence[Declared]) -> dict[str, Any]:
    """Return, table by table, the words of its refusal or failure, or its answer.

    An engine that failed once may refuse everything afterwards, so it is opened anew.
    """
    of = native.world(declared)
    if native.copied:
        stored = prepared(stored, of=of, hash_key=KEY)
    found: dict[str, Any] = {}
    while len(found) < len(declared):
        with opened(stored, of=of, hash_key=KEY) as engine:
            for each in declared[len(found) :]:
                answer = found[each.name] = outcome(engine, each.questions(), of)
                if isinstance(answer, str):
                    break
    return found


def outcome(engine: Any, questions: tuple[Any, ...], of: Dataset) -> Any:
    try:
        engine.check(questions, dataset=of)
    except ConfideError as refused:
        return f"refused: {refused}"
    try:
        return engine.aggregate(questions, dataset=of).reveal_to_gate()
    except ConfideError as failed:
        return f"failed: {failed}"


def problems(native: Native, stored: Stored) -> dict[str, str]:
    """Return the tables that names and types alone refuse."""
    with opened(stored, of=native.world(native.declared()), hash_key=KEY) as engine:
        return dict(engine.problems())


def wrong(native: Native, folder: Path) -> Iterator[str]:
    """Yield what an odd cell did that it may not do."""
    plain = native.stored(folder / "plain", odd=False)
    odd = native.stored(folder / "odd", odd=True)
    refused = problems(native, plain)
    if refused != problems(native, odd):
        yield "names and types are told otherwise"
    asked = [each for each in native.declared() if each.name not in refused]
    # as soon as one id is text, all are
    numeric = [each for each in asked if each.column is None and each.of.name not in AS_TEXT]
    for declared in ([each for each in asked if each not in numeric], numeric):
        for name, answer in outcomes(native, odd, declared).items():
            each = next(one for one in declared if one.name == name)
            yield from (f"{name}: {words}" for words in moved(each, answer))
    yield from merged(native, folder, [each for each in numeric if each.column is None])


def merged(native: Native, folder: Path, ids: Sequence[Declared]) -> Iterator[str]:
    """Yield the numbers that are one person beside a neighbour, and another one without.

    Every second odd id is stored alone: who counts there counts beside all others too.
    """
    whole = outcomes(native, native.stored(folder / "all", odd=True), ids)
    for first in (0, 1):
        few = tuple(replace(of, odd=of.odd[first::2]) for of in native.types)
        half = replace(native, types=few)
        alone = outcomes(half, half.stored(folder / f"half {first}", odd=True), ids)
        for name in alone.keys() & whole.keys():
            if isinstance(alone[name], str) or isinstance(whole[name], str):
                continue
            (one,), (other,) = alone[name], whole[name]
            if one[PLAIN : PLAIN + 19] != other[PLAIN + first :: 2][:19]:
                yield f"{name}: two persons are one"


def moved(declared: Declared, answers: Any) -> Iterator[str]:
    """Yield how an answer is not one plain cell for each plain patient, and one odd one a
    patient."""
    if isinstance(answers, str):
        yield answers
        return
    for question, answer in zip(declared.questions(), answers, strict=True):
        if isinstance(question, KeyedAggregate):
            yield from keys_moved(declared, answer)
        else:
            yield from cells_moved(declared, question, answer)


def keys_moved(declared: Declared, answer: Any) -> Iterator[str]:
    texts = [declared.of.plain] * PLAIN + [cell for cell in declared.of.odd if cell]
    expected = Counter(unicodedata.normalize("NFC", text) for text in texts)
    if answer != expected:
        apart = expected.keys() ^ answer.keys()
        yield f"keys {sorted(apart)} are of one only, or counted otherwise"


def cells_moved(declared: Declared, question: Aggregate, answer: Any) -> Iterator[str]:
    each = len(answer) // MOST  # cells of one patient
    most = UPPER - LOWER if isinstance(question.value, Plain) else 1
    cells = [answer[each * person : each * (person + 1)] for person in range(MOST)]
    if declared.column is not None and cells[0] != cells[1]:
        yield "one plain cell is not read as the other"
    far = [person for person in range(MOST) if sum(map(abs, cells[person])) > most]
    if far:
        yield f"patients {far} moved too far"
    judged = any(isinstance(axis, QualityOf) for axis in question.axes)
    people = PLAIN + len(declared.of.odd)
    if judged and any(sum(cells[person]) != 1 for person in range(people)):
        yield "a cell is neither well, nor missing, nor odd"


QUICK = {"duckdb", "duckdb, queries", "parquet", "arrow"}


@pytest.mark.parametrize(
    "native",
    [
        pytest.param(each, id=each.name, marks=() if each.name in QUICK else pytest.mark.audit)
        for each in NATIVE
    ],
)
def test_no_cell_of_any_type_refuses_fails_or_moves_anybody_else(
    native: Native, tmp_path: Path
) -> None:
    if native.kind is not None and native.kind.needs:
        pytest.importorskip(native.kind.needs)
    assert list(wrong(native, tmp_path)) == []
