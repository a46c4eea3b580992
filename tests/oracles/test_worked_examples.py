"""The worked examples of textbooks and courses, each with the numbers that they must give."""

import contextlib
import itertools
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest

from confide.errors import ContractError
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.gaussian import analytic_sigma, classical_sigma
from confide.noise.randomized_response import RandomizedResponse
from confide.plans.contribution import Counted, PerPatient
from confide.plans.plan import Statistic
from confide.privacy.accounting.compose import compose
from confide.privacy.adjacency import Adjacency
from confide.privacy.group import group_loss
from confide.privacy.loss import PureDP
from confide.privacy.measure import Measure
from confide.privacy.odds import epsilon_for_odds, odds_factor
from confide.privacy.unit import Entity
from confide.statistics import Count, Histogram, Mean, Sum
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from confide.tables.schema import Dataset
from noisy_answers import dataset, mechanisms

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "worked-examples.md"
DIABETES = IsIn(of=ColumnOf(table="participants", column="diabetes"), values=(1,))
PATIENTS = dataset()
EVENTS = dataset(entity=Entity.EVENT)
SUBSTITUTED = dataset(adjacency=Adjacency.SUBSTITUTE)

pytestmark = pytest.mark.L4


def l1(statistic: Statistic, *, to: Dataset) -> int:
    (question,) = statistic.questions(to)
    return question.sensitivity.l1


def test_a_count_of_patients_with_diabetes_moves_by_one():
    count = Count(id="c", table="participants", where=DIABETES)
    assert l1(count, to=PATIENTS) == 1
    assert l1(count, to=SUBSTITUTED) == 1


@pytest.mark.parametrize("m", [1, 4, 10])
def test_visits_and_days_move_by_1_and_30_for_an_event_and_by_m_and_30m_for_a_patient(m):
    bounds = PerPatient(rows=m)
    visits = Count(id="v", table="visits", counted=Counted.EVENTS, per_patient=bounds)
    days = Sum(id="d", table="visits", column="days", per_patient=bounds)
    assert (l1(visits, to=EVENTS), l1(days, to=EVENTS)) == (1, 30)
    assert (l1(visits, to=PATIENTS), l1(days, to=PATIENTS)) == (m, 30 * m)


def test_positive_tests_at_epsilon_0_8_get_scale_1_25():
    count = Count(id="c", table="participants", where=DIABETES)
    (noise,) = mechanisms(count, to=PATIENTS, spend=Fraction("0.8")).values()
    assert noise == DiscreteLaplace(scale=Fraction("1.25"))


def test_mean_pressure_of_5000_patients_moves_by_0_024_and_gets_sigma_0_25434_or_0_19338():
    change = (200 - 80) / 5000
    assert change == pytest.approx(0.024)
    assert round(classical_sigma(0.5, delta=1e-6, sensitivity=change), 5) == 0.25434
    assert round(analytic_sigma(0.5, delta=1e-6, sensitivity=change), 5) == 0.19338


def test_a_histogram_moves_by_1_when_a_patient_is_added_and_by_2_when_one_is_replaced():
    histogram = Histogram(id="h", table="participants", by=("age_band", "sex"))
    assert l1(histogram, to=PATIENTS) == 1
    assert l1(histogram, to=SUBSTITUTED) == 2


def test_three_queries_cost_the_sum_of_their_epsilons_and_k_equal_ones_k_times_one():
    losses = [PureDP(epsilon=Fraction(part)) for part in ("0.1", "0.2", "0.5")]
    assert compose(losses) == PureDP(epsilon=Fraction("0.8"))
    assert compose([losses[0]] * 12) == PureDP(epsilon=Fraction("1.2"))


def test_a_group_of_five_has_five_epsilon():
    loss = PureDP(epsilon=Fraction("0.1"))
    assert group_loss(loss, size=5) == PureDP(epsilon=Fraction("0.5"))


def test_the_coin_flip_survey_tells_the_truth_three_times_out_of_four():
    heads, tails = Fraction(1, 2), Fraction(1, 2)
    truth = heads + tails * Fraction(1, 2)
    assert (truth, 1 - truth) == (Fraction(3, 4), Fraction(1, 4))
    survey = RandomizedResponse(truth=truth, categories=2)
    assert survey.odds() == 3
    assert float(survey.loss().epsilon) == pytest.approx(math.log(3))


def test_an_epsilon_of_0_01_multiplies_odds_by_1_010():
    assert round(odds_factor(PureDP(epsilon=Fraction("0.01"))), 3) == 1.010


def test_a_mean_on_0_to_h_moves_by_h_over_n():
    """Exhaustively for four patients, one replaced."""
    high, n = 3, 4
    moves = {
        abs(Fraction(sum(a), n) - Fraction(sum(b), n))
        for a in itertools.product(range(high + 1), repeat=n)
        for b in ((v, *a[1:]) for v in range(high + 1))
    }
    assert max(moves) == Fraction(high, n)


def test_the_released_mean_moves_by_the_whole_range_because_n_is_private():
    mean = Mean(id="m", table="participants", column="pressure")
    assert l1(mean, to=PATIENTS) == 120
    assert l1(mean, to=SUBSTITUTED) == 240


def test_a_cap_on_odds_of_1_5_is_epsilon_ln_1_5():
    loss = epsilon_for_odds(Fraction("1.5"))
    assert float(loss.epsilon) == pytest.approx(math.log(1.5), abs=1e-9)
    assert odds_factor(loss) <= 1.5


ROWS = [
    ("30332", "20-29", "Condition G"),
    ("30332", "20-29", "Condition G"),
    ("30332", "20-29", "Condition G"),
    ("30318", "30-39", "Condition A"),
    ("30318", "30-39", "Condition B"),
    ("30318", "30-39", "Condition C"),
]


def test_a_k_anonymous_table_is_broken_by_homogeneity():
    groups = {quasi: [r for r in ROWS if r[:2] == quasi] for quasi in {r[:2] for r in ROWS}}
    assert min(map(len, groups.values())) == 3
    assert {r[2] for r in groups["30332", "20-29"]} == {"Condition G"}


def test_two_anonymous_releases_linked_leave_one_condition():
    second = [("30318", "30-34", "Condition B"), ("30318", "30-34", "Condition D")]
    assert {r[2] for r in ROWS if r[0] == "30318"} & {r[2] for r in second} == {"Condition B"}


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(1)])
def test_the_same_question_under_dp_has_nearly_the_same_answers_without_the_neighbour(epsilon):
    count = Count(id="g", table="participants", where=DIABETES)
    (noise,) = mechanisms(count, to=PATIENTS, spend=epsilon).values()
    answers = range(-60, 61)
    ratios = [noise.pmf(a - 3) / noise.pmf(a - 2) for a in answers]
    assert max(ratios) == pytest.approx(math.exp(epsilon))
    assert min(ratios) == pytest.approx(math.exp(-epsilon))


def test_printing_the_database_with_probability_p_is_0_p_dp():
    """Its outputs: the database with chance p, else nothing; neighbours' databases differ."""
    p = Fraction(1, 1000)
    world, neighbour = {"D": p, "nothing": 1 - p}, {"D′": p, "nothing": 1 - p}
    outputs = set(world) | set(neighbour)
    delta = sum(max(world.get(o, 0) - neighbour.get(o, 0), 0) for o in outputs)  # ε = 0
    assert delta == p


@pytest.mark.parametrize(
    ("delta", "population", "message"),
    [
        ("1e-3", None, "whole table"),
        ("1e-3", 5, "whole table"),
        ("1e-5", None, "public number of patients"),
        ("1e-5", 2000, 'Write delta: "1e-6"'),
        ("1e-6", 20_000, 'Write delta: "1e-7"'),
    ],
)
def test_a_delta_that_would_allow_it_is_refused(delta, population, message):
    with pytest.raises(ContractError, match=message):
        _with_delta(delta, population)


@pytest.mark.parametrize(
    ("delta", "population"), [("1e-6", None), ("1e-6", 10_000), ("1e-5", 1000), ("1e-4", 100)]
)
def test_a_delta_with_at_most_a_hundredth_of_an_expected_leak_is_accepted(delta, population):
    assert _with_delta(delta, population).delta == Fraction(delta)


def test_the_hint_for_a_delta_is_itself_accepted():
    for population in (9_999, 10_001, 99_999, 100_000, 100_001):
        with contextlib.suppress(ContractError):
            _with_delta("1e-6", population)
            continue
        try:
            _with_delta("1e-6", population)
        except ContractError as refused:
            found = re.search(r'"(1e-\d+)"', refused.hint)
            assert found
            _with_delta(found[1], population)


def _with_delta(delta: str, population: int | None) -> Dataset:
    from dataclasses import replace

    to = dataset(measure=Measure.ZCDP)
    return replace(to, delta=Fraction(delta), selection_delta=Fraction(0), population=population)


def test_the_code_of_the_page_runs():
    source = "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S))
    assert source.count("assert") > 20
    exec(compile(source, str(PAGE), "exec"), {})  # noqa: S102
