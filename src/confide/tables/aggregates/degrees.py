"""Degree histograms of a contact network: how many persons have how many contacts.

A row of a table with two id columns is a contact.  Rows that name one person twice are dropped, and
all rows of one pair, in either order, are one edge.  The vertices are the persons of a declared
table (then contacts with anyone else are dropped and degree 0 is known), or else everyone who has a
contact (then it is not).  The vector has one coordinate a degree, up to a public D.

*Edge adjacency* (one pair's contact): a vertex of degree D or more is counted in the last bin.
One edge moves each of its two ends by one bin, so L1 ≤ 4.  If both ends move between the *same* two
bins, the change is (−2, +2): L1 = 4, and L2² = 8, not 4.  Few bins allow less, and substitution is
one edge removed and another added; :func:`_edge_moves` takes the maximum over all the degrees that
the two or four ends can have.  Degrees beyond 4 bring nothing new: the largest squared norm, 24,
is that of −4 in one bin and +2 in both neighbours; with u a move up and d a move down,
⟨u, u′⟩ ≤ 2, ⟨d, d′⟩ ≤ 2 and ⟨u, d⟩ ≤ 1, so 4·2 + 2·2 + 2·2 + 2·4·1 = 24 is not passed.

*Node adjacency* (a person with all contacts): one person can have any number of contacts, so the
graph is projected to degrees ≤ D first.  Edges are taken in an order, and an edge is kept if both
of its ends have fewer than D kept edges by then [DLL16, alg. 1].  The order is *stable*: where an
edge stands against another depends on the ids of their ends alone, not on which other rows exist.

*Lemma* (add-remove): the histogram of projected degrees moves by L1 ≤ 2D + 1 and
L2² ≤ D² + (D + 1)².  *Proof.*  Let G′ be G with a vertex v more, run both in the same order, and
let x(u) be the number of kept edges of u in G′ less that in G, for u ≠ v, and Φ = Σ|x(u)|.  At
first Φ = 0.  An edge {u, v} that is kept in G′ adds at most 1 to Φ; there are m ≤ D of them, m
being the degree of v.  An edge {a, b} of both graphs, kept in both or in neither, changes nothing.
If it is kept in G alone, then one end, say a, is full in G′ and not in G: x(a) = D − d(a) ≥ 1.
Keeping it takes 1 from x(a), so |x(a)| falls by 1, and 1 from x(b), so |x(b)| rises by at most 1: Φ
does not grow.  If it is kept in G′ alone, the same holds with G and G′ exchanged.  So Φ ≤ m ≤ D at
the end, hence at most D vertices other than v changed their bin, each leaving one and entering one;
v enters one.  What is entered adds up to at most D + 1 and what is left to at most D, which gives
L1, and L2² as a sum of squares of parts is at most the sum of the squares of both totals. ∎  Both
are attained: D vertices of degree D − 1, and v a contact of each.  [DLL16, thm. 2 and lem. 4] has
the same L1.

*Lemma* (substitution of v): L1 ≤ 4D, L2² ≤ 8D².  *Proof.*  By the above from the graph without v,
at most m + m′ other vertices differ, m and m′ being the degrees of the two v; v itself changes its
bin only if m ≠ m′, and then m + m′ ≤ 2D − 1.  So at most 2D vertices change their bin. ∎

With one bin alone (D = 1 without degree 0) a vector is a number, and its largest change is L∞.

*Utility:* the projection drops edges of persons with more than D contacts, and so pulls the degrees
of their contacts down too: degrees are those of a subgraph, and a mean taken from them is too low.

References:
    [DLL16] Day, Li, Lyu. Publishing graph degree distribution with node differential privacy.
        SIGMOD 2016. https://doi.org/10.1145/2882903.2926745
    [HLMJ09] Hay, Li, Miklau, Jensen. Accurate estimation of the degree distribution of private
        networks. ICDM 2009. https://doi.org/10.1109/ICDM.2009.11
"""

import enum
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, assert_never

from confide.errors import ContractError, InvalidParameterError
from confide.privacy.adjacency import Adjacency
from confide.privacy.sensitivity import Sensitivity
from confide.privacy.unit import Entity
from confide.tables.aggregates.told import Telling
from confide.tables.aggregates.value import Step
from confide.tables.expression import ColumnOf, Expression
from confide.tables.filter import expressions, sources
from confide.tables.relation import Relation, domain
from confide.tables.schema import Dataset

MOST_DEGREES = 100_000
_FAR = 4  # larger degrees bring no new coincidence


class How(enum.Enum):
    """What becomes of a vertex with more than D contacts."""

    CAPPED = "capped"  # it is counted in the last bin: for edge adjacency
    PROJECTED = "projected"  # it keeps D of them, in a stable order: for node adjacency


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeBounds:
    """A public bound of degrees.

    Attributes:
        at_most: D.
        how: What becomes of a larger degree.
    """

    at_most: int
    how: How

    def __post_init__(self) -> None:
        if not 1 <= self.at_most <= MOST_DEGREES:
            raise InvalidParameterError(
                f"Expected a degree bound between 1 and {MOST_DEGREES}, got {self.at_most}.",
                hint="Write at-most: 20, from public knowledge of such networks.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeAggregate:
    """Persons by number of contacts.

    Attributes:
        relation: The contacts, filtered by their own columns.
        persons: Table with one row per person that holds the vertices; "" for all with contacts.
        bounds: The public bound of degrees.
    """

    reads: ClassVar[tuple[Expression, ...]] = ()
    shared: ClassVar[str] = "A contact belongs to two persons, so nobody's own part of it is known."

    relation: Relation
    persons: str
    bounds: DegreeBounds

    @property
    def degrees(self) -> range:
        """The degree of each coordinate, in order."""
        return range(0 if self.persons else 1, self.bounds.at_most + 1)

    def coordinates(self, dataset: Dataset) -> int:
        """Return the number of coordinates of the vector."""
        del dataset
        return len(self.degrees)

    def check(self, dataset: Dataset) -> None:
        """Refuse a degree histogram whose lemma would not hold.

        Raises:
            ContractError: If the table holds no contacts, the vertices have several rows each, or
                the filter looks at anything but the row.
        """
        contacts = dataset.table(self.relation.table)
        if not contacts.other_id:
            raise ContractError(
                f"Table {contacts.name!r} names one person a row, so it holds no contacts.",
                hint="Declare its second id column: other-id: contact_id.",
            )
        if self.persons:
            persons = dataset.table(self.persons)
            if persons.other_id or not persons.one_row_per_patient:
                raise ContractError(
                    f"Table {persons.name!r} cannot hold the vertices.",
                    hint="Name a table with rows-per-patient: 1.",
                )
        for expression in expressions(self.relation.where):
            for read in sources(expression):
                if not isinstance(read, ColumnOf) or read.table != contacts.name:
                    raise ContractError(
                        "A contact belongs to two persons, so only its own columns can choose it.",
                        hint=f"Use columns of {contacts.name!r} in where.",
                    )
            domain(expression, dataset=dataset)
        if self.bounds.how is not degrees_bounded(dataset):
            raise ContractError("The degree bound does not suit the privacy unit.")

    def sensitivity(self, dataset: Dataset, *, counted: str) -> Sensitivity:
        """Return how far one edge, or one person, moves a degree histogram.

        Raises:
            ContractError: As :meth:`check`.
        """
        del counted
        self.check(dataset)
        adjacency, most = dataset.adjacency, self.bounds.at_most
        match self.bounds.how:
            case How.CAPPED:
                l1, l2_squared, linf = _edge_moves(self, adjacency=adjacency)
                because = "one contact moves its two persons by one degree each"
            case How.PROJECTED:
                l1, l2_squared, linf = _node_moves(most, adjacency=adjacency)
                if len(self.degrees) == 1:
                    l1, l2_squared = linf, linf**2
                because = (
                    f"after a stable projection to {most} contacts a person moves at most "
                    f"{most} others"
                )
            case _:
                assert_never(self.bounds.how)
        move = "added or removed" if adjacency is Adjacency.ADD_REMOVE else "replaced by another"
        source = "HLMJ09, sec. II" if self.bounds.how is How.CAPPED else "DLL16, lem. 4"
        return Sensitivity(
            l1=l1,
            l2_squared=l2_squared,
            linf=linf,
            entity=dataset.unit.entity,
            unit="persons",
            because=f"{because}, and is {move} [{source}].",
        )

    def step(self, dataset: Dataset) -> Step:
        """Return what one step of the vector is worth."""
        del dataset
        return Step(size=Fraction(1))

    def told(self, say: Telling) -> str:
        """Return what is measured, in words."""
        return f"persons by number of contacts in {say.rows(self.relation)}"


def degrees_bounded(dataset: Dataset) -> How:
    """Return how degrees must be bounded for the privacy unit.

    Raises:
        ContractError: If the unit is one row.
    """
    match dataset.unit.entity:
        case Entity.PATIENT:
            return How.PROJECTED
        case Entity.EDGE:
            return How.CAPPED
        case Entity.EVENT | Entity.HOSPITAL:
            raise ContractError(
                f"With the {dataset.unit.entity.value} as privacy unit, contacts cannot be counted "
                "as pairs.",
                hint="Write protects: {unit: edge, ...} for one pair's contact, or unit: patient.",
            )
        case _:
            assert_never(dataset.unit.entity)


def _node_moves(most: int, *, adjacency: Adjacency) -> tuple[int, int, int]:
    match adjacency:
        case Adjacency.ADD_REMOVE:
            return 2 * most + 1, most**2 + (most + 1) ** 2, most + 1
        case Adjacency.SUBSTITUTE:
            return 4 * most, 8 * most**2, 2 * most
        case _:
            assert_never(adjacency)


def _edge_moves(aggregate: DegreeAggregate, *, adjacency: Adjacency) -> tuple[int, int, int]:
    """Return the largest L1, L2² and L∞ over the degrees of all ends, before the edge is there."""
    ends = range(min(aggregate.bounds.at_most, _FAR) + 1)
    pairs = list(itertools.combinations_with_replacement(ends, 2))
    moved: Iterator[tuple[tuple[int, int], tuple[int, int] | None]]
    match adjacency:
        case Adjacency.ADD_REMOVE:
            moved = ((added, None) for added in pairs)
        case Adjacency.SUBSTITUTE:
            moved = itertools.product(pairs, pairs)
        case _:
            assert_never(adjacency)
    l1 = l2_squared = linf = 0
    for added, removed in moved:
        change: Counter[int] = Counter()
        for ends_of, sign in ((added, 1), (removed or (), -1)):
            for degree in ends_of:
                change[min(degree + 1, aggregate.bounds.at_most)] += sign
                change[min(degree, aggregate.bounds.at_most)] -= sign
        sizes = [abs(by) for degree, by in change.items() if degree in aggregate.degrees]
        l1 = max(l1, sum(sizes))
        l2_squared = max(l2_squared, sum(size**2 for size in sizes))
        linf = max(linf, *sizes) if sizes else linf
    return l1, l2_squared, linf
