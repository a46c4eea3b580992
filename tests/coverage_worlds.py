"""Thousands of small clinics at once, their exact vectors by numpy, and what is true of them.

A clinic has one row a patient, and is one of several worlds: the usual one, and those where values
are clipped or heaped, events are rare, nobody is left before the horizon, or few weights are large.
 All numbers are canonical integers of shape (runs, patients), so one call counts the cells of every
 run.  What is true of a run's patients is what the statistic says
of its exact vector with the noise off; what is true of the population, the same of a million.
"""

import enum
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.plans.plan import Statistic
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.refined import RefinedAggregate
from confide.tables.aggregates.shapes import parts
from confide.tables.aggregates.value import Centred, CentredSquare, Ones, Plain, Product
from confide.tables.expression import BinOf, ColumnOf, Holds, OrMissing, QualityOf
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not
from confide.tables.relation import centre, domain
from confide.tables.schema import Column, Dataset, Derived, Kind, Table
from confide.tables.spine import Spine

Ints = NDArray[np.int64]
Rows = Mapping[str, Ints]

UNKNOWN = -(2**40)
DEATH = 1
"""Its place among the labels of ``ending``."""
TABLE = "people"
AREAS = (("t1", "north"), ("t2", "north"), ("t3", "south"), ("t4", "south"))
AREA_SHARES = (0.1, 0.2, 0.3, 0.4)
PERIODS = tuple(range(0, 361, 30))


def col(name: str) -> ColumnOf:
    return ColumnOf(table=TABLE, column=name)


def clinic(*, measure: Measure, adjacency: Adjacency, patients: int) -> Dataset:
    """The public description; populations of areas are in proportion to ``patients``."""

    def category(name: str, *keys: str) -> Column:
        codes = tuple((key, i) for i, key in enumerate(keys))
        return Column(name=name, kind=Kind.CATEGORY, source=name, keys=keys, codes=codes)

    def number(name: str, lower: int, upper: int, *, scale: str = "1", unit: str = "") -> Column:
        return Column(
            name=name,
            kind=Kind.NUMBER,
            source=name,
            lower=lower,
            upper=upper,
            scale=Fraction(scale),
            unit=unit,
        )

    columns = (
        category("sex", "male", "female"),
        category("sick", "no", "yes"),
        category("dose", "low", "middle", "high"),
        category("ending", "lost", "death", "relapse"),
        category("tract", *(tract for tract, _ in AREAS)),
        number("age", 0, 100, unit="a"),
        number("pressure", 80, 200, unit="mm[Hg]"),
        number("bmi", 100, 701, scale="1/10", unit="kg/m2"),
        number("days", 0, 720, unit="d"),
        number("day", 0, 360),
        number("marker", 0, 20_000, scale="1/1000", unit="mg/L"),
        number("weight", 0, 40, scale="1/10"),
    )
    population = tuple(max(1, round(10 * patients * share)) for share in AREA_SHARES)
    spine = Spine(name="place", levels=("tract", "county"), areas=AREAS, population=population)
    return Dataset(
        id="clinic",
        lineage="clinic",
        snapshot="1",
        unit=PrivacyUnit(entity=Entity.PATIENT, id_column="pid"),
        adjacency=adjacency,
        measure=measure,
        delta=Fraction(1, 10**6),
        selection_delta=Fraction(1, 10**7),
        population_at_most=10**7,
        tables=(
            Table(
                name=TABLE,
                source=TABLE,
                one_row_per_patient=True,
                columns=columns,
                weight="weight",
            ),
        ),
        spines=(spine,),
        derived=(
            Derived(name="band", of=BinOf(of=col("age"), edges=(0, 40, 65, 100))),
            Derived(name="month", of=BinOf(of=col("day"), edges=PERIODS)),
        ),
    )


class World(enum.Enum):
    """What the patients of a clinic are like."""

    USUAL = "usual"
    CLIPPED = "clipped"  # half of the values, or more, lie at a bound
    HEAPED = "heaped"  # values are rounded, or nearly all the same
    RARE = "rare"  # one patient of two hundred has the event, deaths late; one of 100 the label
    EXHAUSTED = "exhausted"  # nobody is at risk for the second half of follow-up
    HEAVY = "heavy"  # one weight of twenty is forty times the others, and goes with the illness


def _whole(values: NDArray, lower: int, upper: int) -> Ints:
    return np.clip(np.rint(values), lower, upper).astype(np.int64)


def people(
    shape: tuple[int, ...], rng: np.random.Generator, *, world: World = World.USUAL
) -> dict[str, Ints]:
    """Patients: older ones are sicker, heavier ones have more pressure; some have no bmi."""
    age = _whole(rng.normal(55, 18, shape), 0, 100)
    sex = rng.integers(0, 2, shape)
    dose = rng.integers(0, 3, shape)
    bmi = _whole(10 * (18 + rng.gamma(4, 2.2, shape)), 100, 701)  # skewed
    mean = 92 + 0.3 * age + 0.08 * bmi - 4 * sex
    pressure = _whole(mean + rng.normal(0, 14, shape), 80, 200)
    risk = 0.05 + 0.003 * age + 0.03 * dose
    sick = (rng.random(shape) < risk).astype(np.int64)
    event = rng.exponential(900 / (1 + 0.4 * sex), shape)
    lost = rng.exponential(1500, shape)
    kind = 1 + (rng.random(shape) < 0.3)
    known = rng.random(shape) >= 0.08
    usual = {
        "sex": sex.astype(np.int64),
        "sick": sick,
        "dose": dose.astype(np.int64),
        "ending": np.where(event <= lost, kind, 0).astype(np.int64),
        "tract": rng.choice(4, shape, p=AREA_SHARES).astype(np.int64),
        "age": age,
        "pressure": pressure,
        "bmi": np.where(known, bmi, UNKNOWN),
        "days": np.minimum(np.floor(np.minimum(event, lost)), 720).astype(np.int64),
        "day": rng.integers(0, 361, shape).astype(np.int64),
        "marker": _whole(1000 * rng.gamma(2.5, 1.6, shape), 0, 20_000),
        "weight": rng.choice([2, 5, 10, 20, 40], shape).astype(np.int64),
    }
    return usual | _changed(usual, rng, world=world)


def _changed(usual: Rows, rng: np.random.Generator, *, world: World) -> dict[str, Ints]:
    """Return the columns that are other than usual."""
    shape = usual["age"].shape
    match world:
        case World.USUAL:
            return {}
        case World.CLIPPED:
            return {
                "pressure": np.clip(usual["pressure"] + 75, 80, 200),
                "marker": np.clip(usual["marker"] - 3300, 0, 20_000),
                "bmi": np.where(usual["bmi"] == UNKNOWN, UNKNOWN, 701),
                "age": np.clip(usual["age"] + 40, 0, 100),
            }
        case World.HEAPED:
            ones = rng.random(shape)
            return {
                "pressure": _whole(usual["pressure"] / 10 - 0.3, 8, 20) * 10,
                "marker": np.where(ones < 0.7, 1000, np.where(ones < 0.9, 1100, usual["marker"])),
                "bmi": np.where(usual["bmi"] == UNKNOWN, UNKNOWN, usual["bmi"] // 50 * 50),
                "days": np.minimum(usual["days"] // 90 * 90 + 1, 720),
            }
        case World.RARE:
            sick = rng.random(shape) < 0.002 + 0.006 * (usual["age"] > 65)
            dose = (rng.random(shape) < 0.01) + (rng.random(shape) < 0.01)
            ending = np.where(usual["days"] < 720, usual["ending"], 0)
            late = np.where(usual["days"] >= 480, 0.07, 0.0)
            kept = rng.random(shape) < np.where(ending == DEATH, late, 0.02)
            return {
                "sick": sick.astype(np.int64),
                "dose": dose.astype(np.int64),
                "ending": np.where(kept, ending, 0),
            }
        case World.EXHAUSTED:
            return {"days": np.minimum(usual["days"], rng.integers(60, 330, shape))}
        case World.HEAVY:
            many = rng.random(shape) < 0.02 + 0.2 * usual["sick"]
            return {"weight": np.where(many, 40, 1)}


def _value(of, rows: Rows, to: Dataset) -> Ints:
    match of:
        case ColumnOf(column=column):
            return rows[column]
        case BinOf(of=inner, edges=edges):
            x = _value(inner, rows, to)
            place = np.minimum(np.searchsorted(edges, x, side="right") - 1, len(edges) - 2)
            outside = (x < edges[0]) | (x > edges[-1])
            return np.where(outside, UNKNOWN, place)
        case Holds(of=predicate):
            return _holds(predicate, rows, to).astype(np.int64)
        case OrMissing(of=inner):
            x = _value(inner, rows, to)
            return np.where(x == UNKNOWN, domain(of, dataset=to).upper, x)
        case QualityOf(of=inner):
            return (_value(inner, rows, to) == UNKNOWN).astype(np.int64)


def _holds(predicate, rows: Rows, to: Dataset) -> NDArray[np.bool_]:
    shape = next(iter(rows.values())).shape
    match predicate:
        case Everything():
            return np.ones(shape, bool)
        case Between(of=of, lower=lower, upper=upper):
            x = _value(of, rows, to)
            low = x > UNKNOWN if lower is None else x >= lower
            return low if upper is None else low & (x <= upper)
        case IsIn(of=of, values=values):
            return np.isin(_value(of, rows, to), values)
        case All(of=every):
            return np.logical_and.reduce([_holds(p, rows, to) for p in every])
        case AnyOf(of=some):
            return np.logical_or.reduce([_holds(p, rows, to) for p in some])
        case Not(of=inner):
            return ~_holds(inner, rows, to)


def _number(value, rows: Rows, to: Dataset) -> Ints:
    match value:
        case Ones():
            return np.ones(next(iter(rows.values())).shape, np.int64)
        case Plain(of=of):
            return _value(of, rows, to)
        case Centred(of=of):
            return _value(of, rows, to) - centre(domain(of, dataset=to))[0]
        case CentredSquare(of=of):
            return (_value(of, rows, to) - centre(domain(of, dataset=to))[0]) ** 2
        case Product(of=factors):
            return np.prod([_number(factor, rows, to) for factor in factors], axis=0)


def _sums(aggregate: Aggregate, rows: Rows, *, to: Dataset) -> Ints:
    """Return the exact vector of each run, shape (runs, cells)."""
    kept = _holds(aggregate.relation.where, rows, to)
    cell, cells = np.zeros(kept.shape, np.int64), 1
    for axis in aggregate.axes:
        of = domain(axis, dataset=to)
        place = _value(axis, rows, to)
        kept &= place != UNKNOWN
        cell, cells = (
            cell * of.size() + np.where(place == UNKNOWN, of.lower, place) - of.lower,
            (cells * of.size()),
        )
    number = np.where(kept, _number(aggregate.value, rows, to), 0)
    runs = kept.shape[0]
    places = np.arange(runs)[:, None] * cells + np.where(kept, cell, 0)
    found = np.bincount(places.ravel(), number.ravel().astype(float), runs * cells)
    return np.rint(found).astype(np.int64).reshape(runs, cells)


def exact_worlds(statistic: Statistic, rows: Rows, *, to: Dataset) -> list[dict]:
    """Return the exact answers to a statistic's questions, run by run."""
    answers: dict[str, list[tuple[int, ...]]] = {}
    for asked in statistic.questions(to):
        own = [_sums(part, rows, to=to).tolist() for part in parts(asked.aggregate)]
        if isinstance(asked.aggregate, Aggregate):
            answers[asked.name] = [tuple(vector) for vector in own[0]]
        elif isinstance(asked.aggregate, RefinedAggregate):
            answers[asked.name] = [asked.aggregate.combined([one], dataset=to) for one in own[0]]
        else:
            answers[asked.name] = [
                tuple(asked.aggregate.combined(sums, dataset=to)) for sums in zip(*own, strict=True)
            ]
    names = list(answers)
    return [dict(zip(names, each, strict=True)) for each in zip(*answers.values(), strict=True)]


def joined(blocks: list[Rows]) -> dict[str, Ints]:
    """Return the patients of several blocks of one run together."""
    return {name: np.concatenate([rows[name] for rows in blocks], axis=1) for name in blocks[0]}
