"""Regression from noisy moments: least squares with the noise off, covered with it on."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError, UnboundedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.contribution import PerPatient
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.statistics import LinearRegression, read_plan
from confide.statistics.regression.least_squares import fit, relative_noise
from confide.statistics.regression.moments import Variables, second_moments, tables
from confide.tables.aggregates.value import Product
from noisy_answers import dataset, draws, estimate, mechanisms

RUNS = 2000
PURE, ZCDP = dataset(), dataset(measure=Measure.ZCDP)
TWICE = dataset(measure=Measure.ZCDP, adjacency=Adjacency.SUBSTITUTE)
SPEC = LinearRegression(
    id="line",
    table="participants",
    outcome="pressure",
    covariates=("age", "bmi", "sex", "age_band"),
)
AUDIT = pytest.mark.audit


def people(n, rng):
    """Return canonical integers of one row a patient."""
    age = rng.integers(5, 96, n)
    sex = rng.integers(0, 2, n)
    bmi = np.clip(np.rint(rng.normal(270 + age * 0.5, 60, n)), 100, 701).astype(int)
    band = rng.choice(3, n, p=[0.4, 0.4, 0.2])  # of its own, so that the moments are not singular
    mean = 100 + 0.3 * age + 0.08 * bmi - 5 * sex + 4 * (band == 1)
    pressure = np.clip(np.rint(rng.normal(mean, 14)), 80, 200).astype(int)
    return {"age": age, "bmi": bmi, "sex": sex, "age_band": band, "pressure": pressure}


CENTRES = {"age": 50, "bmi": 400, "pressure": 140}
SIZES = {"sex": 2, "age_band": 3}


def exact_moments(rows):
    """Return the exact vector of each question, by plain numpy."""
    found = {}
    numbers, categories = ("age", "bmi", "pressure"), ("sex", "age_band")
    centred = {name: rows[name] - CENTRES[name] for name in numbers}
    crossed = rows["sex"] * 3 + rows["age_band"]
    found["rows by sex × age_band"] = np.bincount(crossed, minlength=6)
    for a, by in itertools.product(numbers, categories):
        sums = np.bincount(rows[by], centred[a], SIZES[by])
        found[f"{a} by {by}"] = np.rint(sums).astype(int)
    for a, b in itertools.combinations_with_replacement(numbers, 2):
        found[f"{a} × {b}"] = np.array([(centred[a] * centred[b]).sum()])
    return {name: tuple(int(v) for v in vector) for name, vector in found.items()}


def design(rows):
    band = rows["age_band"]
    return np.column_stack(
        [
            np.ones(len(band)),
            rows["age"] - 50,
            (rows["bmi"] - 400) / 10,
            rows["sex"] == 1,
            band == 1,
            band == 2,
        ]
    ).astype(float)


def coefficients(found):
    return [e for e in found if e.quantity in ("intercept", "coefficient")]


def quiet(spec, to):
    return {q.name: DiscreteGaussian(sigma_squared=Fraction(1, 10**8)) for q in spec.questions(to)}


# -- exact with the noise off


def test_the_moments_of_the_test_are_the_questions_of_the_statistic():
    assert set(exact_moments(people(10, np.random.default_rng(1)))) == {
        question.name for question in SPEC.questions(ZCDP)
    }


def test_with_the_noise_off_it_is_ordinary_least_squares_with_its_errors():
    rows = people(400, np.random.default_rng(7))
    x, y = design(rows), rows["pressure"].astype(float)
    beta, (rss,), _, _ = np.linalg.lstsq(x, y, rcond=None)
    freedom = len(y) - x.shape[1]
    errors = np.sqrt(np.diag(np.linalg.inv(x.T @ x)) * rss / freedom)
    found = estimate(SPEC, exact_moments(rows), to=ZCDP, noise=quiet(SPEC, ZCDP))
    # statsmodels' OLS(y, x).fit() computes the same: params, bse, conf_int() with Student's t
    stats = pytest.importorskip("scipy.stats", reason="needs the extra accounting")
    t = stats.t.ppf(0.975, freedom)
    for one, b, error in zip(coefficients(found), beta, errors, strict=True):
        assert one.value == pytest.approx(b, rel=1e-9, abs=1e-9)
        assert one.standard_error == pytest.approx(error, rel=1e-7)
        half = t * error
        assert (one.upper - one.lower) / 2 == pytest.approx(half, rel=1e-7)
    whole = {e.quantity: e.value for e in found}
    assert whole["residual sd"] == pytest.approx(math.sqrt(rss / freedom), rel=1e-9)
    assert whole["r-squared"] == pytest.approx(1 - rss / ((y - y.mean()) ** 2).sum(), rel=1e-9)
    assert whole["count"] == 400


def test_coefficients_are_in_units_of_the_outcome_over_the_covariate():
    rows = people(400, np.random.default_rng(7))
    found = estimate(SPEC, exact_moments(rows), to=ZCDP, noise=quiet(SPEC, ZCDP))
    units = {e.key[0]: e.unit for e in coefficients(found)}
    assert units["age"] == "mm[Hg]/(a)"
    assert units["bmi"] == "mm[Hg]/(kg/m2)"
    assert units["sex: female vs male"] == "mm[Hg]"
    assert "age 50, bmi 40, sex male, age_band 0-39" in units


@pytest.mark.parametrize("levels", [(), (2,), (3, 2), (2, 2, 4)])
@pytest.mark.parametrize("numbers", [1, 3])
def test_every_second_moment_is_the_sum_of_products_of_terms(levels, numbers):
    rng = np.random.default_rng(5)
    u = rng.uniform(-1, 1, (50, numbers))
    g = np.stack([rng.integers(0, n, 50) for n in levels], 1) if levels else np.zeros((50, 0), int)
    variables = Variables(numbers=numbers, levels=levels)
    values = {}
    for table in tables(variables):
        place, size = np.zeros(50, int), 1
        for c in table.categories:
            place, size = place * levels[c] + g[:, c], size * levels[c]
        values[table] = np.bincount(place, np.prod(u[:, list(table.numbers)], axis=1), size)
    terms = [np.ones(50), *u.T[:-1]]
    terms += [g[:, c] == level for c, n in enumerate(levels) for level in range(1, n)]
    z = np.column_stack([*terms, u[:, -1]]).astype(float)
    for variances in (dict.fromkeys(values, 1.0), {t: 1.0 + i for i, t in enumerate(values)}):
        found = second_moments(values, variances, variables=variables)
        assert found.matrix == pytest.approx(z.T @ z, abs=1e-9)


# -- what it costs


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_product_of_two_numbers_moves_by_the_product_of_their_half_widths(adjacency):
    to = dataset(measure=Measure.ZCDP, adjacency=adjacency)
    signed = 1 if adjacency is Adjacency.ADD_REMOVE else 2
    claims = {q.name: q.sensitivity.l1 for q in SPEC.questions(to)}
    assert claims["age × bmi"] == signed * 50 * 301
    assert claims["age × age"] == 50**2  # never negative
    assert claims["bmi by sex"] == signed * 301
    assert claims["rows by sex × age_band"] == signed


def test_a_patient_at_a_corner_of_the_box_loses_what_the_measurements_add_up_to():
    """So measuring the sums apart costs nothing over one joint vector under zCDP."""
    plan = make_plan([Ask(statistic=SPEC)], study=Study(id="s"), dataset=ZCDP, nano=NANO // 10)
    corner = {"age": [100], "bmi": [701], "pressure": [200], "sex": [1], "age_band": [2]}
    moved = exact_moments({name: np.array(v) for name, v in corner.items()})
    joint = sum(
        Fraction(sum(v * v for v in moved[m.name])) / (2 * m.mechanism.sigma_squared)
        for m in plan.measurements
    )
    assert float(joint) == pytest.approx(0.1, rel=0.02)  # centres of odd ranges are half a step off
    assert joint <= Fraction(plan.amount.nano, NANO)


def test_sums_with_the_outcome_get_twice_the_budget_of_the_others():
    weights = {q.name: q.weight for q in SPEC.questions(ZCDP)}
    assert weights["age × pressure"] == weights["pressure by sex"] == 2
    assert weights["age × bmi"] == weights["pressure × pressure"] == weights["age by sex"] == 1


def test_all_sums_are_over_the_same_rows():
    questions = SPEC.questions(ZCDP)
    assert len({q.aggregate.relation for q in questions}) == 1
    assert len({q.aggregate.bounds for q in questions}) == 1
    assert sum(isinstance(q.aggregate.value, Product) for q in questions) == 3


def test_a_plan_with_a_regression_reads_back():
    plan = make_plan([Ask(statistic=SPEC)], study=Study(id="s"), dataset=ZCDP, nano=NANO // 10)
    assert read_plan(plan.to_json()) == plan


# -- covered with the noise on


@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_the_interval_of_r_squared_holds_it_where_the_noise_is_large(slope):
    spec = LinearRegression(
        id="line", table="participants", outcome="pressure", covariates=("age", "sex")
    )
    rng = np.random.default_rng(17)
    rows = people(600, rng)
    mean = 125 + slope * (rows["age"] - 50)
    rows["pressure"] = np.clip(np.rint(rng.normal(mean, 14)), 80, 200).astype(int)
    age, high = rows["age"] - 50, rows["pressure"] - 140
    exact = {
        "age by sex": np.bincount(rows["sex"], age, 2),
        "pressure by sex": np.bincount(rows["sex"], high, 2),
        "rows by sex": np.bincount(rows["sex"], minlength=2),
        "age × age": [(age**2).sum()],
        "age × pressure": [(age * high).sum()],
        "pressure × pressure": [(high**2).sum()],
    }
    exact = {q.name: tuple(int(v) for v in exact[q.name]) for q in spec.questions(TWICE)}
    noise = mechanisms(spec, to=TWICE, spend=Fraction(1, 10))

    def share(found):
        return next(e for e in found if e.quantity == "r-squared")

    true = share(estimate(spec, exact, to=TWICE, noise=quiet(spec, TWICE))).value
    printed = held = 0
    for noisy in draws(exact, noise=noise, runs=400, seed=3):
        found = share(estimate(spec, noisy, to=TWICE, noise=noise))
        if found.value is not None:
            printed += 1
            held += found.lower - 1e-6 <= true <= found.upper + 1e-6
            assert 0 <= found.lower <= found.value <= found.upper <= 1
    assert printed >= 200
    assert held >= 0.93 * printed


def truth():
    rows = people(1_000_000, np.random.default_rng(99))
    x = design(rows)
    return np.linalg.solve(x.T @ x, x.T @ rows["pressure"])


TRUTH = truth()


def simulate(to, spend, n, runs):
    """Return estimates, their intervals, and the share without one, over ``runs`` cohorts."""
    rng = np.random.default_rng(n)
    pool = people(400_000, np.random.default_rng(98))
    worlds = []
    for _ in range(runs):
        chosen = rng.integers(0, 400_000, n)
        worlds.append(exact_moments({name: column[chosen] for name, column in pool.items()}))
    noise = mechanisms(SPEC, to=to, spend=spend)
    hits, values, ridged = np.zeros(len(TRUTH)), [], 0
    for noisy in draws(worlds, noise=noise, runs=runs, seed=5):
        found = coefficients(estimate(SPEC, noisy, to=to, noise=noise))
        values.append([e.value for e in found])
        if found[0].lower is None:
            ridged += 1
            continue
        hits += [e.lower <= b <= e.upper for e, b in zip(found, TRUTH, strict=True)]
    return np.array(values), hits / max(runs - ridged, 1), ridged / runs


@pytest.mark.parametrize(
    ("to", "spend", "n", "runs"),
    [
        pytest.param(ZCDP, Fraction(1, 4), 2000, 500, id="quick"),
        pytest.param(ZCDP, Fraction(2), 500, RUNS, id="500", marks=AUDIT),
        pytest.param(ZCDP, Fraction(1, 4), 2000, RUNS, id="2000", marks=AUDIT),
        pytest.param(ZCDP, Fraction(1, 50), 10_000, RUNS, id="10000", marks=AUDIT),
        pytest.param(ZCDP, Fraction(1, 500), 50_000, RUNS, id="50000", marks=AUDIT),
        pytest.param(PURE, Fraction(8), 2000, RUNS, id="pure-2000", marks=AUDIT),
        pytest.param(PURE, Fraction(1), 10_000, RUNS, id="pure-10000", marks=AUDIT),
        pytest.param(PURE, Fraction(1), 50_000, RUNS, id="pure-50000", marks=AUDIT),
    ],
)
def test_coefficients_of_the_population_are_covered(to, spend, n, runs):
    _, coverage, ridged = simulate(to, spend, n, runs)
    assert ridged < 0.5
    kept = runs * (1 - ridged)
    slack = 3.3 * math.sqrt(0.05 * 0.95 / kept) - 3.3 * math.sqrt(0.05 * 0.95 / RUNS)
    assert (coverage >= 0.93 - slack).all(), coverage
    assert (coverage <= 0.97 + slack).all(), coverage


@pytest.mark.mutant
def test_errors_that_ignore_the_noise_would_be_far_too_small():
    rng = np.random.default_rng(2)
    exact = exact_moments(people(2000, rng))
    noise = mechanisms(SPEC, to=ZCDP, spend=Fraction(1, 10))
    silent = quiet(SPEC, ZCDP)
    outside = 0
    for noisy in draws(exact, noise=noise, runs=100, seed=8):
        slope = coefficients(estimate(SPEC, noisy, to=ZCDP, noise=silent))[2]
        outside += not slope.lower <= TRUTH[2] <= slope.upper
    assert outside > 40


def test_with_much_noise_coefficients_are_drawn_to_the_centre_and_have_no_interval():
    exact = exact_moments(people(500, np.random.default_rng(3)))
    noise = mechanisms(SPEC, to=ZCDP, spend=Fraction(1, 100))
    for noisy in draws(exact, noise=noise, runs=30, seed=4):
        found = estimate(SPEC, noisy, to=ZCDP, noise=noise)
        assert not any(e.quantity == "r-squared" and e.value is not None for e in found)
        for one in coefficients(found):
            assert one.lower is None
            assert one.upper is None
            assert one.standard_error is None
            assert one.flags
            if one.key[0] == "age" and one.value is not None:
                assert abs(one.value) < 1.5  # least squares would give anything


def test_coefficients_whose_moments_are_near_their_noise_are_flagged_and_keep_their_interval():
    exact = exact_moments(people(600, np.random.default_rng(3)))
    seen = set()
    for share in (5, 12, 20, 100, 1000):
        noise = mechanisms(SPEC, to=ZCDP, spend=Fraction(share, 100))
        for noisy in draws(exact, noise=noise, runs=10, seed=share):
            for one in coefficients(estimate(SPEC, noisy, to=ZCDP, noise=noise)):
                assert len(one.flags) <= 1
                assert (one.lower is None) == (one.flags not in {(), ("noisy moments",)})
                seen |= {one.flags}
    assert seen == {(), ("noisy moments",), ("drawn to the centre",)}


def test_the_ridge_is_the_least_that_keeps_the_noise_below_a_quarter():
    rng = np.random.default_rng(6)
    variables = Variables(numbers=3, levels=())
    u = rng.uniform(-1, 1, (300, 3))
    values = {
        t: np.array([np.prod(u[:, list(t.numbers)], axis=1).sum()]) for t in tables(variables)
    }
    for variance in (0.0, 1.0, 400.0, 10_000.0):
        moments = second_moments(values, dict.fromkeys(values, variance), variables=variables)
        ridge = fit(moments).ridge
        if relative_noise(moments, ridge=0.0) <= 0.25:
            assert ridge == 0
        else:
            assert relative_noise(moments, ridge=ridge) <= 0.25
            assert relative_noise(moments, ridge=0.99 * ridge) > 0.25
    assert ridge > 0


@pytest.mark.parametrize("n", [0, 3])
def test_few_rows_give_finite_numbers_or_none(n):
    exact = exact_moments(people(n, np.random.default_rng(3)))
    for to in (PURE, ZCDP):
        noise = mechanisms(SPEC, to=to, spend=Fraction(1))
        for noisy in (exact, *draws(exact, noise=noise, runs=20, seed=4)):
            for one in estimate(SPEC, noisy, to=to, noise=noise):
                for number in (one.value, one.lower, one.upper, one.standard_error):
                    assert number is None or math.isfinite(number), one


# -- refused


def test_several_rows_of_a_patient_are_refused():
    spec = LinearRegression(id="l", table="visits", outcome="days", covariates=("ward",))
    with pytest.raises(UnboundedError, match=r"rows: 1"):
        spec.questions(ZCDP)
    LinearRegression(
        id="l",
        table="visits",
        outcome="days",
        covariates=("ward",),
        per_patient=PerPatient(rows=1),
    ).questions(ZCDP)


@pytest.mark.parametrize(
    ("outcome", "covariates", "message"),
    [
        ("sex", ("age",), "is not a number"),
        ("pressure", ("born",), "neither a number nor a category"),
        ("pressure", ("pressure",), "each named once"),
        ("pressure", (), "each named once"),
    ],
)
def test_variables_that_do_not_fit_are_refused(outcome, covariates, message):
    with pytest.raises(ContractError, match=message):
        LinearRegression(
            id="l", table="participants", outcome=outcome, covariates=covariates
        ).questions(ZCDP)
