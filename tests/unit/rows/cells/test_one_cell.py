"""One patient's cell may be anything; nobody else's rows are read differently for it."""

import csv
import datetime as dt
import decimal
import random
from collections import Counter

import duckdb
import numpy as np
import pytest
from sqlglot import exp

from confide.files.dataset import declare
from confide.files.yaml_text import parse_yaml
from confide.rows.cells.build import select
from confide.rows.engines.duckdb import open_engine
from confide.rows.sources.delimited import csv_scan
from confide.rows.sources.fingerprint import SourceState
from confide.rows.sources.opened import Opened
from confide.rows.sources.text_files import TextFiles
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Ones, Plain
from confide.tables.bound_contributions import CellBound
from confide.tables.expression import ColumnOf
from confide.tables.relation import Relation
from confide.tables.schema import Table
from rows_world import KEY

pd = pytest.importorskip("pandas", reason="pandas is not installed")

DATASET = """\
dataset: {{id: t, lineage: t, snapshot: "1"}}
source: {source}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 1}}}}
tables:
  visits:
    from: {table}
    columns:
      x: {{kind: number, lower: 0, upper: 10}}
      code: {{categories: {{1: one, 2: two}}}}
      day: {{kind: date, lower: 2026-01-01, upper: 2026-12-31}}
      note: {{kind: text}}
"""
CODE = ColumnOf(table="visits", column="code")
X = ColumnOf(table="visits", column="x")
BOUNDS = CellBound(max_cells=2)


def sums(folder, *, frames=None, file=""):
    """Return how many patients have rows, codes, and the sum of x over their first rows."""
    source = f"{{kind: {file}, path: .}}" if file else "{kind: frames}"
    text = DATASET.format(source=source, table=f"visits.{file}" if file else "visits")
    declared = declare(parse_yaml(text, name="d"), path=folder / "dataset.yaml")
    visits = Relation(table="visits")
    asked = (
        Aggregate(relation=visits, axes=(), value=Ones(), bounds=BOUNDS),
        Aggregate(relation=visits, axes=(CODE,), value=Ones(), bounds=BOUNDS),
        Aggregate(relation=visits, axes=(), value=Plain(of=X), bounds=BOUNDS),
    )
    with open_engine(
        declared.source, base=folder, dataset=declared.dataset, hash_key=KEY, frames=frames
    ) as engine:
        engine.check(asked, dataset=declared.dataset)
        return engine.aggregate(asked, dataset=declared.dataset).reveal_to_gate()


ROWS = {
    "pid": [1, 2, 3, 4],
    "x": [1, 2, 3, 4],
    "code": [1, 2, 1, 2],
    "day": [dt.date(2026, 1, 1)] * 4,
    "note": ["a", "b", "c", "d"],
}
ODD = [
    "odd", 2**70, 1.5, decimal.Decimal("1E+60"), None, float("nan"), b"\xff", "\ud800", 1 + 1j, [1],
    dt.datetime(2026, 1, 1, tzinfo=dt.UTC), np.int64(2), np.float64("inf"), True, object(),
]  # fmt: skip


@pytest.mark.parametrize("column", ["x", "code", "day", "note"])
def test_an_odd_cell_in_a_column_of_objects_moves_at_most_its_own_patient(tmp_path, column):
    without = sums(tmp_path, frames={"visits": pd.DataFrame(ROWS).iloc[:3]})
    for odd in ODD:
        cells = pd.Series([*ROWS[column][:3], odd], dtype=object)
        found = sums(tmp_path, frames={"visits": pd.DataFrame({**ROWS, column: cells})})
        assert found[0][0] == without[0][0] + 1
        assert sum(abs(a - b) for a, b in zip(found[1], without[1], strict=True)) <= 1
        assert 0 <= found[2][0] - without[2][0] <= 10


def test_objects_are_read_as_a_typed_column_would_be(tmp_path):
    typed = sums(tmp_path, frames={"visits": pd.DataFrame(ROWS)})
    for kind in (int, float, str, np.int64):
        cells = {name: pd.Series(map(kind, ROWS[name]), dtype=object) for name in ("pid", "code")}
        assert sums(tmp_path, frames={"visits": pd.DataFrame({**ROWS, **cells})}) == typed
    flags = pd.Series([True, False, None, True], dtype=object)
    assert sums(tmp_path, frames={"visits": pd.DataFrame({**ROWS, "x": flags})})[2] == (2,)


def test_an_odd_id_among_objects_costs_no_other_patient(tmp_path):
    without = sums(tmp_path, frames={"visits": pd.DataFrame(ROWS).iloc[:3]})
    for odd in ODD:
        ids = pd.Series([1, 2, 3, odd], dtype=object)
        found = sums(tmp_path, frames={"visits": pd.DataFrame({**ROWS, "pid": ids})})
        assert 0 <= found[0][0] - without[0][0] <= 1


STRAY = [
    b"5,1,1,,a\rb\n", b"5,1,1,,a\r\n", b"\r", b"5,1,1,,a\0b\n", b'5,1,1,,ab"cd\n', b"5\n",
    b"5,1,1,,a,b,c\n", b"5,1,1,,\xff\n", b'5,1,1,,"\xff"\n', b"\xff,1,1,,a\n", b"\n", b"\xef\xbb\xbf5\n",
    b'5,1,1,,"ab"cd\n', b'5,1,1,,"a\r\nb"\n',
    b"5,1,1,,a\xe2\x82\n", b'5,1,1,,"\xf0\x9f"\n', b"5,1,1\xc3,\xc3,\xc3\n", b"5,1,1,,\xc3\r\n",
    b"\xe2\x82\n", b"5,1,\xf0\x9f\x98,\xed\xa0,\xc0\xaf\n",
    b"5,1,1,," + b"z" * 3_000_000 + b"\n", b"5,1,1,,a\r\r\n", b"5,1,1,,a\r\r", b"\r\r\r\n", b"\r\n\r\r\n",
]  # fmt: skip
PIECES = [
    b"\r",
    b"\r",
    b"\r",
    b"\n",
    b"a",
    b",",
    b'"a\r\nb"',
    b'"a,b"',
    b"\xff",
    b"\xc3",
    b"\xe2\x82",
    b"\xf0\x9f\x98",
    b"\x80",
    b"\0",
    b" ",
    b"\n5,1,q\r",
]


def csv_sums(folder, lines, *, end=b"\n"):
    head = b"pid,x,code,day,note" + end
    (folder / "visits.csv").write_bytes(head + b"".join(lines))
    return sums(folder, file="csv")


ENDS = {"lines": [b"\n"], "carriage returns": [b"\r\n"], "mixed": [b"\r\n", b"\n", b"\n", b"\r\n"]}


@pytest.mark.parametrize(
    ("place", "ends"),
    [(0, "lines"), (500, "lines"), (1000, "lines"), (500, "carriage returns"), (0, "mixed")],
)
def test_a_stray_character_in_a_csv_file_disturbs_no_other_row(tmp_path, place, ends):
    ends = ENDS[ends]
    rows = [b"%d,1,1,,n" % (10 + i) + ends[i % len(ends)] for i in range(1000)]
    for stray in STRAY:
        found = csv_sums(tmp_path, [*rows[:place], stray, *rows[place:]], end=ends[0])
        assert 0 <= found[0][0] - 1000 <= 1, stray[:40]
        assert 0 <= found[2][0] - 1000 <= 10, stray[:40]


def disturbed(folder, *, learned=False):
    """Return drawn odd rows between which and the end of their file another row is read
    otherwise."""
    rng, found = random.Random(20), []
    path, table = folder / "rows.csv", Table(name="t", source="rows.csv", columns=())
    for number in range(400):
        ends = rng.choice([*ENDS.values()])
        rows = [b"%d,1,n" % i + ends[i % len(ends)] for i in range(20)]
        odd = b"".join(rng.choices(PIECES, k=rng.randint(1, 6))) + rng.choice(ends)
        place = rng.randint(0, 20)
        path.write_bytes(b"pid,x,note" + ends[0] + b"".join([*rows[:place], odd, *rows[place:]]))
        (folder / str(number)).mkdir()
        texts = TextFiles(folder / str(number), state=SourceState.of((path,)))
        scan = csv_scan((path,), table=table, declared={"pid"})
        opened = texts.linked(Opened(scans={"t": scan}))
        relation = opened.scans["t"].relation
        texts.settle(relation.sql("confideduckdb"))
        if learned:
            next(o for o in relation.find_all(exp.PropertyEQ) if o.this.name == "new_line").pop()
        read = Counter(duckdb.sql(select("*", of=relation).sql("confideduckdb")).fetchall())
        if not read >= Counter((str(i), "1", "n") for i in range(20)):
            found.append((odd, place, ends))
    return found


def test_no_row_of_odd_characters_changes_a_cell_of_another_row(tmp_path):
    assert disturbed(tmp_path) == []


def test_lines_inside_one_patients_quoted_text_are_never_rows_of_others(tmp_path):
    """A file of some 40 MB has several scan boundaries, and a long text lies across one."""
    lines = "".join(f"{10**7 + i},1,1,,x\n" for i in range(120_000))[:1_990_000]
    with (tmp_path / "visits.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["pid", "x", "code", "day", "note"])
        writer.writerows([i, 1, 1, "", "n" * 200] for i in range(80_000))
        writer.writerows([1, 1, 1, "", lines] for _ in range(12))
    assert sums(tmp_path, file="csv")[0] == (80_000,)


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_one_patients_number_decides_nothing_about_the_nan_of_others(tmp_path, kind):
    """The statistics of a Parquet file pass over NaN, and the engine believes them."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    nan = float("nan")

    def found(*last):
        cells = [nan] * 30 + [1.0, *last]
        columns = {
            "pid": pa.array(range(len(cells))),
            "x": pa.array(cells, kind, from_pandas=False),
            "code": pa.array(cells, kind, from_pandas=False),
            "day": pa.array([dt.date(2026, 1, 1)] * len(cells)),
            "note": pa.array(["a"] * len(cells)),
        }
        pq.write_table(pa.table(columns), tmp_path / "visits.parquet")
        return sums(tmp_path, file="parquet")

    without = found()
    assert without == ((31,), (1, 0), (1,))
    for cell in (0.5, 2.0, 20.0, -20.0, 2.0**60, float("inf"), nan, None):
        moved = found(cell)
        assert abs(moved[2][0] - without[2][0]) <= 10, cell
        assert sum(abs(a - b) for a, b in zip(moved[1], without[1], strict=True)) <= 1, cell
