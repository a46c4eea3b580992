"""What a figure is drawn of: what was published of one statistic, its plan and its words.

*Privacy:* all of it is published or public.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from confide.drawing.cells import Cell
from confide.drawing.charts.outlines import Maps
from confide.drawing.charts.style import WIDTH
from confide.drawing.charts.vega import Chart
from confide.drawing.words import Words
from confide.plans.plan import Noisy, Plan
from confide.tables.expression import BinOf
from confide.tables.relation import domain
from confide.tables.schema import Dataset

Item = TypeVar("Item")

Drawn: TypeAlias = tuple[Chart, tuple[str, ...]]
"""A chart, and what it leaves out or draws in a special way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One statistic of a release, as its figure needs it.

    Attributes:
        plan: What was asked.
        values: The noisy answers to its measurements, in their order.
        statistic: Which of its statistics.
        words: Language.
        cells: What was published, in order.
        outlines: Public shapes of areas, by spine and level.
        names: Titles of the parts of a key.
        axis_of: Title of an axis of values in a unit.
        width: Pixels of the plot.
    """

    plan: Plan
    values: tuple[Noisy, ...]
    statistic: Any
    words: Words
    cells: tuple[Cell, ...]
    outlines: Maps
    names: tuple[str, ...]
    axis_of: Callable[[str], str]
    width: int = WIDTH

    @property
    def narrow(self) -> bool:
        """Whether it is drawn for a narrow screen, by a kind that places things by pixels."""
        return self.width < WIDTH

    @property
    def dataset(self) -> Dataset:
        """Public facts."""
        return self.plan.dataset

    def axis(self, cells: Sequence[Cell]) -> str:
        """Return the title of the axis of values."""
        return self.axis_of(cells[0].unit if cells else "")

    def time_unit(self) -> str:
        """Return the UCUM code of the periods of its last axis, where they are bins of a number."""
        axis = self.statistic.axes(self.dataset)[-1]
        return domain(axis.of, dataset=self.dataset).unit if isinstance(axis, BinOf) else ""

    def noisy(self, name: str) -> Noisy:
        """Return the noisy answer to one measurement of the statistic."""
        names = [(each.statistic, each.name) for each in self.plan.measurements]
        return self.values[names.index((self.statistic.id, name))]


def distinct(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return each item once, in the order in which they come."""
    return tuple(dict.fromkeys(items))
