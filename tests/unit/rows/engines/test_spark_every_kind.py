"""What every kind of statistic asks has in Spark the integers of DuckDB: odd cells, any settings."""

import datetime as dt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import confide
from confide.files.kinds import KINDS
from confide.rows.engines.duckdb import open_engine
from confide.rows.relational.compiler import Alone
from confide.rows.relational.shapes import compiler_of
from confide.tables.aggregates.degrees import DegreeAggregate, DegreeBounds, How
from confide.tables.aggregates.shapes import parts
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from confide.tables.records import Records
from confide.tables.relation import Relation
from confide.tables.source import Source, SourceKind
from rows_world import DATE_TEXTS, ENDS, KEY, NUMBERS, TEXTS
from spark_rows import needs_spark, opened

every = pytest.importorskip("every_kind", reason="pandas is not installed")
pytestmark = needs_spark()
FRAMES = Source(kind=SourceKind.FRAMES)
PERSONS, VISITS, CONTACTS = 60, 300, 400
ODD_NUMBERS = [*NUMBERS, 0.0, 1.0, 2.0, 17.5, 99.0, 400.0]
MOMENTS = [
    dt.datetime(2025, 1, 1, 0, 30, tzinfo=dt.UTC),
    dt.datetime(2025, 1, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC),
    dt.datetime(2025, 3, 30, 1, 30, tzinfo=dt.UTC),
    dt.datetime(2025, 6, 30, 23, 30, tzinfo=dt.UTC),
    dt.datetime(2025, 7, 1, tzinfo=dt.UTC),
    dt.datetime(1, 1, 1, tzinfo=dt.UTC),
    None,
]


def town(*, texts, seed=4):
    """Tables of few persons: odd cells in every column, rows twice, contacts at home and at work."""
    draw = np.random.default_rng(seed)

    def pick(cells, count, odd=()):
        """Draw plain cells, and one in five of the odd ones."""
        usual = [cells[i] for i in draw.integers(len(cells), size=count)]
        other = [odd[i] for i in draw.integers(len(odd), size=count)] if odd else usual
        return [
            o if rare else u
            for u, o, rare in zip(usual, other, draw.random(count) < 0.2, strict=True)
        ]

    def ids(numbers):
        if not texts:
            return pa.array([None if draw.random() < 0.03 else int(i) for i in numbers], pa.int64())
        return pa.array(
            pick([f"e\u0301 {i}" for i in numbers], 0) or [_id(i, draw) for i in numbers]
        )

    who, often = np.arange(PERSONS), draw.integers(0, PERSONS, VISITS)
    numbers = [float(i) for i in range(5)]
    people = {
        "pid": ids(who),
        "sex": pa.array(pick(["female", "male"], PERSONS, TEXTS)),
        "ill": pa.array(pick(["no", "yes"], PERSONS, [*TEXTS, "Yes", "yes "])),
        "dose": pa.array(pick(["low", "mid", "high"], PERSONS, [None, "LOW"])),
        "ward": pa.array(pick(["east", "west", "north"], PERSONS, TEXTS)),
        "age": pa.array(pick([20.0, 35.5, 70.0], PERSONS, ODD_NUMBERS), pa.float64()),
        "days": pa.array(pick([100.0, 300.0, 999.0], PERSONS, ODD_NUMBERS), pa.float64()),
        "falls": pa.array(pick(numbers, PERSONS, ODD_NUMBERS), pa.float64()),
        "weight": pa.array(pick(["0.5", "1", "1.25"], PERSONS, [None, "nan", "2e0", "x"])),
    }
    visits = {
        "pid": ids(often),
        "day": pa.array(pick(MOMENTS, VISITS), pa.timestamp("us", tz="Asia/Tokyo")),
        "code": pa.array(pick(["I10", "E11", "J45"], VISITS, TEXTS)),
        "ward": pa.array(pick(["east", "we\u0301st", "w\u00e9st"], VISITS, TEXTS)),
        "cost": pa.array(pick(["12", "7.5", "1e2"], VISITS, [None, "", "inf", "0x12", "1d"])),
        "written": pa.array(pick(["2025-02-03", "2025-02-03T23:30:00-05:00"], VISITS, DATE_TEXTS)),
    }
    ends = draw.integers(0, PERSONS, (2, CONTACTS)) ** 2 // PERSONS  # some have many contacts
    contacts = {
        "pid": ids(ends[0]),
        "other": ids(ends[1]),
        "place": pa.array(pick(["home", "work"], CONTACTS, TEXTS)),
    }
    found = {"people": people, "visits": visits, "contacts": contacts}
    return {name: _some_twice(pa.table(rows)) for name, rows in found.items()}


def _id(number, draw):
    """Return an id in either form of its accent, which is one id, or one that ends oddly."""
    accent = "\u00e9" if draw.random() < 0.5 else "e\u0301"
    return f"{accent} {number}{ENDS[number % len(ENDS)] if number % 7 == 0 else ''}"


def _some_twice(rows):
    return pa.concat_tables([rows, rows.slice(0, rows.num_rows // 4)])


def every_question(folder, frames):
    """Return the data set, and what statistics of every kind ask of it, each once."""
    with confide.open(every.dataset(measure="zcdp"), frames=frames, folder=folder) as site:
        plans = [
            site.plan({"id": "asked", "kind": kind, **every.STUDIES[kind]}, epsilon="1")
            for kind in KINDS
        ]
    asked = (part for plan in plans for each in plan.measurements for part in parts(each.aggregate))
    return plans[0].dataset, tuple(dict.fromkeys(asked))


def degrees(*places, persons):
    where = IsIn(of=ColumnOf(table="contacts", column="place"), values=places)
    return DegreeAggregate(
        relation=Relation(table="contacts", where=where),
        persons="people" if persons else "",
        bounds=DegreeBounds(at_most=5, how=How.PROJECTED),
    )


CONTACTS_OF = (degrees(0, persons=False), degrees(1, persons=False), degrees(0, 1, persons=True))
JOB = Records(
    relation=Relation(table="visits"),
    reads=tuple(ColumnOf(table="visits", column=name) for name in ("cost", "code", "day")),
    bounds=RowBound(max_rows=2),
    folds=3,
)


def rows_of(columns):
    """Return the rows of columns in an order of their own: whole numbers and texts."""
    kept = [
        [
            each if isinstance(each, str) else int(each)
            for each in np.asarray(columns[name]).tolist()
        ]
        for name in sorted(columns)
    ]
    return sorted(zip(*kept, strict=True))


def compare(asked, *, of, frames, listed=()):
    """Ask both engines, and return what both say."""
    with (
        open_engine(
            FRAMES, base=Path(), dataset=of, hash_key=KEY, frames=frames, withdrawn=listed
        ) as ours,
        opened(frames, of=of, withdrawn=listed) as theirs,
    ):
        theirs.check(asked, dataset=of)
        theirs.check_records(JOB, dataset=of)
        found = []
        alone = [each for each in asked if isinstance(compiler_of(each), Alone)]
        counted = tuple(each for each in asked if each not in alone or each in CONTACTS_OF)
        for engine in (ours, theirs):
            whole = engine.aggregate(counted, dataset=of).reveal_to_gate()
            rows = engine.records(JOB, dataset=of).reveal_to_job()
            found.append((whole, {name: each.tolist() for name, each in rows.items()}))
        for place, (one, other) in enumerate(zip(found[0][0], found[1][0], strict=True)):
            assert one == other, counted[place]
        assert found[0][1] == found[1][1]
        for each in alone:
            query = compiler_of(each).query
            one = ours._session.arrays(query(each, of, ours._layout))
            other = theirs._arrays(query(each, of, theirs._layout))
            assert rows_of(one) == rows_of(other), each
            assert rows_of(one)
    assert len(found[0][1]["patient"]) > PERSONS
    return found[0][0]


def test_what_every_kind_of_statistic_asks_has_the_integers_of_duckdb(tmp_path):
    frames = town(texts=True)
    of, asked = every_question(tmp_path, frames)
    assert len(asked) > 50
    found = compare(asked, of=of, frames=frames)
    assert sum(any(each) if isinstance(each, tuple) else bool(each) for each in found) > 40
