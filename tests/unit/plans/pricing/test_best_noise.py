"""The planner's choice of noise beside the best that a search finds, by the kernel's laws alone."""

import itertools
import math
from fractions import Fraction

import pytest

from confide.files.dataset import declared_by
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.pricing.both_noises import has_both, with_laplace
from confide.plans.pricing.roads import lanes_of, part_of
from confide.privacy.accounting.mixed import MixedCap, charge
from confide.privacy.amount import NANO
from confide.privacy.loss import PureDP, ZeroConcentratedDP
from confide.service.planning.priced import priced

DELTA = Fraction("1e-6")


def ward(epsilon, *, releases=1):
    return declared_by(
        {
            "dataset": {"id": "ward", "lineage": "ward", "snapshot": "1"},
            "source": {"kind": "csv", "path": "."},
            "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
            "accounting": {
                "measure": "mixed",
                "delta": "1e-6",
                "selection-delta": "0",
                "releases-a-year": releases,
            },
            "caps": {
                "lifetime": {"epsilon": str(10 * Fraction(epsilon))},
                "calendar-year": {"epsilon": epsilon},
            },
            "tables": {"visits": {"rows-per-patient": 1, "columns": {}}},
        },
        folder=".",
    )


def least(law, within):
    """The least ε or ρ, in steps of a thousandth, whose noise is no wider; by bisection."""
    low, high = Fraction(1, 10**8), Fraction(10**4)
    while high / low > Fraction(10_001, 10_000):
        middle = Fraction(math.sqrt(low * high)).limit_denominator(10**12)
        low, high = (low, middle) if law(middle).half_width(0.95) <= within else (middle, high)
    return high


def laplace(epsilon):
    return DiscreteLaplace(scale=1 / epsilon)


def gaussian(rho):
    return DiscreteGaussian(sigma_squared=1 / (2 * rho))


def costs_at(order, targets):
    """What each count costs at an order with either noise, in nats, beside ε."""
    found = []
    for within in targets:
        epsilon, rho = least(laplace, within), least(gaussian, within)
        found.append(
            (
                charge(PureDP(epsilon=epsilon), order=order).ordered / NANO,
                charge(ZeroConcentratedDP(rho=rho), order=order).ordered / NANO,
                float(epsilon),
            )
        )
    return found


def best_part(epsilon, targets):
    """The least part of a year's cap that any division of counts into the two noises takes."""
    cap = MixedCap.of(Fraction(epsilon), delta=DELTA)
    room = cap.budget / NANO
    costs = costs_at(cap.order, targets)
    pure = sum(each[2] for each in costs) / float(Fraction(epsilon))
    distinct = sorted(set(zip(targets, costs, strict=True)))
    number = {each: list(zip(targets, costs, strict=True)).count(each) for each in distinct}
    found = [pure]
    for takes in itertools.product(*(range(number[each] + 1) for each in distinct)):
        total = sum(
            with_pure * each[1][0] + (number[each] - with_pure) * each[1][1]
            for each, with_pure in zip(distinct, takes, strict=True)
        )
        found.append(total / room)
    return min(found)


def part(plan, of):
    return float(part_of(of.year(), lanes_of(plan, measure=of.measure)))


def counts(targets):
    return [
        {"id": f"n{place}", "kind": "count", "error": {"within": within}}
        for place, within in enumerate(targets)
    ]


def equal(number, epsilon, releases):
    """Errors that about fill a year of so many releases."""
    within = round(3 * math.sqrt(number * releases * min(number * releases, 30)) / float(epsilon))
    return [max(2, within)] * number


def unequal(number, epsilon, releases):
    rough = equal(number, epsilon, releases)
    sharp = max(1, rough[0] // 10)
    return [sharp, *rough[1:]]


def graded(number, epsilon, releases):
    """Three grades of importance."""
    rough = equal(number, epsilon, releases)[0]
    return [max(1, rough // (1, 4, 16)[place % 3]) for place in range(number)]


@pytest.mark.parametrize("targets", [equal, unequal, graded])
@pytest.mark.parametrize("releases", [1, 12])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
@pytest.mark.parametrize("number", [1, 3, 10, 30])
def test_no_division_into_the_two_noises_takes_two_percent_less_of_a_year(
    number, epsilon, releases, targets
):
    asked, of = targets(number, epsilon, releases), ward(epsilon, releases=releases)
    made = priced(counts(asked), declared=of)
    for measurement, within in zip(made.measurements, asked, strict=True):
        assert measurement.mechanism.half_width(0.95) <= within
    assert part(made, of) <= 1.02 * best_part(epsilon, asked)


def test_one_count_ten_times_sharper_than_fifty_others_has_a_noise_of_its_own():
    asked, of = [6, *[60] * 50], ward("1")
    made = priced(counts(asked), declared=of)
    assert has_both(made)
    assert [each.id for each in with_laplace(made)] == ["n0"]
    order = MixedCap.of(Fraction(1), delta=DELTA).order
    costs = costs_at(order, asked)
    of_one = min(sum(each[noise] for each in costs) for noise in (0, 1))
    lanes = lanes_of(made, measure=of.measure)
    assert lanes.at(order) / NANO <= 0.9 * of_one
    assert made.amount.nano == sum(each.nano for each in made.measurements)
    assert all(m.event.rho() <= Fraction(m.nano, NANO) for m in made.measurements)


def most_epsilon(order, cost):
    """The ε that costs so much at an order, in nats; by bisection."""
    low, high = 1e-9, cost + 1
    for _ in range(60):
        middle = (low + high) / 2
        costs = charge(PureDP(epsilon=Fraction(middle)), order=order).ordered
        low, high = (middle, high) if costs <= cost * NANO else (low, middle)
    return Fraction(low)


def best_error(epsilon, shares):
    """The least mean log error of any division into two noises, at one order or in ε."""
    cap = MixedCap.of(Fraction(epsilon), delta=DELTA)
    pure = [laplace(share * Fraction(epsilon)).half_width(0.95) for share in shares]
    found = [log_mean(pure)]
    order, room = cap.order, Fraction(cap.budget, NANO)
    distinct = sorted(set(shares))
    either = {
        share: (
            laplace(most_epsilon(order, float(share * room))).half_width(0.95),
            gaussian(share * room / order).half_width(0.95),
        )
        for share in distinct
    }
    for takes in itertools.product((0, 1), repeat=len(distinct)):
        noise = dict(zip(distinct, takes, strict=True))
        found.append(log_mean([either[share][noise[share]] for share in shares]))
    return min(found)


def log_mean(widths):
    """A count that is exact counts as one that is off by a half."""
    return sum(math.log(max(width, 0.5)) for width in widths) / len(widths)


@pytest.mark.parametrize("first", [1, 2, 10])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
@pytest.mark.parametrize("number", [1, 3, 10, 30])
def test_no_division_of_what_may_be_spent_has_errors_smaller_by_two_percent(number, epsilon, first):
    """The first count has once, twice or ten times the share of each of the others."""
    weights = [first, *[1] * (number - 1)]
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    of = ward(epsilon)
    asked = [{"id": f"n{place}", "kind": "count"} for place in range(number)]
    if number > 1:
        asked[0]["share"] = str(shares[0])
    made = priced(asked, declared=of, epsilon=epsilon)
    errors = [each.mechanism.half_width(0.95) for each in made.measurements]
    assert log_mean(errors) <= best_error(epsilon, shares) + math.log(1.02)
    assert lanes_of(made, measure=of.measure).alone <= Fraction(epsilon) * NANO
    assert part(made, of) <= 1


def test_a_year_of_more_room_than_a_release_takes_is_used_for_it():
    asked = [{"id": f"n{place}", "kind": "count"} for place in range(10)]
    asked[0]["share"] = "0.5"
    tight, roomy = (priced(asked, declared=ward(each), epsilon="1") for each in ("1", "2"))
    assert has_both(tight)
    assert has_both(roomy)
    narrow, wide = (
        sum(m.mechanism.variance() for m in each.measurements) for each in (roomy, tight)
    )
    assert narrow < wide
    assert lanes_of(roomy, measure=ward("2").measure).alone <= NANO
