"""How far one patient moves the answers of a model: each part reaches what the whole claims."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import classes_world
import person_time
from confide.errors import ContractError, InvalidParameterError
from confide.plans.rounds.descent import AskCurvature, AskGradient, AskMoments, Place
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.check_descent import check_descent, descent_sensitivity
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import (
    MOST_ROUNDS,
    MOST_ROWS,
    PARTS,
    SCORE_BINS,
    SCORE_CUTS,
    UNIT,
    Family,
)
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import BinOf, ColumnOf, ValueOf
from confide.tables.filter import Between, Everything
from confide.tables.per_patient import HasAny
from confide.tables.relation import Relation
from models import AGGREGATE, world

pytestmark = pytest.mark.L1
LOGISTIC = replace(AGGREGATE, covariates=(ColumnOf(table="people", column="group"),))
COUNTS = replace(person_time.COUNTS, covariates=LOGISTIC.covariates)
HAZARDS = replace(person_time.HAZARDS, covariates=LOGISTIC.covariates)
CLASSES = replace(classes_world.CLASSES, covariates=LOGISTIC.covariates)
WIDE = 60  # whitened terms are cut at 64


def world_of(family, *, adjacency=Adjacency.ADD_REMOVE):
    match family:
        case Family.POISSON | Family.HAZARD:
            return person_time.world(adjacency=adjacency)
        case Family.MULTINOMIAL:
            return classes_world.world(adjacency=adjacency)
        case _:
            return world(adjacency=adjacency)


def patients(aggregate) -> Iterator[dict]:
    """Yield patients with values at their bounds, whose rows are alike."""
    match aggregate.family:
        case Family.POISSON:
            ends = [(y, time) for y in (0, person_time.MOST) for time in (30, 730)]
        case Family.HAZARD:
            ends = [(y, time) for y in (0, 1) for time in (1, 400, 1800)]
        case Family.MULTINOMIAL:
            ends = [(y,) for y in range(aggregate.classes)]
        case _:
            ends = [(0,), (1,)]
    for own in ends:
        for rows in {1, aggregate.bounds.max_rows}:
            values = (*((1,) if aggregate.covariates else ()), *own)
            found = {f"e{i}": np.full(rows, value) for i, value in enumerate(values)}
            yield found | {
                "p": np.zeros(rows, int), "rk": np.arange(1, rows + 1), "fold": np.full(rows, 999)
            }  # fmt: skip


def places(aggregate, *, terms: int) -> Iterator[Place]:
    """Yield places at which an outcome is sure, or as open as can be; terms plain and wide."""
    for wide in (1, WIDE):
        for level in (-(2**22), -(2**8), 0, 2**16):
            if aggregate.classes > 1:
                several = np.zeros((aggregate.classes, terms), int)
                several[1, 0] = abs(level)  # sure of one class, or of two alike
                several[2, 0] = max(0, level) * 16
                several[1, 0] *= 16 if level > 0 else 1
                coefficients = several.ravel()
            else:
                coefficients = np.zeros(aggregate.intercepts + terms - 1, int)
                coefficients[: aggregate.intercepts] = level
            diagonal = [wide * UNIT] * terms
            if terms > 1:  # a row along one axis: entries off a diagonal count once
                diagonal[0] = UNIT
            yield Place(
                whitening=tuple(map(tuple, np.diag(diagonal).tolist())),
                coefficients=tuple(coefficients.tolist()),
            )


def largest_parts(aggregate, *, to) -> dict[str, int]:
    """Return the largest squares of each part of the answers, over patients and places."""
    scale = scale_of(aggregate, dataset=to)
    found = dict.fromkeys(("moments", "curvature", "spread"), 0)
    found |= {f"gradient {t}": 0 for t in range(aggregate.rounds)}
    for patient in patients(aggregate):
        rows = DescentRows(aggregate, patient, dataset=to)
        answers = [("moments", rows.answer(AskMoments()))]
        for at in () if aggregate.one_look else places(aggregate, terms=scale.terms):
            both = rows.answer(AskCurvature(at=at))
            answers += [("curvature", both[: scale.curved]), ("spread", both[scale.curved :])]
            answers += [
                (f"gradient {t}", rows.answer(AskGradient(at=at, round=t)))
                for t in range(aggregate.rounds)
            ]
        for name, answer in answers:
            found[name] = max(found[name], sum(v * v for v in answer))
    return found


def three_rows(aggregate):
    return replace(aggregate, bounds=RowBound(max_rows=3))


@pytest.mark.parametrize(
    ("aggregate", "least"),
    [
        (LOGISTIC, 0.99),
        (three_rows(LOGISTIC), 0.99),
        (replace(LOGISTIC, rounds=4), 0.99),
        (replace(LOGISTIC, rounds=1), 0.99),
        (COUNTS, 0.99),
        (three_rows(COUNTS), 0.99),
        (HAZARDS, 0.99),
        (CLASSES, 0.99),
        (three_rows(CLASSES), 0.7),  # entries off a diagonal count once
    ],
    ids=lambda each: (
        f"{each.family.value} {each.bounds.max_rows} {each.rounds}"
        if hasattr(each, "family")
        else ""
    ),
)
def test_moments_take_30_percent_of_the_claim_curvature_8_gradients_62_and_each_is_reached(
    aggregate, least
):
    to = world_of(aggregate.family)
    claimed = descent_sensitivity(aggregate, dataset=to).l2_squared
    parts = largest_parts(aggregate, to=to)
    gradients = sum(square for name, square in parts.items() if name.startswith("gradient"))
    curved = parts["curvature"] + parts["spread"]
    for square, share in ((parts["moments"], 30), (gradients, 62), (curved, 8)):
        reached = float(Fraction(square * 100, claimed * share))
        assert (least if share == 8 else 0.99) < reached < 1.001
    assert parts["moments"] + gradients + curved <= claimed


def test_the_first_half_of_the_rounds_costs_half_as_much_each():
    for rounds in (1, 2, 5):
        aggregate = replace(LOGISTIC, rounds=rounds)
        scale = scale_of(aggregate, dataset=world())
        parts = largest_parts(aggregate, to=world())
        squares = [parts[f"gradient {t}"] for t in range(rounds)]
        late = squares[-1]
        early = rounds // 2
        assert scale.early == early
        assert squares[early:] == [late] * (rounds - early)
        assert all(2 * each == pytest.approx(late, rel=1e-3) for each in squares[:early])


def test_rows_of_an_intercept_alone_reach_their_claim_to_the_unit():
    """What is left of the claim is that of curvature, 2V·C² = 1/2, of which tables fall short."""
    aggregate = three_rows(replace(AGGREGATE, covariates=()))
    parts = largest_parts(aggregate, to=world())
    curvature = parts.pop("curvature")
    left = descent_sensitivity(aggregate, dataset=world()).l2_squared - sum(parts.values())
    assert left == (scale_of(aggregate, dataset=world()).curvature * UNIT**2 // 2) ** 2
    assert 0.99 < float(Fraction(curvature, left)) <= 1


def test_one_look_reaches_its_claim():
    aggregate = replace(LOGISTIC, rounds=0)
    claimed = descent_sensitivity(aggregate, dataset=world())
    square = largest_parts(aggregate, to=world())["moments"]
    assert 0.999 < float(Fraction(square, claimed.l2_squared)) <= 1
    assert scale_of(aggregate, dataset=world()).scores == 0


@pytest.mark.parametrize("aggregate", [LOGISTIC, COUNTS, HAZARDS, CLASSES])
def test_a_patient_who_is_replaced_moves_gradients_fourfold_and_the_rest_twice(aggregate):
    alone, other = (
        descent_sensitivity(aggregate, dataset=world_of(aggregate.family, adjacency=each))
        for each in (Adjacency.ADD_REMOVE, Adjacency.SUBSTITUTE)
    )
    ratio = Fraction(other.l2_squared, alone.l2_squared)
    assert float(ratio) == pytest.approx(4 * 0.62 + 2 * 0.38, rel=1e-3)


def test_a_patient_who_is_replaced_moves_products_of_one_look_fourfold_and_moments_twice():
    alone, other = (
        descent_sensitivity(replace(LOGISTIC, rounds=0), dataset=world(adjacency=each)).l2_squared
        for each in (Adjacency.ADD_REMOVE, Adjacency.SUBSTITUTE)
    )
    assert float(Fraction(other, alone)) == pytest.approx(4 * 0.5 + 2 * 0.5, rel=1e-3)


@pytest.mark.parametrize(
    ("aggregate", "coefficients"),
    [
        (LOGISTIC, 3),  # intercept, and two groups beside the first
        (COUNTS, 3),
        (HAZARDS, 3 + 2),  # a level for each of three intervals
        (CLASSES, 3 * 3),  # for each stage but the first
        (three_rows(LOGISTIC), 3),
        (three_rows(CLASSES), 3 * 3),
    ],
)
def test_as_many_numbers_are_answered_as_the_claim_is_of(aggregate, coefficients):
    to = world_of(aggregate.family)
    scale = scale_of(aggregate, dataset=to)
    rows = DescentRows(aggregate, next(patients(aggregate)), dataset=to)
    at = next(places(aggregate, terms=scale.terms))
    opening, both = rows.answer(AskMoments()), rows.answer(AskCurvature(at=at))
    gradients = [rows.answer(AskGradient(at=at, round=t)) for t in range(scale.rounds)]
    assert scale.size == coefficients
    assert len(opening) == scale.opening
    assert len(both) == scale.curved + scale.spread
    assert {len(each) for each in gradients} == {scale.gradient}
    whole = len(opening) + len(both) + sum(map(len, gradients))
    assert scale.length == aggregate.coordinates(to) == whole


@pytest.mark.parametrize("aggregate", [LOGISTIC, HAZARDS, CLASSES, replace(LOGISTIC, rounds=0)])
def test_l1_is_the_least_whole_number_that_the_norm_and_the_length_allow(aggregate):
    to = world_of(aggregate.family)
    found = descent_sensitivity(aggregate, dataset=to)
    largest = aggregate.coordinates(to) * found.l2_squared  # ‖v‖₁² ≤ n·‖v‖₂²
    assert (found.l1 - 1) ** 2 <= largest < found.l1**2
    assert found.linf**2 <= found.l2_squared < (found.linf + 1) ** 2


def test_a_step_is_one_of_the_last_question_in_units_of_residual_and_term():
    to = world()
    for aggregate, part in ((LOGISTIC, "gradient 4"), (replace(LOGISTIC, rounds=0), "moments")):
        (unit,) = aggregate.step(to).units
        size = aggregate.step(to).size
        whole = largest_parts(aggregate, to=to)[part]
        if aggregate.rounds:  # a patient moves it by at most C = √3
            assert float(whole * size * size) == pytest.approx(3, rel=1e-2)
        else:  # products of the outcome with terms 1 and 1
            patient = next(iter(patients(aggregate)))
            answered = DescentRows(aggregate, patient, dataset=to).answer(AskMoments())
            products = [v * size for v in answered[-3:]]
            assert list(map(float, products)) == pytest.approx([-1, -1, 0], abs=1e-3)
        assert unit == "1"


def test_bins_of_scores_are_the_same_for_an_outcome_and_its_opposite():
    assert [100 - cut for cut in reversed(SCORE_CUTS)] == list(SCORE_CUTS)
    assert sorted(set(SCORE_CUTS)) == list(SCORE_CUTS)
    assert len(SCORE_CUTS) + 1 == SCORE_BINS


def column(name: str) -> ColumnOf:
    return ColumnOf(table="people", column=name)


@pytest.mark.parametrize(
    ("base", "changed", "says"),
    [
        (LOGISTIC, {"rounds": -1}, f"between 1 and {MOST_ROUNDS} rounds, got -1"),
        (LOGISTIC, {"rounds": MOST_ROUNDS + 1}, "rounds, got 21"),
        (COUNTS, {"rounds": 0}, "rounds, got 0"),
        (HAZARDS, {"rounds": 0}, "rounds, got 0"),
        (CLASSES, {"rounds": 0}, "rounds, got 0"),
        (LOGISTIC, {"held_out": PARTS // 2 + 1}, "at most half of the patients"),
        (LOGISTIC, {"held_out": -1}, "at most half of the patients"),
        (LOGISTIC, {"calibrating": 1}, "need patients who are held out"),
        (LOGISTIC, {"held_out": 200, "calibrating": 200}, "need patients who are held out"),
        (LOGISTIC, {"held_out": 200, "calibrating": -1}, "need patients who are held out"),
        (LOGISTIC, {"subgroups": (column("ill"),)}, "need patients who are held out"),
        (LOGISTIC, {"held_out": 9, "subgroups": (column("ill"),) * 5}, "by at most 4 columns"),
    ],
)
def test_parts_of_the_patients_that_no_model_has_are_refused(base, changed, says):
    with pytest.raises(InvalidParameterError, match=says):
        replace(base, **changed)


def test_half_of_the_patients_may_be_held_out_and_four_columns_part_them():
    assert replace(LOGISTIC, rounds=0).one_look
    assert replace(LOGISTIC, rounds=MOST_ROUNDS, held_out=PARTS // 2).held_out == PARTS // 2
    four = replace(LOGISTIC, held_out=9, subgroups=(column("ill"),) * 4, calibrating=8)
    check_descent(four, dataset=world())


def refused(aggregate, *, says, to=None, error=ContractError):
    to = world_of(aggregate.family) if to is None else to
    with pytest.raises(error, match=says):
        check_descent(aggregate, dataset=to)
    with pytest.raises(error, match=says):
        descent_sensitivity(aggregate, dataset=to)
    with pytest.raises(error, match=says):
        aggregate.check(to)


@pytest.mark.parametrize(
    ("base", "changed", "says"),
    [
        (HAZARDS, {"bounds": RowBound(max_rows=2)}, "one row of each patient, with all follow-up"),
        (HAZARDS, {"covariates": ()}, "hazard model needs a covariate"),
        (HAZARDS, {"exposure": None}, "needs the time of follow-up"),
        (HAZARDS, {"exposure": column("ill")}, "Follow-up is a number from zero on"),
        (HAZARDS, {"outcome": column("group")}, "event of a hazard model is a condition"),
        (COUNTS, {"outcome": column("ill")}, "needs a number of events"),
        (COUNTS, {"outcome": column("observed")}, "needs a number of events"),
        (COUNTS, {"exposure": column("followed")}, "number above zero"),
        (COUNTS, {"exposure": column("ill")}, "number above zero"),
        (COUNTS, {"classes": 3}, "Only a multinomial model has classes"),
        (LOGISTIC, {"outcome": column("group")}, "outcome of a logistic model is a condition"),
        (LOGISTIC, {"outcome": column("marker")}, "outcome of a logistic model is a condition"),
        (LOGISTIC, {"covariates": (column("shoe"),)}, "shoe"),
    ],
)
def test_a_model_whose_lemma_would_not_hold_is_refused(base, changed, says):
    check_descent(base, dataset=world_of(base.family))
    refused(replace(base, **changed), says=says)


@pytest.mark.parametrize(
    "edges", [(0,), (1, 365), (0, 365, 365), (0, 730, 365), (0, 365, 2001), tuple(range(22))]
)
def test_intervals_of_follow_up_rise_from_zero_to_at_most_its_bound(edges):
    refused(
        replace(HAZARDS, edges=edges),
        says="Expected 1 to 20 intervals of follow-up that rise from 0",
        error=InvalidParameterError,
    )
    for taken in ((0, 2000), (0, 365, 2000), tuple(range(21))):
        check_descent(replace(HAZARDS, edges=taken), dataset=person_time.world())


def test_rows_that_a_join_would_multiply_are_refused():
    people, *_ = world().tables
    visits = replace(people, name="visits", source="visits", one_row_per_patient=False)
    to = replace(world(), tables=(people, visits))
    many = replace(LOGISTIC, covariates=(ColumnOf(table="visits", column="age"),))
    refused(many, says="'visits' may hold several rows per patient", to=to)
    where = Between(of=ColumnOf(table="visits", column="age"), lower=1)
    filtered = replace(LOGISTIC, relation=Relation(table="people", where=where))
    refused(filtered, says="'visits' may hold several rows per patient", to=to)


def test_a_model_suits_its_privacy_unit_and_measure():
    pure = world(measure=Measure.PURE)
    refused(LOGISTIC, says="a ledger in pure ε cannot charge", to=pure)
    events = replace(world(), unit=replace(world().unit, entity=Entity.EVENT))
    check_descent(LOGISTIC, dataset=events)
    refused(replace(LOGISTIC, held_out=9), says="nobody can be held out", to=events)
    refused(three_rows(LOGISTIC), says="each row stands for itself", to=events)
    hospitals = replace(world(), unit=replace(world().unit, entity=Entity.HOSPITAL))
    refused(LOGISTIC, says="fitted with the patient as privacy unit", to=hospitals)


def test_as_many_rows_and_terms_as_are_allowed_and_no_more():
    for rows in (1, MOST_ROWS):
        check_descent(replace(LOGISTIC, bounds=RowBound(max_rows=rows)), dataset=world())
    refused(
        replace(LOGISTIC, bounds=RowBound(max_rows=MOST_ROWS + 1)),
        says="at most 100 rows of a patient, got 101",
        error=InvalidParameterError,
    )
    many = BinOf(of=column("marker"), edges=tuple(range(201)))
    check_descent(replace(LOGISTIC, covariates=(many,)), dataset=world())  # 1 + 199 terms
    refused(
        replace(LOGISTIC, covariates=(many, column("age"))),
        says="at most 200 terms, got 201",
        error=InvalidParameterError,
    )
    refused(replace(CLASSES, covariates=(many,)), says="got 600", error=InvalidParameterError)


def test_a_covariate_is_a_number_or_a_category_of_several_values():
    ever = replace(
        world(),
        per_patient=(HasAny(name="ever", table="people", where=Everything()),),
    )
    check_descent(replace(LOGISTIC, covariates=(ValueOf(name="ever"),)), dataset=ever)
    one = BinOf(of=column("age"), edges=(0, 100))
    refused(replace(LOGISTIC, covariates=(one,)), says="one value alone")
