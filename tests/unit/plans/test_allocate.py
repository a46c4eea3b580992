"""Who gets how much: totals, thirds, least budgets, forecasts that hold."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.errors import ContractError, InvalidParameterError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.events import PrivacyEvent, recompute
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, forecast, least_nano, make_plan, mechanism_for
from confide.plans.pricing.calibrate_to_error import (
    ErrorTarget,
    IntervalWidth,
    MedianShare,
    Within,
    WithinShare,
    met,
)
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.amount import nano as on_grid
from confide.privacy.measure import Measure
from confide.statistics import (
    Count,
    Histogram,
    KeySelection,
    Mean,
    Proportion,
    Quantiles,
    Sum,
    Variance,
)
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from noisy_answers import dataset, draws, estimate, moments

STUDY = Study(id="s")
DIABETES = IsIn(of=ColumnOf(table="participants", column="diabetes"), values=(1,))
PEOPLE = Fraction(800)
CALIBRATED = [
    (Count(id="c", table="participants"), Within(amount=Fraction(10))),
    (Count(id="c", table="participants", expect=PEOPLE), WithinShare(share=Fraction(5, 100))),
    (
        Histogram(id="h", table="participants", by=("sex",), expect=PEOPLE),
        MedianShare(share=Fraction(1, 100)),
    ),
    (Sum(id="s", table="participants", column="age"), IntervalWidth(width=Fraction(900))),
    (
        Mean(id="m", table="participants", column="pressure", expect=PEOPLE),
        Within(amount=Fraction(2), level=Fraction(9, 10)),
    ),
    (
        Variance(id="v", table="participants", column="pressure", expect=PEOPLE),
        IntervalWidth(width=Fraction(3)),
    ),
    (
        Proportion(
            id="p",
            table="participants",
            of=DIABETES,
            per=100,
            expect=PEOPLE,
            expect_share=Fraction(1, 10),
        ),
        WithinShare(share=Fraction(1, 10)),
    ),
]
NAMES = ["count ±n", "count ±%", "MdAPE", "width", "mean", "sd", "share"]


def reached(ask: Ask, *, nano: int, to) -> bool:
    plan = make_plan([Ask(statistic=ask.statistic)], study=STUDY, dataset=to, nano=nano)
    assert ask.error is not None
    return met(ask.error, forecast(plan, plan.statistics[0], level=ask.error.level))


@pytest.mark.parametrize(("statistic", "error"), CALIBRATED, ids=NAMES)
@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_the_least_budget_reaches_the_error_and_one_grid_step_less_does_not(
    statistic, error, measure, adjacency
):
    to = dataset(measure=measure, adjacency=adjacency)
    ask = Ask(statistic=statistic, error=error)
    least = least_nano(ask, dataset=to)
    assert reached(ask, nano=least, to=to)
    assert not reached(ask, nano=least - max(1, least // 10_000) - 1, to=to)


def test_an_error_of_a_wide_column_is_found_although_tiny_budgets_have_no_sampler():
    to = dataset()
    people = to.tables[0]
    columns = tuple(
        replace(c, lower=0, upper=100_000) if c.name == "age" else c for c in people.columns
    )
    to = replace(to, tables=(replace(people, columns=columns), to.tables[1]), derived=())
    spec = Variance(id="v", table="participants", column="age", expect=Fraction(10**6))
    error = Within(amount=Fraction(1000))
    assert 0 < least_nano(Ask(statistic=spec, error=error), dataset=to) < NANO


def test_an_error_that_no_budget_reaches_is_refused():
    ask = Ask(
        statistic=Mean(id="m", table="participants", column="age", expect=Fraction(1)),
        error=Within(amount=Fraction(1, 10**6)),
    )
    with pytest.raises(ContractError, match="Relax the error, tighten the bounds"):
        least_nano(ask, dataset=dataset())


@pytest.mark.parametrize(
    "make",
    [
        lambda: Within(amount=Fraction(0)),
        lambda: WithinShare(share=Fraction(-1)),
        lambda: MedianShare(share=Fraction(1), level=Fraction(1)),
        lambda: IntervalWidth(width=Fraction(1), level=Fraction(0)),
    ],
)
def test_an_error_target_outside_its_domain_is_refused(make):
    with pytest.raises(InvalidParameterError):
        make()


def test_a_relative_error_without_a_planning_value_asks_for_one():
    ask = Ask(
        statistic=Count(id="c", table="participants"), error=WithinShare(share=Fraction(1, 10))
    )
    with pytest.raises(ContractError, match=r"expect: \{count: 500\}"):
        least_nano(ask, dataset=dataset())


def worlds(statistic: object) -> tuple[dict[str, tuple[int, ...]], float]:
    """Return exact answers that suit the planning values, and the true value."""
    rows = int(PEOPLE)
    x = np.full(rows, 160, dtype=np.int64)  # a third of the way from the centre of [80, 200]
    match statistic:
        case Count():
            return {"count": (rows,)}, rows
        case Histogram():
            return {"count": (rows, rows)}, rows
        case Sum():
            return {"sum": (30_000,)}, 30_000
        case Proportion():
            return {"count": (rows * 9 // 10, rows // 10)}, 10.0
        case Mean():
            return {
                "distances": moments(x, lower=80, upper=200, degree=1),
                "sum": (20 * rows,),
                "count": (rows,),
            }, 160.0
        case Variance():
            y = np.repeat(np.array([120, 160], dtype=np.int64), rows // 2)
            return {"moments": moments(y, lower=80, upper=200, degree=2)}, 20.0
        case _:
            raise AssertionError


@pytest.mark.parametrize(("statistic", "error"), CALIBRATED, ids=NAMES)
@pytest.mark.parametrize("measure", list(Measure))
def test_forecasts_are_the_errors_that_happen(statistic, error: ErrorTarget, measure):
    del error
    to = dataset(measure=measure)
    spend = NANO // 4 if measure is Measure.PURE else NANO // 20
    plan = make_plan([Ask(statistic=statistic)], study=STUDY, dataset=to, nano=spend)
    expected = forecast(plan, statistic)
    exact, truth = worlds(statistic)
    noise = plan.mechanisms(statistic.id)
    errors = []
    for noisy in draws(exact, noise=noise, runs=4000, seed=9):
        found = estimate(statistic, noisy, to=to, noise=noise)
        chosen = found[1] if isinstance(statistic, Variance) else found[0]
        errors.append(abs(chosen.value - truth))
    step = 1 if isinstance(statistic, Count | Histogram | Sum) else 0
    median, high = np.quantile(errors, [0.5, 0.95])
    assert expected.median_error == pytest.approx(median, rel=0.1, abs=step)
    assert expected.half_width == pytest.approx(high, rel=0.1, abs=step)


SHARES = st.lists(
    st.none() | st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=10**6),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(
    shares=SHARES,
    nano=st.integers(10**6, 5 * 10**9),
    measure=st.sampled_from(Measure),
)
def test_charges_add_up_to_at_most_the_total_for_any_shares(shares, nano, measure):
    asks = [
        Ask(
            statistic=Mean(id=f"m{i}", table="participants", column="age")
            if i % 2
            else Count(id=f"c{i}", table="participants"),
            share=share,
        )
        for i, share in enumerate(shares)
    ]
    stated = sum(share for share in shares if share is not None)
    to = dataset(measure=measure)
    if stated > 1 or (stated == 1 and None in shares):
        with pytest.raises(ContractError, match="shares add up"):
            make_plan(asks, study=STUDY, dataset=to, nano=nano)
        return
    plan = make_plan(asks, study=STUDY, dataset=to, nano=nano)
    assert plan.amount.nano <= nano
    if None in shares:
        assert plan.amount.nano >= nano - 2 * len(shares)  # no more than rounding is lost
    loss = recompute(plan.events_json, measure=to.measure)
    assert loss.nano <= plan.amount.nano
    assert loss.atto == plan.amount.atto


def test_three_thirds_of_a_cap_fit_into_it():
    cap = on_grid(Fraction(1))
    third = on_grid(Fraction(1, 3))
    plans = [
        make_plan(
            [Ask(statistic=Count(id="c", table="participants"))],
            study=STUDY,
            dataset=dataset(),
            nano=third,
        )
        for _ in range(3)
    ]
    assert cap - 3 < sum(plan.amount.nano for plan in plans) <= cap


def test_errors_come_first_and_the_rest_is_shared():
    exact = Ask(statistic=Count(id="c", table="participants"), error=Within(amount=Fraction(10)))
    rest = Ask(statistic=Histogram(id="h", table="participants", by=("sex",)))
    to = dataset()
    plan = make_plan([rest, exact], study=STUDY, dataset=to, nano=NANO)
    least = least_nano(exact, dataset=to)
    assert [m.nano for m in plan.measurements] == [NANO - least, least]
    with pytest.raises(ContractError, match="more than the"):
        make_plan([rest, exact], study=STUDY, dataset=to, nano=least)
    with pytest.raises(ContractError, match="neither an error nor a total"):
        make_plan([rest, exact], study=STUDY, dataset=to, nano=None)
    assert make_plan([exact], study=STUDY, dataset=to, nano=None).amount.nano == least


def test_nothing_is_bought_with_less_than_one_nano():
    (question,) = Count(id="c", table="participants").questions(dataset())
    with pytest.raises(InvalidParameterError, match="larger spend"):
        mechanism_for(question, nano=0, atto=0, dataset=dataset())


@settings(max_examples=200, deadline=None)
@given(nano=st.integers(1, 10 * NANO), measure=st.sampled_from(Measure))
def test_the_noise_gives_exactly_what_is_charged(nano, measure):
    to = dataset(measure=measure)
    for statistic in (
        Count(id="c", table="participants"),
        Mean(id="m", table="participants", column="pressure"),
    ):
        for question in statistic.questions(to):
            mechanism = mechanism_for(question, nano=nano, atto=0, dataset=to)
            event = PrivacyEvent(
                mechanism=mechanism,
                l1=question.sensitivity.l1,
                l2_squared=question.sensitivity.l2_squared,
            )
            assert event.nats(measure) == Fraction(nano, NANO)


@settings(max_examples=100, deadline=None)
@given(nano=st.integers(10**5, NANO))
def test_a_key_selection_under_zcdp_is_charged_no_less_than_it_costs(nano):
    to = dataset(measure=Measure.ZCDP)
    (question,) = KeySelection(id="k", table="participants", key="city").questions(to)
    mechanism = mechanism_for(question, nano=nano, atto=10**11, dataset=to)
    loss = PrivacyEvent(mechanism=mechanism, l1=1, l2_squared=1).rho()
    assert Fraction(nano, NANO) * Fraction(99, 100) <= loss <= Fraction(nano, NANO)


def test_gaussian_noise_always_has_the_smaller_variance_under_zcdp():
    """Laplace at the same ρ has scale σ at least, since integers have Δ₁ ≥ Δ₂."""
    for hundredths in [*range(5, 400), 1000, 10**4, 10**6]:
        sigma = Fraction(hundredths, 100)
        gaussian = DiscreteGaussian(sigma_squared=sigma**2)
        laplace = DiscreteLaplace(scale=sigma)
        assert gaussian.variance() < laplace.variance()
        for level in (0.9, 0.95, 0.99):
            assert gaussian.half_width(level) <= laplace.half_width(level)


@pytest.mark.parametrize("measure", list(Measure))
def test_pure_has_laplace_and_zcdp_has_gaussian_noise(measure):
    to = dataset(measure=measure)
    (question,) = Count(id="c", table="participants").questions(to)
    noise = mechanism_for(question, nano=NANO, atto=0, dataset=to)
    assert isinstance(noise, DiscreteLaplace if measure is Measure.PURE else DiscreteGaussian)


@settings(max_examples=50, deadline=None)
@given(
    first=st.integers(10**6, NANO),
    second=st.integers(10**6, NANO),
)
def test_two_gaussian_measurements_pooled_equal_one_with_both_budgets(first, second):
    """Measure, look, top up: it costs nothing extra under zCDP."""
    to = dataset(measure=Measure.ZCDP)
    (question,) = Count(id="c", table="participants").questions(to)

    def precision(nano: int) -> Fraction:
        noise = mechanism_for(question, nano=nano, atto=0, dataset=to)
        assert isinstance(noise, DiscreteGaussian)
        return 1 / noise.sigma_squared

    assert precision(first) + precision(second) == precision(first + second)


def test_the_split_of_a_mean_under_zcdp_is_at_most_16_percent_from_the_best():
    to = dataset(measure=Measure.ZCDP)
    spec = Mean(id="m", table="participants", column="pressure")
    plan = make_plan([Ask(statistic=spec)], study=STUDY, dataset=to, nano=NANO // 20)
    noise = plan.mechanisms("m")
    half = 60
    for hundredths in range(101):
        mean = half * hundredths / 100
        ours = noise["sum"].variance() + mean**2 * noise["count"].variance()
        best = (half + mean) ** 2 / (2 * 0.05)
        assert math.sqrt(ours / best) <= 1.16


@pytest.mark.parametrize("measure", list(Measure))
def test_the_forecast_of_a_median_is_the_half_length_of_its_interval(measure):
    to = dataset(measure=measure)
    spend = NANO // 4 if measure is Measure.PURE else NANO // 20
    spec = Quantiles(
        id="q",
        table="participants",
        column="pressure",
        at=(Fraction(1, 2),),
        bins=120,
        expect=Fraction(2000),
    )
    plan = make_plan([Ask(statistic=spec)], study=STUDY, dataset=to, nano=spend)
    rows = np.floor(np.clip(np.random.default_rng(2).normal(140, 20, 2000), 80, 200))
    counts = np.histogram(rows, np.array(spec.measured(to).axes[-1].edges))[0]
    noise = plan.mechanisms("q")
    lengths, errors = [], []
    for noisy in draws({"histogram": tuple(counts.tolist())}, noise=noise, runs=300, seed=4):
        found, _ = estimate(spec, noisy, to=to, noise=noise)
        lengths.append(found.upper - found.lower)
        errors.append(abs(found.value - np.median(rows)))
    expected = forecast(plan, spec)
    assert expected.half_width == pytest.approx(np.mean(lengths) / 2, rel=0.25)
    assert np.quantile(errors, 0.95) <= 1.05 * expected.half_width + 0.5  # of whole numbers


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"measure":"pure","delta":"1/0","events":[]}',
        '{"measure":"pure","delta":"1e400","job":[]}',
        "[" * 100_000,
        (
            '{"measure":"pure","events":[{"mechanism":{"is":"DiscreteLaplace","scale":"2"},'
            '"l1":"-1","l2-squared":"1"}]}'
        ),
        (
            '{"measure":"pure","events":[{"mechanism":{"is":"DiscreteLaplace","scale":"2"},'
            '"l1":"0","l2-squared":"0"}]}'
        ),
        (
            '{"measure":"zcdp","events":[{"mechanism":{"is":"DiscreteLaplace","scale":"2"},'
            '"l1":"1","l2-squared":"1"}]}'
        ),
        '{"measure":"zcdp","events":[]}',
        (
            '{"measure":"pure","events":[{"mechanism":{"candidates":3,"epsilon":"1",'
            '"is":"SetSelection","reach":1,"size":1},"l1":"2","l2-squared":"2",'
            '"reach":"1","set-reach":"-1"}]}'
        ),
    ],
)
def test_stored_events_that_no_plan_writes_are_refused(text):
    with pytest.raises(ContractError):
        recompute(text, measure=Measure.PURE)
