"""What a statistic asks, in words: its title, the names of its groups, its axis of values.

Kinds take the builders that they share from here; what only one has stands in its own folder.

*Privacy:* reads declared facts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from confide.drawing.conditions import condition_text, expression_text, label
from confide.drawing.numbers import clean
from confide.drawing.words import Words
from confide.plans.contribution import Counted, Counting
from confide.plans.plan import Conditioned, Grouped, OfColumn, WithEvents
from confide.tables.expression import BinOf, Expression
from confide.tables.filter import Predicate
from confide.tables.relation import domain, resolve
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What words about a statistic are made of.

    Attributes:
        dataset: Public facts.
        words: Language.
        condition: Which rows it is about, in brief; "" for all.
    """

    dataset: Dataset
    words: Words
    condition: str = ""

    def told(self, of: Predicate) -> str:
        """Return a condition in brief."""
        return condition_text(of, dataset=self.dataset, words=self.words, brief=True)

    def listed(self, names: Sequence[str]) -> str:
        """Return names of columns as a list in a sentence; "" of none."""
        return self.words.listed([self.words.named(name) for name in names]) if names else ""

    def axis(self, axis: Expression, name: str | None = None) -> str:
        """Return the name of a grouping; of bins with their unit, which their labels leave out."""
        words = self.words
        shown = expression_text(axis, dataset=self.dataset, words=words) if name is None else name
        unit = domain(axis.of, dataset=self.dataset).unit if isinstance(axis, BinOf) else "1"
        told = clean(words.unit(unit))
        return words.say("axis.column", column=shown, unit=told) if told else shown


Title: TypeAlias = Callable[[Any, Asking], str]
"""What a statistic asks, without its groups and its condition."""

Groups: TypeAlias = Callable[[Any, Asking], tuple[str, ...]]
"""The names of a statistic's groups, for axes and table heads."""

Axis: TypeAlias = Callable[[Any, str, Words], str]
"""The title of an axis of values, of the statistic and the unit as it is printed."""


def counted(statistic: object) -> str:
    """Return whether a statistic counts "patients" or "events"."""
    return (statistic.counted if isinstance(statistic, Counting) else Counted.PATIENTS).value


def of_column(key: str) -> Title:
    """Return the title of a statistic of one column."""

    def title(statistic: Any, asking: Asking) -> str:
        return asking.words.say(key, column=asking.words.named(statistic.column))

    return title


def of_condition(key: str) -> Title:
    """Return the title of a statistic of one condition."""

    def title(statistic: Any, asking: Asking) -> str:
        return asking.words.say(key, condition=asking.told(statistic.of))

    return title


def of_outcome(key: str) -> Title:
    """Return the title of a regression of a column on covariates."""

    def title(statistic: Any, asking: Asking) -> str:
        names = asking.listed(statistic.covariates)
        return asking.words.say(
            key, outcome=asking.words.named(statistic.outcome), covariates=names
        )

    return title


def of_covariates(key: str) -> Title:
    """Return the title of a regression of a condition on covariates."""

    def title(statistic: Any, asking: Asking) -> str:
        names = asking.listed(statistic.covariates)
        return asking.words.say(key, condition=asking.told(statistic.of), covariates=names)

    return title


def of_events(key: str) -> Title:
    """Return the title of a rate: its events are a column, or what rows must be."""

    def title(statistic: Any, asking: Asking) -> str:
        condition = (
            asking.words.named(statistic.events) if isinstance(statistic, WithEvents) else ""
        )
        if not condition and isinstance(statistic, Conditioned):
            condition = asking.told(statistic.of)
        condition = condition or asking.words.say("title.events")
        return asking.words.say(key, condition=condition)

    return title


def of_table(key: str) -> Title:
    """Return the title of a statistic of a whole table."""

    def title(statistic: Any, asking: Asking) -> str:
        return asking.words.say(key, table=label(statistic.table))

    return title


def several(key: str, several: str, size: int, words: Words, /, **among: str) -> str:
    """Return the title of a choice of one, or of several."""
    return words.say(key, **among) if size == 1 else words.say(several, count=str(size), **among)


def by_names(statistic: Any, asking: Asking) -> tuple[str, ...]:
    """Return the names of the columns by which a statistic groups."""
    dataset, names = asking.dataset, []
    known = {derived.name for derived in dataset.derived}
    for name in statistic.by if isinstance(statistic, Grouped) else ():
        expression = resolve(name, table=statistic.table, dataset=dataset)
        names.append(asking.axis(expression, asking.words.named(name) if name in known else None))
    return tuple(names)


def by_axes(statistic: Any, asking: Asking) -> tuple[str, ...]:
    """Return the names of groups of which one is time."""
    return tuple(asking.axis(axis) for axis in statistic.axes(asking.dataset))


def by_key_names(statistic: Any, asking: Asking) -> tuple[str, ...]:
    """Return the names of the parts of a key as the statistic calls them."""
    return tuple(asking.words.named(name) for name in statistic.key_names)


def by_key_heads(statistic: Any, asking: Asking) -> tuple[str, ...]:
    """Return the table heads of the parts of a key."""
    return tuple(asking.words.say(f"head.{name}") for name in statistic.key_names)


def by_heads(*keys: str) -> Groups:
    """Return fixed names of groups."""

    def groups(statistic: Any, asking: Asking) -> tuple[str, ...]:
        del statistic
        return tuple(asking.words.say(key) for key in keys)

    return groups


def unit_axis(statistic: Any, unit: str, words: Words) -> str:
    """Return the unit alone: numbers that are counted, and rates of them."""
    del statistic, words
    return unit


def column_axis(statistic: Any, unit: str, words: Words) -> str:
    """Return the column with its unit."""
    column = words.named(statistic.column) if isinstance(statistic, OfColumn) else ""
    if not unit or unit == column:
        return column
    return words.say("axis.column", column=column, unit=unit)


def share_axis(statistic: Any, unit: str, words: Words) -> str:
    """Return the title of an axis of shares."""
    del statistic
    return words.say("axis.share", unit=unit) if unit else words.say("quantity.share")


def quantity_axis(key: str) -> Axis:
    """Return a fixed title."""

    def axis(statistic: Any, unit: str, words: Words) -> str:
        del statistic, unit
        return words.say(key)

    return axis
