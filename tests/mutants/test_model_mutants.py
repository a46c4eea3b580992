"""Broken models in rounds: each must fail the audit that the real one passes."""

import math
from dataclasses import replace

import numpy as np
import pytest

import classes_world
from confide.attacks.audit.black_box import audit_scenario
from confide.attacks.audit.models import model_scenario, reached, small_model
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.descent import AskGradient, AskMoments, Place
from confide.rows import descent, patient_weights
from confide.rows.descent import DescentRows
from confide.tables.bound_contributions import RowBound
from confide.tables.descent import Family
from confide.tables.descent_scale import scale_of
from models import AGGREGATE
from models import world as models_world
from seeded import SeededEntropy

pytestmark = pytest.mark.mutant

SAMPLES = 5_000
HONEST = small_model().noise()


def passes(scenario, *, samples=SAMPLES, seed=1) -> bool:
    return audit_scenario(scenario, samples=samples, entropy=SeededEntropy(seed)).passed


@pytest.mark.parametrize("rows", [1, 3])
def test_the_canary_reaches_nine_tenths_of_the_claim(rows) -> None:
    assert 0.9 < reached(of_each=rows) <= 1


def test_the_real_model_passes_the_audit() -> None:
    assert passes(model_scenario())


def test_the_real_model_of_patients_with_three_rows_passes_the_audit() -> None:
    assert passes(model_scenario(of_each=3))


def test_rows_that_are_bounded_one_by_one_are_caught(monkeypatch) -> None:
    """Each row of a patient is taken for a patient of its own; there is noise for one."""
    real = patient_weights.weighed

    def apart(plain, patient, *, clip):
        return real(plain, np.arange(len(patient)), clip=clip)

    monkeypatch.setattr(descent, "weighed", apart)
    assert passes(model_scenario())
    assert not passes(model_scenario(of_each=3))


def test_noise_of_half_its_size_in_a_model_is_caught() -> None:
    half = DiscreteGaussian(sigma_squared=HONEST.sigma_squared / 4)
    assert not passes(model_scenario(noise=half))


def test_a_clip_of_twice_its_size_is_caught(monkeypatch) -> None:
    """w = min(1, 2C/‖z‖), noise for C."""
    real = patient_weights.shrunk

    def loose(rows, size, *, most):
        return real(rows, size, most=2 * most)

    monkeypatch.setattr(patient_weights, "shrunk", loose)
    assert not passes(model_scenario())


def test_weights_that_are_not_applied_are_caught(monkeypatch) -> None:
    monkeypatch.setattr(patient_weights, "shrunk", lambda rows, _, **__: rows)
    assert not passes(model_scenario())


def furthest(aggregate, *, to, columns, at) -> float:
    """Return how far a patient moves moments, curvature and gradients, as a share of the claim."""
    asked = (AskMoments(), *(AskGradient(at=at, round=t) for t in range(aggregate.rounds)))
    rows = DescentRows(aggregate, columns, dataset=to)
    moved = [value for ask in asked for value in rows.answer(ask)]
    return math.sqrt(sum(v * v for v in moved) / scale_of(aggregate, dataset=to).l2_squared)


def at_a_corner(*, rows: int, outcome: int):
    values = {"e0": 0, "e1": 1000, "e2": 1, "e3": outcome, "p": 0, "fold": 999}
    found = {name: np.full(rows, value) for name, value in values.items()}
    return found | {"rk": np.arange(1, rows + 1)}


def test_classes_that_are_bounded_as_two_are_caught(monkeypatch) -> None:
    """Noise for ‖r‖ ≤ 1, where it can be √2."""
    wide = tuple(tuple(int(i == j) * 8 * 2**12 for j in range(5)) for i in range(5))
    wrong = Place(whitening=wide, coefficients=(0,) * 5 + (2**20, 0, 0, 0, 0) + (0,) * 10)
    given = {"to": classes_world.world(), "columns": at_a_corner(rows=1, outcome=3), "at": wrong}
    assert 0.9 < furthest(classes_world.CLASSES, **given) <= 1
    monkeypatch.setattr(Family, "largest_residual_squared", 1)
    assert furthest(classes_world.CLASSES, **given) > 1.1


def test_one_look_whose_rows_add_up_is_caught(monkeypatch) -> None:
    look = replace(AGGREGATE, rounds=0, bounds=RowBound(max_rows=3))
    given = {"to": models_world(), "columns": at_a_corner(rows=3, outcome=1), "at": None}
    assert 0.8 < furthest(look, **given) <= 1
    monkeypatch.setattr(descent, "moment_weighed", lambda terms, _, **__: terms)
    assert furthest(look, **given) > 1.5


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

    def alike(*, canary, rows):
        columns = dict(real(canary=canary, rows=rows))
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
