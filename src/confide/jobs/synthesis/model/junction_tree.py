"""Junction trees: cliques of a triangulated graph in an order in which each meets its parent.

Variables are numbered from 0.  Two variables are joined where some marginal that is measured holds
both.  Eliminating variables one after another, each with its neighbours then left, gives cliques
whose union has the running intersection property: what a clique shares with all earlier ones is
contained in one of them, its parent [KF09, thm. 9.6, sec. 10.4].

*Utility:* the best order is hard to find; three greedy ones are tried, by cells, by edges that they
add and by neighbours, and the one of fewest cells in all is kept.

References:
    [KF09] Koller, Friedman. Probabilistic graphical models. MIT Press, 2009.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from confide.errors import ContractError

Clique: TypeAlias = tuple[int, ...]
"""Variables, ascending."""
_Graph: TypeAlias = Mapping[int, frozenset[int]]
_Cost: TypeAlias = Callable[[int, _Graph, Sequence[int]], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class JunctionTree:
    """Cliques, each after its parent.

    Attributes:
        sizes: Number of levels of each variable.
        cliques: Maximal cliques; none is contained in another.
        parents: Place of each one's parent; −1 of the first.
        separators: What each shares with its parent; may be empty.
    """

    sizes: tuple[int, ...]
    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]
    separators: tuple[Clique, ...]

    @property
    def cells(self) -> int:
        """Number of cells of all cliques."""
        return sum(clique_cells(clique, sizes=self.sizes) for clique in self.cliques)

    def shape(self, clique: Clique) -> tuple[int, ...]:
        """Return the levels of a clique's variables."""
        return tuple(self.sizes[v] for v in clique)

    def holding(self, variables: Iterable[int]) -> int | None:
        """Return the place of the smallest clique that holds variables; None if none does."""
        wanted = set(variables)
        found = [i for i, clique in enumerate(self.cliques) if wanted <= set(clique)]
        smallest = min(
            found, key=lambda i: clique_cells(self.cliques[i], sizes=self.sizes), default=-1
        )
        return None if smallest < 0 else smallest


def clique_cells(clique: Iterable[int], *, sizes: Sequence[int]) -> int:
    """Return the number of cells of a clique.

    Example:
        >>> clique_cells((0, 2), sizes=(2, 3, 5))
        10
    """
    return math.prod(sizes[v] for v in clique)


def junction_tree(
    sizes: Sequence[int], *, joined: Iterable[Clique], most_cells: int
) -> JunctionTree:
    """Return a junction tree that holds all of ``joined``.

    Args:
        sizes: Number of levels of each variable.
        joined: Sets of variables each of which some clique has to hold.
        most_cells: Of all cliques together.

    Raises:
        ContractError: If no order that was tried has so few cells.

    Example:
        A ring of four variables of 3, 4, 5 and 6 levels:

        >>> ring = ((0, 1), (1, 2), (2, 3), (0, 3))
        >>> junction_tree((3, 4, 5, 6), joined=ring, most_cells=1000).cells
        150
    """
    graph = _graph(len(sizes), joined=joined)
    cliques = min(
        (_eliminated(graph, sizes=sizes, cost=cost) for cost in (_by_cells, _by_fill, _by_degree)),
        key=lambda found: sum(clique_cells(each, sizes=sizes) for each in found),
    )
    cells = sum(clique_cells(clique, sizes=sizes) for clique in cliques)
    if cells > most_cells:
        largest = max(cliques, key=lambda each: clique_cells(each, sizes=sizes))
        raise ContractError(
            f"The model would have {cells:,} cells; at most {most_cells:,} can be fitted.",
            hint=f"Use coarser bins and categories, or fewer marginals: {len(largest)} columns "
            f"together of at most {_levels_each(len(largest), cells=most_cells // len(cliques))} "
            "levels each would do.",
        )
    return _joined(tuple(sizes), cliques)


def _levels_each(columns: int, *, cells: int) -> int:
    """Return how many levels each of so many columns may have in a table of so many cells."""
    return max(2, int(math.exp(math.log(max(1, cells)) / columns)))


def _graph(variables: int, *, joined: Iterable[Clique]) -> dict[int, frozenset[int]]:
    found: dict[int, set[int]] = {v: set() for v in range(variables)}
    for clique in joined:
        for one, other in itertools.permutations(clique, 2):
            found[one].add(other)
    return {v: frozenset(others) for v, others in found.items()}


def _eliminated(graph: _Graph, *, sizes: Sequence[int], cost: _Cost) -> list[Clique]:
    """Return the maximal cliques of the graph after greedy elimination."""
    left = {v: set(others) for v, others in graph.items()}
    cliques: list[Clique] = []
    while left:
        frozen = {v: frozenset(others) for v, others in left.items()}
        chosen = min(left, key=lambda v: (cost(v, frozen, sizes), v))
        around = left.pop(chosen)
        clique = tuple(sorted({chosen, *around}))
        if not any(set(clique) <= set(each) for each in cliques):
            cliques.append(clique)
        for v in around:
            left[v] = (left[v] | around) - {v, chosen}
    return cliques


def _by_cells(v: int, graph: _Graph, sizes: Sequence[int]) -> float:
    return clique_cells((v, *graph[v]), sizes=sizes)


def _by_fill(v: int, graph: _Graph, sizes: Sequence[int]) -> float:
    pairs = itertools.combinations(graph[v], 2)
    return sum(sizes[a] * sizes[b] for a, b in pairs if b not in graph[a])


def _by_degree(v: int, graph: _Graph, sizes: Sequence[int]) -> float:  # noqa: ARG001
    return len(graph[v])


def _joined(sizes: tuple[int, ...], cliques: Sequence[Clique]) -> JunctionTree:
    """Return cliques as a tree of greatest separators, by Prim's algorithm [KF09, sec. 10.4.2]."""
    order, parents = [0], [-1]
    separators: list[Clique] = [()]
    left = set(range(1, len(cliques)))
    nearest: dict[int, tuple[int, int]] = {}
    while left:
        for i in left:
            many = len(set(cliques[i]) & set(cliques[order[-1]]))
            if i not in nearest or many > nearest[i][0]:
                nearest[i] = (many, len(order) - 1)
        chosen = max(left, key=lambda i: (nearest[i][0], -i))
        parent = nearest[chosen][1]
        left.remove(chosen)
        order.append(chosen)
        parents.append(parent)
        between = set(cliques[chosen]) & set(cliques[order[parent]])
        separators.append(tuple(sorted(between)))
    return JunctionTree(
        sizes=sizes,
        cliques=tuple(cliques[i] for i in order),
        parents=tuple(parents),
        separators=tuple(separators),
    )
