"""Counts and follow-up that answer in turn: bounded, exact, one contribution a patient."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError, InvalidParameterError
from confide.plans.rounds.descent import AskCurvature, AskGradient, AskMoments, AskScores, Place
from confide.plans.rounds.link import STEPS, log_steps
from confide.privacy.adjacency import Adjacency
from confide.rows.models.person_time import follow_up
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.check_descent import check_descent, descent_sensitivity
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import RESIDUAL, SCORE_BINS, UNIT
from confide.tables.bound_contributions import RowBound
from models import ILL
from person_time import COUNTS, EDGES, HAZARDS, MOST, columns_of, counted, followed, world

TERMS = 5
MODELS = pytest.mark.parametrize("aggregate", [COUNTS, HAZARDS], ids=["counts", "hazards"])


def place(aggregate, rng=None, *, wide=1, level=0):
    """Return a place: unit whitening and equal levels, or a random one."""
    size = aggregate.intercepts + TERMS - 1
    whitening = np.eye(TERMS) * wide * UNIT
    coefficients = np.concatenate([np.full(aggregate.intercepts, level), np.zeros(TERMS - 1)])
    if rng is not None:
        whitening = rng.integers(-8 * UNIT, 8 * UNIT, (TERMS, TERMS))
        coefficients = rng.integers(-(2**17), 2**15, size)
    return Place(
        whitening=tuple(map(tuple, whitening.astype(int).tolist())),
        coefficients=tuple(coefficients.astype(int).tolist()),
    )


def asks(at, *, aggregate):
    edges = tuple(range(15_000, 15_000 + 200 * (SCORE_BINS - 1), 200))
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


def corner(aggregate, rng):
    """Return one patient with values at their bounds."""
    people = {
        "age": rng.choice([0, 50, 100], 1),
        "marker": rng.choice([0, 500, 1000], 1),
        "group": rng.integers(0, 3, 1),
        "ill": rng.integers(0, 2, 1),
        "visits": rng.choice([0, 1, MOST], 1),
        "observed": rng.choice([30, 730], 1),
        "followed": rng.choice([0, 1, *EDGES[1:], 2000], 1),
    }
    return columns_of(people, aggregate=aggregate)


def cohort_of(aggregate):
    return columns_of(
        (followed if aggregate is HAZARDS else counted)(60, np.random.default_rng(1)),
        aggregate=aggregate,
    )


@MODELS
def test_an_answer_is_the_sum_of_what_each_patient_answers_alone(aggregate):
    rng = np.random.default_rng(4)
    columns, at = cohort_of(aggregate), place(aggregate, rng)
    whole = answers(columns, aggregate=aggregate, at=at)
    alone = [
        answers({k: v[i : i + 1] for k, v in columns.items()}, aggregate=aggregate, at=at)
        for i in range(60)
    ]
    assert (whole == sum(alone)).all()
    order = rng.permutation(60)
    shuffled = {k: v[order] for k, v in columns.items()}
    assert (whole == answers(shuffled, aggregate=aggregate, at=at)).all()


@MODELS
@pytest.mark.parametrize("adjacency", Adjacency)
def test_no_patient_moves_the_answers_by_more_than_the_sensitivity(aggregate, adjacency):
    rng = np.random.default_rng(17)
    claimed = descent_sensitivity(aggregate, dataset=world(adjacency=adjacency)).l2_squared
    largest = 0.0
    for number in range(250):
        at = place(aggregate, rng) if number % 2 else place(aggregate, wide=8, level=2**16)
        moved = answers(corner(aggregate, rng), aggregate=aggregate, at=at, adjacency=adjacency)
        if adjacency is Adjacency.SUBSTITUTE:
            moved = moved - answers(
                corner(aggregate, rng), aggregate=aggregate, at=at, adjacency=adjacency
            )
        largest = max(largest, float(Fraction(sum(moved * moved), claimed)))
    assert 0.15 < largest <= 1


@MODELS
@pytest.mark.parametrize("part", ["totals", "gradient", "spread"])
def test_each_part_of_the_answers_comes_close_to_its_bound(aggregate, part):
    scale = scale_of(aggregate, dataset=world())
    columns = corner(aggregate, np.random.default_rng(2))
    for index, value in enumerate((0, 100, 1)):
        columns[f"e{index}"][:] = value
    hazards = aggregate is HAZARDS
    columns["e3"][:], columns["e4"][:] = (1, 400) if hazards else (MOST, 730)
    at = place(aggregate, wide=8, level=-(2**20))  # nothing is expected, so the residual is 1
    rows = DescentRows(aggregate, columns, dataset=world())
    match part:
        case "totals":
            found = rows.answer(AskMoments())[scale.entries :]
            bound = scale.moments * UNIT**2 * (1 if hazards else math.sqrt(2))
        case "gradient":
            found = rows.answer(AskGradient(at=at, round=0))
            bound = scale.gradients[0] * scale.clip * RESIDUAL
        case _:
            found = rows.answer(AskCurvature(at=at))[scale.entries :]
            bound = scale.curvature * scale.clip**2
    norm = math.sqrt(sum(v * v for v in found))
    least = 0.7 if part == "spread" else 0.99  # entries above a diagonal count once
    assert least * bound <= norm <= bound * (1 + 1e-12)


def test_the_hazard_that_a_patient_lives_through_ends_at_one():
    """And an event after that does not count, so that the rest has mean 0 (a stopping time)."""
    rng = np.random.default_rng(3)
    time, event = rng.integers(0, 2001, 500), rng.random(500) < 0.5
    found = follow_up(time, event, edges=EDGES)
    at = place(HAZARDS, level=2**16)
    means = np.floor(np.exp((np.arange(2**15) + 0.5) / STEPS - 16) * RESIDUAL).astype(np.int64)
    hazards, residual = found.lived(rng.integers(-2000, 2000, 500), at, means)
    whole = hazards.sum(axis=1)
    assert hazards.min() >= 0
    assert whole.max() == RESIDUAL
    counted_events = (residual + hazards).sum(axis=1) == RESIDUAL
    assert not counted_events[whole == RESIDUAL].any()
    assert (counted_events == (event & (time <= EDGES[-1]) & (whole < RESIDUAL))).all()
    assert (np.abs(residual.sum(axis=1)) <= RESIDUAL).all()


def test_a_martingale_stopped_by_its_hazard_has_mean_zero():
    people = followed(100_000, np.random.default_rng(5))
    rows = DescentRows(HAZARDS, columns_of(people, aggregate=HAZARDS), dataset=world())
    from person_time import HAZARD_TRUTH, RATES

    truth = np.concatenate([np.log(RATES * EDGES[-1] / 365), HAZARD_TRUTH])
    at = Place(
        whitening=tuple(map(tuple, (np.eye(TERMS) * UNIT).astype(int).tolist())),
        coefficients=tuple(np.rint(truth * 2**16).astype(int).tolist()),
    )
    scale = scale_of(HAZARDS, dataset=world())
    found = np.array(rows.answer(AskGradient(at=at, round=0)), dtype=float)
    found /= scale.gradients[0] * UNIT * RESIDUAL
    assert (np.abs(found) < 4 * math.sqrt(100_000 * 0.3)).all()


def test_a_patient_who_is_held_out_moves_one_score_and_nothing_else():
    aggregate = replace(HAZARDS, held_out=200)
    columns = corner(aggregate, np.random.default_rng(2))
    columns["fold"][:] = 199
    scale = scale_of(aggregate, dataset=world())
    moved = answers(columns, aggregate=aggregate, at=place(aggregate))
    assert sorted(moved[moved != 0]) == [scale.scores]
    assert scale.scored == SCORE_BINS * (2 * aggregate.intercepts + 1)
    columns["fold"][:] = 200
    assert not answers(columns, aggregate=aggregate, at=place(aggregate))[-scale.scored :].any()


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_held_out_count_moves_events_and_person_time_of_one_bin_within_the_sensitivity(adjacency):
    """The claim is that of a model without held-out patients; at both bounds they reach half."""
    aggregate, to = replace(COUNTS, held_out=500), world(adjacency=adjacency)
    claimed = descent_sensitivity(aggregate, dataset=to).l2_squared
    assert claimed == descent_sensitivity(COUNTS, dataset=to).l2_squared
    scale, rng, largest = scale_of(aggregate, dataset=to), np.random.default_rng(6), 0.0
    for _ in range(150):
        at = place(aggregate, rng)
        both = []
        for _ in range(2):
            columns = corner(aggregate, rng)
            columns["fold"][:] = rng.choice([0, 499, 500])
            moved = answers(columns, aggregate=aggregate, at=at, adjacency=adjacency)
            held = columns["fold"][0] < 500
            assert bool(moved[: -scale.scored].any()) != held
            assert len({p % SCORE_BINS for p in np.flatnonzero(moved[-scale.scored :])}) <= held
            both.append(moved)
        moved = both[0] - both[1] if adjacency is Adjacency.SUBSTITUTE else both[0]
        assert Fraction(sum(moved * moved), claimed) <= 1
        scores = moved[-scale.scored :]
        largest = max(largest, float(Fraction(sum(scores * scores), claimed)))
    assert largest > (0.99 if adjacency is Adjacency.ADD_REMOVE else 0.4)


def test_held_out_events_and_person_time_add_up():
    aggregate = replace(COUNTS, held_out=500)
    people = counted(400, np.random.default_rng(7))
    columns = columns_of(people, aggregate=aggregate, fold=499)
    scale = scale_of(aggregate, dataset=world())
    sums = answers(columns, aggregate=aggregate, at=place(aggregate, np.random.default_rng(8)))
    events, time = np.split(sums[-scale.scored :] // scale.scores, 2)
    assert sum(events) / UNIT**2 == pytest.approx(people["visits"].sum() / MOST, rel=1e-3)
    assert sum(time) / UNIT**2 == pytest.approx(people["observed"].sum() / 730, rel=1e-6)
    assert np.count_nonzero(events) > 2


def in_parts(aggregate):
    """Return a model that is recalibrated, and judged by two columns of subgroups."""
    columns = (aggregate.covariates[2], ILL.of)
    return replace(aggregate, held_out=400, calibrating=200, subgroups=columns)


def parted(columns, rng, *, aggregate):
    """Return rows with the columns of their subgroups."""
    first, n = len(aggregate.covariates) + 2, len(columns["p"])
    columns["fold"] = rng.integers(0, 500, n)
    return columns | {f"e{first}": columns["e2"], f"e{first + 1}": rng.integers(0, 2, n)}


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("aggregate", [COUNTS, HAZARDS], ids=["counts", "hazards"])
def test_with_subgroups_of_rates_no_patient_moves_the_answers_beyond_the_claim(
    aggregate, adjacency
):
    """Fitted, calibrating and evaluating patients, each added, or each replaced by another."""
    model, rng, largest = in_parts(aggregate), np.random.default_rng(21), 0.0
    to = world(adjacency=adjacency)
    claimed = descent_sensitivity(model, dataset=to).l2_squared
    assert claimed == descent_sensitivity(replace(aggregate, held_out=400), dataset=to).l2_squared
    scored = scale_of(model, dataset=to).scored
    at = place(model, rng)
    for _ in range(150):
        one, other = (
            answers(
                parted(corner(model, rng), rng, aggregate=model),
                aggregate=model,
                at=at,
                adjacency=adjacency,
            )
            for _ in range(2)
        )
        moved = one - other if adjacency is Adjacency.SUBSTITUTE else one
        assert Fraction(sum(moved * moved), claimed) <= 1
        part = moved[-scored:]
        largest = max(largest, float(Fraction(sum(part * part), claimed)))
    assert largest > (0.99 if adjacency is Adjacency.ADD_REMOVE else 0.4)


@pytest.mark.parametrize("aggregate", [COUNTS, HAZARDS], ids=["counts", "hazards"])
def test_subgroups_of_rates_add_up_to_all_who_evaluate(aggregate):
    model, rng = in_parts(aggregate), np.random.default_rng(22)
    found = parted(cohort_of(aggregate), rng, aggregate=model)
    scale = scale_of(model, dataset=world())
    scores = answers(found, aggregate=model, at=place(model, rng))[-scale.scored :]
    parts = (scores // scale.scores).reshape(-1, model.score_cells)
    assert len(parts) == 1 + 3 + 2
    assert (parts[1:4].sum(axis=0) == parts[4:].sum(axis=0)).all()
    plain = answers(found, aggregate=replace(aggregate, held_out=400), at=place(aggregate, rng))[
        -model.score_cells :
    ]
    ratio = scale_of(replace(aggregate, held_out=400), dataset=world()).scores
    assert parts[:4].sum() == pytest.approx(plain.sum() // ratio)


def test_events_of_those_held_out_are_cut_where_the_question_says():
    """In units of that number of them; nobody adds more than one unit, whatever they had."""
    aggregate = replace(COUNTS, held_out=500)
    people = counted(400, np.random.default_rng(7))
    columns = columns_of(people, aggregate=aggregate, fold=499)
    rows, at = DescentRows(aggregate, columns, dataset=world()), place(aggregate)
    scale = scale_of(aggregate, dataset=world())
    edges = tuple(range(15_000, 15_000 + 200 * (SCORE_BINS - 1), 200))
    for most in (1, 2, 4):
        found = rows.answer(AskScores(at=at, edges=edges, most=most))
        events = sum(found[:SCORE_BINS]) / scale.scores / UNIT**2
        assert events == pytest.approx(np.minimum(people["visits"], most).sum() / most, rel=1e-3)


def test_logarithms_of_person_time_are_within_a_step_of_the_grid():
    values = np.concatenate([np.arange(1, 5000), 2 ** np.arange(13, 40)])
    assert np.abs(log_steps(values) - np.log(values) * STEPS).max() <= 1


@pytest.mark.parametrize(
    ("aggregate", "says"),
    [
        (replace(COUNTS, exposure=HAZARDS.exposure), "above zero"),
        (replace(HAZARDS, bounds=RowBound(max_rows=2)), "one row"),
        (replace(HAZARDS, exposure=None), "time of follow-up"),
        (replace(HAZARDS, covariates=()), "needs a covariate"),
    ],
)
def test_models_whose_lemma_would_not_hold_are_refused(aggregate, says):
    with pytest.raises(ContractError, match=says):
        check_descent(aggregate, dataset=world())


def wide(**uppers):
    """Return a world with other upper bounds of some columns."""
    (people,) = world().tables
    columns = tuple(replace(one, upper=uppers.get(one.name, one.upper)) for one in people.columns)
    return replace(world(), tables=(replace(people, columns=columns),))


@pytest.mark.parametrize("uppers", [{"visits": 2**47}, {"observed": 2**39}], ids=["events", "time"])
def test_bounds_whose_multiples_would_pass_64_bits_are_refused(uppers):
    """Wrapped around, a count of 2⁴⁷ would be −1 of its bound, and a residual twice what is
    claimed."""
    with pytest.raises(InvalidParameterError, match="Expected"):
        descent_sensitivity(COUNTS, dataset=wide(**uppers))


def test_the_largest_bounds_that_are_taken_keep_the_sensitivity():
    to, at = wide(visits=2**46, observed=2**38), place(COUNTS, wide=8, level=2**22)
    claimed = descent_sensitivity(COUNTS, dataset=to).l2_squared
    for visits in (0, 2**45, 2**46 - 1, 2**46):
        for observed in (30, 2**37 + 1, 2**38):
            found = corner(COUNTS, np.random.default_rng(1))
            found |= {"e3": np.array([visits]), "e4": np.array([observed])}
            rows = DescentRows(COUNTS, found, dataset=to)
            events, time = rows.answer(AskMoments())[-2:]
            assert min(events, time) >= 0
            parts = [v for ask in asks(at, aggregate=COUNTS) for v in rows.answer(ask)]
            assert sum(v * v for v in parts) <= claimed


@pytest.mark.parametrize("edges", [(0,), (1, 10), (0, 10, 10), (0, 3000), tuple(range(30))])
def test_intervals_that_do_not_rise_from_zero_to_the_bound_are_refused(edges):
    with pytest.raises(InvalidParameterError, match="intervals"):
        check_descent(replace(HAZARDS, edges=edges), dataset=world())
