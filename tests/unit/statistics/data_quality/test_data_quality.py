"""Data quality: what is wrong with cells is counted as they came, and adds up."""

import datetime as dt
import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confide.errors import ContractError
from confide.plans.contribution import PerPatient
from confide.plans.estimates import Covers
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.copies.copies import UseCopies
from confide.rows.engines.duckdb import open_engine
from confide.rows.prepared.build import Preparation
from confide.statistics import DataQuality
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Ones
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.expression import ColumnOf, Holds, QualityOf
from confide.tables.filter import IsIn
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Outside, Table
from confide.tables.source import Source, SourceKind
from noisy_answers import SIMULATION, draws, mechanisms

KEY = b"\x07" * 32
FIELDS = ("sbp", "typed", "smoker", "seen", "note")


def category(name, *keys, **more):
    codes = tuple((key, i) for i, key in enumerate(keys))
    return Column(name=name, kind=Kind.CATEGORY, source=name, keys=keys, codes=codes, **more)


def days(*ymd):
    return (dt.date(*ymd) - dt.date(1970, 1, 1)).days


READINGS = Table(
    name="readings",
    source="readings",
    columns=(
        category("site", "north", "south"),
        Column(name="sbp", kind=Kind.NUMBER, source="sbp", lower=60, upper=260, nulls=120),
        Column(
            name="typed",
            kind=Kind.NUMBER,
            source="typed",
            lower=0,
            upper=9,
            outside=Outside.DROP,
        ),
        category("smoker", "no", "yes", other=0),
        Column(
            name="seen",
            kind=Kind.DATE,
            source="seen",
            lower=days(2020, 1, 1),
            upper=days(2024, 12, 31),
        ),
        Column(name="note", kind=Kind.TEXT, source="note"),
    ),
)


def clinic(measure=Measure.PURE, **changes) -> Dataset:
    given = {
        "id": "clinic",
        "lineage": "clinic",
        "snapshot": "1",
        "unit": PrivacyUnit(entity=Entity.PATIENT, id_column="pid"),
        "adjacency": Adjacency.ADD_REMOVE,
        "measure": measure,
        "delta": Fraction(1, 10**6),
        "selection_delta": Fraction(1, 10**7),
        "tables": (READINGS,),
    }
    return Dataset(**{**given, **changes})


CELLS = {
    "sbp": [120.0, 60.0, 260.0, 259.6, 0.0, 13_682.0, math.inf, math.nan, None, 59.4],
    "typed": ["3", "9", " 4 ", "1e0", "twelve", "12", "-1", "nan", "", None],
    "smoker": ["no", "yes", "no", "yes", "maybe", "NO", "2", "unknown", "", None],
    "seen": [
        dt.date(2020, 1, 1),
        dt.date(2024, 12, 31),
        dt.date(2022, 2, 2),
        dt.date(2022, 2, 3),
        dt.date(2019, 12, 31),
        dt.date(2025, 1, 1),
        dt.date(1, 1, 1),
        None,
        None,
        None,
    ],
    "note": ["a", "b", "c", "d", "e", "f", "g", "", "", None],
}
EXPECTED = {
    "sbp": (4, 2, 4),
    "typed": (4, 3, 3),
    "smoker": (4, 2, 4),
    "seen": (4, 3, 3),
    "note": (7, 3),
}


def readings(pid=range(10), site="north") -> pa.Table:
    columns = {"pid": pa.array(list(pid)), "site": pa.array([site] * 10)}
    return pa.table({**columns, **{name: pa.array(cells) for name, cells in CELLS.items()}})


def engine_over(frames, of):
    source = Source(kind=SourceKind.FRAMES)
    return open_engine(source, base=Path(), dataset=of, hash_key=KEY, frames=frames, threads=1)


def exact(statistic, of, frames):
    questions = statistic.questions(of)
    with engine_over(frames, of) as engine:
        asked = tuple(q.aggregate for q in questions)
        answers = engine.aggregate(asked, dataset=of).reveal_to_gate()
    return {q.name: answer for q, answer in zip(questions, answers, strict=True)}


QUALITY = DataQuality(
    id="quality", table="readings", fields=FIELDS, by=("site",), per_patient=PerPatient(rows=4)
)


def test_each_cell_is_ok_missing_or_neither_as_it_came_before_clipping_and_null_policies():
    found = exact(QUALITY, clinic(), {"readings": readings()})
    for field in FIELDS:
        assert found[f"{field}/quality"][: len(EXPECTED[field])] == EXPECTED[field], field


def test_every_declared_column_is_judged_where_no_field_is_named():
    asked = DataQuality(id="q", table="readings", per_patient=PerPatient(rows=1)).questions(
        clinic()
    )
    assert [q.name for q in asked] == [f"{c.name}/quality" for c in READINGS.columns]


def test_f_fields_have_a_joint_l1_of_f_times_the_rows_of_a_patient():
    questions = QUALITY.questions(clinic())
    assert sum(q.sensitivity.l1 for q in questions) == 5 * 4
    assert sum(q.sensitivity.l2_squared for q in questions) == 5 * 4**2


def test_of_a_patient_at_most_the_bound_is_counted_in_each_field():
    found = exact(QUALITY, clinic(), {"readings": readings(pid=[1] * 10)})
    assert {sum(vector) for vector in found.values()} == {4}


def test_of_rows_that_clean_to_the_same_the_usable_one_is_kept_whatever_their_order():
    """The clipped 13,682 and the true 260 are the same canonical row: their quality decides."""
    table = Table(
        name="readings", source="readings", one_row_per_patient=True, columns=(READINGS.columns[1],)
    )
    of = clinic(tables=(table,))
    judged = QualityOf(of=ColumnOf(table="readings", column="sbp"))
    asked = Aggregate(
        relation=Relation(table="readings"),
        axes=(judged,),
        value=Ones(),
        bounds=CellBound(max_cells=1),
    )
    for values in itertools.permutations([260.0, 13_682.0, 300.0]):
        frame = pa.table({"pid": pa.array([1, 1, 1]), "sbp": pa.array(values)})
        with engine_over({"readings": frame}, of) as engine:
            assert engine.aggregate((asked,), dataset=of).reveal_to_gate() == ((1, 0, 0),)


@pytest.mark.parametrize("where", [(), (IsIn(of=ColumnOf(table="readings", column="smoker"), values=(0,)),)])  # fmt: skip
def test_prepared_copies_and_the_source_give_the_same_integers(tmp_path, where):
    """Rows equal in all columns are ordered by the qualities of all their cells, in both."""
    of = clinic()
    rng = np.random.default_rng(5)
    many = pa.concat_tables(
        readings(pid=rng.integers(0, 40, 10), site=site) for site in ("north", "south") for _ in range(30)
    )  # fmt: skip
    pq.write_table(many, tmp_path / "readings")
    source = Source(kind=SourceKind.PARQUET, path=".")
    folder = tmp_path / ".confide" / "prepared"
    Preparation(
        source=source, base=tmp_path, dataset=of, hash_key=KEY, folder=folder, threads=1,
        memory_limit="1GB",
    ).prepare()  # fmt: skip
    statistic = DataQuality(
        id="q",
        table="readings",
        by=("site",),
        per_patient=PerPatient(rows=3),
        **({"where": where[0]} if where else {}),
    )
    asked = tuple(q.aggregate for q in statistic.questions(of))
    found = []
    for copying in (None, UseCopies(folder=folder)):
        with open_engine(
            source, base=tmp_path, dataset=of, hash_key=KEY, threads=1, copying=copying
        ) as engine:
            found.append(engine.aggregate(asked, dataset=of).reveal_to_gate())
            if copying is not None:
                assert "prepared" in engine.explain(asked, dataset=of)[0]
    assert found[0] == found[1]
    assert sum(found[0][0]) == sum(found[0][1]) > 60


def test_the_quality_of_another_table_or_of_a_condition_is_refused():
    other = Table(
        name="other", source="other", one_row_per_patient=True, columns=(category("site", "a"),)
    )
    of = clinic(tables=(READINGS, other))
    foreign = QualityOf(of=ColumnOf(table="other", column="site"))
    own = QualityOf(of=ColumnOf(table="readings", column="sbp"))
    nested = Holds(of=IsIn(of=own, values=(0,)))
    asked = [
        ({"axes": (foreign,)}, {}),
        ({"axes": (nested,)}, {}),
        ({"axes": ()}, {"where": IsIn(of=own, values=(0,))}),
    ]
    with engine_over({"readings": readings()}, of) as engine:
        for axes, where in asked:
            aggregate = Aggregate(
                relation=Relation(table="readings", **where),
                value=Ones(),
                bounds=RowBound(max_rows=1),
                **axes,
            )
            with pytest.raises(ContractError, match="only group the rows of its own table"):
                engine.check((aggregate,), dataset=of)


@pytest.mark.parametrize(
    "changes",
    [
        {"fields": ("sbp", "sbp")},
        {"by": ("site", "smoker")},
        {"per_patient": PerPatient(cells=2)},
    ],
)
def test_a_request_that_makes_no_sense_is_refused(changes):
    with pytest.raises(ContractError):
        DataQuality(**{"id": "q", "table": "readings", **changes})


@pytest.mark.parametrize("measure", Measure)
@pytest.mark.parametrize(
    "runs", [pytest.param(200, id="quick"), pytest.param(4000, marks=pytest.mark.audit, id="audit")]
)
def test_counts_add_up_and_intervals_cover_as_often_as_they_say(measure, runs):
    of = clinic(measure)
    statistic = DataQuality(
        id="q", table="readings", fields=FIELDS[:3], by=("site",), per_patient=PerPatient(rows=1)
    )
    counts = {
        "sbp/quality": (700, 180, 20, 300, 90, 110),
        "typed/quality": (500, 300, 100, 250, 150, 100),
        "smoker/quality": (880, 20, 0, 500, 0, 0),
    }
    truth = {}
    for name, (a, b) in {"north": (0, 3), "south": (3, 6)}.items():
        for vector, own in counts.items():
            keys = ("ok", "missing", "unknown code" if "smoker" in vector else "out of range")
            for key, count in zip(keys, own[a:b], strict=True):
                truth[vector.partition("/")[0], key, name] = count
    noise = mechanisms(statistic, to=of, spend=1 if measure is Measure.PURE else Fraction(1, 20))
    hits, seen = {}, {}
    for noisy in draws(counts, noise=noise, runs=runs, seed=9):
        found = statistic.estimate(noisy, mechanisms=noise, dataset=of, simulation=SIMULATION)
        values = {e.key: e.value for e in found if e.quantity == "count"}
        for site in ("north", "south", "overall"):
            for field in FIELDS[:3]:
                own = [v for (f, _, s), v in values.items() if (f, s) == (field, site)]
                assert sum(own) == values["", "", site]
        for e in found:
            if e.key in truth:
                total = 900 if e.key[2] == "north" else 500
                true = truth[e.key] if e.quantity == "count" else 100 * truth[e.key] / total
                few = truth[e.key] < 60
                assert e.covers is Covers.NOISE
                seen[e.quantity, few] = seen.get((e.quantity, few), 0) + 1
                covered = e.lower - 1e-9 <= true <= e.upper + 1e-9
                hits[e.quantity, few] = hits.get((e.quantity, few), 0) + covered
    assert len(seen) == 4
    for (quantity, few), number in seen.items():
        slack = 3.5 * math.sqrt(0.95 * 0.05 / runs)
        # zero is covered by every interval that is cut there
        assert 0.945 - slack <= hits[quantity, few] / number <= (1 if few else 0.965 + slack)
