"""Rows of several classes that answer in turn: bounded, exact, one contribution a patient."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from classes_world import CLASSES, columns_of, staged, world
from confide.errors import ContractError, EngineError, InvalidParameterError
from confide.plans.rounds.descent import AskCurvature, AskGradient, AskMoments, AskScores, Place
from confide.privacy.adjacency import Adjacency
from confide.rows.models.classes import Classes
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.check_descent import check_descent, descent_sensitivity
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import RESIDUAL, ROOT, SCORE_BINS, UNIT
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from models import AGGREGATE

TERMS, K = 5, 4
SEVERAL = replace(CLASSES, bounds=RowBound(max_rows=3))
MODELS = pytest.mark.parametrize("aggregate", [CLASSES, SEVERAL], ids=["one row", "three rows"])


def place(rng=None, *, wide=1, sure=None):
    """Return a random place, or one that is even, or sure of one class."""
    whitening = np.eye(TERMS) * wide * UNIT
    coefficients = np.zeros((K, TERMS))
    if rng is not None:
        whitening = rng.integers(-8 * UNIT, 8 * UNIT, (TERMS, TERMS))
        coefficients = rng.integers(-(2**17), 2**17, (K, TERMS))
    for c in sure or ():
        coefficients[c, 0] = 2**20
    return Place(
        whitening=tuple(map(tuple, whitening.astype(int).tolist())),
        coefficients=tuple(coefficients.astype(int).ravel().tolist()),
    )


def asks(at, *, aggregate):
    edges = tuple(range(6_000, 6_000 + 5_000 * (SCORE_BINS - 1), 5_000)) * K
    return (
        AskMoments(),
        AskCurvature(at=at),
        *(AskGradient(at=at, round=t) for t in range(aggregate.rounds)),
        *((AskScores(at=at, edges=edges),) if aggregate.held_out else ()),
    )


def answers(columns, *, aggregate, at, adjacency=Adjacency.ADD_REMOVE):
    rows = DescentRows(aggregate, columns, dataset=world(adjacency=adjacency))
    return np.array(
        [v for ask in asks(at, aggregate=aggregate) for v in rows.answer(ask)], dtype=object
    )


def patients(n, rng, *, aggregate, corners=False):
    rows = aggregate.bounds.max_rows
    people = staged(n * rows, rng)
    if corners:
        people["age"] = rng.choice([0, 50, 100], n * rows)
        people["marker"] = rng.choice([0, 500, 1000], n * rows)
        people["stage"] = rng.integers(0, K, n * rows)
        if rng.random() < 0.7:  # rows that are alike add up to the most
            people = {name: value[np.zeros(n * rows, int)] for name, value in people.items()}
    patient = np.repeat(np.arange(n), rows)
    return columns_of(people, patient=patient, rank=np.tile(np.arange(1, rows + 1), n))


def test_what_is_no_question_to_a_model_has_no_answer():
    columns = patients(1, np.random.default_rng(2), aggregate=CLASSES)
    rows = DescentRows(CLASSES, columns, dataset=world())
    with pytest.raises(EngineError, match="no answer"):
        rows.answer("AskMoments")


@MODELS
def test_an_answer_is_the_sum_of_what_each_patient_answers_alone(aggregate):
    rng = np.random.default_rng(4)
    columns, at = patients(40, rng, aggregate=aggregate), place(rng)
    whole = answers(columns, aggregate=aggregate, at=at)
    assert len(whole) == scale_of(aggregate, dataset=world()).length
    alone = [
        answers({k: v[columns["p"] == p] for k, v in columns.items()}, aggregate=aggregate, at=at)
        for p in range(40)
    ]
    assert (whole == sum(alone)).all()
    order = rng.permutation(len(columns["p"]))
    shuffled = {k: v[order] for k, v in columns.items()}
    assert (whole == answers(shuffled, aggregate=aggregate, at=at)).all()


@MODELS
@pytest.mark.parametrize("adjacency", Adjacency)
def test_no_patient_moves_the_answers_by_more_than_the_sensitivity(aggregate, adjacency):
    rng, to = np.random.default_rng(17), world(adjacency=adjacency)
    claimed, largest = descent_sensitivity(aggregate, dataset=to).l2_squared, 0.0
    for number in range(200):
        at = place(rng) if number % 2 else place(wide=8, sure=(number // 2 % K,))
        moved = answers(
            patients(1, rng, aggregate=aggregate, corners=True),
            aggregate=aggregate,
            at=at,
            adjacency=adjacency,
        )
        if adjacency is Adjacency.SUBSTITUTE:
            moved = moved - answers(
                patients(1, rng, aggregate=aggregate, corners=True),
                aggregate=aggregate,
                at=at,
                adjacency=adjacency,
            )
        largest = max(largest, float(Fraction(sum(moved * moved), claimed)))
    assert 0.3 < largest <= 1


@MODELS
@pytest.mark.parametrize("part", ["totals", "gradient", "curvature", "spread"])
def test_each_part_of_the_answers_comes_close_to_its_bound(aggregate, part):
    """A gradient where the model is sure of another class, curvature where it is of two alike."""
    scale = scale_of(aggregate, dataset=world())
    columns = patients(1, np.random.default_rng(2), aggregate=aggregate)
    for index, value in enumerate((0, 100, 1, 3)):
        columns[f"e{index}"][:] = value
    rows = DescentRows(aggregate, columns, dataset=world())
    wrong, two = place(wide=8, sure=(1,)), place(wide=8, sure=(1, 2))
    match part:
        case "totals":
            found = rows.answer(AskMoments())[scale.entries :]
            bound = scale.moments * UNIT**2
        case "gradient":
            found = rows.answer(AskGradient(at=wrong, round=0))
            bound = scale.gradients[0] * scale.clip * RESIDUAL * math.sqrt(2)
        case "curvature":
            found = rows.answer(AskCurvature(at=two))[: scale.curved]
            bound = scale.curvature * 2 * scale.clip**2 / 4
        case _ if aggregate is SEVERAL:
            found = rows.answer(AskCurvature(at=wrong))[scale.curved :]
            bound = scale.curvature * 2 * scale.clip**2
        case _:
            found = rows.answer(AskCurvature(at=two))[scale.curved :]
            bound = scale.curvature * scale.clip**2 / 4
    norm = math.sqrt(sum(v * v for v in found))
    least = 0.7 if part in ("curvature", "spread") else 0.99  # entries off a diagonal count once
    assert least * bound <= norm <= bound * (1 + 1e-3)


def test_residuals_of_all_classes_have_a_norm_of_at_most_the_root_of_two():
    rng = np.random.default_rng(5)
    plain = rng.integers(-4 * UNIT, 4 * UNIT, (4000, TERMS)).astype(np.float64)
    classes = Classes(rng.integers(0, K, 4000), K)
    squared = (classes.residuals(plain, place(rng)) ** 2).sum(axis=1)
    assert 1.99 * RESIDUAL**2 < squared.max() <= 2 * (RESIDUAL + K) ** 2


def test_products_of_two_shares_are_at_most_a_quarter_and_together_too():
    rng = np.random.default_rng(6)
    plain = rng.integers(-2 * UNIT, 2 * UNIT, (4000, TERMS)).astype(np.float64)
    roots = Classes(np.zeros(4000, int), K).roots(plain, place(rng))
    together = sum((root / ROOT) ** 4 for root in roots)
    assert 0.06 < together.max() <= 1 / 16


IN_PARTS = replace(
    CLASSES,
    held_out=400,
    calibrating=200,
    subgroups=(CLASSES.covariates[2], ColumnOf(table="people", column="ill")),
)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_with_subgroups_of_classes_no_patient_moves_the_answers_beyond_the_claim(adjacency):
    """Fitted, calibrating and evaluating patients, each added, or each replaced by another."""
    rng, largest = np.random.default_rng(31), 0.0
    to = world(adjacency=adjacency)
    claimed = descent_sensitivity(IN_PARTS, dataset=to).l2_squared
    scale, at = scale_of(IN_PARTS, dataset=to), place(rng)

    def one():
        found = patients(1, rng, aggregate=CLASSES, corners=True)
        found["fold"] = rng.integers(0, 500, len(found["p"]))
        found |= {"e4": found["e2"], "e5": rng.integers(0, 2, len(found["p"]))}
        return answers(found, aggregate=IN_PARTS, at=at, adjacency=adjacency)

    for _ in range(120):
        moved = one() - one() if adjacency is Adjacency.SUBSTITUTE else one()
        assert Fraction(sum(moved * moved), claimed) <= 1
        part = moved[-scale.scored :]
        largest = max(largest, float(Fraction(sum(part * part), claimed)))
    assert largest > (0.99 if adjacency is Adjacency.ADD_REMOVE else 0.4)


def test_subgroups_of_classes_add_up_to_all_who_evaluate():
    rng = np.random.default_rng(32)
    found = patients(300, rng, aggregate=CLASSES)
    n = len(found["p"])
    found |= {"fold": rng.integers(0, 500, n), "e4": found["e2"], "e5": rng.integers(0, 2, n)}
    scale = scale_of(IN_PARTS, dataset=world())
    scores = answers(found, aggregate=IN_PARTS, at=place(rng))[-scale.scored :] // scale.scores
    parts = scores.reshape(-1, K, 2, SCORE_BINS)
    assert len(parts) == 1 + 3 + 2
    assert (parts[1:4].sum(axis=0) == parts[4:].sum(axis=0)).all()
    each = [(found["fold"] < 200).sum(), ((found["fold"] >= 200) & (found["fold"] < 400)).sum()]
    assert (parts[0].sum(axis=(1, 2)) == each[0]).all()
    assert (parts[1:4].sum(axis=(0, 2, 3)) == each[1]).all()


def test_a_patient_who_is_held_out_moves_one_score_for_each_class_and_nothing_else():
    aggregate = replace(SEVERAL, held_out=200)
    columns = patients(1, np.random.default_rng(2), aggregate=aggregate)
    scale = scale_of(aggregate, dataset=world())
    columns["fold"][:] = 199
    moved = answers(columns, aggregate=aggregate, at=place())
    assert sorted(moved[moved != 0]) == [scale.scores] * K
    assert K * scale.scores**2 <= scale.l2_squared
    columns["fold"][:] = 200
    assert not answers(columns, aggregate=aggregate, at=place())[-scale.scored :].any()


@pytest.mark.parametrize(
    ("aggregate", "says"),
    [
        (replace(CLASSES, classes=3), "public values"),
        (replace(CLASSES, outcome=CLASSES.covariates[0]), "public values"),
        (replace(CLASSES, outcome=AGGREGATE.outcome, classes=2), "public values|three classes"),
        (replace(AGGREGATE, classes=4), "Only a multinomial"),
    ],
)
def test_models_whose_classes_are_not_declared_are_refused(aggregate, says):
    with pytest.raises(ContractError, match=says):
        check_descent(aggregate, dataset=world())


def test_two_classes_are_sent_to_logistic_regression_and_more_than_ten_are_refused():
    (people,) = world().tables
    stage = people.columns[-1]

    def with_classes(number):
        keys = tuple(f"stage {i}" for i in range(number))
        codes = tuple((str(i), i) for i in range(number))
        column = replace(stage, upper=number - 1, keys=keys, codes=codes)
        return replace(world(), tables=(replace(people, columns=(*people.columns[:-1], column)),))

    with pytest.raises(ContractError, match="three classes") as refused:
        check_descent(replace(CLASSES, classes=2), dataset=with_classes(2))
    assert "logistic-regression" in str(refused.value)
    with pytest.raises(InvalidParameterError, match="at most 10 classes"):
        check_descent(replace(CLASSES, classes=11), dataset=with_classes(11))
