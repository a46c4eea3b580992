"""Products of factors: what a row adds, how far a patient moves it, and how it is written down."""

import itertools
from dataclasses import dataclass
from fractions import Fraction

import pytest

from confide.attacks.audit.generate import neighbours
from confide.attacks.audit.sensitivity_search import search
from confide.drawing.grid import Grid, grid_of
from confide.drawing.words import load_words
from confide.errors import ContractError, InvalidParameterError
from confide.plans.canonical import decode, encode
from confide.plans.contribution import question
from confide.privacy.unit import Entity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.shapes import check_aggregate
from confide.tables.aggregates.value import (
    Centred,
    CentredSquare,
    Factor,
    Plain,
    Product,
    reads,
    value_range,
)
from confide.tables.bound_contributions import CellBound, OneEvent, RowBound
from confide.tables.expression import ColumnOf, Expression
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not, Predicate
from confide.tables.relation import Relation, centre, domain
from noisy_answers import dataset
from seeded import SeededEntropy

TO = dataset()
BMI = ColumnOf(table="participants", column="bmi")
AGE = ColumnOf(table="participants", column="age")
SEX = ColumnOf(table="participants", column="sex")
NAMES = {c.__name__: c for c in (All, AnyOf, Between, Everything, IsIn, Not)}


def product(*factors: Factor) -> Aggregate:
    return Aggregate(
        relation=Relation(table="participants"),
        axes=(),
        value=Product(of=factors),
        bounds=CellBound(max_cells=1),
    )


def ends(factor: Factor) -> tuple[int, int]:
    of = domain(factor.of, dataset=TO)
    middle = centre(of)[0] if isinstance(factor, Centred) else 0
    return of.lower - middle, of.upper - middle


FACTORS: tuple[Factor, ...] = (Plain(of=BMI), Centred(of=BMI), Plain(of=AGE), Centred(of=AGE))


@pytest.mark.parametrize("factors", list(itertools.product(FACTORS, FACTORS)))
def test_the_range_of_a_product_is_that_of_its_extremes(factors):
    values = value_range(Product(of=factors), dataset=TO, counted="rows")
    one, other = factors
    if one == other:
        extremes = [end**2 for end in ends(one)]
    elif one.of == other.of:  # one column has one value
        both = [range(low, high + 1) for low, high in map(ends, factors)]
        extremes = [a * b for a, b in zip(*both, strict=True)]
    else:
        extremes = [a * b for a in ends(one) for b in ends(other)]
    assert values.magnitude == max(map(abs, extremes))
    assert values.signed is (min(extremes) < 0 < max(extremes))


def test_a_factor_squared_is_the_centred_square():
    square = value_range(CentredSquare(of=BMI), dataset=TO, counted="rows")
    twice = value_range(Product(of=(Centred(of=BMI),) * 2), dataset=TO, counted="rows")
    assert (twice.magnitude, twice.signed) == (square.magnitude, square.signed)
    cubed = value_range(Product(of=(Centred(of=BMI),) * 3), dataset=TO, counted="rows")
    assert cubed.signed


def test_a_product_has_two_factors_or_more_and_they_are_numbers():
    with pytest.raises(InvalidParameterError, match="two factors"):
        Product(of=(Plain(of=BMI),))
    with pytest.raises(ContractError, match="Categories cannot be summed"):
        check_aggregate(product(Plain(of=BMI), Plain(of=SEX)), dataset=TO)
    with pytest.raises(InvalidParameterError, match="could overflow"):
        check_aggregate(product(*[Plain(of=BMI)] * 12), dataset=TO)


def test_a_product_is_read_back_from_a_plan():
    value = product(Centred(of=BMI), Plain(of=AGE))
    assert decode(Aggregate, encode(value), names={**NAMES, "Predicate": Predicate}) == value
    assert reads(value.value) == (BMI, AGE)


def test_a_product_is_told_in_the_product_of_its_units():
    words = load_words("en")
    grid = Grid(step=Fraction(1, 100), units=("mm[Hg]", "1"))
    assert grid.text(250, words=words) == "2.5 mmHg"
    assert Grid(step=Fraction(1), units=("kg", "mm[Hg]")).text(2, words=words) == "2 kg·mmHg"
    measured = question("product", product(Centred(of=BMI), Centred(of=BMI)), dataset=TO)
    assert grid_of(measured, dataset=TO).step == domain(BMI, dataset=TO).scale ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Products:
    """Asks for the products that the search needs, under each bound."""

    id: str = "products"
    entity: Entity = Entity.PATIENT

    def questions(self, of):
        def column(name: str) -> Expression:
            return ColumnOf(table="events", column=name)

        values = {
            "signed": Product(of=(Centred(of=column("amount")), Centred(of=column("change")))),
            "squared": Product(of=(Plain(of=column("amount")), Plain(of=column("amount")))),
            "weighted": Product(of=(Plain(of=column("amount")), Centred(of=column("whole")))),
            "cubed": Product(of=(Plain(of=column("whole")),) * 3),
        }
        bounds = (
            (RowBound(max_rows=3), CellBound(max_cells=2, max_rows_per_cell=2))
            if self.entity is Entity.PATIENT
            else (OneEvent(),)
        )
        return tuple(
            question(
                f"{name} {place}",
                Aggregate(
                    relation=Relation(table="events"),
                    axes=(column("code"),),
                    value=value,
                    bounds=bound,
                ),
                dataset=of,
            )
            for name, value in values.items()
            for place, bound in enumerate(bounds)
        )


@pytest.mark.L1
@pytest.mark.parametrize("entity", [Entity.PATIENT, Entity.EVENT])
def test_nobody_moves_a_product_further_than_claimed_and_somebody_moves_it_as_far(entity):
    drawn = neighbours(600, entity=entity, entropy=SeededEntropy(3))
    found = search([Products(entity=entity)], drawn=drawn, entity=entity)
    assert not [one for one in found if not one.holds]
    assert not [one for one in found if not one.attained]
