"""The statistic: what it asks, claims and refuses, and that exact answers give the exact curve."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from confide.errors import ConfideError, ContractError
from confide.files.study import ask_from
from confide.plans.contribution import PerPatient
from confide.plans.estimates import Covers
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.simulation import Simulation
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.rows.engines.duckdb import open_engine
from confide.statistics import read_plan
from confide.statistics.survival import Method, Survival
from confide.statistics.survival.curves import survival
from confide.tables.schema import Outside
from confide.tables.source import Source, SourceKind
from survival_worlds import ON_TREATMENT, RELAPSED, TIMES, table_of, trial_dataset

COPIES = 60
TO = trial_dataset()
METHODS = pytest.mark.parametrize("method", Method)


def trial(**more) -> Survival:
    asked = {"bins": 36, "until": Fraction(36), "by": ("arm",)} | more
    return Survival(
        id="s", table="children", time="weeks", status="status", censored=("remission",), **asked
    )


def frames():
    """The published trial, each child sixty times."""
    children = pa.table(
        {
            "pid": np.arange(len(TIMES) * COPIES),
            "arm": np.tile(np.where(ON_TREATMENT, "treated", "placebo"), COPIES),
            "status": np.tile(np.where(RELAPSED, "relapse", "remission"), COPIES),
            "ending": np.tile(np.where(RELAPSED, "relapse", "lost"), COPIES),
            "weeks": np.tile(TIMES, COPIES),
            "months": np.tile(TIMES / 2, COPIES),
            "born": pa.array([0] * len(TIMES) * COPIES, pa.date32()),
        }
    )
    return {"children": children, "visits": pa.table({"pid": [1], "relapse": ["no"], "week": [3]})}


def exact_estimates(spec: Survival, *, to=TO):
    """Return the estimates of a release whose noise is zero, from rows through the engine."""
    plan = make_plan([Ask(statistic=spec)], study=Study(id="x"), dataset=to, nano=40 * NANO)
    with open_engine(
        Source(kind=SourceKind.FRAMES),
        base=None,
        dataset=to,
        hash_key=b"\x07" * 32,
        frames=frames(),
        threads=1,
    ) as engine:
        aggregates = tuple(m.aggregate for m in plan.measurements)
        answers = engine.aggregate(aggregates, dataset=to).reveal_to_gate()
    noisy = {m.name: values for m, values in zip(plan.measurements, answers, strict=True)}
    found = spec.estimate(
        noisy,
        mechanisms=plan.mechanisms(spec.id),
        dataset=to,
        simulation=Simulation(payload_digest="00" * 32),
    )
    return {(e.quantity, e.key): e for e in found}


@METHODS
def test_exact_counts_from_rows_give_the_exact_curve(method):
    found = exact_estimates(trial(method=method))
    for arm, treated in (("placebo", False), ("treated", True)):
        chosen = treated == ON_TREATMENT
        ways = np.where(RELAPSED[chosen], 0, 1)
        curve = survival(table_of(TIMES[chosen], ways, bins=36))
        for week in (1, 6, 12, 20):
            published = found["survival", (arm, "", str(week))]
            assert published.value == pytest.approx(curve[week - 1], abs=1e-12)
            assert published.covers is Covers.SAMPLING_AND_NOISE
        risk = found["at risk", (arm, "", "8")]
        assert risk.value == pytest.approx(COPIES * (TIMES[chosen] >= 8).sum())
        assert risk.covers is Covers.NOISE
        gone = found["events", (arm, "", "8")]
        assert gone.value == pytest.approx(COPIES * ((TIMES < 8) & RELAPSED & chosen).sum())


def test_the_summaries_are_those_of_the_trial():
    found = exact_estimates(trial(by=("arm",)))
    assert found["median survival", ("placebo", "", "")].value == 8  # as lifelines has it
    assert found["median survival", ("treated", "", "")].value == 23
    ratio = found["hazard ratio", ("treated vs placebo", "", "")]
    assert ratio.lower < ratio.value < ratio.upper < 1
    assert found["log-rank p-value", ("", "", "")].value < 1e-6
    assert found["concordance", ("", "", "")].value < 0.5  # the later arm fails later
    assert found["restricted mean", ("placebo", "", "36")].unit == "wk"


def test_competing_events_have_an_incidence_each_that_adds_up():
    spec = trial(by=())
    spec = replace(spec, status="ending", censored=("lost", "study ended"))
    found = exact_estimates(spec)
    parts = [found["cumulative incidence", (kind, "12")].value for kind in ("relapse", "death")]
    assert sum(parts) == pytest.approx(1 - found["survival", ("", "12")].value, abs=1e-12)
    assert parts[1] == 0
    assert ("events", ("death", "12")) in found


def test_times_are_printed_in_their_unit():
    found = exact_estimates(
        trial(by=(), edges=(Fraction(0), Fraction(6), Fraction(12)), until=None)
    )
    assert [key[-1] for quantity, key in found if quantity == "survival"] == ["6", "12"]
    half = replace(trial(by=()), time="months", until=Fraction(18))
    found = exact_estimates(half)
    assert found["survival", ("", "0.5")].value == 1.0
    assert found["survival", ("", "18")]


@pytest.mark.parametrize("measure", Measure)
@pytest.mark.parametrize(
    ("adjacency", "l1"), [(Adjacency.ADD_REMOVE, 1), (Adjacency.SUBSTITUTE, 2)]
)
@METHODS
def test_a_patient_leaves_once_so_the_sensitivity_is_1_or_2_under_substitution(
    measure, adjacency, l1, method
):
    for asked in trial(method=method).questions(
        trial_dataset(measure=measure, adjacency=adjacency)
    ):
        assert (asked.sensitivity.l1, asked.sensitivity.l2_squared) == (l1, l1)


def test_each_time_point_of_the_split_is_charged_by_itself():
    spec = trial(method=Method.PER_TIME_POINT)
    plan = make_plan([Ask(statistic=spec)], study=Study(id="x"), dataset=TO, nano=36 * NANO)
    assert len(plan.measurements) == 36
    assert {m.nano for m in plan.measurements} == {NANO}
    assert plan.amount.nano == 36 * NANO


def test_a_plan_with_a_survival_question_is_read_back():
    plan = make_plan([Ask(statistic=trial())], study=Study(id="x"), dataset=TO, nano=NANO)
    assert read_plan(plan.to_json()) == plan


def test_the_last_bin_holds_whoever_is_followed_to_the_horizon():
    (asked,) = trial(until=Fraction(40)).questions(
        TO
    )  # the upper bound, to which times are clipped
    assert asked.aggregate.axes[1].edges[-2:] == (40, 41)
    (asked,) = trial().questions(TO)
    assert asked.aggregate.axes[1].edges[-2:] == (36, 40)


def test_event_level_privacy_counts_rows():
    to = trial_dataset(entity=Entity.EVENT)
    spec = Survival(
        id="s", table="visits", time="week", status="relapse", censored=("no",), until=Fraction(36)
    )
    (asked,) = spec.questions(to)
    assert asked.sensitivity.l1 == 1
    assert asked.sensitivity.unit == "rows"


def questions(**more):
    return lambda: replace(trial(), **more).questions(TO)


@pytest.mark.parametrize(
    ("refused", "fix"),
    [
        (questions(table="visits", time="week", status="relapse", censored=("no",), by=()),
         "per-patient values"),
        (questions(time="born"), "days-between"),
        (questions(time="arm"), "days-between"),
        (questions(status="weeks"), "categories"),
        (questions(censored=("dead",)), "Write censored: [those with which follow-up ends"),
        (questions(censored=("remission", "relapse")), "Write censored: [those with which follow-up ends"),
        (questions(until=Fraction(60)), "bins: 24"),
        (questions(edges=(Fraction(2), Fraction(9), Fraction(12)), until=None), "bins: 24"),
        (questions(edges=(Fraction(0), Fraction(19, 2), Fraction(12)), until=None), "Write step: 0.1"),
        (lambda: trial(bins=1), "12 to 60"),
        (lambda: trial(bins=401), "12 to 60"),
        (lambda: trial(bins=51, method=Method.PER_TIME_POINT), "12 to 60"),
        (lambda: trial(edges=(Fraction(0), Fraction(9), Fraction(12))), "Leave `until` out"),
        (lambda: trial(per_patient=PerPatient(rows=2)), "Leave `per-patient` out"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_fix(refused, fix):
    with pytest.raises(ConfideError) as told:
        refused()
    assert fix in f"{told.value} {told.value.hint}"


def test_a_time_that_drops_the_longest_followed_is_refused():
    children, visits = TO.tables
    columns = tuple(
        replace(column, outside=Outside.DROP) if column.name == "weeks" else column
        for column in children.columns
    )
    to = replace(TO, tables=(replace(children, columns=columns), visits))
    with pytest.raises(ContractError, match="survived longest"):
        trial().questions(to)


def test_delayed_entry_is_refused_with_the_reason_and_the_fix():
    item = {"id": "s", "kind": "survival", "table": "children", "time": "weeks"}
    item |= {"status": "status", "censored": "remission", "entry": "born"}
    with pytest.raises(ContractError, match="doubles the sensitivity") as told:
        ask_from(item, dataset=TO)
    assert "days-between" in told.value.hint


def test_a_study_file_asks_for_survival():
    item = {"id": "s", "kind": "survival", "table": "children", "time": "weeks"}
    item |= {"status": "status", "censored": "remission", "by": ["arm"], "bins": 36, "until": 36}
    assert ask_from(item, dataset=TO).statistic == trial()
    split = ask_from(item | {"method": "per-time-point"}, dataset=TO).statistic
    assert split.method is Method.PER_TIME_POINT
    with pytest.raises(ContractError, match="both bins and edges"):
        ask_from(item | {"edges": [0, 6, 12]}, dataset=TO)


def test_the_forecast_is_the_error_that_simulation_finds():
    spec = trial(by=(), bins=24, until=Fraction(24), expect=Fraction(500))
    plan = make_plan([Ask(statistic=spec)], study=Study(id="x"), dataset=TO, nano=NANO)
    found = spec.forecast(plan.mechanisms("s"), dataset=TO, level=Fraction(95, 100))
    exits = np.zeros((25, 2))
    exits[:-1, 0], exits[-1, 1] = 250 / 24, 250
    from survival_worlds import laplace_noise

    noisy = exits + laplace_noise((4000, 25, 2), scale=1, seed=2)
    error = survival(noisy) - survival(exits)
    assert found.half_width == pytest.approx(1.96 * np.sqrt((error**2).mean()), rel=0.05)
    assert found.unit == "1"


def test_a_forecast_without_a_planning_number_asks_for_one():
    plan = make_plan([Ask(statistic=trial())], study=Study(id="x"), dataset=TO, nano=NANO)
    with pytest.raises(ContractError, match=r"expect: \{count: 500\}"):
        trial().forecast(plan.mechanisms("s"), dataset=TO, level=Fraction(95, 100))


def test_with_too_few_patients_the_curve_is_withheld_and_says_so():
    plan = make_plan([Ask(statistic=trial())], study=Study(id="x"), dataset=TO, nano=NANO // 10)
    noisy = {"exits": (0,) * (2 * 37 * 2)}
    found = trial().estimate(
        noisy,
        mechanisms=plan.mechanisms("s"),
        dataset=TO,
        simulation=Simulation(payload_digest="00" * 32),
    )
    curve = [e for e in found if e.quantity in ("survival", "hazard ratio", "log-rank p-value")]
    assert all(e.value is None and e.flags == ("too few at risk",) for e in curve)


def test_a_median_beyond_the_horizon_is_flagged_as_not_reached():
    plan = make_plan([Ask(statistic=trial())], study=Study(id="x"), dataset=TO, nano=NANO)
    exits = np.zeros((2, 37, 2), dtype=int)
    exits[:, 3, 1], exits[:, -1, 0] = 100, 400  # categories in their order: remission, relapse
    found = trial().estimate(
        {"exits": tuple(exits.ravel().tolist())},
        mechanisms=plan.mechanisms("s"),
        dataset=TO,
        simulation=Simulation(payload_digest="00" * 32),
    )
    medians = [e for e in found if e.quantity == "median survival"]
    assert [e.flags for e in medians] == [("not reached",)] * 2
    assert [e.value for e in medians] == [None] * 2
