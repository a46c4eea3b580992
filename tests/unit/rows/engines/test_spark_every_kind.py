"""What every kind of statistic asks has in Spark the integers of DuckDB: odd cells, any settings."""

import contextlib
import datetime as dt
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import confide
import source_kinds
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
from postgres_tables import in_postgres
from rows_world import DATE_TEXTS, ENDS, KEY, NUMBERS, TEXTS
from source_kinds import Stored, prepared, without_nul
from spark_rows import WARNED, needs_spark, opened, stored

every = pytest.importorskip("every_kind", reason="pandas is not installed")
pytestmark = [needs_spark(), *WARNED]
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
        if texts:
            return pa.array([_id(int(number), draw) for number in numbers])
        return pa.array([None if draw.random() < 0.03 else int(i) for i in numbers], pa.int64())

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


def people_gone(frames, *, of):
    """Return the keyed hashes of some persons, who withdrew consent."""
    texts = pa.types.is_string(frames["people"]["pid"].type)
    written = [str(each) for each in frames["people"]["pid"].to_pylist()[3:9]]
    with open_engine(FRAMES, base=Path(), dataset=of, hash_key=KEY, frames=frames) as engine:
        return tuple(f"{a:016x}{b:016x}" for a, b in engine.identities(written, as_texts=texts))


def compare(asked, *, of, frames, folder, listed=(), postgres=False):
    """Ask every engine, and return what all of them say."""
    files = Stored(source=Source(kind=SourceKind.PARQUET, path="."), base=stored(frames, folder))
    given = {"of": of, "hash_key": KEY, "withdrawn": listed}
    places = [Stored(source=FRAMES, base=folder, frames=frames), prepared(files, **given)]
    if postgres:
        places.append(Stored(source=in_postgres(frames), base=folder))
    alone = [each for each in asked if isinstance(compiler_of(each), Alone)]
    counted = tuple(each for each in asked if each not in alone or each in CONTACTS_OF)
    with contextlib.ExitStack() as stack:
        engines = [stack.enter_context(source_kinds.opened(each, **given)) for each in places]
        engines.append(stack.enter_context(opened(frames, of=of, withdrawn=listed, folder=folder)))
        found = []
        for engine in engines:
            engine.check(asked, dataset=of)
            engine.check_records(JOB, dataset=of)
            whole = engine.aggregate(counted, dataset=of).reveal_to_gate()
            rows = engine.records(JOB, dataset=of).reveal_to_job()
            others = [rows_of(columns(engine, each, of=of)) for each in alone]
            found.append((whole, {name: each.tolist() for name, each in rows.items()}, others))
    first, *rest = found
    for number, other in enumerate(rest):
        for place, (mine, theirs) in enumerate(zip(first[0], other[0], strict=True)):
            assert mine == theirs, (number, counted[place])
        assert first[1:] == other[1:], number
    assert len(first[1]["patient"]) > PERSONS
    assert all(first[2])
    return first[0]


def columns(engine, each, *, of):
    """Return the rows of an aggregate that has its own, as the engine answers them."""
    query = compiler_of(each).query(each, of, engine._layout)
    return engine._arrays(query) if hasattr(engine, "_arrays") else engine._session.arrays(query)


def test_what_every_kind_of_statistic_asks_has_the_integers_of_duckdb(tmp_path):
    frames = town(texts=True)
    of, asked = every_question(tmp_path, frames)
    assert len(asked) > 50
    found = compare(asked, of=of, frames=frames, folder=tmp_path)
    assert sum(any(each) if isinstance(each, tuple) else bool(each) for each in found) > 40


def test_contacts_models_and_jobs_leave_out_who_withdrew_consent(tmp_path):
    frames = town(texts=False)
    of, asked = every_question(tmp_path, frames)
    one = next(each for each in asked if isinstance(compiler_of(each), Alone))
    some = (*CONTACTS_OF, one, asked[0])
    with open_engine(FRAMES, base=Path(), dataset=of, hash_key=KEY, frames=frames) as engine:
        whole = engine.aggregate((*CONTACTS_OF, asked[0]), dataset=of).reveal_to_gate()
    listed = people_gone(frames, of=of)
    found = compare(some, of=of, frames=frames, folder=tmp_path, listed=listed)
    assert all(mine != theirs for mine, theirs in zip(found, whole, strict=True))


def storable(rows):
    """Texts without NUL, which PostgreSQL has not, and without "?", which no id of Parquet has."""
    rows = without_nul(rows)
    for at, field in enumerate(rows.schema):
        if pa.types.is_string(field.type):
            cells = [None if t is None else t.replace("?", "!") for t in rows[at].to_pylist()]
            rows = rows.set_column(at, field.name, pa.array(cells, pa.string()))
    return rows


@pytest.mark.audit
@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("gone", [False, True])
def test_every_engine_gives_the_integers_of_every_other(texts, gone, tmp_path):
    frames = {name: storable(rows) for name, rows in town(texts=texts, seed=5).items()}
    of, asked = every_question(tmp_path, frames)
    listed = people_gone(frames, of=of) if gone else ()
    compare(
        (*asked, *CONTACTS_OF), of=of, frames=frames, folder=tmp_path, listed=listed, postgres=True
    )


def test_what_each_person_adds_is_what_duckdb_says(tmp_path):
    frames = town(texts=True)
    of, asked = every_question(tmp_path, frames)
    some = tuple(each for each in asked if not isinstance(compiler_of(each), Alone))[:8:2]
    big = replace(of, patients=("a cap",))
    found = []
    with (
        open_engine(FRAMES, base=Path(), dataset=of, hash_key=KEY, frames=frames) as ours,
        opened(frames, of=of) as theirs,
    ):
        theirs.check(some, dataset=big)  # binds what reads each person's own, too
        for engine in (ours, theirs):
            whole = engine.aggregate(some, dataset=of).reveal_to_gate()
            with engine.person_sums(some, dataset=of) as sums:
                who = [tuple(each) for each in sums.identities().tolist()]
                nobody = np.empty(0, dtype=np.int64)
                assert sums.sums(without=nobody).reveal_to_gate() == whole
                first = np.array([who.index(min(who))])
                found.append((sorted(who), sums.sums(without=first).reveal_to_gate(), whole))
    assert found[0] == found[1]
    assert found[0][1] != found[0][2]
