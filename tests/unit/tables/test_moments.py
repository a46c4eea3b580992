"""Moments as one vector: what a row adds, and how far a patient moves it."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.errors import InvalidParameterError
from confide.plans.contribution import PerPatient
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity
from confide.statistics import Mean, Variance
from confide.tables.aggregates.moments import MomentAggregate
from confide.tables.aggregates.shapes import parts
from confide.tables.bound_contributions import CellBound, RowBound, ValueRange, sensitivity
from confide.tables.expression import ColumnOf
from confide.tables.filter import Between
from confide.tables.relation import Relation, centre, domain
from noisy_answers import dataset

TO = dataset()
BMI = ColumnOf(table="participants", column="bmi")  # 100 … 701: an odd range, h = ⌈601/2⌉


def moments(degree: int) -> MomentAggregate:
    return MomentAggregate(
        relation=Relation(table="participants"),
        axes=(),
        of=BMI,
        degree=degree,
        bounds=CellBound(max_cells=1),
    )


def sums(values: list[int], *, degree: int) -> list[tuple[int, ...]]:
    middle, _ = centre(domain(BMI, dataset=TO))
    return [(sum((x - middle) ** power for x in values),) for power in range(degree + 1)]


@given(values=st.lists(st.integers(100, 701), max_size=8))
def test_the_vector_is_the_sum_of_bernstein_polynomials(values):
    first = moments(1).combined(sums(values, degree=1), dataset=TO)
    assert first == (sum(701 - x for x in values), sum(x - 100 for x in values))
    second = moments(2).combined(sums(values, degree=2), dataset=TO)
    assert second == (
        sum((701 - x) ** 2 for x in values),
        sum(2 * (701 - x) * (x - 100) for x in values),
        sum((x - 100) ** 2 for x in values),
    )


@given(values=st.lists(st.integers(100, 701), min_size=1, max_size=8))
def test_a_row_adds_the_same_amount_whatever_its_value(values):
    for degree in (1, 2):
        vector = moments(degree).combined(sums(values, degree=degree), dataset=TO)
        assert min(vector) >= 0
        assert sum(vector) == len(values) * 601**degree


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("kind", [Mean, Variance])
def test_one_patient_moves_the_vector_by_its_sensitivity_and_no_more(kind, adjacency):
    """Every pair of a patient's values, or none, at the bounds and between."""
    to = dataset(adjacency=adjacency)
    (question,) = kind(id="x", table="participants", column="bmi").questions(to)
    degree = question.aggregate.degree
    vectors = [
        moments(degree).combined(sums([x], degree=degree), dataset=to)
        for x in (100, 101, 250, 400, 401, 700, 701)
    ]
    nothing = (0,) * (degree + 1)
    others = [nothing, *vectors] if adjacency is Adjacency.SUBSTITUTE else [nothing]
    changes = [
        [a - b for a, b in zip(one, other, strict=True)] for one in vectors for other in others
    ]
    assert max(sum(map(abs, change)) for change in changes) == question.sensitivity.l1
    squares = max(sum(part**2 for part in change) for change in changes)
    assert squares == question.sensitivity.l2_squared


def test_several_rows_and_cells_multiply_as_for_counts():
    values = ValueRange(magnitude=7, signed=False, unit="1", components=3)

    def of(bounds: RowBound | CellBound, *, cells: int, adjacency: Adjacency) -> tuple[int, int]:
        found = sensitivity(
            bounds, values=values, cells=cells, entity=Entity.PATIENT, adjacency=adjacency
        )
        return found.l1, found.l2_squared

    add, swap = Adjacency.ADD_REMOVE, Adjacency.SUBSTITUTE
    assert of(RowBound(max_rows=4), cells=5, adjacency=add) == (28, 28**2)
    assert of(RowBound(max_rows=4), cells=1, adjacency=swap) == (56, 2 * 28**2)
    bounds = CellBound(max_cells=2, max_rows_per_cell=3)
    assert of(bounds, cells=5, adjacency=add) == (42, 2 * 21**2)
    assert of(bounds, cells=1, adjacency=add) == (21, 21**2)


def test_the_parts_are_sums_over_rows_whose_value_is_known():
    for degree in (1, 2):
        plain = parts(moments(degree))
        assert len(plain) == degree + 1
        for part in plain:
            assert Between(of=BMI) in part.relation.where.of
        assert moments(degree).coordinates(TO) == degree + 1


def test_a_third_degree_is_refused():
    with pytest.raises(InvalidParameterError, match="degree 1 or 2"):
        moments(3)


def test_a_patient_of_many_visits_moves_the_mean_by_rows_times_range():
    spec = Mean(id="m", table="visits", column="days", per_patient=PerPatient(rows=4))
    (question,) = spec.questions(TO)
    assert question.sensitivity.l1 == Fraction(120)
    assert question.sensitivity.because.startswith("a patient keeps at most 4 rows, in one cell")
