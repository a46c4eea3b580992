"""FHIR R4 in bulk: NDJSON, one resource a line, of which each line makes the rows of one patient.

Numbers are the decimals that stand in the file.  A line that is no JSON object of the declared
resource is quarantined: it makes no row, whatever it holds, and `confide check` counts it.  Bytes
that are no UTF-8 are U+FFFD in their own cell.

*Privacy:* rows are functions of one line, and a line is of one person, because a resource names one
subject.  With the event as privacy unit a line with components would be several units, so that
observations are refused then.

References:
    [BulkData] HL7. FHIR bulk data access (flat FHIR), 2.0. https://hl7.org/fhir/uv/bulkdata/
"""

import codecs
import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confide.errors import ContractError, UnknownNameError
from confide.privacy.unit import Entity
from confide.regular_file import reading
from confide.rows.sources.exported.cell_text import cell_text
from confide.rows.sources.exported.fhir_resources import RESOURCES, row_parts
from confide.tables.schema import Dataset, Table

LONGEST_RESOURCE = 2**24
"""Bytes; a longer line is quarantined."""
_QUARANTINED = ("quarantined",)


def _no_number(_: str) -> Any:
    raise ValueError


_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=_no_number)


@dataclass(frozen=True, slots=True, kw_only=True)
class FhirExport:
    """The rows of a file of one resource.

    Attributes:
        resource: Of which its lines are.
        read: Columns that are read; those of others stay empty.
    """

    resource: str
    read: frozenset[str]

    def lines(self, path: Path) -> Iterator[Sequence[str]]:
        """Yield the names of all columns, then the cells of each row.

        Raises:
            OSError: If the file cannot be read.
        """
        columns = RESOURCES[self.resource]
        yield [*columns]
        cells = [columns[name] if name in self.read else None for name in columns]
        for line in _resources(path):
            resource = _parsed(line, of=self.resource)
            if resource is None:
                yield _QUARANTINED
                continue
            for part in row_parts(resource) if self.resource == "Observation" else (resource,):
                yield ["" if cell is None else _text(cell(resource, part)) for cell in cells]


def fhir_columns(table: Table) -> tuple[str, ...]:
    """Return the columns that a table of FHIR resources has.

    Raises:
        UnknownNameError: If its resource is none that is read.
    """
    if table.source not in RESOURCES:
        raise UnknownNameError("FHIR resource", table.source, known=RESOURCES)
    return tuple(RESOURCES[table.source])


def fhir_export(table: Table, *, dataset: Dataset, read: frozenset[str]) -> FhirExport:
    """Return what writes the files of a table.

    Raises:
        ContractError: If rows are protected each by itself, and a line may be several.
    """
    alone = dataset.unit.entity in (Entity.EVENT, Entity.EDGE)
    if alone and table.source == "Observation":
        raise ContractError(
            f"Table {table.name!r}: an Observation may have several components, which are rows, "
            f"under unit: {dataset.unit.entity.value}.",
            hint="Protect the patient: protects: {unit: patient, id: person}.",
        )
    return FhirExport(resource=table.source, read=read)


def _resources(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file that are not blank; of one that is too long, its beginning.

    Raises:
        OSError: If it cannot be read.
    """
    failed = ""
    try:
        with reading(path) as file:
            lines: Any = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
            first = True
            while line := lines.readline(LONGEST_RESOURCE):
                line = line.removeprefix(codecs.BOM_UTF8) if first else line
                first = False
                whole = len(line) < LONGEST_RESOURCE
                while not whole and not line.endswith(b"\n"):
                    line = lines.readline(LONGEST_RESOURCE)
                    if not line:
                        break
                if not whole:
                    yield b"too long"
                elif line.strip():
                    yield line
    except (EOFError, zlib.error) as error:
        failed = type(error).__name__
    if failed:
        raise OSError(failed)


def _parsed(line: bytes, *, of: str) -> Any:
    """Return the resource that a line is; None if it is none of the declared ones."""
    try:
        found = _DECODER.decode(line.decode("utf-8", errors="replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("resourceType") == of else None


def _text(value: object) -> str:
    """Return a value of JSON as text; "" for a list or object."""
    return "" if isinstance(value, dict | list) else cell_text(value)
