"""Broken models in rounds: each must fail the audit that the real one passes."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.attacks.audit.black_box import audit_scenario
from confide.attacks.audit.models import model_scenario, reached, small_model
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.descent import AskScores, Place
from confide.rows import descent
from confide.tables.check_descent import descent_sensitivity
from confide.tables.descent import UNIT, DescentAggregate
from confide.tables.expression import ColumnOf
from models import AGGREGATE, columns, world
from seeded import SeededEntropy

pytestmark = pytest.mark.mutant

SAMPLES = 5_000
HONEST = small_model().noise()


def passes(scenario, *, samples=SAMPLES, seed=1) -> bool:
    return audit_scenario(scenario, samples=samples, entropy=SeededEntropy(seed)).passed


def test_the_canary_reaches_nine_tenths_of_the_claim() -> None:
    assert 0.9 < reached() <= 1


def test_the_real_model_passes_the_audit() -> None:
    assert passes(model_scenario())


def test_noise_of_half_its_size_in_a_model_is_caught() -> None:
    half = DiscreteGaussian(sigma_squared=HONEST.sigma_squared / 4)
    assert not passes(model_scenario(noise=half))


def test_a_clip_of_twice_its_size_is_caught(monkeypatch) -> None:
    """w = min(1, 2C/‖z‖), noise for C."""
    real = descent._shrunk

    def loose(rows, size, *, most):
        return real(rows, size, most=2 * most)

    monkeypatch.setattr(descent, "_shrunk", loose)
    assert not passes(model_scenario())


def test_weights_that_are_not_applied_are_caught(monkeypatch) -> None:
    monkeypatch.setattr(descent, "_shrunk", lambda rows, _, **__: rows)
    assert not passes(model_scenario())


class Averaged:
    """Answers with means over the actual number of patients, times a public number."""

    def __init__(self, columns):
        self._rows, self._n = small_model().rows(columns), len(columns["p"])

    def answer(self, ask):
        return tuple(value * 40 // self._n for value in self._rows.answer(ask))


def test_gradients_normalised_by_the_actual_number_are_caught(monkeypatch) -> None:
    """Everybody's part changes when one patient more divides it; with others alike it adds up."""
    from confide.attacks.audit import models

    real = models.patients

    def alike(*, canary):
        columns = dict(real(canary=canary))
        for name in ("e0", "e1", "e2"):
            columns[name] = np.where(columns["p"] < 40, 0, columns[name])
        columns["e3"] = np.ones_like(columns["p"])
        return columns

    monkeypatch.setattr(models, "patients", alike)
    assert passes(model_scenario())
    assert not passes(model_scenario(rows=Averaged))


@pytest.mark.audit
def test_correct_code_passes_ninety_nine_of_a_hundred_audits() -> None:
    scenario = model_scenario()
    assert sum(passes(scenario, seed=seed) for seed in range(100)) >= 99


@pytest.mark.audit
def test_half_the_noise_fails_ninety_nine_of_a_hundred_audits() -> None:
    half = DiscreteGaussian(sigma_squared=HONEST.sigma_squared / 4)
    scenario = model_scenario(noise=half)
    assert sum(not passes(scenario, seed=seed) for seed in range(100)) >= 99


def moved_by_a_held_out_patient() -> Fraction:
    """Return how far somebody in two columns of subgroups moves the answers, over the claim."""
    of = ColumnOf(table="people", column="group")
    model = replace(AGGREGATE, held_out=500, subgroups=(of, replace(of, column="ill")))
    found = columns(1, np.random.default_rng(1))
    found |= {"fold": np.zeros(1), "e4": found["e2"], "e5": found["e3"]}
    unit = tuple(map(tuple, (np.eye(5) * UNIT).astype(int).tolist()))
    ask = AskScores(at=Place(whitening=unit, coefficients=(0,) * 5), edges=tuple(range(1, 10)))
    rows = descent.DescentRows(model, found, dataset=world())
    claimed = descent_sensitivity(model, dataset=world()).l2_squared
    return Fraction(sum(v * v for v in rows.answer(ask)), claimed)


def test_scores_that_forget_how_many_columns_count_a_patient_are_caught(monkeypatch) -> None:
    assert moved_by_a_held_out_patient() <= 1
    monkeypatch.setattr(DescentAggregate, "squared_scores", property(lambda _: 1))
    assert moved_by_a_held_out_patient() > 1.9
