"""What a chart is drawn of: one statistic of a release, its cells and its words.

*Privacy:* all of it is published or public.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from confide.plans.plan import Statistic
from confide.release.release import Release
from confide.report.cells import Cell
from confide.report.describe import group_titles, value_title
from confide.report.marks import Chart
from confide.report.outlines import Outlines
from confide.report.words import Words

Item = TypeVar("Item")

Drawn: TypeAlias = tuple[Chart, tuple[str, ...]]
"""A chart, and what it leaves out or draws in a special way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One statistic of a release, as its chart needs it.

    Attributes:
        release: What is drawn.
        statistic: Which of its statistics.
        words: Language.
        cells: What was published, in order.
        outlines: Public shapes of areas, by spine and level.
    """

    release: Release
    statistic: Statistic
    words: Words
    cells: tuple[Cell, ...]
    outlines: Mapping[tuple[str, str], Outlines]

    @property
    def names(self) -> tuple[str, ...]:
        """Titles of the parts of a key."""
        return group_titles(self.statistic, plan=self.release.plan, words=self.words)

    def axis(self, cells: Sequence[Cell]) -> str:
        """Return the title of the axis of values."""
        unit = cells[0].unit if cells else ""
        return value_title(self.statistic, unit=unit, words=self.words)


def distinct(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return each item once, in the order in which they come."""
    return tuple(dict.fromkeys(items))
