"""Table 1: exact with the noise off, consistent with it on, and covered as it says."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError
from confide.plans.contribution import PerPatient
from confide.plans.estimates import Covers
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.release.noisy import NoisyAggregates, read_payload
from confide.statistics import Characteristic, Summary, TableOne
from confide.tables.expression import ColumnOf
from confide.tables.filter import Between
from noise_off import exact_answers
from noisy_answers import SIMULATION, dataset, draws, mechanisms

BOTH = tuple(Summary)
TABLE = TableOne(
    id="t1",
    table="participants",
    by=("sex",),
    variables=(
        Characteristic(column="age_band"),
        Characteristic(column="age", show=BOTH, bins=100),
        Characteristic(column="pressure"),
        Characteristic(column="bmi", show=(Summary.MEDIAN_IQR,), bins=601),
        Characteristic(column="diabetes"),
    ),
    expect=Fraction(500),
)
SETTINGS = [
    pytest.param(dataset(measure=m, adjacency=a), id=f"{m.value}-{a.value}")
    for m, a in itertools.product(Measure, Adjacency)
]


def people(rows: int = 900):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "pid": np.arange(rows),
            "sex": rng.choice(["male", "female"], rows, p=[0.4, 0.6]),
            "diabetes": rng.choice(["no", "yes", "", "?"], rows, p=[0.6, 0.25, 0.1, 0.05]),
            "age": rng.integers(0, 101, rows),
            "pressure": np.clip(np.rint(rng.normal(125, 18, rows)), 80, 200),
            "bmi": np.clip(rng.normal(27, 5, rows).round(1), 10, 70),
            "born": pd.Timestamp("1980-01-01"),
            "city": "Ulm",
        }
    )
    frame.loc[::7, "pressure"] = np.nan
    frame.loc[::13, "bmi"] = np.nan
    frame.loc[::17, "age"] = -1  # clipped to 0: known
    return frame


def exact_vectors(statistic, to, frames):
    """The exact vectors of a statistic, by the engine, as the gate puts them together."""
    questions = statistic.questions(to)
    answers = exact_answers([q.aggregate for q in questions], to=to, frames=frames)
    found = {}
    for q, answer in zip(questions, answers, strict=True):
        assert len(answer) == q.aggregate.coordinates(to)
        found[q.name] = answer
    return found


def estimated(statistic, vectors, *, to, spend=1.0):
    noise = mechanisms(statistic, to=to, spend=spend)
    found = statistic.estimate(vectors, mechanisms=noise, dataset=to, simulation=SIMULATION)
    return {(e.quantity, e.key, e.covers): e for e in found}


@pytest.fixture(scope="module")
def exact():
    to = dataset()
    frame = people()
    vectors = exact_vectors(TABLE, to, {"participants": frame})
    return frame, estimated(TABLE, vectors, to=to, spend=1000)


def groups(frame):
    return {"overall": frame, **{sex: frame[frame.sex == sex] for sex in ("male", "female")}}


def value(found, quantity, *key, covers=None):
    return next(
        e.value
        for (q, k, c), e in found.items()
        if (q, k) == (quantity, key) and covers in (None, c)
    )


def test_counts_shares_and_missing_are_those_of_the_rows(exact):
    frame, found = exact
    for group, rows in groups(frame).items():
        assert value(found, "count", "", "", group) == len(rows)
        known = rows[rows.diabetes.isin(["no", "yes"])]
        for label in ("no", "yes"):
            count = (rows.diabetes == label).sum()
            assert value(found, "count", "diabetes", label, group) == count
            expected = 100 * count / len(known)
            assert value(found, "share", "diabetes", label, group) == pytest.approx(expected)
        missing = len(rows) - len(known)
        assert value(found, "count", "diabetes", "missing", group) == missing
        expected = 100 * missing / len(rows)
        assert value(found, "share", "diabetes", "missing", group) == pytest.approx(expected)
        assert value(found, "count", "pressure", "missing", group) == rows.pressure.isna().sum()
        assert value(found, "count", "bmi", "missing", group) == rows.bmi.isna().sum()


def test_means_and_standard_deviations_are_those_of_the_clipped_known_rows(exact):
    frame, found = exact
    for group, rows in groups(frame).items():
        for column in ("age", "pressure"):
            x = rows[column].dropna().clip(lower=0)
            assert value(found, "mean", column, "", group) == pytest.approx(x.mean(), abs=1e-9)
            assert value(found, "sd", column, "", group) == pytest.approx(x.std(ddof=0), abs=1e-9)


def test_quartiles_are_those_of_the_rows_to_the_width_of_a_bin(exact):
    frame, found = exact
    for group, rows in groups(frame).items():
        for column, width in (("age", 1.0), ("bmi", 0.1)):
            x = rows[column].dropna().clip(lower=0)
            for q in (0.25, 0.5, 0.75):
                got = value(found, f"quantile {q:g}", column, "", group)
                assert got == pytest.approx(x.quantile(q), abs=1.5 * width)


def yang_dalton(first, second):
    """√(δ'S⁻¹δ) of Yang and Dalton (2012), over all labels but the last."""

    def law(p):
        return np.diag(p) - np.outer(p, p)

    difference = (second - first)[:-1]
    spread = (law(first[:-1]) + law(second[:-1])) / 2
    return math.sqrt(difference @ np.linalg.solve(spread, difference))


def test_standardised_mean_differences_are_those_of_the_rows(exact):
    frame, found = exact
    men, women = (frame[frame.sex == sex] for sex in ("male", "female"))
    pair = "female – male"
    one, two = men.pressure.dropna(), women.pressure.dropna()
    pooled = math.sqrt((one.var(ddof=0) + two.var(ddof=0)) / 2)
    expected = (two.mean() - one.mean()) / pooled
    assert value(found, "smd", "pressure", "", pair) == pytest.approx(expected, abs=1e-9)
    p, q = (
        (g.diabetes == "yes").sum() / g.diabetes.isin(["no", "yes"]).sum() for g in (men, women)
    )
    expected = (q - p) / math.sqrt((p * (1 - p) + q * (1 - q)) / 2)
    assert value(found, "smd", "diabetes", "", pair) == pytest.approx(expected, abs=1e-9)
    bands = [np.histogram(g.age.clip(lower=0), [0, 40, 65, 101])[0] / len(g) for g in (men, women)]
    # half a row is added to each label of S, so that an empty one does not make it singular
    assert value(found, "smd", "age_band", "", pair) == pytest.approx(yang_dalton(*bands), rel=0.02)


@pytest.mark.parametrize("to", SETTINGS)
def test_every_variable_adds_up_to_the_same_totals_and_groups_to_overall(to, exact):
    frame, _ = exact
    vectors = exact_vectors(TABLE, to, {"participants": frame})
    noise = mechanisms(TABLE, to=to, spend=Fraction(1, 10))
    for noisy in draws(vectors, noise=noise, runs=4, seed=2):
        found = TABLE.estimate(noisy, mechanisms=noise, dataset=to, simulation=SIMULATION)
        counts = {e.key: e.value for e in found if e.quantity == "count"}
        assert all(count >= 0 and count == int(count) for count in counts.values())
        for (variable, label, group), count in counts.items():
            if group == "overall":
                each = [counts[variable, label, sex] for sex in ("male", "female")]
                assert count == sum(each)
            if not variable:
                cells = [c for (v, _, g), c in counts.items() if v == "diabetes" and g == group]
                assert sum(cells) == count
                assert len(cells) == 3


def test_overall_is_the_sum_of_the_groups_and_is_never_measured():
    to = dataset()
    for question in TABLE.questions(to):
        lengths = {"age_band/counts": 3 + 1, "age/moments": 4, "age/histogram": 101}
        expected = lengths.get(question.name)
        if expected is not None:
            assert question.aggregate.coordinates(to) == 2 * expected


def test_v_categorical_variables_have_a_joint_l1_of_v_and_an_l2_squared_of_v():
    table = TableOne(
        id="t",
        table="participants",
        variables=tuple(Characteristic(column=c) for c in ("sex", "diabetes", "age_band")),
    )
    questions = table.questions(dataset())
    assert sum(q.sensitivity.l1 for q in questions) == 3
    assert sum(q.sensitivity.l2_squared for q in questions) == 3


@pytest.mark.parametrize("to", SETTINGS)
def test_the_budget_gives_every_line_the_same_error_relative_to_the_error_asked_of_it(to):
    noise = mechanisms(TABLE, to=to, spend=Fraction(1, 50))
    ratios = []
    for line in TABLE.lines(to):
        deviation = math.sqrt(noise[line.name].variance()) / line.worth
        ratios.append(deviation * line.error_of_one / float(line.asked))
    assert max(ratios) / min(ratios) == pytest.approx(1, abs=1e-3)


def test_a_variable_that_asks_for_half_the_error_gets_it():
    to = dataset(measure=Measure.ZCDP)
    table = TableOne(
        id="t",
        table="participants",
        variables=(
            Characteristic(column="sex", within=Fraction(1, 100)),
            Characteristic(column="diabetes", within=Fraction(1, 200)),
        ),
    )
    noise = mechanisms(table, to=to, spend=Fraction(1, 50))
    ratio = noise["sex/counts"].variance() / noise["diabetes/counts"].variance()
    assert math.sqrt(ratio) == pytest.approx(2, rel=1e-3)


def test_asking_for_the_errors_asked_finds_the_least_budget_that_reaches_them():
    from confide.plans.pricing.calibrate_to_error import Within

    to = dataset(measure=Measure.ZCDP)
    plan = make_plan(
        [Ask(statistic=TABLE, error=Within(amount=Fraction(1)))],
        study=Study(id="s"),
        dataset=to,
        nano=None,
    )
    reached = TABLE.forecast(plan.mechanisms("t1"), dataset=to, level=Fraction(95, 100))
    assert 0.99 <= reached.half_width <= 1


def test_the_pooled_total_is_more_exact_than_any_line_alone():
    to = dataset()
    noise = mechanisms(TABLE, to=to, spend=1)
    vectors = {q.name: (0,) * q.aggregate.coordinates(to) for q in TABLE.questions(to)}
    total = estimated(TABLE, vectors, to=to)[("count", ("", "", "male"), Covers.NOISE)]
    for line in TABLE.lines(to):
        alone = math.sqrt(line.width * noise[line.name].variance()) / line.worth
        assert total.standard_error < 0.9 * alone


def test_a_plan_with_a_table_can_be_written_and_read_back():
    to = dataset()
    plan = make_plan([Ask(statistic=TABLE)], study=Study(id="s"), dataset=to, nano=NANO)
    values = tuple((0,) * m.aggregate.coordinates(to) for m in plan.measurements)
    noisy = NoisyAggregates(plan=plan, values=values)
    assert read_payload(noisy.payload()) == noisy


def test_rows_that_a_condition_requires_to_be_known_have_no_missing_cell():
    adults = Between(of=ColumnOf(table="participants", column="age"), lower=40)
    table = TableOne(
        id="t",
        table="participants",
        where=adults,
        variables=(Characteristic(column="age"), Characteristic(column="age_band")),
    )
    assert [line.missing for line in table.lines(dataset())] == [False, False]
    assert all(line.missing for line in TABLE.lines(dataset()))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variables": ()}, "each named once"),
        ({"variables": (Characteristic(column="age"),) * 2}, "each named once"),
        ({"by": ("sex", "diabetes")}, "at most one group"),
        ({"by": ("diabetes",)}, "no variable of its own"),
        ({"per_patient": PerPatient(cells=2)}, "keep different rows"),
        ({"variables": (Characteristic(column="born"),)}, "is a date"),
        ({"variables": (Characteristic(column="sex", show=BOTH),), "by": ()}, "are counted"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(changes, message):
    given = {
        "id": "t", "table": "participants", "by": ("sex",),
        "variables": (Characteristic(column="diabetes"),),
    }  # fmt: skip
    with pytest.raises(ContractError, match=message):
        TableOne(**{**given, **changes}).questions(dataset())


def test_lines_of_several_rows_a_patient_keep_the_same_rows():
    """Two rows of each patient at most: their number is the same on every line."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    rng = np.random.default_rng(1)
    visits = pd.DataFrame({"pid": rng.integers(0, 60, 400)})
    visits["ward"] = rng.choice(["a", "b", "c", "?"], 400)
    visits["days"] = np.where(rng.random(400) < 0.3, np.nan, rng.integers(0, 31, 400))
    visits["reason"] = "fever"
    table = TableOne(
        id="t",
        table="visits",
        variables=(
            Characteristic(column="ward"),
            Characteristic(column="days", show=BOTH, bins=16),
        ),
        per_patient=PerPatient(rows=2),
    )
    to = dataset()
    vectors = exact_vectors(table, to, {"visits": visits})
    kept = int(visits.groupby("pid").size().clip(upper=2).sum())
    assert sum(vectors["ward/counts"]) == kept
    assert sum(vectors["days/histogram"]) == kept
    assert sum(vectors["days/moments"]) == kept * 30**2
    assert vectors["days/moments"][3] == vectors["days/histogram"][-1] * 30**2


def test_a_patient_without_a_row_in_another_table_is_counted_as_missing_there():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    to = dataset()
    people, visits = to.tables
    sex = replace(people.column("sex"), nulls=0, other=0)  # no cell of the column is unknown
    to = replace(to, tables=(replace(people, columns=(sex, *people.columns[1:])), visits))
    frame = pd.DataFrame({"pid": range(10), "ward": "a", "days": 3.0, "reason": "fever"})
    known = pd.DataFrame({"pid": range(4), "sex": "female", "diabetes": "no", "age": 40})
    known = known.assign(pressure=120, bmi=25.0, born=pd.Timestamp("1980-01-01"), city="Ulm")
    variables = (Characteristic(column="ward"), Characteristic(column="participants.sex"))
    table = TableOne(id="t", table="visits", variables=variables, per_patient=PerPatient(rows=1))
    vectors = exact_vectors(table, to, {"visits": frame, "participants": known})
    assert vectors["ward/counts"] == (10, 0, 0, 0)
    assert vectors["participants.sex/counts"] == (0, 4, 6)


def test_with_the_event_as_unit_every_row_is_described():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    visits = pd.DataFrame({"ward": ["a"] * 30 + ["b"] * 20, "days": 7.0, "reason": "fever"})
    table = TableOne(
        id="t", table="visits", by=("ward",), variables=(Characteristic(column="days"),)
    )
    to = dataset(entity=Entity.EVENT)
    vectors = exact_vectors(table, to, {"visits": visits})
    found = estimated(table, vectors, to=to, spend=100)
    assert value(found, "count", "", "", "a") == 30
    assert value(found, "mean", "days", "", "b") == pytest.approx(7)


# -- coverage: 2,000 tables, of other people each

SMALL = TableOne(
    id="s",
    table="participants",
    by=("sex",),
    variables=(
        Characteristic(column="age_band"),
        Characteristic(column="pressure", show=BOTH, bins=8),
        Characteristic(column="diabetes"),
    ),
)
BANDS, SICK = {"male": (0.3, 0.5, 0.2), "female": (0.4, 0.35, 0.25)}, {"male": 0.2, "female": 0.3}
CENTRE, SPREAD, LOST = {"male": 128, "female": 122}, 16, 0.1
MEN, WOMEN = 500, 700
EDGES = SMALL.lines(dataset())[2].edges


def world(rng):
    """The exact vectors of one sample, and its numbers by quantity and key."""
    tables = {name: [] for name in ("bands", "moments", "bins", "sick")}
    truth = {}
    for sex, n in (("male", MEN), ("female", WOMEN)):
        band = rng.multinomial(n, [*(np.array(BANDS[sex]) * (1 - LOST)), LOST])
        sick = rng.multinomial(n, [(1 - LOST) * (1 - SICK[sex]), (1 - LOST) * SICK[sex], LOST])
        x = np.clip(np.rint(rng.normal(CENTRE[sex], SPREAD, n)), 80, 200).astype(np.int64)
        x = x[rng.random(n) >= LOST]
        tables["bands"] += band.tolist()
        tables["sick"] += sick.tolist()
        below, above = 200 - x, x - 80
        moments = [(below**2).sum(), (2 * below * above).sum(), (above**2).sum()]
        tables["moments"] += [*map(int, moments), (n - len(x)) * 120**2]
        tables["bins"] += [*np.histogram(x, EDGES)[0].tolist(), n - len(x)]
        for label, count in zip(("no", "yes", "missing"), sick.tolist(), strict=True):
            truth["count", ("diabetes", label, sex)] = count
            whole = n if label == "missing" else n - sick[2]
            truth["share", ("diabetes", label, sex)] = 100 * count / whole
        truth["sd", ("pressure", "", sex)] = x.std()
    names = ("age_band/counts", "pressure/moments", "pressure/histogram", "diabetes/counts")
    return dict(zip(names, tables.values(), strict=True)), truth


def population():
    rng = np.random.default_rng(0)
    truth, spread, x = {}, {}, {}
    for sex in ("male", "female"):
        drawn = np.rint(rng.normal(CENTRE[sex], SPREAD, 2_000_000))
        x[sex] = np.clip(drawn, 80, 200)
        truth["mean", ("pressure", "", sex)] = x[sex].mean()
        spread[sex] = x[sex].var()
        for q in (0.25, 0.5, 0.75):
            truth[f"quantile {q:g}", ("pressure", "", sex)] = np.quantile(x[sex], q)
        for i, label in enumerate(("0-39", "40-64", "65-100")):
            truth["share", ("age_band", label, sex)] = 100 * BANDS[sex][i]
    pair = "female – male"
    gap = truth["mean", ("pressure", "", "female")] - truth["mean", ("pressure", "", "male")]
    truth["smd", ("pressure", "", pair)] = gap / math.sqrt(sum(spread.values()) / 2)
    p, q = SICK["male"], SICK["female"]
    truth["smd", ("diabetes", "", pair)] = (q - p) / math.sqrt((p * (1 - p) + q * (1 - q)) / 2)
    bands = [np.array(BANDS[sex]) for sex in ("male", "female")]
    truth["smd", ("age_band", "", pair)] = yang_dalton(*bands)
    return truth


@pytest.mark.parametrize("to", [SETTINGS[0], SETTINGS[2]])
@pytest.mark.parametrize(
    "runs", [pytest.param(120, id="quick"), pytest.param(4000, marks=pytest.mark.audit, id="audit")]
)
def test_every_interval_covers_what_it_says_as_often_as_it_says(to, runs):
    rng = np.random.default_rng(12)
    worlds = [world(rng) for _ in range(runs)]
    noise = mechanisms(SMALL, to=to, spend=1 if to.measure is Measure.PURE else Fraction(1, 20))
    wide, hits, seen = population(), {}, {}
    answers = draws([exact for exact, _ in worlds], noise=noise, runs=runs, seed=3)
    for noisy, (_, own) in zip(answers, worlds, strict=True):
        for e in SMALL.estimate(noisy, mechanisms=noise, dataset=to, simulation=SIMULATION):
            true = (own if e.covers is Covers.NOISE else wide).get((e.quantity, e.key))
            if true is not None and e.lower is not None:  # where it is given
                name = (e.quantity, e.key[0], e.covers.value)
                seen[name] = seen.get(name, 0) + 1
                hits[name] = hits.get(name, 0) + (e.lower - 1e-9 <= true <= e.upper + 1e-9)
    assert len(seen) >= 9
    for name, number in seen.items():
        slack = 3.5 * math.sqrt(0.95 * 0.05 / runs)
        most = 1.0 if name[0].startswith("quantile") else 0.965
        assert 0.945 - slack <= hits[name] / number <= most + slack, (name, hits[name] / number)
