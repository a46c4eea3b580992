"""Declared tables as SELECTs over canonical integers, one row per person where that is declared.

Names of the data appear only as quoted identifiers of the innermost SELECT; above it every name is
ours: ``p`` the person, ``c0, c1, …`` the declared columns, ``h`` the place in the keyed order.

*Privacy:* "one row per patient" is enforced, never assumed: of several rows the first in keyed
order stays.  A fact of these data says nothing of their neighbour.

References:
    [McS09] McSherry. Privacy integrated queries. SIGMOD 2009.
        https://doi.org/10.1145/1559845.1559850
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.rows.build import (
    STAR,
    aliased,
    at_most,
    equal,
    left_join,
    named,
    num,
    own,
    plus,
    present,
    ranked,
    select,
    times,
)
from confide.rows.clean import (
    MOST_CASES,
    canonical,
    code_values,
    looked_up,
    parsed,
    person,
    quality,
)
from confide.rows.keyed_order import (
    fifth_power,
    leading,
    limbs_of,
    limbs_of_text,
    point,
    polynomial,
    sixteenth_power,
)
from confide.rows.layout import Layout, Physical
from confide.rows.prepared.copies import Copies
from confide.tables.expression import ColumnOf
from confide.tables.schema import Column, Dataset, Kind, Table

TERMS = 16
"""Terms of one polynomial in SQL; longer ones would nest too deeply for parsers."""
LARGEST_WORD = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one query can name; its common table expressions are collected in order.

    Attributes:
        dataset: Public facts.
        layout: Where the tables lie.
        copies: Prepared copies to read instead of the source, if there are.
        quality: Columns whose cells are also judged as they came, which copies do not hold.
        named: Common table expressions by name, in order of use.
        open_values: Per-patient values being compiled, to refuse circles.
    """

    dataset: Dataset
    layout: Layout
    copies: Copies | None = None
    quality: frozenset[ColumnOf] = frozenset()
    named: dict[str, exp.Query] = field(default_factory=dict)
    open_values: tuple[str, ...] = ()

    @property
    def per_event(self) -> bool:
        """Whether the row itself is the privacy unit, so that no person is read."""
        return self.dataset.unit.entity is Entity.EVENT


def table_name(dataset: Dataset, table: Table) -> str:
    """Return how queries call the rows of a declared table."""
    return f"t{[other.name for other in dataset.tables].index(table.name)}"


def table_rows(scope: Scope, table: Table, *, ordered: bool) -> str:
    """Name the cleaned rows of a table, with ``h`` when ordered or reduced to one per person.

    Raises:
        ContractError: If the table does not fit the source.
    """
    reduced = table.one_row_per_patient and not scope.per_event
    name = table_name(scope.dataset, table)
    if scope.copies is not None:
        if name not in scope.named:
            scope.named[name] = copied(scope, table).rows(table)
        return name
    name += "o" if ordered or reduced else ""
    if name not in scope.named:
        rows = cleaned_rows(scope, table)
        if ordered or reduced:
            rows = _placed(scope, table, rows)
        if reduced:
            keys = [own("h"), *(own(f"c{i}") for i in range(len(table.columns)))]
            keys += [own(f"q{i}") for i in judged(table, scope.quality)]
            numbered = select(STAR, ranked(keys, by=("p",)), of=rows)
            rows = select(STAR, of=numbered, where=[at_most(own("rk"), num(1))])
        scope.named[name] = rows
    return name


def copied(scope: Scope, table: Table) -> Copies:
    """Return the prepared copies, once the source holds a table as declared.

    Raises:
        ContractError: If it does not, or there are no copies.
    """
    scope.layout.located(table)
    if not scope.per_event:
        scope.layout.id_of(table, dataset=scope.dataset)
    if scope.copies is None:
        raise ContractError("There are no prepared copies.", hint="Run `confide prepare`.")
    return scope.copies


def cleaned_rows(scope: Scope, table: Table) -> exp.Select:
    """Return ``p`` and ``c0, c1, …``; rows without a usable person id are quarantined.

    Raises:
        ContractError: If the table does not fit the source.
    """
    located = scope.layout.located(table)
    raw: list[exp.Expr] = []
    clean: list[exp.Expr] = []
    joins: list[exp.Join] = []
    if not scope.per_event:
        found = scope.layout.id_of(table, dataset=scope.dataset)
        identity = person(own(found.name, "s"), found=found, ids=scope.layout.ids)
        raw.append(named(identity, "p"))
        clean.append(own("p", "r"))
    for index, column in enumerate(table.columns):
        found = located.columns[column.source]
        read = parsed(own(found.name, "s"), column=column, physical=found.physical)
        raw.append(named(read, f"r{index}"))
        cell = own(f"r{index}", "r")
        if _joined(column, physical=found.physical):
            listed = f"l{index}"
            values = code_values(column, physical=found.physical)
            joins.append(left_join(_codes(values, listed), on=equal(own("t", listed), cell)))
            value = looked_up(cell, index=own("i", listed), column=column)
        else:
            value = canonical(cell, column=column, physical=found.physical)
        clean.append(named(value, f"c{index}"))
    for index in judged(table, scope.quality):
        column = table.columns[index]
        found = located.columns[column.source]
        word = quality(own(found.name, "s"), column=column, physical=found.physical)
        raw.append(named(word, f"q{index}"))
        clean.append(own(f"q{index}", "r"))
    rows = select(*raw, of=aliased(located.relation, "s"))
    usable = [] if scope.per_event else [present(own("p", "r"))]
    return select(*clean, of=rows, alias="r", joins=joins, where=usable)


def judged(table: Table, quality: frozenset[ColumnOf]) -> list[int]:
    """Return the places of the columns of a table whose cells are judged as they came."""
    wanted = {read.column for read in quality if read.table == table.name}
    return [index for index, column in enumerate(table.columns) if column.name in wanted]


def tie_words(
    table: Table, *, of: str, quality: frozenset[ColumnOf] = frozenset()
) -> list[exp.Expr]:
    """Return the declared columns packed into few keys that sort as the columns one by one do.

    Rows of a person at the same place are ordered by their columns, NULL first, and then by the
    quality of their cells where that is asked for: rows equal in all of it are interchangeable.
    """
    words: list[exp.Expr] = []
    room = 0
    for index, column in enumerate(table.columns):
        cell = own(f"c{index}", of)
        if column.kind is Kind.TEXT:
            words.append(cell)
            room = 0
            continue
        domain = column.domain()
        size = domain.size() + 1
        (shifted,) = limbs_of(cell, lower=domain.lower, upper=domain.lower)
        if room >= size:
            words[-1] = plus(times(words[-1], num(size)), shifted)
            room //= size
        else:
            words.append(shifted)
            room = LARGEST_WORD // size
    return words + [own(f"q{index}", of) for index in judged(table, quality)]


def _joined(column: Column, *, physical: Physical) -> bool:
    """Return whether codes are joined, which needs one at least."""
    if column.kind is not Kind.CATEGORY or len(column.codes) <= MOST_CASES:
        return False
    return bool(code_values(column, physical=physical))


def _codes(values: Sequence[tuple[exp.Expr, int]], alias: str) -> exp.Expr:
    """Return a code list to join; its codes are distinct by construction."""
    pairs = [exp.Tuple(expressions=[code, num(index)]) for code, index in values]
    names = exp.TableAlias(
        this=exp.to_identifier(alias, quoted=True),
        columns=[exp.to_identifier(name, quoted=True) for name in ("t", "i")],
    )
    return exp.Values(expressions=pairs, alias=names)


def _placed(scope: Scope, table: Table, rows: exp.Select) -> exp.Select:
    """Add ``h``, the place in the keyed order over all declared columns."""
    limbs: list[exp.Expr] = []
    for index, column in enumerate(table.columns):
        cell = own(f"c{index}")
        if column.kind is Kind.TEXT:
            limbs.extend(limbs_of_text(cell))
        else:
            of = column.domain()
            limbs.extend(limbs_of(cell, lower=of.lower, upper=of.upper))
    rows = select(STAR, named(point(own("p"), ids=scope.layout.ids), "x0"), of=rows)
    zero = num(0)  # the polynomial has no constant term
    rows, h = _evaluated(rows, [leading(), *limbs, zero])
    rows = select(STAR, named(h, "y"), of=rows)
    return select(STAR, named(fifth_power(own("y")), "h"), of=rows)


def _evaluated(rows: exp.Select, coefficients: list[exp.Expr]) -> tuple[exp.Select, exp.Expr]:
    """Evaluate a polynomial in x0, cut into ones of 16 terms that are coefficients in x0¹⁶."""
    level, at = 0, own("x0")
    while len(coefficients) > TERMS:
        first = len(coefficients) % TERMS or TERMS
        starts = [0, *range(first, len(coefficients), TERMS), len(coefficients)]
        parts = [coefficients[a:b] for a, b in itertools.pairwise(starts)]
        names = [f"g{level}_{i}" for i in range(len(parts))]
        values = [named(polynomial(p, at=at), n) for p, n in zip(parts, names, strict=True)]
        level += 1
        power = named(sixteenth_power(at), f"x{level}")
        rows = select(STAR, *values, power, of=rows)
        coefficients, at = [own(name) for name in names], own(f"x{level}")
    return rows, polynomial(coefficients, at=at)
