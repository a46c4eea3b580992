"""L1: with the noise off, nobody moves an exact vector further than claimed, and somebody as
far.

Of 20,000 pairs instead of a thousand ``confide audit`` says so, which is a part of ``make audit``.
"""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confide.attacks.audit.generate import Neighbours, neighbours
from confide.attacks.audit.searched import statistics_of_events, statistics_of_patients
from confide.attacks.audit.sensitivity_search import (
    HASH_KEY,
    Evaluate,
    LargestMovement,
    answered,
    search,
)
from confide.noise.entropy import SystemEntropy
from confide.plans.contribution import PerPatient
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity
from confide.rows.copies.copies import UseCopies
from confide.rows.engines.duckdb import open_engine
from confide.rows.prepared.build import Preparation
from confide.statistics import (
    STATISTICS,
    Count,
    DegreeHistogram,
    HazardRegression,
    Histogram,
    LogisticRegression,
    MultinomialRegression,
    PoissonRegression,
    Sum,
)
from confide.tables.aggregates.shapes import parts
from confide.tables.schema import Dataset
from confide.tables.source import Source, SourceKind
from seeded import SeededEntropy

pytestmark = pytest.mark.L1

ADD_REMOVE = Adjacency.ADD_REMOVE
QUICK = 1_000
PARTS = 3  # of the statistics of patients: workers search at the same time
PARQUET = Source(kind=SourceKind.PARQUET, path=".")
TWINS = ("\u00e9", "e\u0301")


def exceeding(found: tuple[LargestMovement, ...]) -> list[LargestMovement]:
    return [one for one in found if not one.holds]


def loose(found: tuple[LargestMovement, ...]) -> list[LargestMovement]:
    """Claims that nobody reached; under substitution those of running counts are bounds only."""
    exact = [one for one in found if one.question != "root" or one.adjacency is ADD_REMOVE]
    return [one for one in exact if not one.attained]


def statistics_of(entity: Entity) -> tuple[Any, ...]:
    return statistics_of_patients() if entity is Entity.PATIENT else statistics_of_events()


@pytest.mark.parametrize(
    ("entity", "part"), [*((Entity.PATIENT, part) for part in range(PARTS)), (Entity.EVENT, None)]
)
def test_nobody_moves_a_statistic_further_than_claimed_and_somebody_moves_it_as_far(
    entity: Entity, part: int | None
) -> None:
    drawn = neighbours(QUICK, entity=entity, entropy=SeededEntropy(1))
    statistics = statistics_of(entity)
    found = search(
        statistics if part is None else statistics[part::PARTS], drawn=drawn, entity=entity
    )
    assert not exceeding(found)
    assert not loose(found)


def test_the_search_covers_every_kind_of_statistic_that_a_study_can_ask() -> None:
    covered = {type(statistic) for statistic in statistics_of_patients()}
    covered.add(DegreeHistogram)  # over graphs: tests/unit/tables/test_degrees.py
    covered.add(LogisticRegression)  # round by round: tests/unit/rows/relational/test_descent.py
    covered |= {PoissonRegression, HazardRegression}  # tests/unit/rows/models/test_person_time.py
    covered.add(MultinomialRegression)  # tests/unit/rows/models/test_classes.py
    assert covered == set(STATISTICS.values())


@pytest.fixture(params=["parquet", "prepared"])
def evaluate(request: pytest.FixtureRequest, tmp_path: Path) -> Evaluate:
    """Exact vectors from Parquet files, or from the copies that are prepared of them."""
    turns = itertools.count()

    def vectors(frames: Any, dataset: Dataset, aggregates: Any) -> Any:
        folder = tmp_path / str(next(turns))
        folder.mkdir()
        for name, table in frames.items():
            pq.write_table(table, folder / name, row_group_size=997)
        copying = None
        if request.param == "prepared":
            work = Preparation(
                source=PARQUET,
                base=folder,
                dataset=dataset,
                hash_key=HASH_KEY,
                folder=folder / ".confide" / "prepared",
                threads=1,
                memory_limit="1GB",
            )
            work.prepare()
            copying = UseCopies(folder=work.folder)
        with open_engine(
            PARQUET, base=folder, dataset=dataset, hash_key=HASH_KEY, threads=1, copying=copying
        ) as engine:
            if copying is not None:
                asked = tuple(part for a in aggregates for part in parts(a))
                assert any("prepared" in step for step in engine.explain(asked, dataset=dataset))
            return answered(engine, aggregates, dataset=dataset)

    return vectors


def test_from_parquet_and_from_prepared_copies_nobody_moves_further_and_somebody_as_far(
    evaluate: Evaluate,
) -> None:
    """The alphabet of the rows has NaN, NULL, −0.0, infinities and dates beyond the calendar."""
    drawn = neighbours(400, entity=Entity.PATIENT, entropy=SeededEntropy(3))
    table = drawn.present["events"]
    amounts = table["amount"].combine_chunks()
    assert amounts.null_count
    assert np.isnan(
        amounts.to_numpy(zero_copy_only=False)[amounts.is_valid().to_numpy(False)]
    ).any()
    assert (
        np.signbit(amounts.fill_null(1).to_numpy()) & (amounts.fill_null(1).to_numpy() == 0)
    ).any()
    wanted = {"mean", "amounts", "strict", "code-rows", "variance", "persons-1", "quality", "smr"}
    few = [s for s in statistics_of_patients() if s.id in wanted]
    assert len(few) == len(wanted)
    found = search(few, drawn=drawn, entity=Entity.PATIENT, evaluate=evaluate)
    assert not exceeding(found)
    assert len(loose(found)) <= len(found) // 10  # of 400 pairs a few claims are not reached


@pytest.mark.audit
def test_every_statistic_from_parquet_and_from_prepared_copies_moves_as_far_as_claimed(
    evaluate: Evaluate,
) -> None:
    drawn = neighbours(5_000, entity=Entity.PATIENT, entropy=SystemEntropy())
    found = search(statistics_of_patients(), drawn=drawn, entity=Entity.PATIENT, evaluate=evaluate)
    assert not exceeding(found)
    assert not loose(found)


def with_text_ids(drawn: Neighbours) -> Neighbours:
    """Write each person's number as text that ends in é, composed in some rows and not in
    others."""

    def renamed(table: pa.Table) -> pa.Table:
        numbers = table["pid"].to_pylist()
        twins = np.arange(len(numbers)) % 2
        texts = [
            None if number is None else f"{number}{TWINS[twin]}"
            for number, twin in zip(numbers, twins, strict=True)
        ]
        return table.set_column(table.schema.get_field_index("pid"), "pid", pa.array(texts))

    def version(frames: Any) -> dict[str, pa.Table]:
        return {name: renamed(table) for name, table in frames.items()}

    return Neighbours(
        databases=drawn.databases,
        present=version(drawn.present),
        absent=version(drawn.absent),
        replaced=version(drawn.replaced),
    )


def test_unicode_twins_of_an_id_are_one_person_with_one_bound() -> None:
    plain = neighbours(500, entity=Entity.PATIENT, entropy=SeededEntropy(2))
    few = [
        Count(id="patients", table="events"),
        Histogram(id="codes", table="events", by=("code",), per_patient=PerPatient(cells=2)),
        Sum(id="changes", table="events", column="change", per_patient=PerPatient(rows=2)),
    ]
    found = search(few, drawn=with_text_ids(plain), entity=Entity.PATIENT)
    assert not exceeding(found)
    assert not loose(found)


def test_one_database_at_a_time_moves_no_further_either() -> None:
    few = [s for s in statistics_of_patients() if s.id in {"all-codes", "patients", "sexes"}]
    found = [
        one
        for seed in range(6)
        for one in search(
            few,
            drawn=neighbours(1, entity=Entity.PATIENT, entropy=SeededEntropy(seed)),
            entity=Entity.PATIENT,
        )
    ]
    assert not exceeding(tuple(found))
    assert max(one.l1 for one in found if one.statistic == "all-codes") == 4
