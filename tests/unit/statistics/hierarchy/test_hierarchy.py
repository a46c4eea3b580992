"""Areas within areas: least squares against the normal equations, closed forms, whole counts."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from areas import land
from confide.errors import ContractError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.contribution import Counted, PerPatient
from confide.plans.estimation.intervals import Component, noise_component, quantile
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.statistics import Hierarchy, read_plan
from confide.statistics.hierarchy.least_squares import Tree, consistent, spreads
from confide.statistics.hierarchy.shares import default_shares, total_variance
from confide.statistics.hierarchy.whole_counts import nearest, whole_counts
from confide.tables.aggregates.pooled import PooledAggregate
from noisy_answers import estimate, mechanisms
from seeded import SeededEntropy

UNEVEN = Tree(
    sizes=(9, 4, 2),
    parents=(np.array([0, 1, 0, 2, 2, 1, 3, 0, 2]), np.array([0, 1, 0, 1])),
)
ERRORS = (
    Component(variance=2.0, excess_kurtosis=3.0),
    Component(variance=5.0, excess_kurtosis=1.5),
    Component(variance=0.7, excess_kurtosis=3.0),
)


def design(tree: Tree) -> list[np.ndarray]:
    """Return, for each level, which finest areas its areas hold."""
    rows = [np.eye(tree.sizes[0])]
    for level, parents in enumerate(tree.parents):
        pool = np.zeros((tree.sizes[level + 1], tree.sizes[level]))
        pool[parents, np.arange(tree.sizes[level])] = 1
        rows.append(pool @ rows[-1])
    return rows


def solver(tree: Tree, errors) -> np.ndarray:
    """Return the matrix from all measurements to the estimates of all areas, by normal
    equations."""
    x = np.vstack(design(tree))
    weights = np.concatenate(
        [np.full(n, 1 / e.variance) for n, e in zip(tree.sizes, errors, strict=True)]
    )
    return x @ np.linalg.solve(x.T @ (weights[:, None] * x), x.T * weights)


def test_two_passes_are_the_least_squares_solution():
    rng = np.random.default_rng(3)
    y = [rng.normal(20, 5, size) for size in UNEVEN.sizes]
    found = consistent(y, tree=UNEVEN, variances=[e.variance for e in ERRORS])
    expected = solver(UNEVEN, ERRORS) @ np.concatenate(y)
    assert np.concatenate(found) == pytest.approx(expected, rel=1e-12)


def test_variances_and_fourth_cumulants_of_the_estimates_are_exact():
    matrix = solver(UNEVEN, ERRORS)
    variance = np.concatenate(
        [np.full(n, e.variance) for n, e in zip(UNEVEN.sizes, ERRORS, strict=True)]
    )
    kurtosis = np.concatenate(
        [np.full(n, e.excess_kurtosis) for n, e in zip(UNEVEN.sizes, ERRORS, strict=True)]
    )
    found = spreads(UNEVEN, ERRORS)
    assert np.concatenate([s.variance for s in found]) == pytest.approx(matrix**2 @ variance)
    assert np.concatenate([s.cumulant for s in found]) == pytest.approx(
        matrix**4 @ (kurtosis * variance**2)
    )


def test_estimates_of_parts_add_up_to_that_of_the_whole():
    rng = np.random.default_rng(4)
    y = [rng.normal(0, 5, (7, size)) for size in UNEVEN.sizes]
    found = consistent(y, tree=UNEVEN, variances=(2.0, 5.0, 0.7))
    for level in (1, 2):
        assert UNEVEN.up(found[level - 1], level=level) == pytest.approx(found[level], abs=1e-10)


def counties(number: int, tracts: int) -> Tree:
    return Tree(sizes=(number * tracts, number), parents=(np.repeat(np.arange(number), tracts),))


@pytest.mark.parametrize(
    ("share", "county", "tract"), [(0.1, 2.06, 0.739), (0.01, 4.09, 0.710), (0.5, 0.99, 0.990)]
)
def test_two_level_map_county_sd_is_within_5_percent_of_the_closed_form(share, county, tract):
    """50 tracts a county, ρ = 1: 10 % to counties takes their sd from 5.0 to 2.1, tracts to
    0.74."""
    tree, runs = counties(20, 50), 400
    noises = [
        DiscreteGaussian(sigma_squared=Fraction(1 / (2 * part)).limit_denominator(10**6))
        for part in (1 - share, share)
    ]
    entropy = SeededEntropy(6)
    noisy = [
        noise.sample(runs * size, entropy=entropy).reshape(runs, size).astype(float)
        for noise, size in zip(noises, tree.sizes, strict=True)
    ]
    tracts, found = consistent(noisy, tree=tree, variances=[n.variance() for n in noises])
    closed = math.sqrt(1 / (2 * share + 2 * (1 - share) / 50))
    assert closed == pytest.approx(county, rel=0.01)
    assert found.std() == pytest.approx(closed, rel=0.05)
    assert tracts.std() == pytest.approx(tract, rel=0.02)
    alone = math.sqrt(50 * DiscreteGaussian(sigma_squared=Fraction(1, 2)).variance())
    assert alone == pytest.approx(5.0, rel=0.02)


@pytest.mark.parametrize("tracts", [2, 8, 50, 400])
def test_the_default_share_of_two_levels_is_that_of_the_closed_form(tracts):
    to = land([tracts] * 3)
    spec = Hierarchy(id="h", table="persons", spine="place")
    share = spec.questions(to)[1].weight
    closed = (math.sqrt(tracts + 1) - 1) / (tracts - 1 + math.sqrt(tracts + 1))
    assert abs(float(share) - closed) <= 0.01
    assert sum(question.weight for question in spec.questions(to)) == 1


def test_no_other_shares_on_the_grid_have_a_smaller_mean_squared_error():
    sizes, one = (600, 40, 4), Hierarchy(id="h", table="persons", spine="place")
    sensitivity = one.questions(land([2, 2]))[0].sensitivity
    for measure in Measure:
        options = {"sensitivities": (sensitivity,) * 3, "measure": measure}
        chosen = default_shares(sizes, **options)
        best = min(
            total_variance((a, b, 100 - a - b), sizes, **options)
            for a in range(1, 99)
            for b in range(1, 100 - a)
        )
        found = total_variance([int(100 * s) for s in chosen], sizes, **options)
        assert found == pytest.approx(best, rel=1e-9)


def test_whole_counts_are_not_negative_and_add_up():
    rng = np.random.default_rng(8)
    for _ in range(200):
        finest = rng.normal(0.3, 2, UNEVEN.sizes[0])
        middle = UNEVEN.up(finest, level=1)
        found = whole_counts((finest, middle, UNEVEN.up(middle, level=2)), tree=UNEVEN)
        assert all((counts >= 0).all() for counts in found)
        for level in (1, 2):
            assert (UNEVEN.up(found[level - 1], level=level) == found[level]).all()


def test_whole_counts_leave_true_counts_as_they_are():
    finest = np.array([3.0, 0, 7, 1, 12, 0, 0, 5, 2])
    middle = UNEVEN.up(finest, level=1)
    found = whole_counts((finest, middle, UNEVEN.up(middle, level=2)), tree=UNEVEN)
    assert found[0].tolist() == finest.tolist()


def test_the_nearest_whole_counts_are_found_by_trying_all():
    rng = np.random.default_rng(9)
    for _ in range(60):
        x, total = rng.normal(1, 2, 3), int(rng.integers(0, 6))
        found = nearest(x, total=total)
        best = min(
            math.dist(x, (a, b, total - a - b))
            for a in range(total + 1)
            for b in range(total - a + 1)
        )
        assert found.sum() == total
        assert math.dist(x, found) == pytest.approx(best, abs=0.35)


def test_with_noise_off_every_number_is_the_count():
    to = land([3, 2], levels=3)
    spec = Hierarchy(id="h", table="persons", spine="place")
    tracts = (5, 0, 7, 2, 9)
    noisy = {"count/tract": tracts, "count/county": (12, 11), "count/state": (23,)}
    found = estimate(spec, noisy, to=to, noise=mechanisms(spec, to=to, spend=1))
    values = {(e.quantity, e.key): e.value for e in found}
    for place, count in enumerate(tracts):
        label = f"t{0 if place < 3 else 1}.{place if place < 3 else place - 3}"
        for quantity in ("count", "unrounded", "measurement"):
            assert values[quantity, ("tract", label)] == pytest.approx(count, abs=1e-9)
    assert values["count", ("county", "c0")] == 12
    assert values["count", ("state", "s0")] == 23
    assert [e.key[0] for e in found[:3]] == ["state"] * 3  # largest areas first


def test_all_levels_count_the_same_rows_in_one_scan():
    to = land([3, 2], levels=3)
    spec = Hierarchy(id="h", table="visits", spine="place", per_patient=PerPatient(cells=2))
    finest, *larger = [question.aggregate for question in spec.questions(to)]
    assert all(isinstance(of, PooledAggregate) and of.of == finest for of in larger)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_all_areas_of_a_patient_may_lie_in_one_county(adjacency):
    to = land([3, 3], adjacency=adjacency)
    twice = 1 if adjacency is Adjacency.ADD_REMOVE else 2
    spec = Hierarchy(
        id="h",
        table="visits",
        spine="place",
        counted=Counted.EVENTS,
        per_patient=PerPatient(cells=2, rows=3),
    )
    tract, county = (question.sensitivity for question in spec.questions(to))
    assert (tract.l1, tract.l2_squared) == (6 * twice, 18 * twice)
    assert (county.l1, county.l2_squared, county.linf) == (6 * twice, 36 * twice, 6)


@pytest.mark.parametrize("spend", ["1/20", "1/4", "2"])
@pytest.mark.parametrize("measure", Measure)
def test_intervals_of_every_level_cover_as_often_as_they_say(measure, spend):
    """2,000 runs at once: least squares is linear, so only the noise matters."""
    tree, runs = UNEVEN, 2000
    to = land([3, 2, 3, 1], measure=measure)
    spec = Hierarchy(id="h", table="persons", spine="place")
    noise = list(mechanisms(spec, to=to, spend=Fraction(spend)).values())
    noises = [noise[0], noise[1], noise[1]]
    errors = [noise_component(n) for n in noises]
    entropy = SeededEntropy(7)
    drawn = [
        n.sample(runs * size, entropy=entropy).reshape(runs, size).astype(float)
        for n, size in zip(noises, tree.sizes, strict=True)
    ]
    found = consistent(drawn, tree=tree, variances=[e.variance for e in errors])
    for level, spread in enumerate(spreads(tree, errors)):
        for area in range(tree.sizes[level]):
            error = spread.error(area, step=1.0)
            half = quantile([error], level=0.95) * math.sqrt(error.variance)
            covered = np.mean(np.abs(found[level][:, area]) <= half + 1e-9)
            most = 0.97 if error.variance > 9 else 1.0  # on a coarse lattice
            assert 0.933 <= covered <= most, (level, area, covered)


def test_the_whole_count_has_an_interval_at_least_as_wide():
    to = land([3, 2])
    spec = Hierarchy(id="h", table="persons", spine="place")
    noisy = {"count/tract": (4, -3, 0, 1, 8), "count/county": (-1, 7)}
    found = estimate(spec, noisy, to=to, noise=mechanisms(spec, to=to, spend=Fraction(1, 10)))
    by_key = {(e.quantity, e.key): e for e in found}
    for (quantity, key), whole in by_key.items():
        if quantity == "count":
            rough = by_key["unrounded", key]
            assert whole.lower <= max(0, rough.lower)
            assert whole.upper >= max(0, rough.upper)
            assert whole.lower <= whole.value <= whole.upper
            assert ("below zero" in whole.flags) == (rough.value < 0)


def test_the_forecast_of_a_level_is_the_error_that_is_published():
    to = land([4, 6])
    spec = Hierarchy(id="h", table="persons", spine="place")
    noise = mechanisms(spec, to=to, spend=Fraction(1, 10))
    forecast = spec.forecast(noise, dataset=to, level=Fraction(95, 100))
    noisy = {"count/tract": (50,) * 10, "count/county": (200, 300)}
    found = [e for e in estimate(spec, noisy, to=to, noise=noise) if e.quantity == "unrounded"]
    for part in forecast.parts:
        widths = [(e.upper - e.lower) / 2 for e in found if e.key[0] == part.name]
        assert part.cells == len(widths)
        assert part.half_width == pytest.approx(max(widths))
    assert forecast.half_width == forecast.parts[0].half_width


def test_stated_shares_are_used_and_a_plan_reads_back():
    to = land([3, 2])
    spec = Hierarchy(id="h", table="persons", spine="place", shares=(Fraction(3), Fraction(1)))
    plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=to, nano=NANO)
    assert [m.nano for m in plan.measurements] == [750_000_000, 250_000_000]
    again = read_plan(plan.to_json())
    assert again == plan
    assert again.digest() == plan.digest()


def test_another_mapping_is_another_plan():
    to = land([3, 2])
    spine = to.spines[0]
    moved = replace(spine, areas=(*spine.areas[:-1], (spine.areas[-1][0], "c0")))
    spec = Hierarchy(id="h", table="persons", spine="place")
    digests = {
        make_plan(
            [Ask(statistic=spec)],
            study=Study(id="s"),
            dataset=replace(to, spines=(each,)),
            nano=NANO,
        ).digest()
        for each in (spine, moved)
    }
    assert len(digests) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levels": ()}, "levels"),
        ({"areas": (("a", "x"), ("a", "y"))}, "twice"),
        ({"population": (1,)}, "population"),
        (
            {"levels": ("t", "c", "s"), "areas": (("a", "x", "1"), ("b", "x", "2"))},
            "two areas",
        ),
    ],
)
def test_a_spine_that_does_not_nest_is_refused(change, message):
    spine = land([3, 2]).spines[0]
    with pytest.raises(ContractError, match=message):
        replace(spine, **change)


def test_a_category_without_a_row_is_refused():
    to = land([3, 2])
    spine = replace(to.spines[0], areas=to.spines[0].areas[1:])
    spec = Hierarchy(id="h", table="persons", spine="place")
    with pytest.raises(ContractError, match="lacks 1"):
        spec.questions(replace(to, spines=(spine,)))


def test_a_share_for_each_level_is_required():
    spec = Hierarchy(id="h", table="persons", spine="place", shares=(Fraction(1),))
    with pytest.raises(ContractError, match="share for each"):
        spec.questions(land([3, 2]))
