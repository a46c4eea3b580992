"""Tests of hypotheses: exact with the noise off, honest with it on, and worth their budget."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError, InvalidParameterError, UnboundedError, UnknownNameError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.contribution import PerPatient
from confide.plans.estimation.chi_squared import chi_squared_tail
from confide.plans.estimation.intervals import Component, noise_component, quantile, share, variance
from confide.plans.estimation.student import student_quantile, student_tail, student_width
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.statistics import ChiSquaredTest, TrendTest, TwoMeansTest, TwoProportionsTest
from confide.statistics.hypothesis_tests.contingency import (
    departures,
    independence,
    slope,
    trend,
)
from confide.statistics.hypothesis_tests.effects import effects
from confide.statistics.hypothesis_tests.null_law import mixing, tail
from confide.statistics.hypothesis_tests.published import LEAST_DEVIATIONS, LEAST_EXPECTED
from confide.statistics.hypothesis_tests.welch import compared, p_value
from confide.tables.expression import ColumnOf, DatePart, PartOf
from confide.tables.filter import IsIn
from confide.tables.schema import Derived
from noisy_answers import SIMULATION, dataset, estimate, mechanisms, moments
from seeded import SeededEntropy

RUNS = 2000
DIABETES = IsIn(of=ColumnOf(table="participants", column="diabetes"), values=(1,))
PURE, ZCDP = dataset(), dataset(measure=Measure.ZCDP)
MALFORMED = np.array([[17066, 48], [14464, 38], [788, 5], [126, 1], [37, 1]], dtype=float)
ALCOHOL = np.array([0, 0.5, 1.5, 4, 7])
SMALL = np.array([[10, 20, 30], [6, 9, 17]], dtype=float)
NO_NOISE = DiscreteGaussian(sigma_squared=Fraction(1, 10**6))


def laplace(epsilon: float) -> DiscreteLaplace:
    return DiscreteLaplace(scale=1 / Fraction(str(epsilon)))


def gaussian(epsilon: float) -> DiscreteGaussian:
    return DiscreteGaussian(sigma_squared=1 / Fraction(str(epsilon)) ** 2)


def noised(tables, noise, seed=7):
    drawn = noise.sample(tables.size, entropy=SeededEntropy(seed))
    return tables + np.asarray(drawn, dtype=float).reshape(tables.shape)


def worlds(cells, n, runs=RUNS, seed=3):
    """Return ``runs`` tables of n rows each, shape (runs, *cells.shape)."""
    drawn = np.random.default_rng(seed).multinomial(n, np.ravel(cells) / np.sum(cells), runs)
    return drawn.reshape(runs, *np.shape(cells)).astype(float)


def printed(found, noise):
    least = max(LEAST_EXPECTED, LEAST_DEVIATIONS * math.sqrt(noise.variance()))
    return found.least_expected >= least


def p_values(found, noise, *, draws=800):
    degrees, numbers = found.loadings.shape[-2:]
    mixed = mixing(
        noise, degrees=degrees, numbers=numbers, simulation=SIMULATION, purpose="t", draws=draws
    )
    return np.concatenate(
        [
            tail(
                found.statistic[i : i + 100],
                loadings=found.loadings[i : i + 100],
                noise_variance=noise.variance(),
                mixed=mixed,
            )
            for i in range(0, len(found.statistic), 100)
        ]
    )


def one(found, quantity, key=None):
    (value,) = [e for e in found if e.quantity == quantity and key in (None, e.key)]
    return value


# -- exact with the noise off


def test_the_chi_squared_test_is_pearsons_with_the_noise_off():
    found = independence(SMALL, noise_variance=0.0)
    # scipy 1.17.1: stats.chi2_contingency([[10, 20, 30], [6, 9, 17]], correction=False)
    assert found.statistic == pytest.approx(0.27157465150403504, abs=1e-12)
    p = tail(
        found.statistic,
        loadings=found.loadings,
        noise_variance=0.0,
        mixed=mixing(laplace(1), degrees=2, numbers=6, simulation=SIMULATION, purpose="x"),
    )
    assert p == pytest.approx(0.873028283380073, abs=1e-12)


def test_the_tails_are_those_of_scipy():
    stats = pytest.importorskip("scipy.stats", reason="needs the extra accounting")
    q = np.array([0, 0.1, 1, 5, 20, 100.0])
    for degrees in range(1, 30):
        ours = chi_squared_tail(q, degrees=degrees)
        assert ours == pytest.approx(stats.chi2.sf(q, degrees), rel=1e-10)
    for degrees in (1, 2.5, 10, 137.3, 1e5):
        assert student_tail(q, degrees=degrees) == pytest.approx(
            2 * stats.t.sf(q, degrees), abs=1e-10
        )
        for level in (0.5, 0.95, 0.999):
            assert student_quantile(level, degrees=degrees) == pytest.approx(
                stats.t.ppf((1 + level) / 2, degrees), rel=1e-9
            )


def test_the_trend_test_is_armitages_with_the_noise_off():
    """Alcohol and malformations: z = 2.563, P = 0.0104 (Agresti, Categorical Data Analysis)."""
    found = trend(MALFORMED, scores=ALCOHOL, noise_variance=0.0)
    assert math.sqrt(found.statistic) == pytest.approx(2.563, abs=0.001)
    # n r² of the rows, the closed form
    x = np.repeat(np.repeat(ALCOHOL, 2), MALFORMED.ravel().astype(int))
    y = np.repeat(np.tile([0, 1], 5), MALFORMED.ravel().astype(int))
    r = np.corrcoef(x, y)[0, 1]
    assert found.statistic == pytest.approx(len(x) * r**2, rel=1e-9)
    assert slope(MALFORMED, scores=ALCOHOL)[0] == pytest.approx(np.polyfit(x, y, 1)[0], rel=1e-9)


@pytest.mark.parametrize("to", [PURE, ZCDP], ids=["pure", "zcdp"])
def test_the_two_means_test_is_welchs_with_the_noise_off(to):
    rng = np.random.default_rng(4)
    a, b = rng.integers(80, 160, 40), rng.integers(100, 190, 25)
    spec = TwoMeansTest(id="m", table="participants", column="pressure", by=("sex",))
    exact = [*moments(a, lower=80, upper=200, degree=2), *moments(b, lower=80, upper=200, degree=2)]
    noise = {"moments": NO_NOISE}
    found = estimate(spec, {"moments": tuple(exact)}, to=to, noise=noise)
    # scipy 1.17.1: stats.ttest_ind(b, a, equal_var=False), .df and .confidence_interval()
    stats = pytest.importorskip("scipy.stats", reason="needs the extra accounting")
    theirs = stats.ttest_ind(b, a, equal_var=False)
    interval = theirs.confidence_interval(0.95)
    assert one(found, "t").value == pytest.approx(theirs.statistic, rel=1e-9)
    assert one(found, "p-value").value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert one(found, "degrees of freedom").value == pytest.approx(theirs.df, rel=1e-9)
    difference = one(found, "difference")
    assert (difference.lower, difference.upper) == pytest.approx(
        (interval.low, interval.high), rel=1e-9
    )
    assert difference.value == pytest.approx(b.mean() - a.mean())
    assert difference.unit == "mm[Hg]"


def test_two_proportions_have_newcombes_interval_with_the_noise_off():
    spec = TwoProportionsTest(id="p", table="participants", of=DIABETES, by=("sex",))
    found = estimate(spec, {"count": (32, 48, 14, 56)}, to=PURE, noise={"count": NO_NOISE})
    difference = one(found, "difference")
    # Newcombe 1998, table II, example (a), method 10: 0.0524 to 0.3339
    assert difference.value == pytest.approx(0.2)
    assert (difference.lower, difference.upper) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert one(found, "ratio").value == pytest.approx(56 / 70 / (48 / 80))
    assert one(found, "odds ratio").value == pytest.approx(56 * 32 / (14 * 48))
    # scipy 1.17.1: stats.chi2_contingency([[14, 56], [32, 48]], correction=False).pvalue
    assert one(found, "p-value").value == pytest.approx(0.008045081368196585, abs=1e-9)


# -- the null law


QUICK = [
    (laplace(0.2), [[0.15, 0.35], [0.15, 0.35]], 1000),
    (laplace(0.5), [[0.05, 0.45], [0.05, 0.45]], 2000),
    (gaussian(0.3), [[0.09, 0.81], [0.01, 0.09]], 10000),
    (laplace(0.1), np.outer([0.25] * 4, [0.2] * 5), 2000),
]


def grid():
    margins = [
        ([0.5, 0.5], [0.5, 0.5]),
        ([0.5, 0.5], [0.1, 0.9]),
        ([0.1, 0.9], [0.1, 0.9]),
        ([0.02, 0.98], [0.3, 0.7]),
        ([0.5, 0.3, 0.2], [0.6, 0.3, 0.1]),
        ([0.85, 0.1, 0.05], [0.9, 0.1]),
        ([0.25] * 4, [0.2] * 5),
    ]
    return [
        (kind(epsilon), np.outer(p, q), n)
        for kind in (laplace, gaussian)
        for p, q in margins
        for n in (200, 500, 2000, 10000)
        for epsilon in (0.1, 0.5, 1)
    ]


def type_one(noise, cells, n, *, test=independence, **more):
    """Return how many tables print p, and how many of these are rejected at 5 %."""
    tables = noised(worlds(cells, n), noise)
    found = test(tables, noise_variance=noise.variance(), **more)
    shown = printed(found, noise)
    rejected = p_values(found, noise) < 0.05
    return shown.mean(), (rejected & shown).sum() / max(shown.sum(), 1)


@pytest.mark.parametrize(("noise", "cells", "n"), QUICK)
def test_independent_categories_are_rejected_as_often_as_the_level_says(noise, cells, n):
    shown, rate = type_one(noise, np.array(cells), n)
    assert shown > 0.9
    assert 0.03 <= rate <= 0.07


@pytest.mark.audit
@pytest.mark.parametrize(("noise", "cells", "n"), grid())
def test_over_the_grid_independent_categories_are_rejected_as_the_level_says(noise, cells, n):
    shown, rate = type_one(noise, np.array(cells), n)
    assert shown * rate <= 0.07
    if shown >= 0.5:  # where p is mostly withheld, too few runs print one
        slack = 3 * math.sqrt(0.05 * 0.95 / (RUNS * shown)) - 3 * math.sqrt(0.05 * 0.95 / RUNS)
        assert 0.03 - slack <= rate <= 0.07 + slack


@pytest.mark.parametrize(
    ("noise", "p", "q"),
    [
        (laplace(0.3), [0.25] * 4, 0.3),
        pytest.param(gaussian(0.2), [0.6, 0.2, 0.1, 0.1], 0.1, marks=pytest.mark.audit),
        pytest.param(laplace(1), [0.8, 0.15, 0.05], 0.5, marks=pytest.mark.audit),
    ],
)
def test_a_share_without_a_trend_is_rejected_as_often_as_the_level_says(noise, p, q):
    scores = np.arange(len(p), dtype=float)
    shown, rate = type_one(noise, np.outer(p, [1 - q, q]), 2000, test=trend, scores=scores)
    assert shown > 0.9
    assert 0.03 <= rate <= 0.07


@pytest.mark.mutant
def test_a_test_that_ignores_the_noise_rejects_too_often():
    """Pearson's test on noisy counts: 20 % and more where ours keeps 5 %."""
    for noise, cells, n in ((laplace(0.1), [[0.25, 0.25], [0.25, 0.25]], 500), QUICK[3]):
        tables = noised(worlds(np.array(cells), n), noise)
        naive = independence(tables, noise_variance=0.0)
        degrees = naive.loadings.shape[-2]
        assert (chi_squared_tail(naive.statistic, degrees=degrees) < 0.05).mean() > 0.1


@pytest.mark.mutant
def test_calling_laplace_noise_normal_errs_in_the_tail():
    """At 0.1 % the normal law of 20 Laplace cells rejects several times too often."""
    noise = laplace(0.1)
    tables = noised(worlds(np.outer([0.25] * 4, [0.2] * 5), 2000, runs=20_000), noise)
    found = independence(tables, noise_variance=noise.variance())
    assert (chi_squared_tail(found.statistic, degrees=12) < 0.001).mean() > 0.003
    assert (p_values(found, noise, draws=400) < 0.001).mean() < 0.002


def test_the_noise_aware_test_beats_a_budget_split_over_the_cells():
    """Four counting queries at a quarter of ε each, with the same noise-aware law."""
    cells = np.array([[0.35, 0.15], [0.29, 0.21]])
    tables = worlds(cells, 1000)
    power = []
    for noise in (laplace(0.2), laplace(0.05)):
        found = independence(noised(tables, noise), noise_variance=noise.variance())
        power.append(((p_values(found, noise) < 0.05) & printed(found, noise)).mean())
    joint, split = power
    assert joint > 0.7
    assert joint > 2 * split


def means(noise, *, sizes, sds, runs):
    """Return rejections, coverage of the difference, and how many are flagged."""
    pools = [np.clip(np.rint(np.random.default_rng(1).normal(45, sd, 10**5)), 0, 120) for sd in sds]
    true = (pools[0].mean() - pools[1].mean()) / 120
    rng = np.random.default_rng(2)
    exact = np.zeros((runs, 2, 3))
    for side, (pool, size) in enumerate(zip(pools, sizes, strict=True)):
        for start in range(0, runs, 200):
            y = pool[rng.integers(0, len(pool), (min(200, runs - start), size))]
            parts = ((120 - y) ** 2, 2 * (120 - y) * y, y**2)
            exact[start : start + 200, side] = np.stack([part.sum(axis=1) for part in parts], 1)
    part = noise_component(noise).times(1 / 120**2)
    mixed = mixing(noise, degrees=1, numbers=6, simulation=SIMULATION, purpose="t", draws=400)
    rejected = covered = few = 0
    for row in noised(exact, noise) / 120**2:
        found = compared(row, noise=part, level=0.95)
        few += found.few
        rejected += p_value(found, mixed=mixed) < 0.05
        width = student_width(found.parts, degrees=found.degrees, level=0.95)
        covered += abs(found.difference - true) <= width
    return rejected / runs, covered / runs, few / runs


def scaled(noise):
    """Return the noise of a vector of squares with R = 120."""
    if isinstance(noise, DiscreteLaplace):
        return DiscreteLaplace(scale=noise.scale * 120**2)
    return DiscreteGaussian(sigma_squared=noise.sigma_squared * 120**4)


@pytest.mark.parametrize(
    ("noise", "sizes", "sds", "runs"),
    [
        (laplace(0.5), (300, 300), (15, 15), 600),
        pytest.param(laplace(0.2), (500, 500), (15, 15), RUNS, marks=pytest.mark.audit),
        pytest.param(gaussian(1), (200, 2000), (15, 15), RUNS, marks=pytest.mark.audit),
        pytest.param(laplace(1), (200, 1000), (20, 10), RUNS, marks=pytest.mark.audit),
        pytest.param(gaussian(0.1), (2000, 1000), (10, 25), RUNS, marks=pytest.mark.audit),
    ],
)
def test_equal_means_are_rejected_as_the_level_says_and_the_difference_is_covered(
    noise, sizes, sds, runs
):
    rejected, covered, few = means(scaled(noise), sizes=sizes, sds=sds, runs=runs)
    assert few == 0
    slack = 3 * math.sqrt(0.05 * 0.95 / runs) - 3 * math.sqrt(0.05 * 0.95 / RUNS)
    if sds[0] == sds[1]:
        assert 0.03 - slack <= rejected <= 0.07 + slack
    assert 0.93 - slack <= covered <= 0.97 + slack


# -- effects


@pytest.mark.parametrize(
    ("noise", "sizes", "shares"),
    [
        (laplace(0.5), (500, 500), (0.3, 0.2)),
        (gaussian(0.5), (2000, 300), (0.1, 0.2)),
        pytest.param(laplace(1), (300, 3000), (0.1, 0.03), marks=pytest.mark.audit),
        pytest.param(laplace(0.2), (5000, 5000), (0.02, 0.02), marks=pytest.mark.audit),
        pytest.param(gaussian(0.2), (5000, 20000), (0.4, 0.45), marks=pytest.mark.audit),
        pytest.param(laplace(0.3), (200, 200), (0.5, 0.5), marks=pytest.mark.audit),
    ],
)
def test_difference_ratio_and_odds_ratio_are_covered(noise, sizes, shares):
    rng = np.random.default_rng(9)
    runs = RUNS
    having = np.stack([rng.binomial(n, p, runs) for n, p in zip(sizes, shares, strict=True)], 1)
    tables = noised(np.stack([np.array(sizes) - having, having], axis=2).astype(float), noise)
    a, b = shares
    truth = (a - b, a / b, a / (1 - a) / (b / (1 - b)))
    part = noise_component(noise)
    hits = np.zeros(3)
    for table in tables:
        first, second = (
            share(h, w, noise=part, spread=max(h + w, 0), least=1, level=0.95)
            for w, h in table.tolist()
        )
        found = effects(first, of=second)
        for i, effect in enumerate(found):
            hits[i] += effect.lower is None or effect.lower <= truth[i] <= effect.upper
    assert ((hits / runs >= 0.93) & (hits / runs <= 0.97)).all(), hits / runs


@pytest.mark.parametrize("noise", [laplace(0.3), gaussian(0.3)])
def test_departures_and_slopes_are_covered_when_there_are_some(noise):
    cells = np.array([[0.30, 0.05], [0.20, 0.10], [0.20, 0.15]])
    scores = np.arange(3.0)
    truth = (cells - cells.sum(1)[:, None] * cells.sum(0)).ravel()
    line = slope(cells * 1e9, scores=scores)[0]
    part = noise_component(noise)
    hits, runs = np.zeros(7), RUNS // 2
    for table in noised(worlds(cells, 2000, runs=runs), noise):
        values, sampling, weights = departures(table)
        value, spread, loads = slope(table, scores=scores)
        every = [*zip(values, sampling, weights, truth, strict=True), (value, spread, loads, line)]
        for i, (found, v, w, true) in enumerate(every):
            parts = [Component(variance=float(v)), *(part.times(float(x)) for x in w)]
            width = quantile(parts, level=0.95) * math.sqrt(variance(parts))
            hits[i] += abs(found - true) <= width
    slack = 3 * math.sqrt(0.05 * 0.95 / runs) - 3 * math.sqrt(0.05 * 0.95 / RUNS)
    assert (abs(hits / runs - 0.95) <= 0.02 + slack).all(), hits / runs


# -- withheld and refused


def test_p_is_withheld_where_a_cell_expects_less_than_five_or_three_deviations():
    spec = TwoProportionsTest(id="p", table="participants", of=DIABETES, by=("sex",))
    noise = {"count": laplace(0.1)}  # s = 14.1, so 42.4 are wanted
    for counts, shown in (((45, 45, 45, 45), True), ((40, 40, 40, 40), False)):
        found = one(estimate(spec, {"count": counts}, to=PURE, noise=noise), "p-value")
        assert (found.value is not None) == shown
        assert found.flags == (() if shown else ("expected count too small",))
    chi = ChiSquaredTest(id="c", table="participants", by=("age_band", "sex"))
    found = estimate(chi, {"count": (3, 0, -2, 1, 4, 0)}, to=PURE, noise=noise)
    assert one(found, "p-value").value is None


@pytest.mark.parametrize("counts", [(0, 0, 0, 0), (-9, 4, 3, -30), (0, 50, 50, 0), (10**9,) * 4])
def test_any_table_gives_finite_numbers_or_none(counts):
    spec = TwoProportionsTest(id="p", table="participants", of=DIABETES, by=("sex",))
    chi = ChiSquaredTest(id="c", table="participants", by=("diabetes", "sex"))
    line = TrendTest(id="t", table="participants", of=DIABETES, by=("sex",))
    for test in (spec, chi, line):
        for found in estimate(test, {"count": counts}, to=PURE, noise={"count": laplace(1)}):
            for number in (found.value, found.lower, found.upper, found.standard_error):
                assert number is None or math.isfinite(number), found


def test_a_p_value_is_the_same_for_the_same_payload():
    spec = ChiSquaredTest(id="c", table="participants", by=("age_band", "sex"))
    noise = {"count": laplace(0.5)}
    table = {"count": (90, 80, 70, 60, 50, 90)}
    twice = [one(estimate(spec, table, to=PURE, noise=noise), "p-value").value for _ in range(2)]
    assert twice[0] == twice[1]


def test_several_rows_of_a_patient_are_refused_because_they_are_not_independent():
    spec = ChiSquaredTest(id="c", table="visits", by=("ward", "sex"))
    with pytest.raises(UnboundedError, match="one row of each patient"):
        spec.questions(PURE)
    many = ChiSquaredTest(
        id="c", table="visits", by=("ward", "sex"), per_patient=PerPatient(rows=2)
    )
    with pytest.raises(ContractError, match="not independent"):
        many.questions(PURE)
    kept = ChiSquaredTest(
        id="c", table="visits", by=("ward", "sex"), per_patient=PerPatient(rows=1)
    )
    (question,) = kept.questions(PURE)
    assert (question.sensitivity.l1, question.sensitivity.l2_squared) == (1, 1)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_table_is_one_measurement_that_a_patient_moves_by_one_cell(adjacency):
    to = dataset(adjacency=adjacency)
    times = 1 if adjacency is Adjacency.ADD_REMOVE else 2
    for spec in (
        ChiSquaredTest(id="c", table="participants", by=("age_band", "sex")),
        TwoProportionsTest(id="p", table="participants", of=DIABETES, by=("sex",)),
        TrendTest(id="t", table="participants", of=DIABETES, by=("age_band",)),
    ):
        (question,) = spec.questions(to)
        assert (question.sensitivity.l1, question.sensitivity.l2_squared) == (times, times)


def test_groups_and_scores_that_do_not_fit_are_refused():
    with pytest.raises(ContractError, match="Expected two groups of 'age_band', got 3"):
        TwoProportionsTest(id="p", table="participants", of=DIABETES, by=("age_band",)).questions(
            PURE
        )
    with pytest.raises(UnknownNameError):
        TwoMeansTest(
            id="m", table="participants", column="bmi", by=("age_band",), groups=("0-39", "old")
        ).questions(PURE)
    with pytest.raises(ContractError, match="expected 3 scores"):
        TrendTest(
            id="t",
            table="participants",
            of=DIABETES,
            by=("age_band",),
            scores=(Fraction(1), Fraction(2)),
        ).questions(PURE)
    with pytest.raises(ContractError, match="two categories"):
        ChiSquaredTest(id="c", table="participants", by=("sex",))
    month = Derived(
        name="month",
        of=PartOf(of=ColumnOf(table="participants", column="born"), part=DatePart.MONTH),
    )
    wide = ChiSquaredTest(id="c", table="participants", by=("month", "sex"))
    with pytest.raises(InvalidParameterError, match="more than 400 cells"):
        wide.questions(replace(PURE, derived=(*PURE.derived, month)))


def test_a_forecast_says_which_difference_a_study_would_find():
    spec = TwoProportionsTest(
        id="p", table="participants", of=DIABETES, by=("sex",), expect=Fraction(1000)
    )
    noise = mechanisms(spec, to=PURE, spend=Fraction(1, 10))
    found = spec.forecast(noise, dataset=PURE, level=Fraction(95, 100))
    (claim,) = [note for note in found.notes if "8 of 10" in note]
    least = float(claim.split()[3])
    tables = np.stack(
        [
            worlds([0.5 - least / 2, 0.5 + least / 2], 1000),
            worlds([0.5 + least / 2, 0.5 - least / 2], 1000, seed=4),
        ],
        axis=1,
    )
    noisy = independence(noised(tables, noise["count"]), noise_variance=noise["count"].variance())
    power = (p_values(noisy, noise["count"]) < 0.05).mean()
    assert 0.75 <= power <= 0.85
