"""Rates of areas: exact numbers, intervals, the preview, and what weights by size can and cannot
do."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from areas import land
from confide.errors import ContractError, UnboundedError
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.contribution import Counted, PerPatient
from confide.plans.contribution import question as ask
from confide.plans.estimates import Covers
from confide.plans.estimation.intervals import Component, noise_component
from confide.plans.mechanisms import additive
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan, mechanism_for
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.statistics import AreaRate, read_plan
from confide.statistics.area_rate.poisson import poisson_interval
from confide.statistics.area_rate.spec import Denominator
from confide.statistics.area_rate.weights import FULL, weights_by_size
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from noisy_answers import estimate, mechanisms
from seeded import SeededEntropy

SICK = IsIn(of=ColumnOf(table="persons", column="sick"), values=(1,))
SIZES = (9, 800, 1_500, 4_000, 12_000)
AREAS = 2000


def rate(**more) -> AreaRate:
    return AreaRate(id="r", table="persons", spine="place", of=SICK, **more)


def test_a_rate_is_cases_per_people():
    to = land([3, 2], population=SIZES)
    spec = rate()
    found = estimate(
        spec, {"count": (1, 8, 30, 0, 24)}, to=to, noise=mechanisms(spec, to=to, spend=1)
    )
    values = {e.key[0]: e.value for e in found}
    assert values["t0.1"] == pytest.approx(100_000 * 8 / 800)
    assert values["t1.1"] == pytest.approx(100_000 * 24 / 12_000)
    assert {e.unit for e in found} == {"per 100000"}
    assert [e.covers for e in found[:2]] == [Covers.NOISE, Covers.SAMPLING_AND_NOISE]


def test_a_larger_area_has_the_cases_and_people_of_its_parts():
    to = land([3, 2], population=SIZES)
    spec = rate(area="county", per=1000)
    question = spec.questions(to)[0]
    assert question.sensitivity.l1 == 1
    found = estimate(spec, {"count": (39, 24)}, to=to, noise=mechanisms(spec, to=to, spend=1))
    assert found[0].key == ("c0",)
    assert found[0].value == pytest.approx(1000 * 39 / sum(SIZES[:3]))


def test_an_area_where_nobody_lives_has_no_rate():
    to = land([2], population=(0, 500))
    spec = rate()
    found = estimate(spec, {"count": (3, 9)}, to=to, noise=mechanisms(spec, to=to, spend=1))
    assert found[0].value is None
    assert found[0].flags == ("nobody lives there",)
    assert found[2].value == pytest.approx(1800)


def test_without_noise_the_interval_is_the_score_interval_and_a_quarter():
    """y + z²/2 ± z√(y + z²/4), and half of half a step of the lattice, for large counts."""
    y, z = 1000, 1.959964
    low, high = poisson_interval(y, noise=Component(variance=0.0), rows=1, level=0.95)
    half = z * math.sqrt(y + z * z / 4)
    assert low == pytest.approx(y + z * z / 2 - half - 0.25, abs=0.02)
    assert high == pytest.approx(y + z * z / 2 + half + 0.25, abs=0.02)


@pytest.mark.parametrize("scale", ["1/2", "2"])
def test_the_interval_of_a_noisy_poisson_count_covers_at_least_94_6_percent(scale):
    """Exact: the law of count plus noise is summed, nothing is drawn."""
    noise = DiscreteLaplace(scale=Fraction(scale))
    shifts = np.arange(-40, 41)
    law = np.array([noise.pmf(int(z)) for z in shifts])
    ends = np.array(
        [
            poisson_interval(float(y), noise=noise_component(noise), rows=1, level=0.95)
            for y in range(-40, 120)
        ]
    )
    found = []
    for mean in np.geomspace(0.01, 30, 60):
        counts = np.arange(80)
        poisson = np.exp(
            counts * math.log(mean) - mean - np.array([math.lgamma(c + 1) for c in counts])
        )
        both = np.convolve(poisson, law)
        held = (ends[:, 0] <= mean) & (mean <= ends[:, 1])
        found.append(both[held].sum())
    assert min(found) >= 0.946
    assert np.mean(found) <= 0.972


@pytest.mark.parametrize("measure", Measure)
@pytest.mark.parametrize("cases", [0.0, 0.4, 2.0, 11.0, 150.0])
@pytest.mark.parametrize("spend", ["1/20", "1/2", "2"])
def test_rates_of_people_are_covered_for_the_patients_and_for_their_population(
    measure, cases, spend
):
    """2,000 areas with the same expectation are 2,000 runs."""
    to = land([AREAS], population=(100_000,) * AREAS, measure=measure)
    spec = rate()
    noise = mechanisms(spec, to=to, spend=Fraction(spend))
    true = np.random.default_rng(11).poisson(cases, AREAS)
    drawn = true + additive(noise["count"]).sample(AREAS, entropy=SeededEntropy(12))
    found = estimate(spec, {"count": tuple(drawn.tolist())}, to=to, noise=noise)
    inside = {covers: [] for covers in Covers}
    for place, each in enumerate(found):
        truth = true[place // 2] if each.covers is Covers.NOISE else cases
        inside[each.covers].append(each.lower - 1e-9 <= truth <= each.upper + 1e-9)
    variance = additive(noise["count"]).variance()
    smooth = variance > 9 and cases > 3 * math.sqrt(variance)
    for covers, hits in inside.items():
        most = 0.97 if smooth else 1.0  # the cut at 0 and the lattice add coverage
        assert 0.933 <= np.mean(hits) <= most, covers


@pytest.mark.parametrize("measure", Measure)
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_rates_of_rows_are_covered_for_the_patients_and_for_their_population(measure, share):
    to = land([AREAS], measure=measure)
    spec = rate(denominator=Denominator.ROWS, per=100, expect=Fraction(400))
    noise = mechanisms(spec, to=to, spend=Fraction(1, 20))
    having = np.random.default_rng(13).binomial(400, share, AREAS)
    exact = np.stack([400 - having, having], axis=1).reshape(-1)
    drawn = exact + additive(noise["count"]).sample(2 * AREAS, entropy=SeededEntropy(14))
    found = estimate(spec, {"count": tuple(drawn.tolist())}, to=to, noise=noise)
    inside = {covers: [] for covers in Covers}
    for place, each in enumerate(found):
        truth = having[place // 2] / 4 if each.covers is Covers.NOISE else 100 * share
        inside[each.covers].append(each.lower - 1e-9 <= truth <= each.upper + 1e-9)
    for covers, hits in inside.items():
        assert 0.933 <= np.mean(hits) <= 0.98, covers


def test_the_expected_error_of_an_area_is_that_of_the_noise_over_its_size():
    """E|error| = E|Z|/n, as the preview says before anything is spent."""
    sizes = (200, 400, 1000, 5000, 20_000)
    to = land([5], population=sizes, measure=Measure.PURE)
    spec = rate(per=1)
    noise = mechanisms(spec, to=to, spend=Fraction(1, 2))
    parts = spec.forecast(noise, dataset=to, level=Fraction(95, 100)).parts
    a = math.exp(-1 / 2)
    drawn = additive(noise["count"]).sample(40_000, entropy=SeededEntropy(15))
    for size, part in zip(sizes, parts, strict=True):
        assert part.expected_error == pytest.approx(2 * a / (1 - a * a) / size)
        assert part.expected_error == pytest.approx(np.abs(drawn).mean() / size, rel=0.03)
        assert np.mean(np.abs(drawn) / size <= part.half_width) >= 0.945


def test_the_preview_needs_no_rows_and_is_in_the_plan_forecast():
    to = land([10], population=tuple(range(100, 1100, 100)))
    spec = rate()
    noise = mechanisms(spec, to=to, spend=Fraction(1, 2))
    parts = spec.forecast(noise, dataset=to, level=Fraction(95, 100)).parts
    assert parts[0].name == "size 100 to 200"
    assert sum(part.cells for part in parts) == 10
    errors = [part.expected_error for part in parts]
    assert errors == sorted(errors, reverse=True)


def test_equal_weights_are_best_for_every_area_at_once():
    """Disjoint areas cost the maximum: no weights give any area less noise at the same charge."""
    to = land([4], population=(100, 1000, 3000, 9000))
    rng = np.random.default_rng(16)
    rho = Fraction(1, 10)
    equal = mechanisms(rate(), to=to, spend=rho)["count"]
    for _ in range(40):
        chosen = tuple(int(w) for w in rng.integers(1, 50, 4))
        question = rate(same_error_above=100).questions(to)[0]
        aggregate = replace(question.aggregate, weights=chosen)
        weighted = mechanism_for(
            ask("count", aggregate, dataset=to, counted="persons"),
            nano=int(rho * NANO),
            atto=0,
            dataset=to,
        )
        for weight in chosen:
            deviation = math.sqrt(weighted.sigma_squared) / weight
            assert deviation >= math.sqrt(equal.sigma_squared) * (1 - 1e-9)


def test_a_second_measurement_of_small_areas_is_the_same_as_weights():
    """Shares 1 − s for all and s for small ones: small areas pool to ρ, large ones have (1 −
    s)ρ."""
    rho, s = 0.4, 0.25
    small = 1 / (2 * rho * (1 - s) + 2 * rho * s)
    large = 1 / (2 * rho * (1 - s))
    weight = math.sqrt(1 - s)  # of large areas; 1 of small ones
    assert small == pytest.approx(1 / (2 * rho))
    assert large == pytest.approx(1 / (2 * rho) / weight**2)


def test_areas_above_a_size_have_the_error_of_that_size_and_their_patients_lose_less():
    sizes = (50, 1000, 2000, 4000, 16_000)
    for measure, power in ((Measure.PURE, 1), (Measure.ZCDP, 2)):
        to = land([5], population=sizes, measure=measure)
        spend = Fraction(1, 100)  # much noise: the whole weights are a finer lattice than counts
        noise = mechanisms(rate(same_error_above=1000), to=to, spend=spend)
        plain = mechanisms(rate(), to=to, spend=spend)
        level = Fraction(95, 100)
        fair = rate(same_error_above=1000).forecast(noise, dataset=to, level=level).parts
        full = rate().forecast(plain, dataset=to, level=level).parts
        for place in (0, 1):
            assert fair[place].expected_error == pytest.approx(full[place].expected_error, rel=0.02)
        for place in (2, 3, 4):
            assert fair[place].expected_error == pytest.approx(fair[1].expected_error, rel=0.02)
            assert fair[place].share == pytest.approx((1000 / sizes[place]) ** power, rel=0.02)
        assert all(part.share == 1 for part in full)


def test_weights_never_round_an_area_below_its_promise():
    for size, limit in itertools.product((1, 7, 999, 1000, 1001, 10**7), (1, 1000)):
        weight = weights_by_size((size,), full_up_to=limit)[0]
        assert 1 <= weight <= FULL
        assert weight * max(size, limit) >= FULL * limit


def test_weighted_counts_are_unbiased_estimates_of_the_rate():
    sizes = (500, 1000, 4000)
    to = land([3], population=sizes)
    spec = rate(same_error_above=1000)
    weights = spec.questions(to)[0].aggregate.weights
    exact = tuple(w * c for w, c in zip(weights, (5, 12, 40), strict=True))
    found = estimate(spec, {"count": exact}, to=to, noise=mechanisms(spec, to=to, spend=1))
    assert [e.value for e in found[::2]] == pytest.approx([1000, 1200, 1000])


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_heaviest_areas_that_a_patient_can_be_in_bound_a_weighted_rate(adjacency):
    to = land([4], population=(100, 200, 400, 800), adjacency=adjacency)
    spec = AreaRate(
        id="r",
        table="visits",
        spine="place",
        same_error_above=200,
        per_patient=PerPatient(cells=2),
    )
    question = spec.questions(to)[0]
    assert question.aggregate.weights == (1024, 1024, 512, 256)
    heaviest = (1024, 1024) if adjacency is Adjacency.ADD_REMOVE else (1024, 1024, 512, 256)
    assert question.sensitivity.l1 == sum(heaviest)
    assert question.sensitivity.l2_squared == sum(w * w for w in heaviest)


def test_a_rate_above_30_percent_relative_standard_error_is_unstable():
    to = land([3], population=(1000, 1000, 1000))
    spec = rate()
    noise = mechanisms(spec, to=to, spend=Fraction(1, 2))  # noise variance 1
    found = estimate(spec, {"count": (-2, 11, 13)}, to=to, noise=noise)
    flags = [e.flags for e in found[::2]]
    assert flags == [("below zero", "unstable"), ("unstable",), ()]
    assert math.sqrt(11 + 1) > 0.3 * 11
    assert math.sqrt(13 + 1) < 0.3 * 13


def test_a_patient_in_several_areas_is_refused_for_larger_ones():
    to = land([3, 2], population=SIZES)
    spec = AreaRate(
        id="r", table="visits", spine="place", area="county", per_patient=PerPatient(cells=2)
    )
    with pytest.raises(ContractError, match="several times"):
        spec.questions(to)


def test_events_of_larger_areas_are_bounded_by_rows():
    to = land([3, 2], population=SIZES)
    spec = AreaRate(
        id="r",
        table="visits",
        spine="place",
        area="county",
        counted=Counted.EVENTS,
        per_patient=PerPatient(rows=3),
    )
    assert spec.questions(to)[0].sensitivity.l2_squared == 9


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"table": "visits"}, UnboundedError, "any number of cells"),
        ({"area": "planet"}, ContractError, "planet"),
        ({"spine": "nowhere"}, ContractError, "nowhere"),
    ],
)
def test_what_is_not_declared_or_bounded_is_refused(change, error, message):
    spec = replace(rate(), **change)
    if "table" in change:
        spec = AreaRate(id="r", spine="place", **change)
    with pytest.raises(error, match=message):
        spec.questions(land([3, 2], population=SIZES))


def test_a_rate_of_people_without_a_declared_population_is_refused():
    with pytest.raises(ContractError, match="no populations"):
        rate().questions(land([3, 2]))


def test_a_share_of_everything_is_refused():
    with pytest.raises(ContractError, match="1 everywhere"):
        AreaRate(id="r", table="persons", spine="place", denominator=Denominator.ROWS)


def test_a_plan_of_weighted_rates_reads_back():
    to = land([3, 2], population=SIZES)
    plan = make_plan(
        [Ask(statistic=rate(same_error_above=1000))], study=Study(id="s"), dataset=to, nano=NANO
    )
    assert read_plan(plan.to_json()).digest() == plan.digest()
