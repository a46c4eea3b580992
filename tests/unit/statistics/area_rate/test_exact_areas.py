"""With the noise off, counts and rates of areas are those that pandas computes from the rows."""

import itertools

import numpy as np
import pytest

from areas import land
from confide.plans.contribution import Counted, PerPatient
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.release.noisy import NoisyAggregates, read_payload
from confide.rows.engines.duckdb import open_engine
from confide.statistics import AreaRate, Hierarchy
from confide.statistics.area_rate.spec import Denominator
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.shapes import parts
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from confide.tables.source import Source, SourceKind

pd = pytest.importorskip("pandas", reason="pandas is not installed")

COUNTIES = (4, 1, 7, 3)
PEOPLE = tuple(range(700, 700 + 90 * sum(COUNTIES), 90))


def frames() -> dict[str, "pd.DataFrame"]:
    rng = np.random.default_rng(21)
    labels = [f"t{c}.{t}" for c, n in enumerate(COUNTIES) for t in range(n)]
    persons = pd.DataFrame({"pid": np.arange(3000)})
    persons["tract"] = rng.choice([*labels, "elsewhere"], len(persons))
    persons["sick"] = rng.choice(["no", "yes"], len(persons), p=[0.9, 0.1])
    visits = persons.loc[persons.index.repeat(rng.integers(0, 6, len(persons)))].copy()
    visits["tract"] = rng.choice(labels, len(visits))
    return {"persons": persons, "visits": visits.reset_index(drop=True)}


FRAMES = frames()
PERSONS = FRAMES["persons"][FRAMES["persons"].tract != "elsewhere"]
SICK = IsIn(of=ColumnOf(table="persons", column="sick"), values=(1,))


def county(tract: "pd.Series") -> "pd.Series":
    return "c" + tract.str.extract(r"t(\d+)\.")[0]


@pytest.fixture(scope="module", params=list(itertools.product(Measure, Adjacency)))
def estimates(request):
    measure, adjacency = request.param
    to = land(COUNTIES, population=PEOPLE, levels=3, measure=measure, adjacency=adjacency)
    place = {"spine": "place"}
    visits = {**place, "table": "visits"}
    statistics = (
        Hierarchy(id="persons", table="persons", **place),
        Hierarchy(id="visits", counted=Counted.EVENTS, per_patient=PerPatient(rows=9), **visits),
        Hierarchy(id="pairs", per_patient=PerPatient(cells=9), **visits),
        AreaRate(id="rate", table="persons", of=SICK, **place),
        AreaRate(id="counties", table="persons", of=SICK, area="county", **place),
        AreaRate(id="fair", table="persons", of=SICK, same_error_above=1000, **place),
        AreaRate(
            id="share",
            table="persons",
            of=SICK,
            area="county",
            denominator=Denominator.ROWS,
            per=100,
            **place,
        ),
    )
    asks = [Ask(statistic=statistic) for statistic in statistics]
    plan = make_plan(asks, study=Study(id="exact"), dataset=to, nano=NANO // 2)
    asked = [part for m in plan.measurements for part in parts(m.aggregate)]
    with open_engine(
        Source(kind=SourceKind.FRAMES), base=None, dataset=to, hash_key=b"\x07" * 32, frames=FRAMES
    ) as engine:
        passes = [line for line in engine.explain(tuple(asked), dataset=to) if "visits" in line]
        answers = engine.aggregate(tuple(asked), dataset=to).reveal_to_gate()
    assert len(passes) == 2  # one scan for all levels of visits, one for pairs
    values = tuple(
        answer
        if isinstance(m.aggregate, Aggregate)
        else m.aggregate.combined((answer,), dataset=to)
        for m, answer in zip(plan.measurements, answers, strict=True)
    )
    noisy = NoisyAggregates(plan=plan, values=values)
    assert read_payload(noisy.payload()) == noisy
    return {(e.statistic, e.quantity, e.key): e for e in noisy.estimates()}


def test_every_level_counts_what_pandas_counts(estimates):
    visits = FRAMES["visits"]
    pairs = visits.drop_duplicates(["pid", "tract"])
    for name, rows in (("persons", PERSONS), ("visits", visits), ("pairs", pairs)):
        state = "s" + (county(rows.tract).str[1:].astype(int) // 2).astype(str)
        for level, of in (("tract", rows.tract), ("county", county(rows.tract)), ("state", state)):
            for label, size in of.value_counts().items():
                for quantity in ("count", "unrounded", "measurement"):
                    found = estimates[name, quantity, (level, label)].value
                    assert found == pytest.approx(size, abs=1e-6), (name, level, label)


def test_rates_are_cases_over_people(estimates):
    sick = PERSONS[PERSONS.sick == "yes"].tract
    labels = [f"t{c}.{t}" for c, n in enumerate(COUNTIES) for t in range(n)]
    people = pd.Series(PEOPLE, index=labels)
    by_county = people.groupby(county(people.index.to_series())).sum()
    for label, cases in sick.value_counts().items():
        expected = pytest.approx(100_000 * cases / people[label])
        assert estimates["rate", "rate", (label,)].value == expected
        assert estimates["fair", "rate", (label,)].value == expected
    for label, cases in county(sick).value_counts().items():
        found = estimates["counties", "rate", (label,)].value
        assert found == pytest.approx(100_000 * cases / by_county[label])


def test_shares_of_rows_are_those_of_pandas(estimates):
    for label, rows in PERSONS.groupby(county(PERSONS.tract)):
        expected = 100 * (rows.sick == "yes").mean()
        assert estimates["share", "rate", (label,)].value == pytest.approx(expected)
