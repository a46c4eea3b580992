"""Columns of synth.yaml: what each reads, and which levels are found at a charge."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from confide.errors import ContractError
from confide.files.synth.trained import PART_OF_DELTA
from confide.files.texts import Bound, Counting, Section
from confide.files.where import canonical
from confide.jobs.synthesis.finding.charged_bins import GRID_CELLS, ChargedBins, edges_between
from confide.jobs.synthesis.finding.charged_categories import ChargedCategories
from confide.tables.expression import (
    BinOf,
    ColumnOf,
    DaysOf,
    Expression,
    OrMissing,
    TextAmong,
    ValueOf,
)
from confide.tables.relation import column_of, domain, resolve
from confide.tables.schema import Dataset, Kind

FEW_LEVELS = 20
"""A number or date of more levels is put into bins."""
BINS = 10
CHARGED = "charged"
CATEGORIES = 20
"""Most categories that are found, where no number is named."""

MissingWord = Literal["level", "leave-out"]


class SynthColumn(Section):
    """One column of the synthetic table."""

    of: str = ""
    categories: Literal["charged"] | None = None
    at_most: Counting | None = None
    bins: Literal["charged"] | Counting | list[Bound] | None = None
    missing: MissingWord | None = None


def column_read(
    name: str, section: SynthColumn, *, missing: MissingWord, table: str, dataset: Dataset
) -> Expression:
    """Return what a column reads: in bins where it is a number of many levels.

    Args:
        name: As the synthetic table has it.
        section: Of synth.yaml.
        missing: What becomes of rows that lack it.
        table: Whose rows.
        dataset: Public facts.

    Raises:
        ContractError: If it cannot be read so.
    """
    of = resolve(section.of or name, table=table, dataset=dataset)
    if isinstance(of, ColumnOf) and column_of(of, dataset).kind is Kind.TEXT:
        return _text_read(name, section, of=of, missing=missing, table=table)
    if section.categories or section.at_most:
        raise ContractError(
            f"Column {name!r} is no text, and has no categories to find.",
            hint="Leave categories and at-most out.",
        )
    within = domain(of, dataset=dataset)
    many = GRID_CELLS if isinstance(section.bins, str) else section.bins
    if section.bins == CHARGED and within.size() <= FEW_LEVELS:
        raise ContractError(
            f"Column {name!r} has {within.size()} values, and no bins to find.",
            hint="Leave bins out.",
        )
    if many is None and within.kind is not Kind.CATEGORY and within.size() > FEW_LEVELS:
        many = BINS
    if many is not None:
        if not isinstance(of, ColumnOf | ValueOf | DaysOf) or within.kind is Kind.CATEGORY:
            raise ContractError(
                f"Column {name!r} is a category already, and is not put into bins.",
                hint="Leave bins out.",
            )
        if isinstance(many, list):
            edges = tuple(canonical(name, edge, within) for edge in many)
        else:
            edges = edges_between(within.lower, within.upper, bins=min(many, within.size() - 1))
        of = BinOf(of=of, edges=edges)
    if missing == "level" and not isinstance(of, OrMissing):
        return OrMissing(of=of)  # type: ignore[arg-type]
    return of


def _text_read(
    name: str, section: SynthColumn, *, of: ColumnOf, missing: MissingWord, table: str
) -> Expression:
    """Return what a column of text reads, before its categories are found."""
    if section.categories != CHARGED:
        raise ContractError(
            f"Column {name!r} is text, whose values are not public.",
            hint="Write categories: charged, or declare categories for it in dataset.yaml.",
        )
    if section.bins is not None:
        raise ContractError(
            f"Column {name!r} is text, and is not put into bins.", hint="Leave bins out."
        )
    if of.table != table:
        raise ContractError(
            f"Column {name!r} is of {of.table!r}, and categories are found in rows of {table!r}.",
            hint="Declare categories for it in dataset.yaml.",
        )
    if missing != "level":
        raise ContractError(
            f"Column {name!r}: where categories are found, a missing text is a level.",
            hint="Write missing: level for this column.",
        )
    return OrMissing(of=TextAmong(of=of))


def charged_bins(sections: Mapping[str, SynthColumn]) -> tuple[ChargedBins, ...]:
    """Return the columns whose bins are found."""
    return tuple(
        ChargedBins(column=name, bins=BINS)
        for name, section in sections.items()
        if section.bins == CHARGED
    )


def charged_categories(sections: Mapping[str, SynthColumn]) -> tuple[ChargedCategories, ...]:
    """Return the columns whose categories are found."""
    return tuple(
        ChargedCategories(column=name, most=section.at_most or CATEGORIES)
        for name, section in sections.items()
        if section.categories == CHARGED
    )


def selection_delta(asked: Fraction | None, *, dataset: Dataset) -> Fraction:
    """Return the δ of finding categories: as the file has it, else a part of what is kept."""
    return dataset.selection_delta / PART_OF_DELTA if asked is None else asked
