"""How files of other programs are read: as the text that is written of them, by the rules of CSV.

Numbers and days that the program stores are written as usual; what people typed as text is read by
the declared dialect.  So where that names forms of dates, ISO is one of them.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from confide.errors import ContractError
from confide.rows.cells.layout import source_names
from confide.rows.sources.delimited import text_scan
from confide.rows.sources.exported.fhir import fhir_columns, fhir_export
from confide.rows.sources.exported.statistical import statistical_export, variables
from confide.rows.sources.exported.workbook import sheet_export, sheet_names
from confide.rows.sources.opened import Export, Scan
from confide.tables.dialect import ISO, Dialect
from confide.tables.encoding import Encoding
from confide.tables.schema import Dataset, Table
from confide.tables.source import SourceKind


def exported_scan(
    parts: tuple[Path, ...],
    *,
    table: Table,
    dataset: Dataset,
    declared: Collection[str],
    kind: SourceKind,
) -> Scan:
    """Return how the part files of ``table`` are read.

    Args:
        parts: Its files.
        table: As declared.
        dataset: Whose it is.
        declared: Names of the source that it is read by.
        kind: Of the source.

    Raises:
        ContractError: If their names cannot be read, or differ between part files.
        MissingExtraError: Without the library that reads them.
    """
    export: Export
    names: Callable[[Path], tuple[str, ...]]
    if kind is SourceKind.EXCEL:
        export = sheet_export(table)

        def names(path: Path) -> tuple[str, ...]:
            return sheet_names(path, table=table, declared=declared)
    elif kind is SourceKind.FHIR:
        of_one_file = [each for each in dataset.tables if each.source == table.source]
        read = {name for each in of_one_file for name in source_names(each, dataset=dataset)}
        export = fhir_export(table, dataset=dataset, read=frozenset({*declared, *read}))

        def names(_: Path) -> tuple[str, ...]:
            return fhir_columns(table)
    else:
        export = statistical_export(table, kind=kind, read=frozenset(declared))

        def names(path: Path) -> tuple[str, ...]:
            found = variables(path, kind=kind, table=table.name, encoding=table.encoding)
            return tuple(each.name for each in found)

    header = names(parts[0])
    for part in parts[1:]:
        if names(part) != header:
            raise ContractError(
                f"Table {table.name!r}: the columns of {part.name!r} differ from the first part's.",
                hint="Write all parts with the same columns in the same order.",
            )
    as_text = replace(table, dialect=_with_iso(table.dialect), encoding=Encoding.UTF_8)
    return text_scan(parts, table=as_text, header=header, sign=",", export=export)


def _with_iso(dialect: Dialect) -> Dialect:
    if not dialect.dates or ISO in dialect.dates:
        return dialect
    return replace(dialect, dates=(ISO, *dialect.dates))
