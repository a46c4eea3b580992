"""Models of patients with several rows: together they weigh as one, and intervals know of it."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError, InvalidParameterError, UnboundedError
from confide.plans.contribution import PerPatient
from confide.plans.rounds.descent import next_ask
from confide.plans.rounds.model_fit import fitted
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.relational.descent import DescentRows
from confide.statistics import LogisticRegression, PoissonRegression
from confide.tables.aggregates.check_descent import check_descent
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.bound_contributions import RowBound
from models import AGGREGATE, ILL, NAMES, TRUTH, cohort
from person_time import COUNT_TRUTH, COUNTS, MOST, world

WORLD = world()
SEVERAL = replace(WORLD, tables=tuple(replace(t, one_row_per_patient=False) for t in WORLD.tables))
VISITS = replace(AGGREGATE, bounds=RowBound(max_rows=4))
YEARS = replace(COUNTS, bounds=RowBound(max_rows=4))
OF_COUNTS = {"id": "m", "table": "people", "events": "visits", "covariates": NAMES}


def visits(patients, rng, *, alike=0.5):
    """Return one to four rows a patient; of some patients, one draw decides all outcomes."""
    rows = rng.choice(4, patients, p=[0.4, 0.2, 0.2, 0.2]) + 1
    patient = np.repeat(np.arange(patients), rows)
    found = cohort(len(patient), rng)
    for name in ("age", "group"):  # these belong to the patient
        found[name] = found[name][:patients][patient]
    x = found["terms"]
    x[:, 1] = (found["age"] - 50) / 50
    x[:, 3], x[:, 4] = found["group"] == 1, found["group"] == 2
    luck = np.where(rng.random(patients)[patient] < alike, rng.random(patients)[patient], 2)
    drawn = np.where(luck > 1, rng.random(len(patient)), luck)
    found["ill"] = (drawn < 1 / (1 + np.exp(-x @ TRUTH))).astype(np.int64)
    found["observed"] = rng.integers(30, 731, len(patient))
    frailty = rng.gamma(2, 1 / 2, patients)[patient]
    mean = frailty * np.exp(x @ COUNT_TRUTH - 1) * found["observed"] / 365
    found["visits"] = np.minimum(rng.poisson(mean), MOST)
    rank = np.concatenate([np.arange(1, n + 1) for n in rows])
    return found | {"patient": patient, "k": rows[patient], "rank": rank}


def fit(people, *, aggregate, rho=None, rng=None):
    logistic = aggregate is VISITS
    names = (*NAMES, "ill") if logistic else (*NAMES, "visits", "observed")
    n = len(people["patient"])
    columns = {"p": people["patient"], "rk": people["rank"], "fold": np.full(n, 999)}
    columns |= {f"e{i}": people[name] for i, name in enumerate(names)}
    rows = DescentRows(aggregate, columns, dataset=WORLD)
    reach = scale_of(aggregate, dataset=WORLD).l2_squared
    sigma = 1e-3 if rho is None else math.sqrt(reach / (2 * rho))
    noisy = ()
    while ask := next_ask(aggregate, noisy, sigma=sigma, dataset=WORLD):
        exact = rows.answer(ask)
        noise = np.zeros(len(exact)) if rng is None else rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, noise, strict=True))
    return fitted(aggregate, noisy, sigma=sigma, dataset=WORLD)


def test_with_the_noise_off_every_patient_weighs_as_one_whatever_their_number_of_rows():
    people = visits(20_000, np.random.default_rng(3))
    found = fit(people, aggregate=VISITS)
    x, k, patient = people["terms"], people["k"], people["patient"]
    mean = (x[:, 1:] / k[:, None]).sum(axis=0) / 20_000
    slopes = x[:, 1:] - mean
    values, vectors = np.linalg.eigh((slopes / k[:, None]).T @ slopes / 20_000)
    norms = np.sqrt(1 + ((slopes @ (vectors / np.sqrt(values))) ** 2).sum(axis=1))
    whole = np.bincount(patient, weights=norms)[patient]
    weights = np.minimum(1 / k, math.sqrt(len(TRUTH)) / whole)
    beta = np.zeros(len(TRUTH))
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ beta))
        slope = x * (weights * p * (1 - p))[:, None]
        beta += np.linalg.solve(slope.T @ x, x.T @ (weights * (people["ill"] - p)))
    assert found.coefficients == pytest.approx(beta, abs=0.01)
    assert found.rows == pytest.approx(20_000, rel=0.1)
    each = x * (weights * (people["ill"] - p))[:, None]
    together = np.column_stack([np.bincount(patient, weights=column) for column in each.T])
    inverse = np.linalg.inv(slope.T @ x)
    robust = np.sqrt(np.diag(inverse @ (together.T @ together) @ inverse))
    assert np.sqrt(found.sampling) == pytest.approx(robust, rel=0.1)
    alone = np.sqrt(np.diag(inverse @ (each.T @ each) @ inverse))
    assert (robust[[1, 3, 4]] > 1.1 * alone[[1, 3, 4]]).all()  # rows taken as independent


def test_what_predicts_knows_how_much_several_rows_of_a_patient_tell():
    found = fit(visits(1_000, np.random.default_rng(4), alike=0.0), aggregate=VISITS)
    kept = found.predicting[1:] / found.coefficients[1:]
    assert ((kept > 0.965) & (kept < 1)).all(), kept  # 0.944 if only one row told anything


@pytest.mark.parametrize(("aggregate", "least"), [(VISITS, 0.87), (YEARS, 0.9)])
def test_intervals_of_patients_with_dependent_rows_cover_sampling_and_noise(aggregate, least):
    truth = TRUTH if aggregate is VISITS else COUNT_TRUTH
    rng, held = np.random.default_rng(7), np.zeros(len(truth) - 1)
    for _ in range(60):
        found = fit(visits(5_000, rng), aggregate=aggregate, rho=0.1, rng=rng)
        error = 1.96 * np.sqrt(found.sampling + found.noise)[1:]
        held += np.abs(found.coefficients[1:] - truth[1:]) < error
    assert (held / 60 > least - 0.04).all()
    assert least < held.mean() / 60


def test_several_rows_of_a_patient_tell_more_than_one_at_the_same_noise():
    people = visits(5_000, np.random.default_rng(5), alike=0.0)
    first = {name: value[people["rank"] == 1] for name, value in people.items()}
    errors = [
        np.sqrt(found.sampling + found.noise)[2]
        for found in (
            fit(each, aggregate=VISITS, rho=0.2, rng=np.random.default_rng(1))
            for each in (people, first)
        )
    ]
    assert errors[0] < 0.9 * errors[1]


def test_a_model_of_single_rows_says_so_and_holds_nobody_out():
    """Rows have no ids: each stands for itself, and none can be hashed into a held-out part."""
    events = replace(SEVERAL, unit=PrivacyUnit(entity=Entity.EVENT, id_column="pid"))
    odds = LogisticRegression(id="m", table="people", of=ILL, covariates=NAMES)
    for spec in (odds, PoissonRegression(**OF_COUNTS)):
        (question,) = spec.questions(events)
        assert question.sensitivity.entity is Entity.EVENT
        assert question.sensitivity.because.startswith("a row is scaled")
        assert question.aggregate.bounds == RowBound(max_rows=1)
    with pytest.raises(ContractError, match="nobody can be held out"):
        replace(odds, hold_out=Fraction(1, 5)).questions(events)


def test_models_need_a_bound_on_the_rows_of_a_patient():
    odds = LogisticRegression(id="m", table="people", of=ILL, covariates=NAMES)
    for spec in (odds, PoissonRegression(**OF_COUNTS)):
        with pytest.raises(UnboundedError, match="any number of rows"):
            spec.questions(SEVERAL)
        bounded = replace(spec, per_patient=PerPatient(rows=4)).aggregate(SEVERAL)
        assert bounded.bounds == RowBound(max_rows=4)
        with pytest.raises(ContractError, match="no cells"):
            replace(spec, per_patient=PerPatient(rows=4, cells=2)).questions(SEVERAL)
        assert spec.aggregate(WORLD).bounds == RowBound(max_rows=1)
    with pytest.raises(InvalidParameterError, match="at most 100 rows"):
        check_descent(replace(VISITS, bounds=RowBound(max_rows=101)), dataset=SEVERAL)
