"""What may be told of a linkage, and how far a person moves it.

A person who is in both tables is the one whom linkage is about, so what is protected is all of
their records: one of the first table and one of the second.  With t links for each person of the
second table, by :mod:`.assignment`:

====================  ===================  ==================  ==================================
told                  the first's record   the second's        both: L1; squared L2
====================  ===================  ==================  ==================================
overlap               1                    t                   1 + t; its square
linked, persons by g  2, and 1             t, and 0            3 + t; (1 + t)² + 2
histogram of J bins   1 in each bin        t in each bin       J(1 + t); J(1 + t)²
K best scores         2K                   t                   2K + t; its square
====================  ===================  ==================  ==================================

Links above each edge of the histogram are a first part of the walk, and change by −1 or 0 for a
unit of room, so the number in a bin, the difference of two, changes by at most one.  Of linked by
group the squares are the largest where the person and those who lose a link are of one group: a
(1 + t)² there and 1 where another wins one; the person's own group has one person less.  Who is
replaced goes and comes: twice the L1, four times the squared L2.
"""

from dataclasses import InitVar, dataclass
from typing import TypeAlias

from confide.errors import ContractError

STEPS = 1024
"""Grid points of a score of 1."""
MOST_EDGES, MOST_SCORES = 50, 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """How many persons of the first table are linked."""

    @property
    def name(self) -> str:
        """Of the event."""
        return "overlap"

    def moved(self, links: int) -> tuple[int, int]:
        """Return L1 and squared L2 by which all records of one person move it."""
        return 1 + links, (1 + links) ** 2

    @property
    def why(self) -> str:
        """In one sentence."""
        return "a record of the first table moves the number of links by 1, of the second by t"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedBy:
    """How many persons of each group of the first table there are, and how many are linked.

    Attributes:
        column: Declared category of the first table, such as the site.
    """

    column: str

    @property
    def name(self) -> str:
        """Of the event."""
        return f"linked by {self.column}"

    def moved(self, links: int) -> tuple[int, int]:
        """Return L1 and squared L2 by which all records of one person move it."""
        return 3 + links, (1 + links) ** 2 + 2

    @property
    def why(self) -> str:
        """In one sentence."""
        return "who leaves the first table sets one link free, which one other may take"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkScores:
    """How many links have a score in each bin.

    Attributes:
        edges: Lower ends of the bins, on the grid, ascending; the last bin ends at 1.
    """

    edges: tuple[int, ...]

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.edges, self.edges[1:], strict=False))
        if not 1 <= len(self.edges) <= MOST_EDGES or not rising or self.edges[-1] > STEPS:
            raise ContractError(
                f"Expected 1 to {MOST_EDGES} ascending edges of scores, {STEPS} grid points apart "
                "at most.",
                hint="Write histogram: [0.95, 0.99].",
            )

    @property
    def name(self) -> str:
        """Of the event."""
        return "score histogram"

    def moved(self, links: int) -> tuple[int, int]:
        """Return L1 and squared L2 by which all records of one person move it."""
        return len(self.edges) * (1 + links), len(self.edges) * (1 + links) ** 2

    @property
    def why(self) -> str:
        """In one sentence."""
        return "links above each edge move by 1 + t at most, the same way, so each bin does"


@dataclass(frozen=True, kw_only=True)
class PublicRoster:
    """Public ids of persons of whom scores are told, whether they are in the first table or not.

    Attributes:
        rows: How many.
        sha256: Of the ids, one a line.
    """

    rows: int
    sha256: str
    ids: InitVar[tuple[str, ...] | None] = None

    def __post_init__(self, ids: tuple[str, ...] | None) -> None:
        object.__setattr__(self, "_held", ids)

    def held(self) -> tuple[str, ...]:
        """Return the ids.

        Raises:
            ContractError: If only their digest is known, as to a verifier.
        """
        ids: tuple[str, ...] | None = self.__dict__["_held"]
        if ids is None:
            raise ContractError("Only the digest of the roster is known.")
        return ids


@dataclass(frozen=True, slots=True, kw_only=True)
class BestScores:
    """The K best link scores of each id of a public roster, the largest first, filled up with 0.

    Whom the scores are of the second table is not told.

    Attributes:
        roster: Whose.
        most: K.
    """

    roster: PublicRoster
    most: int

    def __post_init__(self) -> None:
        if not 1 <= self.most <= MOST_SCORES:
            raise ContractError(f"Expected 1 to {MOST_SCORES} scores an id, got {self.most}.")

    @property
    def name(self) -> str:
        """Of the event."""
        return "best scores"

    def moved(self, links: int) -> tuple[int, int]:
        """Return L1 and squared L2 by which all records of one person move it, in grid points."""
        l1 = STEPS * (2 * self.most + links)
        return l1, l1**2

    @property
    def why(self) -> str:
        """In one sentence."""
        return "each link that is set free is taken by another, at a score that is no better"


LinkageAsk: TypeAlias = Overlap | LinkedBy | LinkScores | BestScores
