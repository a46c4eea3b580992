"""A dataset.yaml written from declared tables, for people to read, correct and complete."""

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import assert_never

from confide.files.source.omop import NO_CONCEPT
from confide.tables.by_code import InUnit
from confide.tables.clinical_units import conversion
from confide.tables.encoding import Encoding
from confide.tables.relation import date_of
from confide.tables.schema import Column, Kind, Outside, Table

_DATABASE = ("postgresql://", "postgres://")
_HEAD = """\
# Most of a dataset.yaml, from public vocabulary and clinical ranges; no data were looked at.
# Correct what is not so at your site, delete what no study needs, and set the caps of your policy.
# Left out on purpose: source values, free text, times of birth, addresses, numbers of devices.

dataset: {{id: {id}, lineage: {id}, snapshot: "1"}}
source: {{kind: {kind}, {version}{place}}}
protects: {{unit: patient, id: {person}, adjacency: add-remove}}
accounting: {{measure: mixed, delta: 1e-6}}
caps: {{release: {{epsilon: 1}}, calendar-year: {{epsilon: 3}}, lifetime: {{epsilon: 10}}}}
issuer: {{organisation: "", contact: ""}}

tables:
"""


def dataset_text(
    tables: Sequence[Table],
    *,
    id: str,  # noqa: A002 - the key's name
    kind: str,
    path: str,
    version: str = "",
    person: str = "person_id",
) -> str:
    """Return the text of a dataset.yaml; reading it gives the tables back.

    A label that no code has, for other and missing values, gets OMOP's concept 0.
    """
    head = _HEAD.format(
        id=_text(id),
        kind=kind,
        version=f'version: "{version}", ' if version else "",
        place=f"{'url' if path.startswith(_DATABASE) else 'path'}: {_text(path)}",
        person=person,
    )
    return head + "".join(f"{line}\n" for table in tables for line in _table(table))


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _table(table: Table) -> Iterator[str]:
    yield f"  {table.name}:"
    if table.source != table.name:
        yield f"    from: {_text(table.source)}"
    if table.id_column:
        yield f"    id: {_text(table.id_column)}"
    if table.one_row_per_patient:
        yield "    rows-per-patient: 1"
    if table.usual_rows:
        pairs = ", ".join(f"{rows}: {_decimal(share)}" for rows, share in table.usual_rows)
        yield f"    usual-rows: {{{pairs}}}"
    if table.encoding is not Encoding.UTF_8:
        yield f"    encoding: {table.encoding.value}"
    for word, codes in (("only", table.only), ("without", table.without)):
        if codes:
            yield f"    {word}:"
        for each in codes:
            yield f"      {each.source}: [{', '.join(map(_text, each.codes))}]"
    if table.query:
        yield f"    query: {_text(table.query)}"
    yield "    columns:"
    for column in table.columns:
        yield from _column(column)


def _column(column: Column) -> Iterator[str]:
    yield f"      {column.name}:"
    if column.source != column.name:
        yield f"        from: {column.source}"
    yield from (f"        {line}" for line in _kind(column))
    if column.absent:
        yield f"        missing: [{', '.join(map(_text, column.absent))}]"
    if column.names:
        yield "        names:"
        yield from (f"          {_text(code)}: {_text(name)}" for code, name in column.names)
    if column.units is not None:
        yield "        units:    # rows in another unit, or without one, are left out"
        stands = "in: cell" if column.units.in_cell else f"from: {column.units.source}"
        yield f"          {stands}"
        yield "          known:"
        for each in column.units.known:
            yield f"            {_text(each.code)}: {_in_unit(each, to=column.unit)}"
    if column.because:
        yield f"        source: {_text(column.because)}"


def _kind(column: Column) -> Iterator[str]:
    match column.kind:
        case Kind.TEXT:
            yield "kind: text    # no value is public; a list of codes would make it a category"
        case Kind.DATE:
            yield "kind: date"
            yield f"lower: {date_of(column.domain().lower).isoformat()}"
            yield f"upper: {date_of(column.domain().upper).isoformat()}"
        case Kind.NUMBER:
            of = column.domain()
            yield "kind: number"
            yield f"lower: {_number(of.lower * of.scale)}"
            yield f"upper: {_number(of.upper * of.scale)}"
            if of.scale != 1:
                yield f"step: {_number(of.scale)}"
            if of.unit:
                yield f"unit: {_text(of.unit)}"
            if column.outside is not Outside.CLIP:
                yield f"outside: {column.outside.value}"
        case Kind.CATEGORY:
            yield from _categories(column)
        case _:
            assert_never(column.kind)


def _categories(column: Column) -> Iterator[str]:
    yield "categories:"
    named = {index for _, index in column.codes}
    for code, index in column.codes:
        yield f"  {_text(code)}: {_text(column.keys[index])}"
    for index, label in enumerate(column.keys):
        if index not in named:
            yield f'  "{NO_CONCEPT}": {_text(label)}'
    for policy, value in (("nulls", column.nulls), ("other", column.other)):
        if value is not None:
            yield f"{policy}: {_text(column.keys[value])}"


def _in_unit(each: InUnit, *, to: str) -> str:
    """Return a unit, with its conversion where that depends on what is measured."""
    if conversion(each.unit, to=to) == (each.times, each.plus):
        return _text(each.unit)
    plus = f', plus: "{_decimal(each.plus)}"' if each.plus else ""
    return f'{{unit: {_text(each.unit)}, times: "{_decimal(each.times)}"{plus}}}'


def _decimal(value: Fraction) -> str:
    """Return a fraction as a decimal, where a short one is exact."""
    for places in range(19):
        if (value * 10**places).denominator == 1:
            digits = Decimal(value.numerator) / Decimal(value.denominator)
            return format(digits.normalize(), "f")
    return str(value)


def _number(value: Fraction | int) -> str:
    exact = Fraction(value)
    return str(exact.numerator) if exact.denominator == 1 else str(exact)
