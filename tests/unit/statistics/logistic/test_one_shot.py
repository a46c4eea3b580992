"""One look in place of rounds, for few patients: bounded, and better where the rule says so."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from classes_world import CLASSES
from confide.errors import ContractError, InvalidParameterError
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.rounds.descent import AskMoments, AskScores, next_ask
from confide.plans.rounds.model_fit import fitted
from confide.plans.rounds.one_shot import discriminant, one_look_is_better
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.release.noisy import NoisyAggregates, read_payload
from confide.rows.relational.descent import DescentRows
from confide.statistics import LogisticRegression, read_plan
from confide.statistics.logistic.regression import Method
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.bound_contributions import RowBound
from models import AGGREGATE, ILL, NAMES, TRUTH, cohort, columns, world

LOOK = replace(AGGREGATE, rounds=0)
SPEC = LogisticRegression(
    id="odds", table="people", of=ILL, covariates=NAMES, method=Method.ONE_SHOT
)
ROWS = pytest.mark.parametrize("most", [1, 3], ids=["one row", "three rows"])


def given(people, *, fold=999):
    n = len(people["ill"])
    found = {"p": np.arange(n), "rk": np.ones(n, int), "fold": np.full(n, fold)}
    return found | {f"e{i}": people[name] for i, name in enumerate((*NAMES, "ill"))}


def looked(rows, *, aggregate=LOOK, sigma, rng=None):
    noisy = ()
    while ask := next_ask(aggregate, noisy, sigma=sigma, dataset=world()):
        exact = rows.answer(ask)
        noise = np.zeros(len(exact)) if rng is None else rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, noise, strict=True))
    return noisy


@ROWS
@pytest.mark.parametrize("adjacency", Adjacency)
def test_no_patient_moves_one_look_by_more_than_the_sensitivity(most, adjacency):
    aggregate, to = replace(LOOK, bounds=RowBound(max_rows=most)), world(adjacency=adjacency)
    rng, largest = np.random.default_rng(7), 0.0
    claimed = descent_sensitivity(aggregate, dataset=to).l2_squared

    def one():
        found = columns(1, rng, rows=most, corners=True)
        if rng.random() < 0.7:  # rows that are alike add up to the most
            found |= {k: np.repeat(v[:1], most) for k, v in found.items() if k[0] == "e"}
        rows = DescentRows(aggregate, found, dataset=to)
        return np.array(rows.answer(AskMoments()), dtype=object)

    for _ in range(300):
        moved = one() if adjacency is Adjacency.ADD_REMOVE else one() - one()
        largest = max(largest, float(Fraction(sum(moved * moved), claimed)))
    assert 0.6 < largest <= 1


def test_one_look_asks_for_moments_and_scores_alone():
    aggregate = replace(LOOK, held_out=200)
    rows = DescentRows(aggregate, given(cohort(500, np.random.default_rng(1))), dataset=world())
    first = next_ask(aggregate, (), sigma=1.0, dataset=world())
    answered = rows.answer(first)
    second = next_ask(aggregate, answered, sigma=1.0, dataset=world())
    assert (type(first), type(second)) == (AskMoments, AskScores)
    whole = answered + rows.answer(second)
    assert next_ask(aggregate, whole, sigma=1.0, dataset=world()) is None
    assert len(whole) == scale_of(aggregate, dataset=world()).length


def test_an_answer_of_one_look_is_the_sum_of_what_each_patient_answers_alone():
    aggregate = replace(LOOK, bounds=RowBound(max_rows=3))
    found = columns(40, np.random.default_rng(3), rows=3)

    def answers(of):
        rows = DescentRows(aggregate, of, dataset=world())
        return np.array(rows.answer(AskMoments()), dtype=object)

    alone = [answers({k: v[found["p"] == p] for k, v in found.items()}) for p in range(40)]
    assert (answers(found) == sum(alone)).all()


def test_with_the_noise_off_one_look_is_discriminant_analysis_by_least_squares():
    """np.linalg.lstsq; of Gaussian terms its slopes are those of the log odds."""
    people = cohort(40_000, np.random.default_rng(4))
    rows = DescentRows(LOOK, given(people), dataset=world())
    found = fitted(LOOK, looked(rows, sigma=1e-3), sigma=1e-3, dataset=world())
    x, s = people["terms"], 2 * people["ill"] - 1
    line, (left, *_), *_ = np.linalg.lstsq(x, s, rcond=None)
    assert found.predicting[1:] == pytest.approx(2 * line[1:] / (left / len(s)), abs=0.03)
    assert found.predicting == pytest.approx(TRUTH, abs=0.25)
    risk = 1 / (1 + np.exp(-x @ found.predicting))
    assert risk.mean() == pytest.approx(people["ill"].mean(), abs=0.01)


def ranked(scores, ill):
    having, others = scores[ill == 1], scores[ill == 0]
    return float((having[:, None] > others).mean() + (having[:, None] == others).mean() / 2)


def test_one_look_ranks_better_than_rounds_where_the_rule_says_so_and_worse_elsewhere():
    """Terms beyond noise's reach, 5 of them; mean over 25 cohorts of each size."""
    rng, rho = np.random.default_rng(5), 0.02
    judges = cohort(4_000, rng)
    for n, better in ((600, True), (5_000, False)):
        assert one_look_is_better(n, terms=5, mu=math.sqrt(2 * rho)) is better
        apart = []
        for _ in range(25):
            people = given(cohort(n, rng))
            aucs = []
            for aggregate in (LOOK, AGGREGATE):
                rows = DescentRows(aggregate, people, dataset=world())
                moved = scale_of(aggregate, dataset=world()).l2_squared
                sigma = math.sqrt(moved / (2 * rho))
                noisy = looked(rows, aggregate=aggregate, sigma=sigma, rng=rng)
                found = fitted(aggregate, noisy, sigma=sigma, dataset=world())
                aucs.append(ranked(judges["terms"] @ found.predicting, judges["ill"]))
            apart.append(aucs[0] - aucs[1])
        assert np.mean(apart) > 0.01 if better else np.mean(apart) < 0, n


@pytest.mark.parametrize("rows", [0, 3, 300])
def test_noise_alone_is_never_more_than_a_finite_model(rows):
    rng = np.random.default_rng(6)
    for _ in range(50):
        moments = rng.normal(0, 30, (6, 6))
        moments = moments + moments.T
        moments[0, 0] = max(rows, 1.0)
        found = discriminant(moments, rng.normal(0, 30, 6), noise=(30.0, 30.0))
        assert np.isfinite(found).all()


def test_a_release_of_one_look_predicts_and_publishes_no_odds_ratio():
    spec = replace(SPEC, hold_out=Fraction(1, 5))
    plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=world(), nano=NANO)
    (measurement,) = plan.measurements
    people = given(cohort(4_000, np.random.default_rng(1)))
    people["fold"] = np.arange(4_000) % 1000
    sigma = math.sqrt(measurement.mechanism.variance())
    rows = DescentRows(measurement.aggregate, people, dataset=world())
    noisy = looked(rows, aggregate=measurement.aggregate, sigma=sigma, rng=np.random.default_rng(2))
    found = NoisyAggregates(plan=plan, values=(noisy,))
    assert read_payload(found.payload()) == found
    assert read_plan(plan.to_json()) == plan
    by = {(e.quantity, e.key[0]): e for e in found.estimates()}
    assert {quantity for quantity, _ in by} == {
        "prediction coefficient",
        "sum of weights",
        "count",
        "auc",
        "calibration slope",
        "calibration intercept",
        "brier score",
        "predicted risk",
        "observed share",
        "net benefit",
    }
    assert by["auc", "held out"].value > 0.6
    assert by["prediction coefficient", "age"].value == pytest.approx(TRUTH[1] / 50, abs=0.02)
    with pytest.raises(ContractError, match="no interval to forecast"):
        replace(SPEC, expect=Fraction(500)).forecast(
            plan.mechanisms("odds"), dataset=world(), level=Fraction(95, 100)
        )


def test_the_forecast_of_rounds_for_few_patients_names_the_fit_for_many_terms():
    spec = replace(SPEC, method=Method.ROUNDS)
    plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=world(), nano=NANO // 50)
    for rows, named in ((400, True), (40_000, False)):
        said = replace(spec, expect=Fraction(rows)).forecast(
            plan.mechanisms("odds"), dataset=world(), level=Fraction(95, 100)
        )
        assert ("`method: wide`" in said.notes[0]) is named


def test_only_a_logistic_model_has_one_look():
    with pytest.raises(InvalidParameterError, match="between 1 and"):
        replace(CLASSES, rounds=0)
