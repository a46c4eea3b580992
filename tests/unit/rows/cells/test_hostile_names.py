"""10,000 hostile names and codes: each stays a quoted identifier or a literal; none is executed."""

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

from confide.errors import ContractError
from confide.rows.engines.duckdb import open_engine
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.bound_contributions import CellBound
from confide.tables.filter import IsIn
from confide.tables.relation import Relation
from confide.tables.schema import Column, Kind, Table
from confide.tables.source import Source, SourceKind
from rows_world import KEY, ask, col, dataset

PIECES = [
    "'", '"', ";", "--", "/*", "*/", "\\", "$$", "$k1", "?", ":k1", "`", "[", "]", "(", ")", "\n",
    "\t", "\u2028", "{{", "}}", "%s", "E'", "x'", "U&'", "DROP TABLE canary", "SELECT", "UNION",
    "'; DROP TABLE canary; --", '"; DROP TABLE canary; --', "é", "e\u0301", "ß", "\u202e", "0", "''",
    '""', "\\'", "read_text('/etc/passwd')", "COPY canary TO", "ATTACH", "kept", "t0", "p", "h",
]  # fmt: skip
A_TABLE, CODES, TABLES = 100, 23, 5


def hostile(count: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    picked = [rng.integers(len(PIECES), size=rng.integers(1, 5)) for _ in range(count)]
    return [f"{''.join(PIECES[i] for i in those)}#{number}" for number, those in enumerate(picked)]


def hostile_table(number: int) -> tuple[Table, list[str], list[str]]:
    names = hostile(A_TABLE, seed=number)
    codes = hostile(A_TABLE * CODES, seed=1000 + number)
    columns = tuple(
        Column(
            name=name,
            kind=Kind.CATEGORY if index else Kind.TEXT,
            source=name,
            keys=tuple(f"{name} {i}" for i in range(CODES)) if index else (),
            codes=tuple((c, i) for i, c in enumerate(codes[index * CODES : (index + 1) * CODES]))
            if index
            else (),
        )
        for index, name in enumerate(names)
    )
    return (
        Table(name=f"t'{number}\"; --", source=f"s'{number}\"; --", columns=columns),
        names,
        codes,
    )


@pytest.mark.parametrize("number", range(TABLES))
def test_hostile_names_and_codes_are_never_executed(number):
    table, names, codes = hostile_table(number)
    of = dataset(tables=(table,), per_patient=())
    frame = pa.table(
        {"pid": pa.array([1, 2])}
        | {name: [codes[i * CODES], codes[i * CODES + 1]] for i, name in enumerate(names)}
    )
    asked = (
        ask(table.name, axes=[col(names[1], table.name)], where=IsIn(of=col(names[2], table.name), values=(0, 1))),
        KeyedAggregate(
            relation=Relation(table=table.name), key=col(names[0], table.name), bounds=CellBound(max_cells=1)
        ),
    )  # fmt: skip
    source = Source(kind=SourceKind.FRAMES)
    with open_engine(
        source, base=Path(), dataset=of, hash_key=KEY, frames={table.source: frame}
    ) as engine:
        engine._connection.execute("CREATE TABLE canary AS SELECT 1 AS alive")
        counts, keys = engine.aggregate(asked, dataset=of).reveal_to_gate()
        assert engine._connection.execute("SELECT alive FROM canary").fetchall() == [(1,)]
        ready = engine._ready(asked, dataset=of)
        for step in ready.steps:
            assert_only_data(step.statement.query, step.sql, names)
    assert counts[:2] == (1, 1)
    assert set(keys) == {codes[0].replace("e\u0301", "é"), codes[1].replace("e\u0301", "é")}


def assert_only_data(query: exp.Query, sql: str, names: list[str]) -> None:
    """DuckDB's own parser finds one SELECT in the text; names of the data are identifiers of it."""
    assert isinstance(query, exp.Select | exp.Union)
    found = duckdb.extract_statements(sql)
    assert [statement.type for statement in found] == [duckdb.StatementType.SELECT]
    read = {c.name for c in query.find_all(exp.Column) if c.table == "s"}
    made = {f"{made} {name}" for made in ("cell", "text") for name in ("pid", *names)}
    assert {"pid", *names} <= read <= {"pid", *names} | made


@pytest.mark.parametrize(
    "name",
    ["we'ird.parquet", 'we"ird', "a;b", "$k1", "[x]", "*.parquet", "a?b", "--", "é", "e\u0301"],
)
def test_hostile_file_names_are_paths_and_nothing_else(tmp_path, name):
    """A star in a name is a star: other files beside it are not read."""
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"pid": [1, 2]}), tmp_path / name)
    pq.write_table(pa.table({"pid": [1, 2, 3]}), tmp_path / "other.parquet")
    pq.write_table(pa.table({"pid": [1, 2, 3]}), tmp_path / "axb")
    of = dataset(tables=(Table(name="t", source=name, columns=()),), per_patient=())
    source = Source(kind=SourceKind.PARQUET, path=".")
    if any(character in name for character in "*?["):
        with pytest.raises(ContractError, match="may not contain"):
            open_engine(source, base=tmp_path, dataset=of, hash_key=KEY)
        return
    with open_engine(source, base=tmp_path, dataset=of, hash_key=KEY) as engine:
        assert engine.aggregate((ask("t"),), dataset=of).reveal_to_gate() == ((2,),)


def test_a_table_of_three_hundred_columns_compiles_and_runs():
    names = [f"c{i}" for i in range(300)]
    columns = tuple(
        Column(name=name, kind=Kind.NUMBER, source=name, lower=0, upper=2**40) for name in names
    )
    of = dataset(tables=(Table(name="wide", source="wide", columns=columns),), per_patient=())
    frame = pa.table({"pid": [1, 1, 2]} | {name: [1.0, 2.0, 3.0] for name in names})
    source = Source(kind=SourceKind.FRAMES)
    with open_engine(
        source, base=Path(), dataset=of, hash_key=KEY, frames={"wide": frame}
    ) as engine:
        (count,) = engine.aggregate((ask("wide"),), dataset=of).reveal_to_gate()
    assert count == (3,)
