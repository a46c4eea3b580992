"""What an OMOP source declares beyond the CDM: roll-ups, and visits and cohorts of its site.

*Privacy:* from a download of the vocabulary and from what the steward names; no data are looked at.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from confide.errors import ContractError
from confide.rows.sources.day_column import day_column
from confide.rows.sources.omop import VISIT
from confide.rows.sources.vocabulary import Concept, concepts, concepts_below
from confide.tables.schema import Column, Kind, Table

_TABLES = {
    "Condition": "condition_occurrence",
    "Drug": "drug_exposure",
    "Procedure": "procedure_occurrence",
    "Measurement": "measurement",
    "Observation": "observation",
}
"""Which table holds the events of a domain."""


def with_groups(
    tables: Sequence[Table], *, ancestors: Sequence[int], vocabulary: Path
) -> tuple[Table, ...]:
    """Return the tables with a column ``group`` of the events below some ancestors.

    Raises:
        ContractError: If the vocabulary cannot be read, a concept lies below two ancestors of one
            table, or events of a domain stand in no table.
    """
    named = concepts(vocabulary, ids=ancestors)
    below = concepts_below(vocabulary, ancestors=ancestors)
    grouped: dict[str, list[Concept]] = {}
    for each in named.values():
        if each.domain not in _TABLES:
            raise ContractError(
                f"Concept {each.id} is of domain {each.domain}, whose events are in no table.",
                hint=f"Roll up concepts of {', '.join(_TABLES)}.",
            )
        grouped.setdefault(_TABLES[each.domain], []).append(each)
    return tuple(
        replace(table, columns=(*table.columns, _group(table, grouped[table.name], below=below)))
        if table.name in grouped and table.source == table.name
        else table
        for table in tables
    )


def _group(
    table: Table, ancestors: Sequence[Concept], *, below: Mapping[int, tuple[int, ...]]
) -> Column:
    codes: dict[str, int] = {}
    for place, each in enumerate(ancestors):
        for concept in below[each.id]:
            if codes.setdefault(str(concept), place) != place:
                other = ancestors[codes[str(concept)]]
                raise ContractError(
                    f"Concept {concept} lies below {other.id} and below {each.id}.",
                    hint="A row has one group: name ancestors that share nothing.",
                )
    names, ids = [each.name for each in ancestors], [str(each.id) for each in ancestors]
    keys = tuple(
        name if names.count(name) == 1 else f"{name} ({each.id})"
        for name, each in zip(names, ancestors, strict=True)
    )
    return Column(
        name="group",
        kind=Kind.CATEGORY,
        source=table.column("concept").source,
        keys=keys,
        codes=tuple(codes.items()),
        because=f"concept_ancestor of the OMOP vocabulary, below {', '.join(ids)}.",
    )


def with_visits(
    tables: Sequence[Table], *, types: Sequence[int], vocabulary: Path
) -> tuple[Table, ...]:
    """Return the tables with further types of visits, as the site records them.

    Raises:
        ContractError: If the vocabulary cannot be read.
    """
    more = {str(each.id): each.name for each in concepts(vocabulary, ids=types).values()}
    names = VISIT | {code: name for code, name in more.items() if code not in VISIT}
    return tuple(
        replace(table, columns=tuple(_visit(c, names=names) for c in table.columns))
        if table.name == "visit_occurrence"
        else table
        for table in tables
    )


def _visit(column: Column, *, names: Mapping[str, str]) -> Column:
    if column.name != "visit":
        return column
    labels = tuple(dict.fromkeys(names.values()))
    return replace(
        column,
        keys=(*labels, column.keys[-1]),
        codes=tuple((code, labels.index(label)) for code, label in names.items()),
        nulls=len(labels),
        other=len(labels),
    )


def cohort_table(definitions: Mapping[str, str], *, since: dt.date, until: dt.date) -> Table:
    """Return the table of cohorts: who was in which of some definitions, from when to when.

    Args:
        definitions: Name of each by its id, as the steward gives them.
        since: First day.
        until: Last day.

    Example:
        >>> days = {"since": dt.date(2010, 1, 1), "until": dt.date(2026, 1, 1)}
        >>> cohort_table({"12": "diabetes"}, **days).id_column
        'subject_id'
    """
    keys = tuple(dict.fromkeys(definitions.values()))
    return Table(
        name="cohort",
        source="cohort",
        id_column="subject_id",
        columns=(
            Column(
                name="cohort",
                kind=Kind.CATEGORY,
                source="cohort_definition_id",
                keys=keys,
                codes=tuple((code, keys.index(name)) for code, name in definitions.items()),
                because="Definitions of cohorts, as named by the steward.",
            ),
            *(
                day_column(name, f"cohort_{name}_date", since=since, until=until)
                for name in ("start", "end")
            ),
        ),
    )
