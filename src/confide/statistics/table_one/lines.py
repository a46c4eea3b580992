"""What a Table 1 measures: a line for each variable, or two for a number shown in two ways.

Every line is one vector over groups × (coordinates + missing), of the same rows, so every line
measures how many rows a group has, and both lines of a number how many are missing.  Where nobody
states the cells of a median they are counted in two rounds
(:mod:`confide.tables.aggregates.refined`), the same cells in all groups, so that groups add up.
"""

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import assert_never

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.canonical import ABSENT
from confide.plans.cuts.quantiles import Measurable, QuantileCells, quantile_cells
from confide.plans.estimation.consistency import Block, Consistent, least_squares
from confide.plans.estimation.cumulative import Ends
from confide.plans.estimation.intervals import noise_component
from confide.plans.mechanisms import additive
from confide.plans.typical_spread import NORMAL_MEDIAN
from confide.privacy.exact import takes_numbers
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.moments import MomentAggregate
from confide.tables.aggregates.ranked.ranked_together import RankedTogether
from confide.tables.aggregates.ranked.ranked_value import MOST_VALUES
from confide.tables.aggregates.value import Ones
from confide.tables.bound_contributions import ContributionBounds
from confide.tables.conditions.unknown import can_be_unknown
from confide.tables.expression import (
    BinOf,
    CaseOf,
    ColumnOf,
    DaysOf,
    Expression,
    OrMissing,
    PartOf,
    ValueOf,
)
from confide.tables.filter import Predicate
from confide.tables.relation import Relation, domain, resolve
from confide.tables.schema import Dataset, Domain, Kind

FLAT = 32
"""Most public cells of a number, where nobody says how many and one round must do."""
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))

_GRID = 10**6
_USUAL = Fraction(1, 100)
"""Asked error where none is written, for noise of one row a coordinate: of a share, one point."""


class Summary(enum.Enum):
    """How a number is summed up."""

    MEAN_SD = "mean-sd"
    MEDIAN_IQR = "median-iqr"


class MedianInterval(enum.Enum):
    """What is published beside a median and quartiles."""

    BY_RANK = "by-rank"  # an interval, from counts whose ranks are inverted
    NONE = "none"  # nothing: the values are chosen, group by group


@takes_numbers
@dataclass(frozen=True, slots=True, kw_only=True)
class Characteristic:
    """One variable of the table.

    Attributes:
        column: A column, derived column or per-patient value: with labels, or a number.
        show: How a number is summed up; mean and SD when empty.  Labels are counted.
        bins: Most public cells that medians are read from: one a value where there are enough, else
            one for each bound and equal ones between; None for two rounds.
        edges: Where these cells begin instead, in the unit of the column, from bound to bound.
        within: Error that is asked of a share, or of a mean or median in its unit.  Only the ratios
            of asked errors matter, unless the statistic asks for errors of its own.  When None, the
            error that the noise of a share within one point would give.
        ends: Whether each bound has a cell of its own.
        interval: Whether medians have intervals.
    """

    column: str
    show: tuple[Summary, ...] = ()
    bins: int | None = field(default=None, metadata={ABSENT: FLAT})
    within: Fraction | None = None
    edges: tuple[Fraction, ...] = ()
    ends: Ends = field(default=Ends.APART, metadata={ABSENT: Ends.MERGED})
    interval: MedianInterval = MedianInterval.BY_RANK

    def __post_init__(self) -> None:
        if self.bins is not None and self.bins < 4:
            raise ContractError(f"Variable {self.column!r}: expected at least four bins.")
        if self.within is not None and self.within <= 0:
            raise ContractError(f"Variable {self.column!r}: expected within > 0.")


class LineVector(enum.Enum):
    """What the vector of a line holds."""

    COUNTS = "counts"
    MOMENTS = "moments"
    HISTOGRAM = "histogram"
    VALUES = "values"  # the vector has the rows of each value, and quartiles are chosen by it


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLine:
    """One vector of the table.

    Attributes:
        variable: Name of the variable.
        way: What its coordinates are.
        of: The variable.
        domain: Its public domain.
        missing: Whether rows without it have a coordinate of their own, the last one.
        within: Error asked of a share, mean or median, in its unit; None for the usual one.
        edges: Of the cells of a histogram, in canonical integers: public ones, until its noisy
            counts say which others were asked for.
        cells: How the quantiles of a histogram are sought.
        row: What a row adds to a cell of a histogram.
    """

    variable: str
    way: LineVector
    of: "ColumnOf | ValueOf | BinOf | PartOf | DaysOf | CaseOf"
    domain: Domain
    missing: bool
    within: Fraction | None = None
    edges: tuple[int, ...] = ()
    cells: QuantileCells | None = None
    row: int = 1

    @property
    def name(self) -> str:
        """Name of its question."""
        return f"{self.variable}/{self.way.value}"

    @property
    def known(self) -> int:
        """Number of coordinates of a row whose value is known."""
        match self.way:
            case LineVector.COUNTS:
                return self.domain.size()
            case LineVector.MOMENTS:
                return 3
            case LineVector.HISTOGRAM:
                return len(self.edges) - 1
            case LineVector.VALUES:
                return 0
            case _:
                assert_never(self.way)

    @property
    def width(self) -> int:
        """Number of coordinates of a group."""
        return self.known + self.missing

    @property
    def worth(self) -> int:
        """What one row adds to the sum of all coordinates."""
        if self.way is not LineVector.MOMENTS:
            return self.row
        return (self.domain.upper - self.domain.lower) ** 2

    @property
    def reach(self) -> Fraction:
        """U − L, in physical units."""
        return (self.domain.upper - self.domain.lower) * self.domain.scale

    @property
    def asked(self) -> Fraction:
        """Error asked of a share, mean or median, in its unit."""
        if self.within is not None:
            return self.within
        return _USUAL * Fraction(round(_GRID * self.error_of_one), _GRID)

    @property
    def error_of_one(self) -> float:
        """Error of the line's number, times rows in a group, for noise of one row a coordinate.

        Of a cell: one row.  Of a mean in the middle: (U−L)·√½, from the first and the last moment.
        Of a median of a normal law spread over a third of the bounds: √bins/2 rows over a density
        of 6/(U−L)/√(2π); of one that is chosen one row over it.
        """
        match self.way:
            case LineVector.COUNTS:
                return 1.0
            case LineVector.MOMENTS:
                return float(self.reach) * math.sqrt(0.5)
            case LineVector.HISTOGRAM:
                return float(self.reach) * NORMAL_MEDIAN * math.sqrt(self.known) / 2
            case LineVector.VALUES:
                return float(self.reach) * NORMAL_MEDIAN
            case _:
                assert_never(self.way)

    def aggregate(
        self,
        relation: Relation,
        *,
        groups: tuple[Expression, ...],
        bounds: ContributionBounds,
        dataset: Dataset,
    ) -> Measurable | MomentAggregate | RankedTogether:
        """Return what is measured."""
        if self.way is LineVector.VALUES:
            if not isinstance(self.of, ColumnOf | ValueOf | DaysOf):
                raise ContractError(f"Variable {self.variable!r} is no number of a table.")
            return RankedTogether(
                relation=relation,
                of=self.of,
                lower=self.domain.lower,
                upper=self.domain.upper,
                steps=min(MOST_VALUES, self.domain.upper - self.domain.lower),
                at=QUARTILES,
                bounds=bounds,
                by=groups,
                groups=len(cell_keys(groups, dataset=dataset)),
            )
        if self.cells is not None:
            return self.cells.measured(
                relation=relation,
                by=groups,
                bounds=bounds,
                dataset=dataset,
                missing=self.missing,
                alike=True,
            )
        if self.way is LineVector.MOMENTS:
            return MomentAggregate(
                relation=relation,
                axes=groups,
                of=self.of,
                degree=2,
                bounds=bounds,
                missing=self.missing,
            )
        axes = (*groups, OrMissing(of=self.of) if self.missing else self.of)
        return Aggregate(relation=relation, axes=axes, value=Ones(), bounds=bounds)


def lines(
    variables: Sequence[Characteristic],
    *,
    table: str,
    where: Predicate,
    expect: Fraction | None,
    dataset: Dataset,
) -> tuple[MeasuredLine, ...]:
    """Return the lines of the table, those of one variable together.

    Raises:
        ContractError: If a variable has neither labels nor numbers.
    """
    return tuple(
        line
        for variable in variables
        for line in _of_variable(variable, table=table, where=where, expect=expect, dataset=dataset)
    )


def _of_variable(
    variable: Characteristic,
    *,
    table: str,
    where: Predicate,
    expect: Fraction | None,
    dataset: Dataset,
) -> tuple[MeasuredLine, ...]:
    of = resolve(variable.column, table=table, dataset=dataset)
    within = domain(of, dataset=dataset)
    if not isinstance(of, ColumnOf | ValueOf | BinOf | PartOf | DaysOf | CaseOf):
        raise ContractError(f"Variable {variable.column!r} is no column.")
    missing = can_be_unknown(of, table=table, dataset=dataset, where=where)
    if within.keys:
        if variable.show:
            raise ContractError(
                f"Variable {variable.column!r} has labels, which are counted.",
                hint="Leave `show` out.",
            )
        return (
            MeasuredLine(
                variable=variable.column,
                way=LineVector.COUNTS,
                of=of,
                domain=within,
                missing=missing,
                within=variable.within,
            ),
        )
    if within.kind is not Kind.NUMBER:
        raise ContractError(
            f"Variable {variable.column!r} is a date.",
            hint="Derive its year, or bins of it, in dataset.yaml and name that.",
        )
    mean = MeasuredLine(
        variable=variable.column,
        way=LineVector.MOMENTS,
        of=of,
        domain=within,
        missing=missing,
        within=variable.within,
    )
    found = []
    for summary in dict.fromkeys(variable.show or (Summary.MEAN_SD,)):
        if summary is Summary.MEAN_SD:
            found.append(mean)
            continue
        if variable.interval is MedianInterval.NONE:
            _require_no_cells(variable)
            found.append(replace(mean, way=LineVector.VALUES, missing=False))
            continue
        cells = quantile_cells(
            variable.column,
            table=table,
            bins=variable.bins,
            edges=variable.edges,
            at=QUARTILES,
            expect=expect,
            name=f"Variable {variable.column!r}",
            dataset=dataset,
            ends=variable.ends,
            flat=FLAT,
        )
        found.append(replace(mean, way=LineVector.HISTOGRAM, edges=cells.edges, cells=cells))
    return tuple(found)


def _require_no_cells(variable: Characteristic) -> None:
    if variable.bins is not None or variable.edges:
        raise ContractError(
            f"Variable {variable.column!r}: values without intervals are chosen among all values.",
            hint="Leave out bins and edges, or leave out interval.",
        )


def consistent(of: Sequence[MeasuredLine], *, mechanisms: Mapping[str, Mechanism]) -> Consistent:
    """Return the least squares of one group: equal totals, and equal missing of one variable."""
    blocks: list[Block] = []
    totals: list[dict[int, float]] = []
    absent: dict[str, int] = {}
    constraints: list[dict[int, float]] = []
    for line in of:
        noise = noise_component(additive(mechanisms[line.name]), factor=1 / line.worth)
        place = len(blocks)
        blocks.append(Block(size=line.known, noise=noise))
        totals.append({place: 1.0})
        if line.missing:
            blocks.append(Block(size=1, noise=noise))
            totals[-1][place + 1] = 1.0
            earlier = absent.setdefault(line.variable, place + 1)
            if earlier != place + 1:
                constraints.append({earlier: 1.0, place + 1: -1.0})
    first = {place: -factor for place, factor in totals[0].items()}
    constraints += [first | total for total in totals[1:]]
    return least_squares(tuple(blocks), tuple(tuple(each.items()) for each in constraints))


def places(of: Sequence[MeasuredLine]) -> tuple[int, ...]:
    """Return the position of each line's first block; that of its missing rows follows."""
    found, place = [], 0
    for line in of:
        found.append(place)
        place += 1 + line.missing
    return tuple(found)


def split(
    of: Sequence[MeasuredLine], vectors: Sequence[Sequence[int]], *, groups: int
) -> list[list[list[float]]]:
    """Return the noisy values of each group, block by block, counted in rows."""
    found: list[list[list[float]]] = []
    for group in range(groups):
        blocks: list[list[float]] = []
        for line, values in zip(of, vectors, strict=True):
            own = [v / line.worth for v in values[group * line.width : (group + 1) * line.width]]
            blocks.append(own[: line.known])
            if line.missing:
                blocks.append(own[line.known :])
        found.append(blocks)
    return found
