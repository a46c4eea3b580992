"""Declared tables as SELECTs over canonical integers, one row per person where that is declared.

Names of the data appear only as quoted identifiers of the innermost SELECT; above it every name is
ours: ``p`` the person, ``c0, c1, …`` the declared columns, ``h`` the place in the keyed order.

*Privacy:* "one row per patient" is enforced, never assumed: of several rows the first in keyed
order stays.  A fact of these data says nothing of their neighbour.

References:
    [McS09] McSherry. Privacy integrated queries. SIGMOD 2009.
        https://doi.org/10.1145/1559845.1559850
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.rows.build import (
    STAR,
    aliased,
    at_most,
    bit_and,
    call,
    equal,
    left_join,
    minus,
    named,
    num,
    own,
    plus,
    present,
    ranked,
    select,
    shifted_right,
    times,
)
from confide.rows.clean import (
    canonical,
    canonical_number,
    cell_of,
    listed,
    looked_up,
    nearest,
    parsed,
    person,
    quality,
)
from confide.rows.keyed_order import LIMB, limbs_of, limbs_of_text, with_place, with_point
from confide.rows.layout import Layout
from confide.rows.prepared.copies import Copies
from confide.tables.schema import Dataset, Kind, Table

WORD = 62
"""Bits of one word: two limbs."""
MOST_BELOW_A_PLACE = 40
"""A word of so many bits leaves 22 for the place, so that both are one sort key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one query can name; its common table expressions are collected in order.

    Attributes:
        dataset: Public facts.
        layout: Where the tables lie.
        copies: Prepared copies to read instead of the source, if there are.
        quality: Tables whose cells are also judged as they came.
        named: Common table expressions by name, in order of use.
        open_values: Per-patient values being compiled, to refuse circles.
    """

    dataset: Dataset
    layout: Layout
    copies: Copies | None = None
    quality: frozenset[str] = frozenset()
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
            copies = copied(scope, table)
            scope.named[name] = copies.rows(table, judged=judged(table, scope.quality))
        return name
    name += "o" if ordered or reduced else ""
    if name not in scope.named:
        rows = cleaned_rows(scope, table)
        if ordered or reduced:
            rows = _placed(scope, table, rows)
        if reduced:
            keys = [own("h"), *(own(f"c{i}") for i in range(len(table.columns)))]
            keys += map(own, judged(table, scope.quality))
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
    floors: list[exp.Expr] = []
    points: list[exp.Expr] = []
    if not scope.per_event:
        found = scope.layout.id_of(table, dataset=scope.dataset)
        identity = person(cell_of(found), found=found, ids=scope.layout.ids)
        raw.append(named(identity, "p"))
        clean.append(own("p", "r"))
        if table.other_id:
            found = scope.layout.other_id_of(table)
            identity = person(cell_of(found), found=found, ids=scope.layout.ids)
            raw.append(named(identity, "q"))
            clean.append(own("q", "r"))
    for index, column in enumerate(table.columns):
        found = located.columns[column.source]
        if table.name in scope.quality:
            word = quality(cell_of(found), column=column, physical=found.physical)
            raw.append(named(word, f"q{index}"))
            clean.append(own(f"q{index}", "r"))
        read = parsed(cell_of(found), column=column, physical=found.physical)
        raw.append(named(read, f"r{index}"))
        cell = own(f"r{index}", "r")
        if column.kind is Kind.NUMBER:
            floors.append(named(call("floor", own(f"r{index}")), f"f{index}"))
            points.append(named(nearest(own(f"r{index}"), floor=own(f"f{index}")), f"g{index}"))
            value = canonical_number(cell, point=own(f"g{index}", "r"), column=column)
            clean.append(named(value, f"c{index}"))
            continue
        values = listed(column, physical=found.physical) if column.kind is Kind.CATEGORY else ()
        if values:
            side = f"l{index}"
            joins.append(left_join(_codes(values, side), on=equal(own("t", side), cell)))
            value = looked_up(cell, index=own("i", side), column=column)
        else:
            value = canonical(cell, column=column, physical=found.physical)
        clean.append(named(value, f"c{index}"))
    rows = select(*raw, of=aliased(located.relation, "s"))
    if points:  # level by level, so that nothing is computed twice
        rows = select(STAR, *points, of=select(STAR, *floors, of=rows))
    usable = [] if scope.per_event else [present(own("p", "r"))]
    if table.other_id and not scope.per_event:
        usable.append(present(own("q", "r")))
    return select(*clean, of=rows, alias="r", joins=joins, where=usable)


def judged(table: Table, quality: frozenset[str]) -> tuple[str, ...]:
    """Name the columns ``q0, q1, …`` that say how the cells of a table were as they came.

    Rows of a person that are equal in all declared columns are ordered by all of them where one is
    asked for, as prepared copies are; rows equal in these too are interchangeable.
    """
    return tuple(f"q{i}" for i in range(len(table.columns))) if table.name in quality else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Where a column lies in its word; NULL is 0, so that it sorts first.

    Attributes:
        column: Index of the column.
        least: Canonical integer that is stored as 1.
        bits: Width.
        shift: Bits below it.
    """

    column: int
    least: int
    bits: int
    shift: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """Neighbouring columns packed into one integer that sorts as they do one by one; or a text.

    Attributes:
        fields: The columns, the first in the highest bits; one for a text.
        text: Whether the word is the text itself.
    """

    fields: tuple[Field, ...]
    text: bool

    @property
    def bits(self) -> int:
        """Width of all fields."""
        return sum(field.bits for field in self.fields)


def words_of(table: Table) -> tuple[Word, ...]:
    """Return the declared columns as few words of at most 62 bits, called ``k0, k1, …``.

    Rows of a person at the same place are ordered by them.
    """
    groups: list[list[tuple[int, int, int]]] = []
    texts: set[int] = set()
    room = 0
    for index, column in enumerate(table.columns):
        if column.kind is Kind.TEXT:
            texts.add(len(groups))
            groups.append([(index, 0, 0)])
            room = 0
            continue
        domain = column.domain()
        bits = domain.size().bit_length()
        if bits > room:
            groups.append([])
            room = WORD
        groups[-1].append((index, domain.lower, bits))
        room -= bits
    words = []
    for number, group in enumerate(groups):
        shift, fields = sum(bits for _, _, bits in group), []
        for index, least, bits in group:
            shift -= bits
            fields.append(Field(column=index, least=least, bits=bits, shift=shift))
        words.append(Word(fields=tuple(fields), text=number in texts))
    return tuple(words)


def packed(word: Word, *, of: str) -> exp.Expr:
    """Return the value of a word from the columns of a table."""
    if word.text:
        return own(f"c{word.fields[0].column}", of)
    value: exp.Expr | None = None
    for part in word.fields:
        above = minus(own(f"c{part.column}", of), num(part.least - 1))
        digit = call("coalesce", above, num(0))
        value = digit if value is None else plus(times(value, num(1 << part.bits)), digit)
    return num(0) if value is None else value


def one_word(table: Table) -> Word | None:
    """Return the only word of a table, if the place fits above it in one integer; else None."""
    words = words_of(table)
    if len(words) == 1 and not words[0].text and words[0].bits <= MOST_BELOW_A_PLACE:
        return words[0]
    return None


def place_bits(table: Table) -> int:
    """Return how many bits of the keyed order are used; ties are ordered by the words."""
    word = one_word(table)
    return LIMB if word is None else min(LIMB, WORD - word.bits)


def order_of(table: Table) -> tuple[str, ...]:
    """Name what rows of a person are sorted by: ``k``, or ``h`` and the words."""
    if one_word(table) is not None:
        return ("k",)
    return ("h", *(f"k{i}" for i in range(len(words_of(table)))))


def unpacked(table: Table, columns: Iterable[int]) -> list[exp.Expr]:
    """Return columns, by index, from ``k`` or the words ``k0, k1, …``; they must be known."""
    wanted = set(columns)
    found: list[exp.Expr] = []
    for number, word in enumerate(words_of(table)):
        for part in word.fields:
            if part.column not in wanted:
                continue
            if word.text:
                found.append(named(own(f"k{number}"), f"c{part.column}"))
                continue
            digit: exp.Expr = own(f"k{number}" if one_word(table) is None else "k")
            if part.shift:
                digit = shifted_right(digit, part.shift)
            if part is not word.fields[0] or one_word(table) is not None:
                digit = bit_and(digit, num((1 << part.bits) - 1))
            found.append(named(plus(digit, num(part.least - 1)), f"c{part.column}"))
    return found


def _codes(values: Sequence[tuple[exp.Expr, int]], alias: str) -> exp.Expr:
    """Return a code list to join; its codes are distinct by construction."""
    pairs = [exp.Tuple(expressions=[code, num(index)]) for code, index in values]
    names = exp.TableAlias(
        this=exp.to_identifier(alias, quoted=True),
        columns=[exp.to_identifier(name, quoted=True) for name in ("t", "i")],
    )
    return exp.Values(expressions=pairs, alias=names)


def _placed(scope: Scope, table: Table, rows: exp.Select) -> exp.Select:
    """Add the words ``k0, k1, …`` and ``h``, the place in the keyed order of what they say."""
    words = words_of(table)
    values = [named(packed(word, of="q"), f"k{i}") for i, word in enumerate(words)]
    limbs: list[exp.Expr] = []
    for i, word in enumerate(words):
        if word.text:
            limbs.extend(limbs_of_text(own(f"k{i}")))
        elif word.bits <= LIMB:
            limbs.append(own(f"k{i}"))
        else:
            limbs.extend(limbs_of(own(f"k{i}")))
    rows = with_point(select(STAR, *values, of=rows), person="p", ids=scope.layout.ids)
    columns = [own("p"), *(own(f"c{i}") for i in range(len(table.columns)))]
    columns += [own(f"k{i}") for i in range(len(words))]
    columns += map(own, judged(table, scope.quality))
    unused = LIMB - place_bits(table)
    h = own("h") if not unused else named(shifted_right(own("h"), unused), "h")
    return select(*columns, h, of=with_place(rows, limbs))
