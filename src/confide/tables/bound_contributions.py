"""Contribution bounds and the sensitivity they give to a sum of bounded values over public cells.

The engine keeps, of each patient's matching rows, the first in a secretly keyed order that is a
function of that patient's own rows only; so adding or removing a patient leaves everyone else's
kept rows unchanged, and the lemmas below hold.

*Lemmas* (one patient adds a vector v over cells, |value of a row| ≤ h; add-remove moves the sum by
v, substitution by v − w for two such vectors):

- at most m rows: ‖v‖₁ ≤ m·h, and all of them may fall in one cell, so ‖v‖₂² ≤ (m·h)², not m·h²;
- at most k cells with r rows each: ‖v‖₁ ≤ k·r·h, ‖v‖₂² ≤ k·(r·h)²;
- substitution: ‖v − w‖₁ ≤ 2‖v‖₁; where values are ≥ 0, each coordinate moves by at most its own
  maximum and ‖v − w‖₂² ≤ ‖v‖₂² + ‖w‖₂², so L2² doubles; signed values may oppose in the same
  cells, so L2² quadruples;
- groups of cells, each count times a weight w, of at most k cells with r rows each: where every
  group is one cell, the k heaviest of them, ‖v‖₁ ≤ r·Σw and ‖v‖₂² ≤ r²·Σw² over them; otherwise
  all k cells may be in the heaviest group, ‖v‖₁ ≤ k·r·w and ‖v‖₂² ≤ (k·r·w)²; under substitution
  the old and the new patient fill different groups, so twice as many count;
- one event (the privacy unit is the row): v has one cell of size ≤ h;
- a row that adds a vector u ≥ 0 with ‖u‖₁ ≤ h to its cell: the same bounds, since ‖u‖₂ ≤ ‖u‖₁.

Each is attained (the sensitivity search of the audit finds a pair that reaches it).

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
    [WZL20] Wilson et al. Differentially private SQL with bounded user contribution. PETS 2020.
        https://doi.org/10.2478/popets-2020-0025
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from confide.errors import InvalidParameterError
from confide.privacy.adjacency import Adjacency
from confide.privacy.sensitivity import Sensitivity
from confide.privacy.unit import Entity


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBound:
    """Each patient keeps at most ``max_rows`` rows."""

    max_rows: int

    def __post_init__(self) -> None:
        _at_least_one(max_rows=self.max_rows)


class CellOrder(enum.Enum):
    """Which cells of a patient come first."""

    KEYED = "keyed"  # by the secretly keyed order of (person, cell)
    EARLIEST = "earliest"  # by the last axis, time; cells of the same time by the keyed order


@dataclass(frozen=True, slots=True, kw_only=True)
class CellBound:
    """Each patient keeps at most ``max_cells`` cells and ``max_rows_per_cell`` rows in each.

    With ``EARLIEST`` the cells that a patient keeps up to a time do not depend on later rows.
    """

    max_cells: int
    max_rows_per_cell: int = 1
    order: CellOrder = CellOrder.KEYED

    def __post_init__(self) -> None:
        _at_least_one(max_cells=self.max_cells, max_rows_per_cell=self.max_rows_per_cell)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneEvent:
    """The privacy unit is the row: every row is kept, and one row is one unit."""


ContributionBounds: TypeAlias = RowBound | CellBound | OneEvent


def _at_least_one(**bounds: int) -> None:
    for name, value in bounds.items():
        if not isinstance(value, int) or not 1 <= value <= 10**9:
            raise InvalidParameterError(
                f"Expected {name} between 1 and 1e9, got {value}.",
                hint="Bound what one patient contributes, e.g. per-patient: {cells: 5, rows: 1}.",
            )


def rows_per_unit(bounds: ContributionBounds) -> int:
    """Return the most rows that one privacy unit adds to the sum.

    Example:
        >>> rows_per_unit(CellBound(max_cells=5, max_rows_per_cell=2))
        10
    """
    match bounds:
        case RowBound(max_rows=m):
            return m
        case CellBound(max_cells=k, max_rows_per_cell=r):
            return k * r
        case OneEvent():
            return 1
        case _:
            assert_never(bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRange:
    """How large the value of one kept row can be.

    Attributes:
        magnitude: Largest absolute value, or L1 norm of several components; at least 1.
        signed: Whether both signs occur.
        unit: "persons", "visits", "tenths of mm[Hg]".
        components: Coordinates that a row adds to in its cell; their L1 norm is the magnitude, and
            one of them alone may hold it all.
    """

    magnitude: int
    signed: bool
    unit: str
    components: int = 1


def sensitivity(
    bounds: ContributionBounds,
    *,
    values: ValueRange,
    cells: int,
    entity: Entity,
    adjacency: Adjacency,
) -> Sensitivity:
    """Return how far one privacy unit can move the sums over ``cells`` public cells.

    Raises:
        InvalidParameterError: If the bounds do not suit the privacy unit.

    Example:
        A histogram of at most five diagnoses a patient, among 2,000 codes:

        >>> s = sensitivity(
        ...     CellBound(max_cells=5),
        ...     values=ValueRange(magnitude=1, signed=False, unit="persons"),
        ...     cells=2000, entity=Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE)
        >>> s.l1, s.l2_squared
        (5, 5)
    """
    if entity in (Entity.EDGE, Entity.HOSPITAL) or (entity is Entity.EVENT) != isinstance(
        bounds, OneEvent
    ):
        raise InvalidParameterError(
            f"Expected bounds that suit the privacy unit {entity.value!r}.",
            hint="Patients need max rows or cells; events are bounded by being one row.",
        )
    match bounds:
        case RowBound(max_rows=m):
            spread, each = 1, m * values.magnitude
        case CellBound(max_cells=k, max_rows_per_cell=r):
            spread, each = min(k, cells), r * values.magnitude
        case OneEvent():
            spread, each = 1, values.magnitude
        case _:
            assert_never(bounds)
    match adjacency, values.signed:
        case Adjacency.ADD_REMOVE, _:
            l1, l2_squared, linf = spread * each, spread * each**2, each
        case Adjacency.SUBSTITUTE, False:
            touched = min(2 * spread, cells * values.components)
            l1, l2_squared, linf = touched * each, touched * each**2, each
        case Adjacency.SUBSTITUTE, True:
            l1, l2_squared, linf = 2 * spread * each, 4 * spread * each**2, 2 * each
        case _:
            raise InvalidParameterError("Unknown adjacency.")
    return Sensitivity(
        l1=l1,
        l2_squared=l2_squared,
        linf=linf,
        entity=entity,
        unit=values.unit,
        because=_because(bounds, values=values, adjacency=adjacency),
    )


def pooled_sensitivity(
    bounds: ContributionBounds,
    *,
    weights: Sequence[int],
    merged: bool,
    unit: str,
    adjacency: Adjacency,
) -> Sensitivity:
    """Return how far one privacy unit can move weighted counts of groups of cells.

    Args:
        bounds: Enforced on the cells.
        weights: Of every group.
        merged: Whether some group holds several cells.
        unit: What a count is of.
        adjacency: Which data sets are neighbours.

    Example:
        Two wards a patient, counted by site: both wards may be in one site.

        >>> s = pooled_sensitivity(
        ...     CellBound(max_cells=2), weights=(1, 1, 1), merged=True, unit="persons",
        ...     adjacency=Adjacency.ADD_REMOVE)
        >>> s.l1, s.l2_squared
        (2, 4)
    """
    if isinstance(bounds, CellBound) and not merged:
        spread, each = bounds.max_cells, bounds.max_rows_per_cell
    else:
        spread, each = 1, rows_per_unit(bounds)
    match adjacency:
        case Adjacency.ADD_REMOVE:
            filled = spread
        case Adjacency.SUBSTITUTE:
            filled = 2 * spread
        case _:
            assert_never(adjacency)
    heaviest = sorted(weights, reverse=True)[:filled]
    entity = Entity.EVENT if isinstance(bounds, OneEvent) else Entity.PATIENT
    values = ValueRange(magnitude=1, signed=False, unit=unit)
    because = _because(bounds, values=values, adjacency=adjacency)
    if heaviest[0] > 1:
        counted = "each counted once"
        because = because.replace(counted, f"{counted}, times a public weight ≤ {heaviest[0]}")
    return Sensitivity(
        l1=each * sum(heaviest),
        l2_squared=each**2 * sum(weight**2 for weight in heaviest),
        linf=each * heaviest[0],
        entity=entity,
        unit=unit,
        because=because,
    )


def _because(bounds: ContributionBounds, *, values: ValueRange, adjacency: Adjacency) -> str:
    unit = "" if values.unit == "1" else f" {values.unit}"
    if values.magnitude == 1 and unit in (" persons", " rows"):
        size = "each counted once"
    else:
        size = f"each worth at most {values.magnitude}{unit}"
    match bounds:
        case RowBound(max_rows=m):
            kept = f"a patient keeps at most {_many(m, 'row')}, {size}"
        case CellBound(max_cells=1, max_rows_per_cell=r):
            kept = f"a patient keeps at most {_many(r, 'row')}, in one cell, {size}"
        case CellBound(max_cells=k, max_rows_per_cell=r):
            kept = f"a patient keeps at most {_many(k, 'cell')} with {_many(r, 'row')} each, {size}"
        case OneEvent():
            kept = f"one event is one row, {size}"
        case _:
            assert_never(bounds)
    match adjacency:
        case Adjacency.ADD_REMOVE:
            move = "and is added or removed"
        case Adjacency.SUBSTITUTE:
            move = "and is replaced by another"
        case _:
            assert_never(adjacency)
    return f"{kept}, {move} [DMNS06, def. 3]."


def _many(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
