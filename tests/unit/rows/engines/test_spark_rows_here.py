"""What reaches the driver from Spark: contacts, rows of models in rounds, and rows of jobs."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import confide
from confide.rows.engines.duckdb import open_engine
from confide.rows.relational.shapes import compiler_of
from confide.tables.aggregates.degrees import DegreeAggregate, DegreeBounds, How
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from confide.tables.records import Records
from confide.tables.relation import Relation
from confide.tables.source import Source, SourceKind
from rows_world import KEY
from spark_rows import needs_spark, opened

pytestmark = needs_spark()
FRAMES = Source(kind=SourceKind.FRAMES)
PERSONS, CONTACTS = 60, 400
ROUNDS = ("logistic-regression", "hazard-regression")


def town(*, texts):
    """Tables of few persons, with many contacts at home and at work."""
    every = pytest.importorskip("every_kind", reason="pandas is not installed")
    found = {
        name: pa.Table.from_pandas(rows[rows["pid"] < PERSONS], preserve_index=False)
        for name, rows in every.frames().items()
    }
    draw = np.random.default_rng(4)
    ends = draw.integers(0, PERSONS, (2, CONTACTS)) ** 2 // PERSONS  # some have many contacts
    places = draw.choice(["home", "work"], CONTACTS)
    found["contacts"] = pa.table({"pid": ends[0], "other": ends[1], "place": places})
    if texts:
        found = {name: _named(rows) for name, rows in found.items()}
    return found


def _named(rows):
    for name in {"pid", "other"} & set(rows.column_names):
        ids = pa.array([f"e\u0301 {each}" for each in rows[name].to_pylist()])
        rows = rows.set_column(rows.schema.get_field_index(name), name, ids)
    return rows


def degrees(*places, persons):
    where = IsIn(of=ColumnOf(table="contacts", column="place"), values=places)
    return DegreeAggregate(
        relation=Relation(table="contacts", where=where),
        persons="people" if persons else "",
        bounds=DegreeBounds(at_most=5, how=How.PROJECTED),
    )


def models(folder, frames):
    """Return the data set, and what models in rounds ask of it."""
    import every_kind as every

    with confide.open(every.dataset(measure="zcdp"), frames=frames, folder=folder) as site:
        plans = [
            site.plan({"id": "asked", "kind": kind, **every.STUDIES[kind]}, epsilon="1")
            for kind in ROUNDS
        ]
    return plans[0].dataset, [plan.measurements[0].aggregate for plan in plans]


def columns(found):
    """Return the rows of columns in an order of their own: whole numbers and texts."""
    kept = [
        [each if isinstance(each, str) else int(each) for each in np.asarray(found[name]).tolist()]
        for name in sorted(found)
    ]
    return sorted(zip(*kept, strict=True))


@pytest.mark.parametrize("texts", [False, True])
def test_contacts_models_and_jobs_have_the_numbers_of_duckdb_also_once_consent_is_withdrawn(
    texts, tmp_path
):
    frames = town(texts=texts)
    of, rounds = models(tmp_path, frames)
    asked = (
        degrees(0, persons=False),
        degrees(1, persons=False),
        degrees(0, 1, persons=True),
    )
    job = Records(
        relation=Relation(table="visits"),
        reads=tuple(ColumnOf(table="visits", column=name) for name in ("cost", "code")),
        bounds=RowBound(max_rows=1),
        folds=3,
    )
    gone = ("e\u0301 7", "\u00e9 8") if texts else ("7", "8")
    answers = []
    for withdrawn in (False, True) if texts else (True,):
        listed: tuple[str, ...] = ()
        found = []
        with open_engine(FRAMES, base=Path(), dataset=of, hash_key=KEY, frames=frames) as engine:
            if withdrawn:
                listed = tuple(f"{a:016x}{b:016x}" for a, b in engine.identities(gone))
        with (
            open_engine(
                FRAMES, base=Path(), dataset=of, hash_key=KEY, frames=frames, withdrawn=listed
            ) as ours,
            opened(frames, of=of, withdrawn=listed) as theirs,
        ):
            theirs.check(asked, dataset=of)
            theirs.check(rounds, dataset=of)
            theirs.check_records(job, dataset=of)
            for engine in (ours, theirs):
                whole = engine.aggregate(asked, dataset=of).reveal_to_gate()
                rows = engine.records(job, dataset=of).reveal_to_job()
                found.append((whole, {name: each.tolist() for name, each in rows.items()}))
            for each in rounds:
                query = compiler_of(each).query
                one = ours._session.arrays(query(each, of, ours._layout))
                other = theirs._rows.arrays(theirs._rows.bind(query(each, of, theirs._layout)))
                assert columns(one) == columns(other)
                assert columns(one)
                assert theirs.aggregate((each,), dataset=of)
        assert found[0] == found[1]
        assert sum(found[0][0][0]) != sum(found[0][0][1]) or found[0][0][0] != found[0][0][1]
        answers.append(found[0])
    assert len({str(each) for each in answers}) == len(answers)
