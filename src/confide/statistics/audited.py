"""What the audit asks of a kind of statistic, and where its worst neighbours are; as data.

The tables are those that the audit generates.  A bound that is left out here is one whose claim
nothing tries to refute.
"""

from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction

from confide.plans.plan import Statistic
from confide.plans.public_numbers import PublicNumber
from confide.tables.expression import ColumnOf
from confide.tables.filter import Between, IsIn


class Worst(Enum):
    """Where the neighbours are that a kind tells best apart."""

    SEARCHED = auto()
    """Where its numbers move furthest, in one table of many copies."""
    CHOICE = auto()
    """Where a likely choice becomes least likely; it has no numbers, and is asked again."""
    KEYS = auto()
    """Where a rare key comes or goes."""
    NETWORK = auto()
    """In a network, which has no copies in one table."""
    CORNER = auto()
    """At a corner of all bounds, of a model that is fitted in rounds."""

    @property
    def asked_again(self) -> bool:
        """Whether samples are answers to repeated questions, not copies in one table."""
        return self in {Worst.CHOICE, Worst.NETWORK, Worst.CORNER}

    @property
    def of_tables(self) -> bool:
        """Whether the search over tables moves its numbers, scores or keys."""
        return self in {Worst.SEARCHED, Worst.CHOICE, Worst.KEYS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """What is asked of one kind.

    Attributes:
        patients: Under each kind of bound, with the patient as the unit.
        events: With the event as the unit.
        wide: Ids of those so wide that in some accounting no noise of theirs can be drawn, that ask
            twice, or that choose where their kind adds noise: only the search is made of them.
        worst: Where its worst neighbours are.
    """

    patients: tuple[Statistic, ...] = ()
    events: tuple[Statistic, ...] = ()
    wide: tuple[str, ...] = ()
    worst: Worst = Worst.SEARCHED


HIGH = Between(of=ColumnOf(table="events", column="amount"), lower=50)
CODED = IsIn(of=ColumnOf(table="events", column="code"), values=(0, 2))


def ones(*labels: str) -> tuple[PublicNumber, ...]:
    """Return the public number 1 for each label."""
    return tuple(PublicNumber(keys=(label,), value=Fraction(1)) for label in labels)


BANDS, ANY = ones("0-9", "10-59", "60-100"), ones("no", "yes")
