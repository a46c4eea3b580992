"""Rows that answer in turn: bounded, exact, and each patient's part a function of their own
rows."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError, InvalidParameterError
from confide.plans.rounds.descent import (
    AskCurvature,
    AskGradient,
    AskMoments,
    AskScores,
    Place,
)
from confide.privacy.adjacency import Adjacency
from confide.rows.models.patient_weights import scaled
from confide.rows.relational.descent import DescentRows, _terms
from confide.tables.aggregates.check_descent import check_descent, descent_sensitivity
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import SCORE_BINS, UNIT
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.schema import LARGEST_VALUE
from models import AGGREGATE, columns, world

SIZE = 5
PLACES = (
    Place(
        whitening=tuple(map(tuple, (np.eye(SIZE) * UNIT).astype(int).tolist())),
        coefficients=(0, 2**15, -(2**14), 2**16, 0),
    ),
    Place(
        whitening=tuple(
            map(
                tuple,
                np.random.default_rng(3).integers(-20 * UNIT, 20 * UNIT, (SIZE, SIZE)).tolist(),
            )
        ),
        coefficients=(-(2**16), 2**16, 3 * 2**15, -(2**13), 2**12),
    ),
)


def asks(place):
    return (
        AskMoments(),
        AskCurvature(at=place),
        *(AskGradient(at=place, round=t) for t in range(AGGREGATE.rounds)),
        AskScores(at=place, edges=tuple(range(8_000, 8_000 + 800 * (SCORE_BINS - 1), 800))),
    )


def answers(found, *, aggregate=AGGREGATE, place, adjacency=Adjacency.ADD_REMOVE):
    rows = DescentRows(aggregate, found, dataset=world(adjacency=adjacency))
    return np.array([v for ask in asks(place) for v in rows.answer(ask)], dtype=object)


@pytest.mark.parametrize("place", PLACES, ids=["plain", "steep"])
@pytest.mark.parametrize("most", [1, 3], ids=["one row", "three rows"])
def test_an_answer_is_the_sum_of_what_each_patient_answers_alone(place, most):
    aggregate = replace(AGGREGATE, bounds=RowBound(max_rows=most))
    rng = np.random.default_rng(most)
    found = columns(60, rng, rows=most)
    alone = [
        answers({k: v[found["p"] == p] for k, v in found.items()}, aggregate=aggregate, place=place)
        for p in np.unique(found["p"])
    ]
    whole = answers(found, aggregate=aggregate, place=place)
    assert (whole == sum(alone)).all()
    order = rng.permutation(len(found["p"]))
    shuffled = {k: v[order] for k, v in found.items()}
    assert (whole == answers(shuffled, aggregate=aggregate, place=place)).all()


@pytest.mark.parametrize("most", [1, 3], ids=["one row", "three rows"])
def test_no_patient_moves_the_answers_by_more_than_the_sensitivity(most):
    aggregate = replace(AGGREGATE, bounds=RowBound(max_rows=most))
    rng = np.random.default_rng(17)
    largest = 0.0
    for place in PLACES:
        for _ in range(400):
            patient = columns(1, rng, rows=most, corners=True)
            moved = answers(patient, aggregate=aggregate, place=place)
            claimed = descent_sensitivity(aggregate, dataset=world()).l2_squared
            largest = max(largest, float(Fraction(sum(moved * moved), claimed)))
    assert largest <= 1
    assert largest > 0.2  # moments, gradients and curvature are not at their bounds together


@pytest.mark.parametrize("most", [1, 3], ids=["one row", "three rows"])
@pytest.mark.parametrize(
    ("part", "least"), [("moments", 0.7), ("gradients", 0.99), ("curvature", 0.7), ("spread", 0.7)]
)
def test_each_part_of_the_answers_comes_close_to_its_bound(part, least, most):
    """Entries above a diagonal count once, so a matrix is at its bound only along an axis."""
    scale = scale_of(AGGREGATE, dataset=world())
    spare = replace(AGGREGATE, rounds=1, bounds=RowBound(max_rows=most))
    patient = columns(1, np.random.default_rng(1), corners=True, rows=most)
    for index in range(len(AGGREGATE.covariates)):
        patient[f"e{index}"][:] = (0, 100, 1, 1)[index]
    patient["fold"][:] = 999
    wide = tuple(map(tuple, (np.eye(SIZE) * 8 * UNIT).astype(int).tolist()))  # norms pass 2C
    certain = Place(whitening=wide, coefficients=(-(2**22), 0, 0, 0, 0))  # p is 0
    even = Place(whitening=wide, coefficients=(0,) * SIZE)  # p is 1/2
    patient[f"e{len(AGGREGATE.covariates)}"][:] = 1
    rows = DescentRows(spare, patient, dataset=world())
    one = scale_of(spare, dataset=world())
    match part:
        case "moments":
            found, bound = rows.answer(AskMoments()), one.moments * (one.norm + UNIT**2) / 2**0.5
        case "gradients":
            found = rows.answer(AskGradient(at=certain, round=0))
            bound = one.gradients[0] * one.clip * 2**16
        case "curvature":
            found = rows.answer(AskCurvature(at=even))[: scale.entries]
            bound = one.curvature * one.clip**2 * 2 / 4
        case _:  # of several rows, that of what they do add together
            found = rows.answer(AskCurvature(at=even if most == 1 else certain))[scale.entries :]
            bound = one.curvature * one.clip**2 / (4 if most == 1 else 1)
    assert least * bound <= math.sqrt(sum(v * v for v in found)) <= bound * (1 + 1e-12)


def test_substitution_moves_the_answers_by_no_more_than_it_claims():
    rng = np.random.default_rng(5)
    to = world(adjacency=Adjacency.SUBSTITUTE)
    claimed = descent_sensitivity(AGGREGATE, dataset=to).l2_squared
    largest = 0.0
    for place in PLACES:
        for _ in range(300):
            first, second = (
                answers(columns(1, rng, corners=True), place=place, adjacency=Adjacency.SUBSTITUTE)
                for _ in range(2)
            )
            moved = first - second
            largest = max(largest, float(Fraction(sum(moved * moved), claimed)))
    assert 0.2 < largest <= 1


def test_a_patient_who_is_held_out_moves_one_score_and_nothing_else():
    found = columns(1, np.random.default_rng(2))
    aggregate = replace(AGGREGATE, held_out=200)
    found["fold"][:] = 199
    scale = scale_of(aggregate, dataset=world())
    moved = answers(found, aggregate=aggregate, place=PLACES[0])
    assert sorted(moved[moved != 0]) == [scale.scores]
    found["fold"][:] = 200
    fitted = answers(found, aggregate=aggregate, place=PLACES[0])
    assert not fitted[-2 * SCORE_BINS :].any()


IN_PARTS = replace(
    AGGREGATE,
    held_out=400,
    calibrating=200,
    subgroups=(AGGREGATE.covariates[2], ColumnOf(table="people", column="ill")),
)


def parted(rng, n=1, *, aggregate):
    """Return patients with the columns of their subgroups."""
    found = columns(n, rng, corners=True)
    first = len(AGGREGATE.covariates) + 1
    values = {0: found["e2"], 1: found["e3"]}
    return found | {f"e{first + i}": values[i] for i in range(len(aggregate.subgroups))}


@pytest.mark.parametrize("adjacency", Adjacency)
def test_with_subgroups_no_patient_moves_the_answers_by_more_than_the_sensitivity(adjacency):
    """Fitted, calibrating and evaluating patients, each added, or each replaced by another."""
    rng = np.random.default_rng(11)
    to = world(adjacency=adjacency)
    claimed = descent_sensitivity(IN_PARTS, dataset=to).l2_squared
    assert claimed == descent_sensitivity(replace(AGGREGATE, held_out=400), dataset=to).l2_squared
    scores = scale_of(IN_PARTS, dataset=to).scored
    largest = 0.0
    for place in PLACES:
        for _ in range(150):
            one, other = (
                answers(
                    parted(rng, aggregate=IN_PARTS),
                    aggregate=IN_PARTS,
                    place=place,
                    adjacency=adjacency,
                )
                for _ in range(2)
            )
            moved = one - other if adjacency is Adjacency.SUBSTITUTE else one
            assert Fraction(sum(moved * moved), claimed) <= 1
            part = moved[-scores:]
            largest = max(largest, float(Fraction(sum(part * part), claimed)))
    assert largest > (0.999 if adjacency is Adjacency.ADD_REMOVE else 0.4)


def test_a_patient_calibrates_or_evaluates_in_one_subgroup_of_each_column():
    found = parted(np.random.default_rng(2), aggregate=IN_PARTS)
    scale = scale_of(IN_PARTS, dataset=world())
    one = 2 * SCORE_BINS
    assert scale.scored == one * (1 + 3 + 2)
    for fold, histograms in ((199, {0}), (200, {1, 2, 3, 4, 5}), (399, {1, 2, 3, 4, 5})):
        found["fold"][:] = fold
        moved = answers(found, aggregate=IN_PARTS, place=PLACES[0])
        places = np.flatnonzero(moved[-scale.scored :]) // one
        assert not moved[: -scale.scored].any()
        assert set(places) <= histograms
        columns_of = [place > 3 for place in places]
        assert columns_of == ([False] if fold == 199 else [False, True])
        assert set(moved[moved != 0]) == {scale.scores}
    found["fold"][:] = 400
    assert not answers(found, aggregate=IN_PARTS, place=PLACES[0])[-scale.scored :].any()


def test_subgroups_of_each_column_add_up_to_all_who_evaluate():
    found = parted(np.random.default_rng(3), 300, aggregate=IN_PARTS)
    scale = scale_of(IN_PARTS, dataset=world())
    whole = answers(found, aggregate=IN_PARTS, place=PLACES[0])[-scale.scored :] // scale.scores
    parts = whole.reshape(-1, 2 * SCORE_BINS)
    assert (parts[1:4].sum(axis=0) == parts[4:].sum(axis=0)).all()
    assert parts[0].sum() == (found["fold"] < 200).sum()
    assert parts[1:4].sum() == ((found["fold"] >= 200) & (found["fold"] < 400)).sum()


@pytest.mark.parametrize("column", ["age", "marker"])
def test_subgroups_by_a_number_are_refused(column):
    of = ColumnOf(table="people", column=column)
    with pytest.raises(ContractError, match="not a category"):
        check_descent(replace(AGGREGATE, held_out=200, subgroups=(of,)), dataset=world())
    with pytest.raises(InvalidParameterError, match="need patients who are held out"):
        replace(AGGREGATE, subgroups=(of,))


def test_more_rows_than_a_patient_may_have_are_refused():
    found = columns(3, np.random.default_rng(2), rows=2)
    with pytest.raises(Exception, match="contribution bound not enforced"):
        DescentRows(AGGREGATE, found, dataset=world())


def test_a_number_within_the_widest_bounds_keeps_its_place_between_them():
    narrow = world()
    age, *others = narrow.tables[0].columns
    wide = replace(age, lower=-LARGEST_VALUE, upper=LARGEST_VALUE)
    of = replace(narrow, tables=(replace(narrow.tables[0], columns=(wide, *others)),))
    values = np.array(
        [-LARGEST_VALUE, -LARGEST_VALUE // 2, 0, 3 * LARGEST_VALUE // 4, LARGEST_VALUE]
    )
    found = columns(len(values), np.random.default_rng(1)) | {"e0": values}
    terms = _terms(AGGREGATE, found, dataset=of)
    assert terms[:, 1].tolist() == [-UNIT, -UNIT // 2, 0, 3 * UNIT // 4, UNIT]


def test_scaling_in_floats_is_integer_division_towards_zero():
    rng = np.random.default_rng(4)
    rows = rng.integers(-(2**18), 2**18, (20_000, 3))
    size = rng.integers(1, 2**22, 20_000)
    by = rng.integers(1, 2**17, 20_000)
    rows[::5] = size[::5, None]  # quotients that are whole, and one less
    by[::10] = rows[::10, 0]
    where = np.arange(20_000) % 3 > 0
    found = scaled(rows.astype(np.float64), size, by=by, where=where)
    exact = np.sign(rows) * (np.abs(rows) * by[:, None] // size[:, None])
    assert (found == np.where(where[:, None], exact, rows)).all()
