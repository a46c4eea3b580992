"""What a card of a model is filled from, and how its numbers are written.

*Privacy:* all of it is published or public.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from confide.drawing.charts.figure import Figure
from confide.drawing.markdown import plain
from confide.drawing.words import Words
from confide.plans.estimates import Estimate
from confide.tables.schema import Dataset

Items: TypeAlias = dict[str, list[str]]
"""Lines of Markdown by item of the card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carded:
    """A model of a release, as its card needs it.

    Attributes:
        statistic: The model.
        dataset: Public facts.
        found: What was published of it.
        figures: Its figures by name.
        folder: Where their files are, as the card names them.
        words: Language.
    """

    statistic: Any
    dataset: Dataset
    found: Sequence[Estimate]
    figures: Mapping[str, Figure]
    folder: str
    words: Words

    def of(self, quantity: str) -> list[Estimate]:
        """Return what was published of one quantity."""
        return [each for each in self.found if each.quantity == quantity]

    def picture(self, name: str) -> list[str]:
        """Return a figure, if there is one."""
        if name not in self.figures:
            return []
        alt = plain(self.figures[name].alt)
        return [f"![{alt}]({self.folder}/{self.statistic.id}.{name}.svg)", ""]

    def heads(self, key: str) -> list[str]:
        """Return the head of a table."""
        text = self.words.say(key)
        return [f"| {text} |", f"|{'---|' * (text.count('|') + 1)}"]


def number(estimate: Estimate) -> str:
    """Return a value, or a dash."""
    return "—" if estimate.value is None else f"{estimate.value:.4g}"


def interval(estimate: Estimate) -> str:
    """Return a value with its interval, or with the flag that says why it has none."""
    if estimate.lower is None or estimate.upper is None:
        return f"{number(estimate)} ({', '.join(estimate.flags) or 'no interval'})"
    return f"{number(estimate)} ({estimate.lower:.4g} to {estimate.upper:.4g})"
