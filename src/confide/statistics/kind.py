"""One kind of statistic, whole: its word, its spec, and what reports say of it.

What a kind lacks is refused when it is made, which is when the product is imported.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, TypeAlias

from confide.drawing.asking import Asking, Axis, Groups, Title, by_names, column_axis
from confide.drawing.carded import Carded, Items
from confide.drawing.cells import Cell
from confide.drawing.charts.figure import Figure
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.headlines import main_range
from confide.drawing.shown import Shown
from confide.drawing.words import Words, own_words
from confide.errors import ContractError
from confide.privacy.exact import takes_numbers
from confide.statistics.audited import Audited
from confide.statistics.section import StatisticSection
from confide.tables.schema import Dataset

Headline: TypeAlias = Callable[[Sequence[Cell], Words], str]
"""The main number in one sentence, of cells of which one at least holds a number."""

Parts: TypeAlias = Callable[[Any, Sequence[Cell], Words], Mapping[str, str]]
"""What sentences about what a statistic is fit for name: its groups, its width."""


Tabled: TypeAlias = Callable[[Any, Sequence[Cell], Asking], Shown]
"""A table for readers, of a statistic and its cells."""

Relabelled: TypeAlias = Callable[[Any, Sequence[Cell], Asking], Sequence[Cell]]
"""Cells of a statistic under labels that people read more easily."""

Bounded: TypeAlias = Callable[[Any, Asking], Sequence[str]]
"""Sentences on how contributions are bounded that no other kind says."""


def nothing_more(statistic: Any, asking: Asking) -> Sequence[str]:
    """Return no sentence: what all kinds say is all."""
    del statistic, asking
    return ()


def as_published(statistic: Any, cells: Sequence[Cell], asking: Asking) -> Sequence[Cell]:
    """Return the cells with the labels that were published."""
    del statistic, asking
    return cells


def every_cell(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return all cells: each is cited."""
    return cells


def no_note(statistic: Any) -> str:
    """Return no key: all cells are in the table."""
    del statistic
    return ""


def no_parts(statistic: Any, cells: Sequence[Cell], words: Words) -> Mapping[str, str]:
    """Return nothing: the sentences name nothing."""
    del statistic, cells, words
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of statistic.

    Attributes:
        name: The word of study files: "weighted-mean".
        spec: Its class; exact numbers may be given to it as people write them.
        section: What an item of its kind says in study.yaml.
        bias: In which direction its numbers are wrong, as its module derives it.
        title: What it asks.
        titled_with_groups: Whether the title names the groups already.
        titled_with_condition: Whether the title names the condition already.
        groups: The names of its groups.
        axis: The title of an axis of its values.
        told: The cells with labels as sentences tell them.
        headline: Its main number.
        nothing: Key of the sentence that stands in place of a headline of no numbers.
        assumes: Key of the sentence on what its intervals take for granted of the data; "" where
            they take nothing but a random sample.
        fit: Parts of the sentences on what it may be used for.
        unfit: Parts of those on what it may not.
        figure: Where the function stands that draws it: "module:function" of a subject.
        figure_tells: Whether the figure writes its numbers with their intervals, so that the table
            stands in an appendix.
        subtitle: The same of one that says what its intervals are; "" for the usual words.
        evaluation: The same of one that draws how a model does on those held out; "" of others.
        card: The same of one that fills a model's card; "" of what predicts nothing.
        outlined: The spine and level of the areas that its figure draws; None of other figures.
        audit: Where what the audit asks of it stands: "module:name".
        table: Its table; None for a row a cell.
        cited: The cells that the table of the page holds.
        cited_note: Key of the sentence that says so; "" where it holds all.
        bounded: What only it says of bounds on contributions.
        own_total: Whether it publishes how many there are.
        chooses: Whether it publishes which candidates were chosen, and no number.
        weighted: Whether rows count by their survey weight.
    """

    name: str
    spec: type[Any]
    section: type[StatisticSection]
    bias: str
    title: Title
    titled_with_groups: bool = False
    titled_with_condition: bool = False
    groups: Groups = by_names
    axis: Axis = column_axis
    told: Relabelled = as_published
    headline: Headline = main_range
    nothing: str = "headline.none"
    assumes: str = ""
    fit: Parts = no_parts
    unfit: Parts = no_parts
    figure: str
    audit: str
    figure_tells: bool = False
    subtitle: str = ""
    evaluation: str = ""
    card: str = ""
    table: Tabled | None = None
    cited: Callable[[Sequence[Cell]], Sequence[Cell]] = every_cell
    cited_note: Callable[[Any], str] = no_note
    bounded: Bounded = nothing_more
    outlined: Callable[[Any, Dataset], tuple[str, str]] | None = None
    own_total: bool = False
    chooses: bool = False
    weighted: bool = False

    def __post_init__(self) -> None:
        lacking = [*self._unstated(), *self._unsaid()]
        if lacking:
            raise ContractError(f"Kind {self.name!r} lacks {' and '.join(lacking)}.")
        takes_numbers(self.spec)

    def _unstated(self) -> Iterator[str]:
        """Yield the parts that are empty, are none, or stand nowhere."""
        for name in ("name", "bias", "nothing", "figure", "audit"):
            if not (isinstance(value := getattr(self, name), str) and value):
                yield name
        for name in ("title", "groups", "axis", "headline", "fit", "unfit", "cited", "bounded"):
            if not callable(getattr(self, name)):
                yield name
        for name in ("questions", "forecast", "estimate"):
            if not callable(getattr(self.spec, name, None)):
                yield f"{name} of its spec"
        if not callable(getattr(self.section, "statistic", None)):
            yield "section"
        for name in ("figure", "subtitle", "evaluation", "card", "audit"):
            module = str(getattr(self, name)).partition(":")[0]
            if module and find_spec(module) is None:
                yield f"{name} in {module}"

    def _unsaid(self) -> Iterator[str]:
        """Yield the sentences that its folder has not in each of its languages."""
        of = own_words(self.folder)
        for language, tables in of.items() if of else {"any language": {}}.items():
            for table in ("fit", "unfit"):
                if not tables.get(table, {}).get(self.name):
                    yield f"words {table!r} in {language}"

    @property
    def folder(self) -> str:
        """The folder that it stands in."""
        return str(self.spec.__module__).split(".")[2]

    def require_figures(self) -> None:
        """Refuse a kind whose figure is not where it says.

        Raises:
            ContractError: Naming the kind.
        """
        for reference in filter(None, (self.figure, self.subtitle, self.evaluation, self.card)):
            try:
                _named(reference)
            except (ImportError, AttributeError):
                raise ContractError(f"Kind {self.name!r} lacks its figure {reference}.") from None

    def draw(self, subject: Subject) -> Drawn:
        """Return the figure of one statistic, and notes on it."""
        drawn: Drawn = _named(self.figure)(subject)
        return drawn

    def evaluated(self, subject: Subject, title: str) -> Mapping[str, Figure]:
        """Return the figures of a model's evaluation by name; none where nothing was evaluated."""
        drawn: Mapping[str, Figure] = _named(self.evaluation)(subject, title)
        return drawn

    def fill(self, model: Carded) -> Items:
        """Return the items of a model's card that a release fills."""
        filled: Items = _named(self.card)(model)
        return filled

    def audited(self) -> Audited:
        """Return what the audit asks of it, and where its worst neighbours are."""
        found: Audited = _named(self.audit)
        return found

    def words_below_title(self, subject: Subject) -> str:
        """Return what its intervals are; "" for the usual words."""
        return str(_named(self.subtitle)(subject)) if self.subtitle else ""


def _named(reference: str) -> Any:
    """Return what "module:name" names; what draws or audits is imported when it is needed."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)
