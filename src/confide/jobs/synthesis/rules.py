"""What cannot be, by public knowledge: a man is not pregnant, nobody leaves before admission.

A rule forbids cells of a table of a few columns.  Those columns are measured together and their
levels are never merged, so a cell that cannot be has chance 0 in the model and no synthetic row.

*Privacy:* rules are public settings; they stand in the plan and move no bound.

*Utility:* a table that a rule names takes its part of the noise of the last tables.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.arrays import Ints
from confide.errors import ContractError
from confide.jobs.synthesis.model.belief import beliefs, summed
from confide.jobs.synthesis.model.fit import Impossible, zeros_of
from confide.jobs.synthesis.model.junction_tree import Clique, JunctionTree
from confide.tables.expression import (
    BinOf,
    ColumnOf,
    DaysOf,
    Expression,
    OrMissing,
    ValueOf,
)
from confide.tables.relation import domain
from confide.tables.schema import Dataset, Kind

BEYOND = 2**62
"""Beyond every canonical integer: a value that is missing comes neither before nor after."""
_NOTHING_LEFT = -5e3


@dataclass(frozen=True, slots=True, kw_only=True)
class Never:
    """Levels that no row has together.

    Attributes:
        columns: Names.
        levels: Of each of them, from 0.
    """

    columns: tuple[str, ...]
    levels: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not 2 <= len(set(self.columns)) == len(self.columns) <= 4:
            raise ContractError(
                "A rule of what is never there names 2 to 4 different columns.",
                hint="Write never: [{sex: M, pregnant: yes}].",
            )
        if len(self.levels) != len(self.columns) or not all(self.levels):
            raise ContractError("A rule of what is never there names a level of each column.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAfter:
    """Two numbers or dates of which the first is at most the second.

    Attributes:
        first: Name of a column.
        then: Of another.
    """

    first: str
    then: str

    def __post_init__(self) -> None:
        if self.first == self.then:
            raise ContractError("A rule of order names two different columns.")

    @property
    def columns(self) -> tuple[str, str]:
        """Both."""
        return self.first, self.then


def impossible_cells(
    rules: Sequence[Never | NotAfter],
    *,
    columns: Sequence[str],
    reads: Sequence[Expression],
    dataset: Dataset,
) -> tuple[Impossible, ...]:
    """Return the cells that rules forbid.

    Args:
        rules: Public.
        columns: Names, in the order of ``reads``.
        reads: Expressions.
        dataset: Public facts.

    Raises:
        ContractError: If a rule names a level that is not there, or an order of what has none.
    """
    found = []
    for rule in rules:
        places = [columns.index(name) for name in rule.columns]
        match rule:
            case Never():
                sizes = [domain(reads[v], dataset=dataset).size() for v in places]
                cells = _never(rule, sizes=sizes)
            case NotAfter():
                first, then = (_ends(reads[v], name=columns[v], dataset=dataset) for v in places)
                _require_alike(*(reads[v] for v in places), rule=rule, dataset=dataset)
                cells = first[0][:, None] > then[1][None, :]
        found.append(_ascending(tuple(places), cells))
    return tuple(found)


def require_possible(
    tree: JunctionTree,
    *,
    impossible: Sequence[Impossible],
    columns: Sequence[str],
    reads: Sequence[Expression],
    dataset: Dataset,
) -> None:
    """Refuse rules that contradict one another: that leave no row, or some level no row.

    Raises:
        ContractError: Naming the column and the level.
    """
    if not impossible:
        return
    said = beliefs(tree, zeros_of(tree, impossible=impossible))
    if said.log_total < _NOTHING_LEFT:
        raise ContractError("The rules contradict one another: no row is left that can be.")
    for v, name in enumerate(columns):
        place = tree.holding((v,))
        if place is None:
            continue
        alone = summed(said.marginals[place], of=(v,), within=tree.cliques[place])
        for level in np.flatnonzero(alone <= 0):
            of = domain(reads[v], dataset=dataset)
            told = of.keys[level] if of.keys else str(level + of.lower)
            raise ContractError(
                f"The rules contradict one another: {name} = {told} could never be.",
                hint="Leave a rule out; or leave that level out of the data set's categories.",
            )


def all_orders(order: Sequence[NotAfter]) -> tuple[NotAfter, ...]:
    """Return rules of order with those that follow from them: a ≤ b ≤ c says a ≤ c.

    Raises:
        ContractError: If they go in a ring.

    Example:
        >>> chain = (NotAfter(first="a", then="b"), NotAfter(first="b", then="c"))
        >>> [rule.columns for rule in all_orders(chain)]
        [('a', 'b'), ('b', 'c'), ('a', 'c')]
    """
    found = dict.fromkeys(rule.columns for rule in order)
    while True:
        more = [(a, d) for a, b in found for c, d in found if b == c and (a, d) not in found]
        if any(a == d for a, d in more):
            raise ContractError(
                "The rules contradict one another: an order goes in a ring.",
                hint="Leave one of its rules out.",
            )
        if not more:
            return tuple(NotAfter(first=a, then=b) for a, b in found)
        found |= dict.fromkeys(more)


def level_ends(of: Expression, *, dataset: Dataset) -> tuple[Ints, Ints] | None:
    """Return the least and greatest canonical integer of each level; None of what has no order."""
    if isinstance(of, OrMissing):
        inner = level_ends(of.of, dataset=dataset)
        if inner is None:
            return None
        return np.append(inner[0], -BEYOND), np.append(inner[1], BEYOND)
    match of:
        case BinOf(of=inside, edges=edges):
            if domain(inside, dataset=dataset).kind not in (Kind.NUMBER, Kind.DATE):
                return None
            ends = [high - 1 for _, high in itertools.pairwise(edges)]
            ends[-1] = edges[-1]
            return np.array(edges[:-1], dtype=np.int64), np.array(ends, dtype=np.int64)
        case ColumnOf() | ValueOf() | DaysOf():
            found = domain(of, dataset=dataset)
            if found.kind not in (Kind.NUMBER, Kind.DATE):
                return None
            levels = np.arange(found.lower, found.upper + 1, dtype=np.int64)
            return levels, levels
        case _:
            return None


def _ends(of: Expression, *, name: str, dataset: Dataset) -> tuple[Ints, Ints]:
    found = level_ends(of, dataset=dataset)
    if found is None:
        raise ContractError(
            f"Column {name!r} has no order: a rule of order is of numbers or dates.",
            hint="Write what is never there: never: [{…: …, …: …}].",
        )
    return found


def _require_alike(one: Expression, other: Expression, *, rule: NotAfter, dataset: Dataset) -> None:
    pair = [domain(innermost(each), dataset=dataset) for each in (one, other)]
    if len({(each.kind, each.scale, each.unit) for each in pair}) > 1:
        raise ContractError(
            f"{rule.first!r} and {rule.then!r} are not of one kind, step and unit, so no rule "
            "compares them."
        )


def innermost(of: Expression) -> Expression:
    """Return the number or date that is cut into bins, or may be missing."""
    inner = of.of if isinstance(of, OrMissing) else of
    return inner.of if isinstance(inner, BinOf) else inner


def _never(rule: Never, *, sizes: Sequence[int]) -> np.ndarray:
    for name, levels, size in zip(rule.columns, rule.levels, sizes, strict=True):
        if not all(0 <= level < size for level in levels):
            raise ContractError(f"A rule names a level that column {name!r} does not have.")
    cells = np.zeros(sizes, dtype=bool)
    cells[np.ix_(*rule.levels)] = True
    return cells


def _ascending(places: Clique, cells: np.ndarray) -> Impossible:
    order = tuple(int(axis) for axis in np.argsort(places))
    variables = tuple(places[axis] for axis in order)
    return Impossible(variables=variables, cells=np.transpose(cells, order))
