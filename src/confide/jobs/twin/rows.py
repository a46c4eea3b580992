"""A twin of a data set: tables that dataset.yaml would fit, of patients who do not exist.

The declaration alone is looked at: tables, ids, columns with their bounds, categories, units and
dates, how many rows a patient usually has, and how many people live in an area.  So a study that
runs on the twin asks for nothing that dataset.yaml does not have.  What the twin cannot have is
what only the data know: how columns go together, and how frequent anything is.

*Privacy:* nothing but public facts enters, and the same facts give the same rows.
*Utility:* none for conclusions; columns are independent of one another.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confide.jobs.twin.made_up import MadeUp, dates_in_order, draw_values, made_up_cells, weights_of
from confide.plans.canonical import canonical_bytes, encode
from confide.plans.plan import Plan
from confide.plans.simulation import Simulation
from confide.tables.dialect import AS_USUAL
from confide.tables.encoding import Encoding
from confide.tables.schema import Column, Dataset, Kind, Table
from confide.tables.source_files import FIRST_ROW

if TYPE_CHECKING:
    Generator = np.random.Generator  # noqa: TID251 - a type

USUAL_PATIENTS = 2_000
"""Patients of a twin where nothing public says how many there are."""
MOST_PATIENTS = 50_000
"""Patients of a twin, and planning counts, are not more than this: a rehearsal is quick."""
ROWS = 3.0
"""Rows of a patient in the mean, where dataset.yaml does not say how many are usual."""
_LARGEST = 50  # rows of one patient


def patients_of(plan: Plan) -> int:
    """Return how many patients the twin of a plan has, from public numbers.

    The declared population; else twice the largest planning count of a group (``expect``); else
    :data:`USUAL_PATIENTS`; in any case at most :data:`MOST_PATIENTS`.
    """
    dataset = plan.dataset
    expected = [getattr(each, "expect", None) for each in plan.statistics]
    counts = [getattr(each, "count", each) for each in expected]
    planned = [2 * int(count) for count in counts if isinstance(count, int | Fraction)]
    wanted = dataset.population or max(planned, default=USUAL_PATIENTS)
    return max(1, min(wanted, MOST_PATIENTS, dataset.population_at_most))


def as_frames(dataset: Dataset) -> Dataset:
    """Return a data set whose tables stand in memory, each by its own name: of no file or query."""
    tables = (
        replace(
            table,
            source=table.name,
            query="",
            encoding=Encoding.UTF_8,
            dialect=AS_USUAL,
            sheet=FIRST_ROW,
        )
        for table in dataset.tables
    )
    return replace(dataset, tables=tuple(tables))


def twin(dataset: Dataset, *, patients: int) -> dict[str, Any]:
    """Return made-up tables by their declared names, as Arrow, with the columns of the source.

    Args:
        dataset: What is public.
        patients: How many there are.

    Example:
        >>> from confide.privacy.adjacency import Adjacency
        >>> from confide.privacy.measure import Measure
        >>> from confide.privacy.unit import Entity, PrivacyUnit
        >>> age = Column(name="age", kind=Kind.NUMBER, source="years", lower=20, upper=80)
        >>> visits = Table(name="visits", source="visits.csv", columns=(age,))
        >>> clinic = Dataset(
        ...     id="clinic", lineage="clinic", snapshot="1", tables=(visits,),
        ...     unit=PrivacyUnit(entity=Entity.PATIENT, id_column="pid"),
        ...     adjacency=Adjacency.ADD_REMOVE, measure=Measure.PURE,
        ... )
        >>> twin(clinic, patients=10)["visits"].column_names
        ['pid', 'years']
    """
    import pyarrow as pa

    digest = hashlib.sha256(canonical_bytes(encode(dataset))).hexdigest()
    chance = Simulation(payload_digest=digest)
    return {
        table.name: pa.table(
            _columns(
                table,
                dataset=dataset,
                patients=patients,
                generator=chance.generator(f"twin of {patients}/{table.name}"),
            )
        )
        for table in dataset.tables
    }


def _columns(
    table: Table, *, dataset: Dataset, patients: int, generator: "Generator"
) -> dict[str, Any]:
    """Return the columns of a table by their names in the source, as Arrow."""
    import pyarrow as pa

    whose = _persons(table, dataset=dataset, patients=patients, generator=generator)
    columns: dict[str, Any] = {}
    own = table.id_column or dataset.unit.id_column
    if own:
        columns[own] = pa.array(whose)
    if table.other_id:
        others = (whose - 1 + generator.integers(1, max(2, patients), size=whose.size)) % patients
        columns[table.other_id] = pa.array(others + 1)
    for source, every in _values(table, dataset=dataset, rows=whose.size, generator=generator):
        if source not in columns:
            columns[source] = made_up_cells(every, generator=generator)
    for source, codes in _codes(table).items():
        places = generator.integers(len(codes), size=whose.size)
        columns[source] = pa.array(codes, type=pa.string()).take(pa.array(places))
    for each in table.without:
        columns.setdefault(each.source, pa.nulls(whose.size, pa.string()))
    return columns


def _codes(table: Table) -> dict[str, tuple[str, ...]]:
    """Return the codes that rows of a table have; of units that in which numbers are drawn."""
    found = {each.source: each.codes for each in table.conditions}
    for column in table.columns:
        if column.units is not None and not column.units.in_cell:
            known = column.units.known
            same = tuple(each.code for each in known if each.times == 1 and each.plus == 0)
            found[column.units.source] = same or column.units.codes
    return found


def _persons(
    table: Table, *, dataset: Dataset, patients: int, generator: "Generator"
) -> NDArray[np.int64]:
    """Return whose each row is: patients are numbered from 1."""
    everybody = np.arange(1, patients + 1)
    if dataset.keeps_one_row(table.name):
        return everybody
    usual = table.usual_rows
    if usual:
        chances = np.array([float(share) for _, share in usual])
        counts = np.array([rows for rows, _ in usual])
        many = generator.choice(counts, size=patients, p=chances / chances.sum())
    else:
        many = generator.geometric(1 / (1 + ROWS), size=patients) - 1
    return np.repeat(everybody, np.minimum(many, _LARGEST))


def _values(
    table: Table, *, dataset: Dataset, rows: int, generator: "Generator"
) -> list[tuple[str, list[MadeUp]]]:
    """Return what is drawn for each column of the source, by its name."""
    people = _people(dataset)
    found: dict[Column, MadeUp] = {}
    for column in table.columns:
        weights = weights_of(column, people=people.get(column.name, ()))
        found[column] = draw_values(column, rows=rows, generator=generator, weights=weights)
    dates = [each for column, each in found.items() if column.kind is Kind.DATE]
    found |= {each.column: each for each in dates_in_order(dates, generator=generator)}
    by_source: dict[str, list[MadeUp]] = {}
    for column, each in found.items():
        by_source.setdefault(column.source, []).append(each)
    return list(by_source.items())


def _people(dataset: Dataset) -> Mapping[str, tuple[tuple[str, int], ...]]:
    """Return how many people live in each area, by the column of the finest areas."""
    return {
        spine.levels[0]: tuple(zip((row[0] for row in spine.areas), spine.population, strict=True))
        for spine in dataset.spines
        if any(spine.population)
    }
