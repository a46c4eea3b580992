"""Columns packed into words: what rows of a person are sorted by, and unpacked from when kept.

A word holds neighbouring columns in at most 62 bits and sorts as they do one by one, NULL first; a
text is a word of its own.  Where all columns of a table are one short word, the place stands above
it in the same integer ``k``, with fewer bits: one sort key in place of two.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from confide.rows.cells.build import (
    bit_and,
    call,
    minus,
    named,
    num,
    own,
    plus,
    shifted_right,
    times,
)
from confide.rows.cells.keyed_order import LIMB, limbs_of, limbs_of_text
from confide.tables.schema import Kind, Table

WORD = 62
"""Bits of one word: two limbs."""
MOST_BELOW_A_PLACE = 40
"""A word of so many bits leaves 22 for the place, so that both are one sort key."""


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
class PackedWord:
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


def words_of(table: Table) -> tuple[PackedWord, ...]:
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
        words.append(PackedWord(fields=tuple(fields), text=number in texts))
    return tuple(words)


def stored_words(table: Table, *, of: str) -> list[exp.Expr]:
    """Return the words ``k0, k1, …`` from the columns of a table."""
    return [named(_packed(word, of=of), f"k{i}") for i, word in enumerate(words_of(table))]


def limbs(table: Table, *, hashed: bool = False) -> list[exp.Expr]:
    """Return the words ``k0, k1, …`` of a row as limbs, for its place.

    Args:
        table: Whose row.
        hashed: Whether ``t0, t1, …`` hold 60 bits of the texts of columns 0, 1 and so on.
    """
    found: list[exp.Expr] = []
    for i, word in enumerate(words_of(table)):
        if word.text and hashed:
            sixty = call("coalesce", own(f"t{word.fields[0].column}"), num(0))
            found.extend(limbs_of(sixty))
        elif word.text:
            found.extend(limbs_of_text(own(f"k{i}")))
        elif word.bits <= LIMB:
            found.append(own(f"k{i}"))
        else:
            found.extend(limbs_of(own(f"k{i}")))
    return found


def placed(table: Table) -> exp.Expr:
    """Return ``h`` with the bits that a table uses of it; ties are ordered by the words."""
    only = _one_word(table)
    unused = 0 if only is None else max(0, LIMB - (WORD - only.bits))
    return named(shifted_right(own("h"), unused), "h") if unused else own("h")


def word_names(table: Table) -> tuple[str, ...]:
    """Name what holds each word where rows are sorted: ``k``, or ``k0, k1, …``."""
    if _one_word(table) is not None:
        return ("k",)
    return tuple(f"k{i}" for i in range(len(words_of(table))))


def order_of(table: Table) -> tuple[str, ...]:
    """Name what rows of a person are sorted by: ``k``, or ``h`` and the words."""
    names = word_names(table)
    return names if _one_word(table) is not None else ("h", *names)


def ordering(table: Table, *, of: str, stored: bool) -> list[exp.Expr]:
    """Return ``h`` and the words by name, of rows that store them or from their columns."""
    words = [
        own(f"k{i}", of) if stored else _packed(word, of=of)
        for i, word in enumerate(words_of(table))
    ]
    only = _one_word(table)
    if only is not None:
        words = [plus(times(own("h", of), num(1 << only.bits)), words[0])]
    return [own("h", of), *map(named, words, word_names(table))]


def unpacked(table: Table, columns: Iterable[int]) -> list[exp.Expr]:
    """Return columns, by index, from the words that rows are sorted by; they must be known."""
    wanted, below = set(columns), _one_word(table) is not None
    found: list[exp.Expr] = []
    for name, word in zip(word_names(table), words_of(table), strict=True):
        for part in word.fields:
            if part.column not in wanted:
                continue
            value: exp.Expr = own(name)
            if not word.text:
                if part.shift:
                    value = shifted_right(value, part.shift)
                if part is not word.fields[0] or below:
                    value = bit_and(value, num((1 << part.bits) - 1))
                value = plus(value, num(part.least - 1))
            found.append(named(value, f"c{part.column}"))
    return found


def restored(table: Table) -> list[exp.Expr]:
    """Return every column from the words that rows are sorted by, NULL where it was."""
    found = unpacked(table, range(len(table.columns)))
    parts = {part.column: part for word in words_of(table) for part in word.fields}
    texts = {word.fields[0].column for word in words_of(table) if word.text}
    for place, column in enumerate(found):
        index = int(column.alias_or_name.removeprefix("c"))
        if index not in texts:
            below = num(parts[index].least - 1)  # what NULL is unpacked as
            found[place] = named(exp.Nullif(this=column.this, expression=below), f"c{index}")
    return found


def _packed(word: PackedWord, *, of: str) -> exp.Expr:
    """Return the value of a word from the columns of a table."""
    if word.text:
        return own(f"c{word.fields[0].column}", of)
    value: exp.Expr | None = None
    for part in word.fields:
        above = minus(own(f"c{part.column}", of), num(part.least - 1))
        digit = call("coalesce", above, num(0))
        value = digit if value is None else plus(times(value, num(1 << part.bits)), digit)
    return num(0) if value is None else value


def _one_word(table: Table) -> PackedWord | None:
    """Return the only word of a table, if the place fits above it in one integer; else None."""
    words = words_of(table)
    if len(words) == 1 and not words[0].text and words[0].bits <= MOST_BELOW_A_PLACE:
        return words[0]
    return None
