"""Running counts: unbiased, covered, prefix-consistent; late reports; what is refused."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.contribution import Counted, PerPatient
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.release.noisy import NoisyAggregates, read_payload
from confide.rows.engines.duckdb import open_engine
from confide.statistics import RunningCounts, read_plan
from confide.tables.aggregates.shapes import parts
from confide.tables.aggregates.square_root import ONE, first_columns, product
from confide.tables.expression import ColumnOf, DatePart, ValueOf
from confide.tables.filter import Everything, IsIn, Not
from confide.tables.per_patient import AtEnd, HasAny, Which
from confide.tables.schema import Dataset
from confide.tables.source import Source, SourceKind
from noisy_answers import estimate, mechanisms
from over_time import day, visits
from seeded import SeededEntropy

CASES = RunningCounts(
    id="cases",
    table="visits",
    over="reported",
    since=day("2026-03-01"),
    until=day("2026-05-29"),
    counted=Counted.EVENTS,
    per_patient=PerPatient(cells=3, rows=2),
    rolling=7,
)
T = 90


def root(counts: list[int], until: int = T) -> dict[str, tuple[int, ...]]:
    return {"root": product(counts, until=until), "counts": tuple(counts)}


def daily(seed: int = 1) -> list[int]:
    return np.random.default_rng(seed).poisson(40, T).tolist()


def test_a_patient_moves_the_root_by_its_first_days_together():
    (asked,) = CASES.questions(visits())
    assert asked.sensitivity.l2_squared == 4 * first_columns(3, length=T)
    (twice,) = CASES.questions(visits(adjacency=Adjacency.SUBSTITUTE))
    assert twice.sensitivity.l2_squared == 8 * first_columns(3, length=T)
    (event,) = CASES.questions(visits(entity=Entity.EVENT))
    assert event.sensitivity.l2_squared == first_columns(1, length=T)
    (plain,) = CASES.questions(visits(measure=Measure.PURE))
    assert (plain.name, plain.sensitivity.l1) == ("counts", 6)


@pytest.mark.parametrize("measure", Measure)
def test_with_the_noise_off_running_rolling_and_single_counts_are_exact(measure):
    to, x = visits(measure=measure), daily()
    noise = mechanisms(CASES, to=to, spend=900)
    found = estimate(CASES, root(x), to=to, noise=noise)
    by = {
        name: [e.value for e in found if e.quantity == name] for name in ("count", "running count")
    }
    assert by["count"] == pytest.approx(x, abs=1e-6)
    assert by["running count"] == pytest.approx(np.cumsum(x).tolist(), abs=1e-6)
    rolling = [e for e in found if e.quantity == "rolling 7"]
    assert [e.value for e in rolling] == pytest.approx(
        np.convolve(x, np.ones(7), "valid").tolist(), abs=1e-6
    )
    assert rolling[0].key == ("2026-03-07",)


def drawn_errors(quantity: str, *, measure: Measure, runs: int = 2000) -> np.ndarray:
    """Errors of a quantity, shape (runs, T), from draws of the noise; the estimator is linear."""
    to = visits(measure=measure)
    (noise,) = mechanisms(CASES, to=to, spend=Fraction(1, 2)).values()
    z = noise.sample(runs * T, entropy=SeededEntropy(6)).reshape(runs, T)
    kernel = np.array(CASES._kernel(quantity, dataset=to, until=T))
    solve = np.array([[kernel[t - s] if t >= s else 0 for s in range(T)] for t in range(T)])
    return z @ solve.T / (ONE if measure is Measure.ZCDP else 1)


@pytest.mark.parametrize("measure", Measure)
@pytest.mark.parametrize("quantity", ["count", "running count", "rolling 7"])
def test_counts_over_time_are_covered_in_every_period(measure, quantity):
    to = visits(measure=measure)
    noise = mechanisms(CASES, to=to, spend=Fraction(1, 2))
    found = [
        e for e in estimate(CASES, root([1000] * T), to=to, noise=noise) if e.quantity == quantity
    ]
    widths = np.array([e.upper - e.value for e in found])
    errors = drawn_errors(quantity, measure=measure)[:, T - len(found) :]
    coverage = (np.abs(errors) <= widths).mean(axis=0)
    assert coverage.min() >= 0.93
    assert coverage.max() <= 0.97
    assert coverage.mean() == pytest.approx(0.95, abs=0.006)


def test_the_forecast_states_the_error_that_the_noise_has():
    to = visits()
    noise = mechanisms(CASES, to=to, spend=Fraction(1, 2))
    found = CASES.forecast(noise, dataset=to, level=Fraction(95, 100))
    last = drawn_errors("running count", measure=Measure.ZCDP)[:, -1]
    assert np.std(last) * 1.96 == pytest.approx(found.half_width, rel=0.05)
    assert np.median(np.abs(last)) == pytest.approx(found.median_error, rel=0.06)
    assert "noise on each period's count, added up, would give" in found.notes[-1]


FRAME = {
    "pid": [1, 1, 1, 1, 2, 2, 3, 3],
    "reported": ["2026-03-02", "2026-03-02", "2026-03-05", "2026-03-09", "2026-03-02",
                 "2026-04-01", "2026-02-01", "2026-03-03"],
    "happened": ["2026-03-01", "2026-03-02", "2026-03-01", "2026-03-09", "2026-03-02",
                 "2026-03-02", "2026-02-01", "2026-03-03"],
}  # fmt: skip


def exact(spec: RunningCounts, rows: dict[str, list]) -> tuple[int, ...]:
    """The integers that the gate would noise, through the engine."""
    pa = pytest.importorskip("pyarrow")
    columns = {name: pa.array(values) for name, values in rows.items()}
    for name in ("reported", "happened"):
        columns[name] = columns[name].cast(pa.date32())
    n = len(rows["pid"])
    rest = {"ward": ["a"] * n, "hour": [0] * n, "rate": [60] * n}
    to = visits()
    (asked,) = spec.questions(to)
    with open_engine(
        Source(kind=SourceKind.FRAMES),
        base=None,
        dataset=to,
        hash_key=b"\x07" * 32,
        frames={"visits": pa.table(columns | rest)},
        threads=1,
    ) as engine:
        sums = engine.aggregate(parts(asked.aggregate), dataset=to).reveal_to_gate()
    return asked.aggregate.combined(sums, dataset=to)


def days_of(spec: RunningCounts, rows: dict[str, list]) -> list[int]:
    values = [value / ONE for value in exact(spec, rows)]
    found = spec._sums(values, quantity="count", dataset=visits())
    return [round(value * ONE) for value in found]


def test_a_patient_keeps_the_earliest_days():
    two = replace(CASES, per_patient=PerPatient(cells=2, rows=1), until=day("2026-03-12"))
    counts = days_of(two, FRAME)
    # patient 1: 2 and 5 March, not 9; patient 2: 2 March; patient 3: 3 March, the range begins in March
    assert {i + 1: n for i, n in enumerate(counts) if n} == {2: 2, 3: 1, 5: 1}


def test_rows_that_come_in_later_change_no_coordinate_that_is_published():
    two = replace(CASES, per_patient=PerPatient(cells=2, rows=1))
    through = day("2026-03-06")
    early = {name: [values[i] for i in (0, 1, 2, 4, 6, 7)] for name, values in FRAME.items()}
    first = exact(replace(two, through=through), early)
    assert len(first) == 6
    assert exact(replace(two, through=day("2026-03-20")), FRAME)[:6] == first


def test_a_late_report_counts_on_its_report_day_and_revises_its_event_day():
    spec = replace(
        CASES, groups=("event_day",), per_patient=PerPatient(cells=4, rows=2), rolling=None
    )
    to = visits()
    from confide.tables.expression import PartOf
    from confide.tables.schema import Derived

    axis = PartOf(
        of=ColumnOf(table="visits", column="happened"),
        part=DatePart.DAY,
        since=day("2026-03-01"),
        until=day("2026-03-10"),
    )
    to = replace(to, derived=(*to.derived, Derived(name="event_day", of=axis)))
    (asked,) = spec.questions(to)
    assert asked.sensitivity.l2_squared == 4 * first_columns(4, length=T)
    noise = {"root": DiscreteGaussian(sigma_squared=Fraction(1, 10**6))}
    x = np.zeros((10, T), dtype=int)
    x[0, [1, 4]] = 1  # 1 March: one reported on the 2nd, one on the 5th
    series = [product(row.tolist(), until=T) for row in x]
    found = estimate(spec, {"root": tuple(itertools.chain(*series))}, to=to, noise=noise)
    known = {e.key: e.value for e in found if e.quantity == "running count"}
    seen = [known["2026-03-01", f"2026-03-0{d}"] for d in range(1, 7)]
    assert seen == pytest.approx([0, 1, 1, 1, 2, 2], abs=1e-6)


def test_only_periods_that_are_over_are_published():
    weeks = replace(CASES, every=DatePart.WEEK, rolling=None)  # 2026-03-01 is a Sunday
    assert replace(weeks, through=day("2026-03-14")).published(visits()) == 2
    assert replace(weeks, through=day("2026-03-15")).published(visits()) == 3
    assert replace(weeks, through=day("2026-05-29")).published(visits()) == 14
    with pytest.raises(ContractError, match="through"):
        replace(CASES, through=day("2026-08-01")).published(visits())
    with pytest.raises(ContractError, match="No month is complete"):
        replace(CASES, every=DatePart.MONTH, through=day("2026-03-30")).published(visits())


def test_a_prefix_costs_as_much_as_the_whole_horizon():
    (whole,) = CASES.questions(visits())
    (prefix,) = replace(CASES, through=day("2026-03-06")).questions(visits())
    assert prefix.sensitivity == whole.sensitivity


def test_a_plan_and_its_payload_are_read_back():
    spec = replace(CASES, through=day("2026-03-06"))
    plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=visits(), nano=NANO)
    assert read_plan(plan.to_json()) == plan
    noisy = NoisyAggregates(plan=plan, values=((1, 2, 3, 4, 5, 6),))
    assert read_payload(noisy.payload()) == noisy
    assert len([e for e in noisy.estimates() if e.quantity == "count"]) == 6


def test_rows_alone_windows_of_one_and_growth_in_epsilon_are_refused():
    with pytest.raises(ContractError, match="not rows alone"):
        replace(CASES, per_patient=PerPatient(rows=3)).questions(visits())
    with pytest.raises(ContractError, match="rolling"):
        replace(CASES, rolling=1).questions(visits())
    with pytest.raises(ContractError, match="zcdp only"):
        replace(CASES, through=day("2026-03-06")).questions(visits(measure=Measure.PURE))


def other_facts() -> Dataset:
    """Visits, one enrolment per patient, the last visit and whether there was a visit in ward b."""
    to = visits()
    (table,) = to.tables
    ward = ColumnOf(table="visits", column="ward")
    return replace(
        to,
        tables=(
            table,
            replace(table, name="enrolment", source="enrolment", one_row_per_patient=True),
        ),
        per_patient=(
            AtEnd(
                name="last",
                which=Which.LAST,
                table="visits",
                column="reported",
                by="reported",
                where=Everything(),
            ),
            HasAny(name="in_b", table="visits", where=IsIn(of=ward, values=(1,))),
        ),
    )


@pytest.mark.parametrize(
    "backwards",
    [
        {"over": "last", "counted": Counted.PATIENTS, "per_patient": PerPatient()},
        {"groups": ("in_b",)},
        {"groups": ("enrolment.ward",)},
        {"where": Not(of=IsIn(of=ValueOf(name="in_b"), values=(1,)))},
        {"table": "enrolment", "counted": Counted.PATIENTS, "per_patient": PerPatient()},
    ],
    ids=["last-visit", "ever", "other-table", "where-never", "one-row-table"],
)
def test_what_later_rows_can_change_backwards_does_not_grow(backwards):
    to, spec = other_facts(), replace(CASES, **backwards)
    (whole,) = spec.questions(to)  # measured once, it is bounded as any other
    assert whole.sensitivity.l2_squared > 0
    with pytest.raises(ContractError, match=r"can change after|take its place"):
        replace(spec, through=day("2026-03-06")).questions(to)


def test_the_error_of_noise_on_each_day_grows_with_the_root_of_time_and_ours_hardly():
    to = visits()
    noise = mechanisms(CASES, to=to, spend=Fraction(1, 2))
    errors = [
        math.sqrt(c.variance) for c in CASES._errors(noise, dataset=to, until=T)["running count"]
    ]
    assert errors[-1] / errors[0] < 1.7
    pure = visits(measure=Measure.PURE)
    naive = CASES._errors(mechanisms(CASES, to=pure, spend=1), dataset=pure, until=T)[
        "running count"
    ]
    assert naive[-1].variance == pytest.approx(T * naive[0].variance)
