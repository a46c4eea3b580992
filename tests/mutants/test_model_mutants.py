"""Broken models in rounds: each must fail the audit that the real one passes."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import classes_world
import person_time
from confide.attacks.audit.black_box import audit_scenario
from confide.attacks.audit.trained.models import (
    MOST_EVENTS,
    Canary,
    model_scenario,
    patients,
    reach_check,
    reached,
    small_model,
    worst_canary,
)
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.rounds import link
from confide.plans.rounds.descent import AskGradient, AskMoments, AskScores, Place
from confide.rows.models import patient_weights, wide_rows
from confide.rows.models.person_time import FollowUp
from confide.rows.relational import descent
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates import check_descent
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import RESIDUAL, UNIT, Family
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from models import AGGREGATE, columns
from models import world as models_world
from seeded import SeededEntropy

pytestmark = pytest.mark.mutant

SAMPLES = 2_500
every_family = pytest.mark.parametrize("family", Family, ids=lambda family: family.value)


def passes(scenario, *, samples=SAMPLES, seed=1) -> bool:
    return audit_scenario(scenario, samples=samples, entropy=SeededEntropy(seed)).passed


def scenario_of(family, **broken):
    return model_scenario(family, canary=worst_canary(family), **broken)


def half(family) -> DiscreteGaussian:
    return DiscreteGaussian(sigma_squared=small_model(family).noise().sigma_squared / 4)


@every_family
def test_the_canaries_reach_ninety_seven_hundredths_of_the_claim(family) -> None:
    assert Fraction(97, 100) ** 2 < max(reached(family, canary=each) for each in Canary) <= 1
    assert reach_check(family).passed


@every_family
def test_the_real_model_passes_the_audit(family) -> None:
    assert passes(scenario_of(family))


def test_one_look_reaches_its_claim_and_half_its_noise_is_caught() -> None:
    """One question, of which moments are half and products with the outcome the other."""
    assert Fraction(97, 100) ** 2 < reached(rounds=0) <= 1
    assert reach_check(Family.LOGISTIC, rounds=0).passed
    assert passes(model_scenario(rounds=0))
    honest = small_model(rounds=0).noise()
    weak = DiscreteGaussian(sigma_squared=honest.sigma_squared / 4)
    assert not passes(model_scenario(rounds=0, noise=weak))


def test_products_of_twice_their_size_in_one_look_are_caught(monkeypatch) -> None:
    monkeypatch.setattr(descent, "moment_weighed", lambda terms, _, **__: 2 * terms)
    assert not reach_check(Family.LOGISTIC, rounds=0).passed


def test_a_model_of_many_terms_reaches_its_claim_and_half_its_noise_is_caught() -> None:
    for of_each in (1, 3):
        assert Fraction(98, 100) ** 2 < reached(rounds=WIDE_ROUNDS, of_each=of_each) <= 1
    assert reach_check(Family.LOGISTIC, rounds=WIDE_ROUNDS).passed
    assert passes(model_scenario(rounds=WIDE_ROUNDS))
    honest = small_model(rounds=WIDE_ROUNDS).noise()
    weak = DiscreteGaussian(sigma_squared=honest.sigma_squared / 4)
    assert not passes(model_scenario(rounds=WIDE_ROUNDS, noise=weak))


@pytest.mark.parametrize("of", ["norms_up", "roots_up"])
def test_residuals_times_rows_of_many_terms_that_are_not_clipped_are_caught(monkeypatch, of):
    """Norms of half their size, so that twice the clip passes."""
    real = getattr(wide_rows, of)
    monkeypatch.setattr(wide_rows, of, lambda rows: real(rows) // 2)
    assert not reach_check(Family.LOGISTIC, rounds=WIDE_ROUNDS).passed
    assert not passes(model_scenario(rounds=WIDE_ROUNDS))


def test_rows_of_many_terms_that_are_bounded_one_by_one_are_caught(monkeypatch) -> None:
    real = wide_rows._sizes

    def apart(norms, patient, *, radius):
        return real(norms, np.arange(len(patient)), radius=radius)

    monkeypatch.setattr(wide_rows, "_sizes", apart)
    assert passes(model_scenario(rounds=WIDE_ROUNDS))
    assert not passes(model_scenario(rounds=WIDE_ROUNDS, of_each=3))


def test_a_model_of_few_events_reaches_its_claim_and_half_its_noise_is_caught() -> None:
    few = {"rounds": WIDE_ROUNDS, "canary": Canary.WITHOUT}
    assert Fraction(99, 100) ** 2 < reached(Family.HAZARD, **few) <= 1
    assert reach_check(Family.HAZARD, rounds=WIDE_ROUNDS).passed
    assert passes(model_scenario(Family.HAZARD, **few))
    honest = small_model(Family.HAZARD, rounds=WIDE_ROUNDS).noise()
    weak = DiscreteGaussian(sigma_squared=honest.sigma_squared / 4)
    assert not passes(model_scenario(Family.HAZARD, noise=weak, **few))


@pytest.mark.parametrize("of", ["norms_up", "roots_up"])
def test_residuals_times_rows_of_few_events_that_are_not_clipped_are_caught(monkeypatch, of):
    real = getattr(wide_rows, of)
    monkeypatch.setattr(wide_rows, of, lambda rows: real(rows) // 2)
    assert not reach_check(Family.HAZARD, rounds=WIDE_ROUNDS).passed


def test_hazards_of_few_events_without_an_end_are_caught(monkeypatch) -> None:
    """What was lived through goes into curvature, and events into residuals, beyond 1."""
    real = FollowUp.lived

    def endless(self, scores, place, means):
        return tuple(3 * each for each in real(self, scores, place, means))

    monkeypatch.setattr(FollowUp, "lived", endless)
    assert not reach_check(Family.HAZARD, rounds=WIDE_ROUNDS).passed


@pytest.mark.parametrize("part", ["means", "squares", "totals", "turn", "bend"])
def test_a_part_of_few_events_that_is_not_charged_is_caught(monkeypatch, part) -> None:
    real = check_descent.wide_scale_of
    unit = (UNIT * RESIDUAL) ** 2

    def forgetful(aggregate, *, dataset):
        found = real(aggregate, dataset=dataset)
        bound = {"means": found.radius**2, "squares": found.squares_radius**2}
        bound |= {"totals": UNIT**2, "turn": 5 * unit, "bend": 25 * unit}
        left = found.l2_squared - getattr(found, part) ** 2 * bound[part]
        return replace(found, l2_squared=left)

    monkeypatch.setattr(check_descent, "wide_scale_of", forgetful)
    assert not reach_check(Family.HAZARD, rounds=WIDE_ROUNDS).passed


def test_a_model_of_wide_counts_reaches_its_claim_and_half_its_noise_is_caught() -> None:
    for of_each in (1, 3):
        assert (
            Fraction(98, 100) ** 2
            < reached(Family.POISSON, rounds=WIDE_ROUNDS, of_each=of_each)
            <= 1
        )
    assert reach_check(Family.POISSON, rounds=WIDE_ROUNDS).passed
    assert passes(model_scenario(Family.POISSON, rounds=WIDE_ROUNDS))
    honest = small_model(Family.POISSON, rounds=WIDE_ROUNDS).noise()
    weak = DiscreteGaussian(sigma_squared=honest.sigma_squared / 4)
    assert not passes(model_scenario(Family.POISSON, rounds=WIDE_ROUNDS, noise=weak))


@pytest.mark.parametrize("of", ["norms_up", "roots_up"])
def test_residuals_of_wide_counts_that_are_not_clipped_are_caught(monkeypatch, of):
    real = getattr(wide_rows, of)
    monkeypatch.setattr(wide_rows, of, lambda rows: real(rows) // 2)
    assert not reach_check(Family.POISSON, rounds=WIDE_ROUNDS).passed


def test_wide_counts_that_are_not_cut_before_recalibration_are_caught(monkeypatch) -> None:
    monkeypatch.setattr(wide_rows, "widened", lambda residual: residual)
    assert not reach_check(Family.POISSON, rounds=WIDE_ROUNDS).passed


def test_rows_in_cells_of_wide_counts_that_weigh_as_patients_are_caught(monkeypatch) -> None:
    real = wide_rows.WideRows._cells

    def apart(self):
        return tuple(3 * each for each in real(self))

    monkeypatch.setattr(wide_rows.WideRows, "_cells", apart)
    assert reached(Family.POISSON, rounds=WIDE_ROUNDS, of_each=3) > 1


@pytest.mark.parametrize("part", ["means", "squares", "totals", "turn"])
def test_a_part_of_wide_counts_that_is_not_charged_is_caught(monkeypatch, part) -> None:
    real = check_descent.wide_scale_of

    def forgetful(aggregate, *, dataset):
        found = real(aggregate, dataset=dataset)
        bound = {"means": found.radius**2, "squares": found.squares_radius**2}
        bound |= {"totals": UNIT**2, "turn": 5 * (UNIT * RESIDUAL) ** 2}
        left = found.l2_squared - getattr(found, part) ** 2 * bound[part]
        return replace(found, l2_squared=left)

    monkeypatch.setattr(check_descent, "wide_scale_of", forgetful)
    assert not reach_check(Family.POISSON, rounds=WIDE_ROUNDS).passed


def test_a_model_of_a_rare_class_reaches_its_claim_and_half_its_noise_is_caught() -> None:
    rare = {"family": Family.MULTINOMIAL, "rounds": WIDE_ROUNDS}
    for of_each in (1, 3):
        assert Fraction(99, 100) ** 2 < reached(of_each=of_each, **rare) <= 1
    assert reach_check(Family.MULTINOMIAL, rounds=WIDE_ROUNDS).passed
    assert passes(model_scenario(**rare))
    honest = small_model(Family.MULTINOMIAL, rounds=WIDE_ROUNDS).noise()
    weak = DiscreteGaussian(sigma_squared=honest.sigma_squared / 4)
    assert not passes(model_scenario(noise=weak, **rare))


def test_classes_that_are_clipped_one_by_one_are_caught(monkeypatch) -> None:
    """Each class has the clip of a model of its own; there is noise for one of them."""
    real = wide_rows.clipped_by_class

    def apart(plain, norms, residuals, patient):
        each = (real(plain, norms, column[:, None], patient) for column in residuals.T)
        return [value for one in each for value in one]

    monkeypatch.setattr(wide_rows, "clipped_by_class", apart)
    assert reached(Family.MULTINOMIAL, rounds=WIDE_ROUNDS) > Fraction(17, 10)
    assert not reach_check(Family.MULTINOMIAL, rounds=WIDE_ROUNDS).passed
    assert not passes(model_scenario(Family.MULTINOMIAL, rounds=WIDE_ROUNDS))


@pytest.mark.parametrize("part", ["means", "squares", "totals", "turn"])
def test_a_part_of_a_rare_class_that_is_not_charged_is_caught(monkeypatch, part) -> None:
    real = check_descent.wide_scale_of

    def forgetful(aggregate, *, dataset):
        found = real(aggregate, dataset=dataset)
        bound = {"means": found.radius**2, "squares": found.squares_radius**2}
        bound |= {"totals": UNIT**2, "turn": 8 * (UNIT * RESIDUAL) ** 2}
        left = found.l2_squared - getattr(found, part) ** 2 * bound[part]
        return replace(found, l2_squared=left)

    monkeypatch.setattr(check_descent, "wide_scale_of", forgetful)
    assert not reach_check(Family.MULTINOMIAL, rounds=WIDE_ROUNDS).passed


def test_scores_of_classes_without_a_cut_are_caught(monkeypatch) -> None:
    monkeypatch.setattr(wide_rows, "MOST_DEVIATION", 8)
    assert not reach_check(Family.MULTINOMIAL, rounds=WIDE_ROUNDS).passed


def test_rows_in_classes_that_weigh_as_patients_are_caught(monkeypatch) -> None:
    real = wide_rows.WideRows._cells
    monkeypatch.setattr(
        wide_rows.WideRows, "_cells", lambda self: tuple(3 * each for each in real(self))
    )
    assert reached(Family.MULTINOMIAL, rounds=WIDE_ROUNDS, of_each=3) > 1


@pytest.mark.parametrize("part", ["means", "squares", "turn"])
def test_a_part_of_many_terms_that_is_not_charged_is_caught(monkeypatch, part) -> None:
    real = check_descent.wide_scale_of
    bounds = {"turn": 5 * (UNIT * RESIDUAL) ** 2}

    def forgetful(aggregate, *, dataset):
        found = real(aggregate, dataset=dataset)
        bound = bounds | {"means": found.radius**2, "squares": found.squares_radius**2}
        left = found.l2_squared - getattr(found, part) ** 2 * bound[part]
        return replace(found, l2_squared=left)

    monkeypatch.setattr(check_descent, "wide_scale_of", forgetful)
    assert not reach_check(Family.LOGISTIC, rounds=WIDE_ROUNDS).passed


def test_scores_of_many_terms_without_a_cut_are_caught(monkeypatch) -> None:
    monkeypatch.setattr(wide_rows, "MOST_DEVIATION", 8)
    assert not reach_check(Family.LOGISTIC, rounds=WIDE_ROUNDS).passed


def test_a_canary_of_three_rows_reaches_the_claim_and_the_real_model_passes() -> None:
    assert Fraction(97, 100) ** 2 < reached(of_each=3) <= 1
    assert passes(model_scenario(of_each=3))


def test_rows_that_are_bounded_one_by_one_are_caught(monkeypatch) -> None:
    """Each row of a patient is taken for a patient of its own; there is noise for one."""
    real = patient_weights.weighed

    def apart(plain, patient, *, clip):
        return real(plain, np.arange(len(patient)), clip=clip)

    monkeypatch.setattr(descent, "weighed", apart)
    assert passes(model_scenario())
    assert not passes(model_scenario(of_each=3))


@every_family
def test_noise_of_half_its_size_in_a_model_is_caught(family) -> None:
    assert not passes(scenario_of(family, noise=half(family)))


@every_family
def test_a_clip_of_twice_its_size_is_caught(monkeypatch, family) -> None:
    """w = min(1, 2C/‖z‖), noise for C."""
    real = patient_weights.shrunk

    def loose(rows, size, *, most):
        return real(rows, size, most=2 * most)

    monkeypatch.setattr(patient_weights, "shrunk", loose)
    assert not passes(scenario_of(family))
    assert not reach_check(family).passed


@every_family
def test_weights_that_are_not_applied_are_caught(monkeypatch, family) -> None:
    monkeypatch.setattr(patient_weights, "shrunk", lambda rows, _, **__: rows)
    assert not passes(scenario_of(family))
    assert not reach_check(family).passed


@every_family
def test_curvature_that_is_not_charged_is_caught(monkeypatch, family) -> None:
    """The noise is that of moments and gradients alone: 4 % less of it than the claim needs."""
    real = check_descent.scale_of

    def forgetful(aggregate, *, dataset):
        found = real(aggregate, dataset=dataset)
        largest = math.ceil(aggregate.family.largest_variance * found.clip**2)
        return replace(found, l2_squared=found.l2_squared - 5 * (found.curvature * largest) ** 2)

    monkeypatch.setattr(check_descent, "scale_of", forgetful)
    assert not reach_check(family).passed


def test_a_mean_that_is_not_cut_is_caught_in_counts(monkeypatch) -> None:
    """exp(η) beyond the bound of events, so that the residual has no bound."""
    middles = (np.arange(link.SIZE) + 0.5) / link.STEPS - link.FARTHEST
    wild = np.rint(np.exp(np.clip(middles, -16, 8)) * RESIDUAL).astype(np.int64)
    monkeypatch.setattr(descent, "mean_table", lambda _: wild)
    assert not reach_check(Family.POISSON).passed
    assert not passes(model_scenario(Family.POISSON, canary=Canary.WITHOUT))


def test_residuals_of_twice_their_size_are_caught_in_logistic_models(monkeypatch) -> None:
    real = link.mean_table(Family.LOGISTIC)
    monkeypatch.setattr(descent, "mean_table", lambda _: 2 * real)
    assert not reach_check(Family.LOGISTIC).passed
    assert not passes(model_scenario(Family.LOGISTIC, canary=Canary.WITHOUT))


def test_hazards_lived_through_without_an_end_are_caught(monkeypatch) -> None:
    """Follow-up goes on after its hazards have reached 1."""

    def endless(self, scores, place, means):
        levels = np.array(place.coefficients[: self.size]) // (2**16 // link.STEPS)
        step = scores[:, None] + levels + self.offsets + link.FARTHEST * link.STEPS
        hazards = np.where(self.spent, means[np.clip(step, 0, link.SIZE - 1)], 0)
        hazards = np.minimum(hazards, 8 * RESIDUAL)
        return hazards, -hazards

    monkeypatch.setattr(FollowUp, "lived", endless)
    assert not reach_check(Family.HAZARD).passed
    assert not passes(model_scenario(Family.HAZARD, canary=Canary.WITHOUT))


def test_events_beyond_their_cap_are_caught(monkeypatch) -> None:
    """Rows that were not cut to the declared bounds before they were summed."""

    def uncapped(columns):
        canary = np.arange(len(columns["p"])) == len(patients(Family.POISSON, canary=None)["p"])
        events = np.where(canary, 3 * MOST_EVENTS, columns["e3"])
        return small_model(Family.POISSON).rows({**columns, "e3": events})

    assert not passes(model_scenario(Family.POISSON, rows=uncapped))


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
    from confide.attacks.audit.trained import models

    real = models.patients

    def alike(family, *, canary, of_each):
        columns = dict(real(family, canary=canary, of_each=of_each))
        others = columns["p"] < 40
        columns["e0"] = np.where(others, 0, columns["e0"])
        columns["e3"] = np.ones_like(columns["p"])
        return columns

    monkeypatch.setattr(models, "patients", alike)
    assert passes(model_scenario())
    assert not passes(model_scenario(rows=Averaged))


@pytest.mark.audit
@every_family
def test_correct_code_passes_ninety_nine_of_a_hundred_audits(family) -> None:
    scenario = scenario_of(family)
    assert sum(passes(scenario, seed=seed) for seed in range(100)) >= 99


@pytest.mark.audit
@every_family
def test_half_the_noise_fails_ninety_nine_of_a_hundred_audits(family) -> None:
    scenario = scenario_of(family, noise=half(family))
    assert sum(not passes(scenario, seed=seed) for seed in range(100)) >= 99


def moved_by_a_held_out_patient() -> Fraction:
    """Return how far somebody in two columns of subgroups moves the answers, over the claim."""
    of = ColumnOf(table="people", column="group")
    model = replace(AGGREGATE, held_out=500, subgroups=(of, replace(of, column="ill")))
    found = columns(1, np.random.default_rng(1))
    found |= {"fold": np.zeros(1), "e4": found["e2"], "e5": found["e3"]}
    unit = tuple(map(tuple, (np.eye(5) * UNIT).astype(int).tolist()))
    ask = AskScores(at=Place(whitening=unit, coefficients=(0,) * 5), edges=tuple(range(1, 10)))
    rows = descent.DescentRows(model, found, dataset=models_world())
    claimed = descent_sensitivity(model, dataset=models_world()).l2_squared
    return Fraction(sum(v * v for v in rows.answer(ask)), claimed)


def test_scores_that_forget_how_many_columns_count_a_patient_are_caught(monkeypatch) -> None:
    assert moved_by_a_held_out_patient() <= 1
    monkeypatch.setattr(DescentAggregate, "squared_scores", property(lambda _: 1))
    assert moved_by_a_held_out_patient() > 1.9


def moved_by_events_that_are_held_out(*, most: int = 2) -> Fraction:
    """Return how far somebody with many events moves the answers, over the claim of counts."""
    group, ill = (ColumnOf(table="people", column=name) for name in ("group", "ill"))
    model = replace(person_time.COUNTS, held_out=500, subgroups=(group, ill))
    people = person_time.counted(1, np.random.default_rng(1))
    people |= {"visits": np.array([person_time.MOST]), "observed": np.array([730])}
    found = person_time.columns_of(people, aggregate=model, fold=0)
    found |= {"e5": found["e2"], "e6": np.zeros(1, dtype=int)}
    unit = tuple(map(tuple, (np.eye(5) * UNIT).astype(int).tolist()))
    at = Place(whitening=unit, coefficients=(0,) * 5)
    rows = descent.DescentRows(model, found, dataset=person_time.world())
    moved = rows.answer(AskScores(at=at, edges=tuple(range(1, 10)), most=most))
    claimed = descent_sensitivity(model, dataset=person_time.world()).l2_squared
    return Fraction(sum(v * v for v in moved), claimed)


def test_held_out_events_reach_their_claim_and_forgotten_columns_are_caught(monkeypatch) -> None:
    assert Fraction(99, 100) < moved_by_events_that_are_held_out() <= 1
    monkeypatch.setattr(DescentAggregate, "squared_scores", property(lambda _: 2 * UNIT**4))
    assert moved_by_events_that_are_held_out() > Fraction(19, 10)


def test_held_out_events_that_are_not_cut_are_caught(monkeypatch) -> None:
    def uncut(events, *, most):
        return events * RESIDUAL // most

    monkeypatch.setattr(descent, "_cut", uncut)
    assert moved_by_events_that_are_held_out() > 3


def moved_by_a_class_that_is_held_out() -> Fraction:
    """Return how far somebody in two columns of subgroups moves the answers, over the claim."""
    group, ill = (ColumnOf(table="people", column=name) for name in ("group", "ill"))
    model = replace(classes_world.CLASSES, held_out=500, subgroups=(group, ill))
    found = at_a_corner(rows=1, outcome=3)
    found |= {"fold": np.zeros(1, dtype=int), "e4": found["e2"], "e5": np.zeros(1, dtype=int)}
    unit = tuple(map(tuple, (np.eye(5) * UNIT).astype(int).tolist()))
    at = Place(whitening=unit, coefficients=(0,) * 20)
    rows = DescentRows(model, found, dataset=classes_world.world())
    moved = rows.answer(AskScores(at=at, edges=tuple(range(1_000, 10_000, 1_000)) * 4))
    claimed = descent_sensitivity(model, dataset=classes_world.world()).l2_squared
    return Fraction(sum(v * v for v in moved), claimed)


def test_scores_of_classes_that_forget_their_columns_are_caught(monkeypatch) -> None:
    """Noise for the larger of four classes and two columns, not for their product."""
    assert Fraction(99, 100) < moved_by_a_class_that_is_held_out() <= 1
    monkeypatch.setattr(DescentAggregate, "squared_scores", property(lambda _: 4))
    assert moved_by_a_class_that_is_held_out() > Fraction(19, 10)
