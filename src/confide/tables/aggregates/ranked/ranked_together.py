"""Values of a number, of which those nearest to several quantiles are published together.

The exact vector is the rows of each public value, group by group.  Of it the mechanism makes the
utilities of all ascending tuples of values, in whole parts of a row
(:mod:`confide.noise.choices.quantile_set`).

*Lemma:* a row that comes or goes moves the utility of a tuple of one group by 1 row at most, up for
some and down for others, and no other group's: so with m rows of a privacy unit the sum over groups
rises by m at most and falls by m, and the reach is 2m.  Where rows are replaced and there is one
group, utilities are judged by the moves of replaced rows, and the same holds; with several groups a
row may leave one and enter another, each of which moves one utility by 1: the reach is 4m.  ∎

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006, def. 3.
        https://doi.org/10.1007/11681878_14
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from confide.errors import ContractError, InvalidParameterError
from confide.privacy.adjacency import Adjacency
from confide.privacy.ranks import parts_of_row, require_quantiles
from confide.privacy.sensitivity import Sensitivity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.ranked.ranked_value import (
    MOST_VALUES,
    edges_of_steps,
    middle_of_step,
)
from confide.tables.aggregates.told import Telling
from confide.tables.aggregates.value import Ones, Step
from confide.tables.bound_contributions import ContributionBounds, rows_per_unit
from confide.tables.expression import BinOf, ColumnOf, DaysOf, Expression, ValueOf
from confide.tables.relation import Relation, domain
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedTogether:
    """Values of a number, of which some are chosen that are nearest to quantiles.

    Attributes:
        relation: Which rows.
        of: The number.
        lower: Its least value, in canonical integers.
        upper: Its greatest.
        steps: Even steps below the greatest value, which is a candidate of its own; one for each
            value where there are few enough.
        at: The quantiles, ascending.
        bounds: What one privacy unit keeps.
        by: Groups, each of which has values of its own.
        groups: How many they are.
        axes: None in a release; the databases of a sensitivity search.
    """

    relation: Relation
    of: "ColumnOf | ValueOf | DaysOf"
    lower: int
    upper: int
    steps: int
    at: tuple[Fraction, ...]
    bounds: ContributionBounds
    by: tuple[Expression, ...] = ()
    groups: int = 1
    axes: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= min(MOST_VALUES, self.upper - self.lower):
            raise InvalidParameterError("Expected some steps between the bounds.")
        require_quantiles(self.at)

    @property
    def size(self) -> int:
        """How many values are chosen."""
        return self.groups * len(self.at)

    @property
    def edges(self) -> tuple[int, ...]:
        """Where candidates begin, in canonical integers, and where the last one ends."""
        return edges_of_steps(self.lower, self.upper, steps=self.steps)

    def value(self, place: int) -> int:
        """Return the value of a candidate: of several, the middle one or the lower of two."""
        return middle_of_step(self.edges, place)

    @property
    def reads(self) -> tuple[Expression, ...]:
        """What must be known of a row that is kept, beside what the filter says."""
        return (*self.by, self.of)

    def parts(self) -> tuple[Aggregate, ...]:
        """Return the counts of the candidates that an engine answers."""
        axes = (*self.axes, *self.by, BinOf(of=self.of, edges=self.edges))
        return (Aggregate(relation=self.relation, axes=axes, value=Ones(), bounds=self.bounds),)

    def combined(self, sums: Sequence[Sequence[int]], *, dataset: Dataset) -> tuple[int, ...]:
        """Return the rows of each candidate, group by group."""
        del dataset
        return tuple(*sums)

    def coordinates(self, dataset: Dataset) -> int:
        """Return the number of candidates of one quantile."""
        del dataset
        return self.steps + 1

    def moves(self, dataset: Dataset) -> Adjacency:
        """Return by which moves of a row utilities are judged."""
        return dataset.adjacency if self.groups == 1 else Adjacency.ADD_REMOVE

    def check(self, dataset: Dataset) -> None:
        """Refuse bounds or groups that are not declared, what is undeclared or could overflow."""
        within = domain(self.of, dataset=dataset)
        if (within.lower, within.upper) != (self.lower, self.upper):
            raise ContractError("Expected the declared bounds of the number.")
        if len(cell_keys(self.by, dataset=dataset)) != self.groups:
            raise ContractError("Expected as many groups as are declared.")
        for part in self.parts():
            part.check(dataset)

    def sensitivity(self, dataset: Dataset, *, counted: str) -> Sensitivity:
        """Return how far one privacy unit moves utilities, and one choice over another."""
        of_row = parts_of_row(self.at, moves=self.moves(dataset))
        one = rows_per_unit(self.bounds) * of_row
        if dataset.adjacency is not self.moves(dataset):
            one *= 2
        tuples = self.groups * math.comb(self.steps + len(self.at), len(self.at))
        return Sensitivity(
            l1=tuples * one,
            l2_squared=tuples * one * one,
            linf=one,
            entity=dataset.unit.entity,
            unit=counted,
            because="how many rows may come or go before others are the quantiles, times "
            f"{of_row}, moves by at most {one}; of two choices, one may come nearer and the other "
            "go away [DMNS06, def. 3].",
            reach=2 * one,
            set_reach=2 * one,
        )

    def step(self, dataset: Dataset) -> Step:
        """Return what one step of a utility is worth, in rows."""
        return Step(size=Fraction(1, parts_of_row(self.at, moves=self.moves(dataset))))

    def told(self, say: Telling) -> str:
        """Return what is measured, in words."""
        return (
            f"the values of {say.of(self.of)} whose ranks are nearest to its quantiles "
            f"{', '.join(map(str, self.at))}, of {say.rows(self.relation, self.by)}"
        )

    def beside(self, axes: tuple[Expression, ...], *, copies: int) -> Self:
        """Return the same for each combination of further axes, of which there are ``copies``."""
        del copies
        return replace(self, axes=(*axes, *self.axes))
