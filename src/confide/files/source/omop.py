"""What an OMOP source means beyond its tables: concept 0 is "no matching concept"."""

from dataclasses import replace

from confide.tables.schema import Column, Kind, Table

NO_CONCEPT = "0"
"""OMOP's concept for what no concept matches: it is no drug, no diagnosis and no measurement."""
_CONCEPT = "_concept_id"


def without_no_concept(table: Table) -> Table:
    """Return a table of an OMOP source in whose texts of concepts 0 is missing.

    A category may name it still: then the label says what it is.
    """
    return replace(table, columns=tuple(map(_column, table.columns)))


def _column(column: Column) -> Column:
    concepts = column.kind is Kind.TEXT and column.source.lower().endswith(_CONCEPT)
    if not concepts or NO_CONCEPT in column.absent:
        return column
    return replace(column, absent=(*column.absent, NO_CONCEPT))
