"""With the noise off, rates are those of pandas, of published examples and of their definitions."""

import math

import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="pandas is not installed")

from confide.plans.estimates import Covers  # noqa: E402
from confide.plans.estimation.intervals import Component  # noqa: E402
from confide.plans.estimation.rates import (  # noqa: E402
    Rate,
    RateCell,
    RateNoise,
    control_limits,
    difference,
    pooled,
    quotient,
    ratio,
    standardized,
)
from confide.plans.person_time import Per, PersonTime  # noqa: E402
from confide.privacy.adjacency import Adjacency  # noqa: E402
from confide.privacy.measure import Measure  # noqa: E402
from confide.statistics import (  # noqa: E402
    SMR,
    Incidence,
    StandardizedRate,
    WeightedMean,
    WeightedProportion,
)
from noise_off import estimates_without_noise  # noqa: E402
from rate_cohort import (  # noqa: E402
    BANDS,
    DIABETES,
    EDGES,
    REFERENCE,
    STANDARD,
    followed,
    frames,
    people,
)

NOISE, BOTH = Covers.NOISE, Covers.SAMPLING_AND_NOISE
ADJUSTED = {"table": "participants", "of": DIABETES, "strata": ("age_band",), "by": ("sex",)}
STATISTICS = (
    Incidence(
        id="onset",
        table="participants",
        of=DIABETES,
        time="days",
        by=("sex",),
        compare=("male",),
    ),
    Incidence(
        id="admissions",
        table="participants",
        events="admissions",
        time="days",
        per=Per(number=10_000, time=PersonTime.DAYS),
    ),
    StandardizedRate(id="prevalence", standard=STANDARD, per=Per(number=100), **ADJUSTED),
    StandardizedRate(
        id="adjusted", standard=STANDARD, time="days", compare=("female",), **ADJUSTED
    ),
    SMR(id="smr", reference=REFERENCE, time="days", **ADJUSTED),
    SMR(id="smr-persons", reference=REFERENCE, **ADJUSTED),
    WeightedProportion(id="weighted", table="participants", of=DIABETES, by=("sex",), per=100),
    WeightedMean(id="pressure", table="participants", column="pressure", by=("sex",)),
)


@pytest.fixture(
    scope="module",
    params=[(Measure.PURE, Adjacency.SUBSTITUTE), (Measure.ZCDP, Adjacency.ADD_REMOVE)],
    ids=lambda p: f"{p[0].value}-{p[1].value}",
)
def found(request):
    measure, adjacency = request.param
    to = followed(measure=measure, adjacency=adjacency)
    return estimates_without_noise(STATISTICS, to=to, frames=frames())


def known(*columns):
    frame = people().dropna(subset=list(columns))
    return frame.assign(
        event=(frame.diabetes == "yes").astype(int),
        years=frame.days / 365.25,
        band=pd.cut(frame.age, EDGES, right=False, labels=BANDS),
    )


def test_incidence_is_events_over_person_years(found):
    rates = {}
    for sex, group in known("days").groupby("sex"):
        rates[sex] = 1000 * group.event.sum() / group.years.sum()
        for covers in (NOISE, BOTH):
            estimate = found["onset", "rate", (sex,), covers]
            assert estimate.value == pytest.approx(rates[sex], rel=1e-12)
        assert estimate.unit == "per 1,000 person-years"
    ratio_of = found["onset", "rate ratio", ("female",), BOTH]
    assert ratio_of.value == pytest.approx(rates["female"] / rates["male"], rel=1e-12)
    less = found["onset", "rate difference", ("female",), BOTH]
    assert less.value == pytest.approx(rates["female"] - rates["male"], rel=1e-9)


def test_a_number_of_events_is_summed_over_person_days(found):
    group = known("days", "admissions")
    estimate = found["admissions", "rate", (), BOTH]
    assert estimate.value == pytest.approx(1e4 * group.admissions.sum() / group.days.sum())
    assert estimate.unit == "per 10,000 person-days"


@pytest.mark.parametrize(
    ("name", "base", "per"), [("prevalence", None, 100), ("adjusted", "years", 1000)]
)
def test_the_standardised_rate_is_the_weighted_mean_of_the_rates_of_the_strata(
    found, name, base, per
):
    frame = known("age", *(("days",) if base else ()))
    for sex, group in frame.groupby("sex"):
        by_band = group.groupby("band", observed=False)
        at_risk = by_band[base].sum() if base else by_band.size()
        rates = by_band.event.sum() / at_risk
        expected = per * (rates * [0.6, 0.28, 0.12]).sum()
        crude = per * group.event.sum() / at_risk.sum()
        got = found[name, "standardised rate", (sex,), NOISE]
        assert got.value == pytest.approx(expected, rel=1e-12)
        assert found[name, "crude rate", (sex,), NOISE].value == pytest.approx(crude, rel=1e-12)


@pytest.mark.parametrize(("name", "base"), [("smr", "years"), ("smr-persons", None)])
def test_the_smr_is_observed_over_expected_at_the_reference_rates(found, name, base):
    frame = known("age", *(("days",) if base else ()))
    for sex, group in frame.groupby("sex"):
        by_band = group.groupby("band", observed=False)
        at_risk = by_band[base].sum() if base else by_band.size()
        expected = (at_risk * [0.0125, 0.04, 0.09]).sum()
        assert found[name, "observed", (sex,), NOISE].value == group.event.sum()
        assert found[name, "expected", (sex,), NOISE].value == pytest.approx(expected)
        got = found[name, "smr", (sex,), BOTH]
        assert got.value == pytest.approx(group.event.sum() / expected, rel=1e-12)


def test_weighted_shares_and_means_are_those_of_numpy(found):
    for sex, group in known("weight").groupby("sex"):
        share = found["weighted", "weighted share", (sex,), BOTH]
        assert share.value == pytest.approx(100 * np.average(group.event, weights=group.weight))
        mean = found["pressure", "weighted mean", (sex,), NOISE]
        assert mean.value == pytest.approx(np.average(group.pressure, weights=group.weight))
        kish = group.weight.sum() ** 2 / (group.weight**2).sum()
        for name in ("weighted", "pressure"):
            size = found[name, "effective sample size", (sex,), NOISE]
            assert size.value == pytest.approx(kish, rel=1e-9)


def test_every_value_is_inside_its_intervals_and_the_wider_one_holds_the_other(found):
    for (statistic, quantity, key, covers), each in found.items():
        assert each.lower <= each.value <= each.upper
        if covers is BOTH and quantity not in ("weighted share",):
            inner = found[statistic, quantity, key, NOISE]
            assert each.lower <= inner.lower
            assert each.upper >= inner.upper


# Fleiss, Statistical methods for rates and proportions, 2nd ed. 1981, p. 249: infants with Down's
# syndrome in Michigan by mother's age (rows) and birth order; also the example of R's epitools
# 0.5-10.1, ageadjust.direct(count[, i], population[, i], stdpop = rowSums(population)).
BIRTHS = np.array(
    [
        [230061, 72202, 15050, 2293, 327],
        [329449, 326701, 175702, 68800, 30666],
        [114920, 208667, 207081, 132424, 123419],
        [39487, 83228, 117300, 98301, 149919],
        [14208, 28466, 45026, 46075, 104088],
        [3052, 5375, 8660, 9834, 34392],
    ]
)
CASES = np.array(
    [
        [107, 25, 3, 1, 0],
        [141, 150, 71, 26, 8],
        [60, 110, 114, 64, 63],
        [40, 84, 103, 89, 112],
        [39, 82, 108, 137, 262],
        [25, 39, 75, 96, 295],
    ]
)


def test_the_rates_of_fleiss_come_out():
    weights = BIRTHS.sum(axis=1) / BIRTHS.sum()
    crude, adjusted = [], []
    for cases, births in zip(CASES.T, BIRTHS.T, strict=True):
        cells = [RateCell(events=c, base=n, noise=()) for c, n in zip(cases, births, strict=True)]
        found = standardized(cells, weights=weights, persons=False, sampled=True, level=0.95)
        adjusted.append(1e5 * found.value)
        crude.append(1e5 * ratio(pooled(cells), spread=1, curve=0, level=0.95).value)
    assert crude == pytest.approx([56.3, 67.6, 83.3, 115.5, 167.1], abs=0.051)
    assert adjusted == pytest.approx([92.3, 91.2, 85.1, 92.7, 75.5], abs=0.051)


def test_the_interval_of_a_standardised_rate_is_close_to_fay_and_feuers_gamma_interval():
    """Where every stratum has 25 cases or more; with a handful theirs is conservative."""
    from statistics import NormalDist

    z = NormalDist().inv_cdf(0.975)
    weights = BIRTHS.sum(axis=1) / BIRTHS.sum()
    for cases, births in zip(CASES.T[:2], BIRTHS.T[:2], strict=True):
        cells = [RateCell(events=c, base=n, noise=()) for c, n in zip(cases, births, strict=True)]
        found = standardized(cells, weights=weights, persons=False, sampled=True, level=0.95)
        rate, variance = (weights * cases / births).sum(), (weights**2 * cases / births**2).sum()
        shape = rate**2 / variance  # gamma quantiles by Wilson and Hilferty's cube
        low = rate * (1 - 1 / (9 * shape) - z / (3 * math.sqrt(shape))) ** 3
        assert found.lower == pytest.approx(low, rel=0.03)
        widest = max(weights / births)
        above, spread = rate + widest, variance + widest**2
        shape = above**2 / spread
        high = above * (1 - 1 / (9 * shape) + z / (3 * math.sqrt(shape))) ** 3
        assert found.upper == pytest.approx(high, rel=0.03)


# Deaths and population of US white men in 1940 and 1960 by age: Selvin, Statistical analysis of
# epidemiologic data, 3rd ed. 2004, table 1-4; the example of epitools' ageadjust.indirect.
DEATHS_60 = (141, 926, 1253, 1080, 1869, 4891, 14956, 30888, 41725, 26501, 5928)
POPULATION_60 = (
    1784033, 7065148, 15658730, 10482916, 9939972, 10563872, 9114202, 6850263, 4702482, 1874619,
    330915,
)  # fmt: skip
DEATHS_40 = (45, 201, 320, 670, 1126, 3160, 9723, 17935, 22179, 13461, 2238)
POPULATION_40 = (
    906897, 3794573, 10003544, 10629526, 9465330, 8249558, 7294330, 5022499, 2920220, 1019504,
    142532,
)  # fmt: skip


def test_the_indirect_standardisation_of_selvin_comes_out():
    rates = [d / n for d, n in zip(DEATHS_60, POPULATION_60, strict=True)]
    cells = [
        RateCell(events=d, base=n, noise=()) for d, n in zip(DEATHS_40, POPULATION_40, strict=True)
    ]
    expected = pooled(cells, weights=rates)
    assert (expected.events, expected.base) == (71058, pytest.approx(85556.889, abs=1e-3))
    found = ratio(expected, spread=expected.base, curve=0, level=0.95)
    assert found.value == pytest.approx(0.8305351, abs=1e-7)


def test_the_interval_of_a_rate_without_noise_is_raos_score_interval():
    """(x + z²/2 ± z√(x + z²/4)) / t, as statsmodels' confint_poisson(x, t, method="score")."""
    z = 1.959963984540054
    for events, time in ((0, 50.0), (9, 120.0), (40, 1000.0)):
        found = ratio(
            RateCell(events=events, base=time, noise=()), spread=time, curve=0, level=0.95
        )
        middle, half = events + z * z / 2, z * math.sqrt(events + z * z / 4)
        assert found.lower == pytest.approx((middle - half) / time, abs=1e-12)
        assert found.upper == pytest.approx((middle + half) / time, rel=1e-9)


@pytest.mark.parametrize("events", [1, 2, 3])
def test_the_lower_end_of_few_events_is_missed_one_time_in_twenty(events):
    found = ratio(RateCell(events=events, base=50.0, noise=()), spread=50.0, curve=0, level=0.95)
    mean = 50 * found.lower
    fewer = sum(math.exp(-mean) * mean**k / math.factorial(k) for k in range(events))
    assert 1 - fewer == pytest.approx(0.05, abs=1e-6)


def test_a_share_of_persons_without_noise_has_wilsons_interval():
    from confide.plans.estimation.intervals import share

    wilson = share(30, 70, noise=Component(variance=0), spread=100, least=1, level=0.95)
    found = ratio(RateCell(events=30, base=100, noise=()), spread=100, curve=100, level=0.95)
    assert (found.lower, found.upper) == pytest.approx((wilson.lower, wilson.upper), rel=1e-9)


def test_an_interval_of_noise_alone_is_fiellers():
    noise = Component(variance=9.0)
    cell = RateCell(
        events=100,
        base=400,
        noise=(RateNoise(noise=noise, events=1), RateNoise(noise=noise, base=2)),
    )
    found = ratio(cell, spread=0, curve=0, level=0.95)
    z = 1.959963984540054
    for end in (found.lower, found.upper):
        assert abs(100 - end * 400) == pytest.approx(z * math.sqrt(9 + 36 * end**2), rel=1e-9)


def test_the_interval_of_a_ratio_of_rates_is_that_of_donner_and_zou():
    """The published form, which divides by 2θ − u and so fails where u = 2θ; ours does not."""
    a = Rate(value=3.0, standard_error=0.5, lower=2.0, upper=4.5)
    b = Rate(value=1.0, standard_error=0.2, lower=0.7, upper=1.6)
    found = quotient(a, b)
    product = 3.0 * 1.0
    low = product - math.sqrt(product**2 - 2.0 * 1.6 * (6 - 2.0) * (2 - 1.6))
    high = product + math.sqrt(product**2 - 4.5 * 0.7 * (6 - 4.5) * (2 - 0.7))
    assert found.lower == pytest.approx(low / (1.6 * (2 - 1.6)), rel=1e-12)
    assert found.upper == pytest.approx(high / (0.7 * (2 - 0.7)), rel=1e-12)
    edge = quotient(a, Rate(value=1.0, standard_error=0.2, lower=0.7, upper=2.0))
    assert 0 < edge.lower < found.lower
    assert quotient(a, Rate(value=1.0, standard_error=0.2, lower=0.0, upper=2.0)).upper is None


def test_a_difference_without_an_upper_end_has_none():
    a = Rate(value=3.0, standard_error=0.5, lower=2.0, upper=None)
    b = Rate(value=1.0, standard_error=0.2, lower=0.7, upper=1.6)
    assert difference(a, b).upper is None
    assert difference(b, a).lower == -math.inf


def test_control_limits_without_noise_are_those_of_the_poisson_law():
    """Of spiegelhalter's exact limits, which are quantiles, within half an event."""
    for expected, level in ((20, 0.95), (20, 0.998), (100, 0.95), (100, 0.998)):
        law = [
            math.exp(-expected + k * math.log(expected) - math.lgamma(k + 1)) for k in range(400)
        ]
        below = np.cumsum(law)
        low, high = control_limits(expected, noise=(), curve=0, level=level)
        assert abs(low * expected - np.searchsorted(below, (1 - level) / 2)) < 1
        assert abs(high * expected - np.searchsorted(below, (1 + level) / 2)) < 1
