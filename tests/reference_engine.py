"""The algebra in plain Python, row by row: slow, short, and written without looking at SQL.

It shares no code with ``confide.rows``; both are held against each other on thousands of databases.
Tables are lists of dicts from source column to Python value (int, float, str, date, bool, None).
"""

import dataclasses
import datetime as dt
import hashlib
import hmac
import itertools
import math
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

from confide.privacy.unit import Entity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_count
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.aggregates.value import Centred, CentredSquare, Ones, Plain, Product, reads
from confide.tables.bound_contributions import CellBound, CellOrder, OneEvent, RowBound
from confide.tables.expression import (
    BinOf,
    CaseOf,
    ColumnOf,
    DaysOf,
    Holds,
    OrMissing,
    PartOf,
    QualityOf,
    ValueOf,
)
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween, HasAny, Which
from confide.tables.relation import centre, date_of, domain, part_index
from confide.tables.schema import Column, Dataset, Kind, Outside

MASK = 2**31 - 1
EPOCH = dt.date(1970, 1, 1)
NUMBERS_IN_TEXT = {
    "12": 12.0,
    " 12 ": 12.0,
    "1e2": 100.0,
    "nan": math.nan,
    "inf": math.inf,
    "-0": -0.0,
}
DATES_IN_TEXT = dict.fromkeys(
    ("2020-02-29", "2020-2-29", "2020-02-29 23:59:59"), dt.date(2020, 2, 29)
)


@dataclass
class Reference:
    dataset: Dataset
    tables: dict
    hash_key: bytes
    flaw: str = ""  # a mutant's name; "" is the truth
    _cleaned: dict = field(default_factory=dict)
    _values: dict = field(default_factory=dict)

    def __post_init__(self):
        self.k = [
            1 + int.from_bytes(
                hmac.new(self.hash_key, f"confide row order k{i}".encode(), hashlib.sha256).digest(), "big"
            ) % (MASK - 1)
            for i in range(1, 8)
        ]  # fmt: skip
        self.text_ids = any(
            isinstance(row.get(self.id_column(table)), str)
            for table in self.dataset.tables
            for row in self.tables.get(table.source, [])
        )

    # -- ids and the keyed order

    def id_column(self, table):
        return table.id_column or self.dataset.unit.id_column

    def person(self, value):
        if isinstance(value, float) and not (value.is_integer() and abs(value) < 2**53):
            return None
        if self.text_ids:
            return as_text(value)
        if value is None:
            return None
        whole = int(value)
        return whole if -(2**63) <= whole < 2**63 else None

    def point(self, person):
        low, high = limbs(sixty_bits(person) if isinstance(person, str) else person)
        k1, k2, k3, k4, *_ = self.k
        return folded(folded(low ^ k1, high ^ k2) ^ k3, k4)

    def place(self, person, values):
        *_, k5, k6, k7 = self.k
        x, values = self.point(person), list(values) or [0]
        while True:
            values = [
                folded(a ^ x, b[0] ^ k5 if b else k5)
                for a, *b in (values[i : i + 2] for i in range(0, len(values), 2))
            ]
            if len(values) == 1:
                return folded(values[0] ^ k6, k7)

    def row_place(self, table, row):
        if "h" not in row:
            bits = [
                c.domain().size().bit_length() for c in table.columns if c.kind is not Kind.TEXT
            ]
            alone = sum(bits) <= 40 and len(bits) == len(table.columns)
            unused = max(0, 31 - (62 - sum(bits))) if alone and bits else 0
            row["h"] = self.place(row["p"], row_limbs(table, row)) >> unused
        return row["h"]

    def order(self, table, row, judged=()):
        return (
            self.row_place(table, row),
            tuple(sortable(row[c.name]) for c in table.columns),
            tuple(row["quality"][c.name] for c in table.columns if c.name in judged),
        )

    # -- tables

    def cleaned(self, name, judged=frozenset()):
        if (name, judged) not in self._cleaned:
            self._cleaned[name, judged] = self._clean(self.dataset.table(name), judged)
        return self._cleaned[name, judged]

    def _clean(self, table, judged):
        per_event = self.dataset.unit.entity is Entity.EVENT
        rows = []
        for index, raw in enumerate(self.tables.get(table.source, [])):
            if not self.of_table(raw, table):
                continue
            cells = {c.name: self.cell(raw, c) for c in table.columns}
            row = {c.name: clean(cells[c.name], c, flaw=self.flaw) for c in table.columns}
            row["quality"] = {
                c.name: quality(cells[c.name], c) for c in table.columns if c.name in judged
            }
            row["p"] = index if per_event else self.person(raw.get(self.id_column(table)))
            row["#"] = index
            if row["p"] is not None:
                rows.append(row)
        if table.one_row_per_patient and not per_event and self.flaw != "fan-out":
            rows = [
                min(own, key=lambda r: self.order(table, r, judged))
                for own in by_person(rows).values()
            ]
        return rows

    def of_table(self, raw, table):
        """Whether a row has the codes and units of a table."""
        if self.flaw == "rows of other codes":
            return True
        if self.flaw == "unit of the most rows":
            (unit,) = (c.units.source for c in table.columns if c.units is not None)
            written = Counter(as_text(each.get(unit)) for each in self.tables[table.source])
            return as_text(raw.get(unit)) == max(
                written, key=lambda code: (written[code], str(code))
            )
        asked = [(each.source, each.codes) for each in table.only]
        if self.flaw != "rows of other units":
            units = [c.units for c in table.columns if c.units is not None]
            asked += [(each.source, each.codes) for each in units]
        refused = [] if self.flaw == "rows of no concept" else table.without
        return all(
            as_text(raw.get(source)) in normal(codes) for source, codes in asked
        ) and not any(as_text(raw.get(each.source)) in normal(each.codes) for each in refused)

    def cell(self, raw, column):
        """A cell in the unit of its column; None where a code says that it is missing."""
        value = raw.get(column.source)
        if self.stands_for_nothing(value, column):
            return None
        if column.units is None or value is None or self.flaw == "units as they are":
            return value
        code = as_text(raw.get(column.units.source))
        for each in column.units.known:
            if each.code == code and (each.times, each.plus) != (1, 0):
                value = value if each.times == 1 else value * float(each.times)
                return value + float(each.plus) if each.plus else value
        return value

    def stands_for_nothing(self, value, column):
        """Whether a cell is a code that means missing; a number or date is, in any spelling."""
        if self.flaw == "codes of nothing":
            return False
        if as_text(value) in normal(column.absent):
            return True
        if value is None or self.flaw == "codes of nothing as they are spelled":
            return False
        if column.kind is Kind.NUMBER:
            number = NUMBERS_IN_TEXT.get(value) if isinstance(value, str) else value
            return number is not None and number in map(number_of, column.absent)
        if column.kind is Kind.DATE:
            day = DATES_IN_TEXT.get(value) if isinstance(value, str) else value
            return day is not None and day in map(DATES_IN_TEXT.get, column.absent)
        return False

    def one_row(self, name):
        return {row["p"]: row for row in self.cleaned(name)}

    # -- per-patient values

    def value(self, name):
        if name not in self._values:
            self._values[name] = self._compute(self.dataset.value(name))
        return self._values[name]

    def _compute(self, value):
        match value:
            case DaysBetween():
                start, end = self.value(value.start), self.value(value.end)
                found = {}
                for p in start.keys() & end.keys():
                    if start[p] is not None and end[p] is not None:
                        found[p] = min(max(end[p] - start[p], value.lower), value.upper)
                return found
            case HasAny() | CountOf():
                own = by_person(
                    r for r in self.cleaned(value.table) if self.holds(value.where, r, value.table)
                )
                if isinstance(value, HasAny):
                    return defaultdict(int, dict.fromkeys(own, 1))
                return defaultdict(int, {p: min(len(r), value.at_most) for p, r in own.items()})
            case AtEnd():
                return self._at_end(value)

    def _at_end(self, value):
        table = self.dataset.table(value.table)
        own = by_person(
            r
            for r in self.cleaned(value.table)
            if self.holds(value.where, r, value.table)
            and r[value.by] is not None
            and (
                value.before is None
                or r[value.by] < (self.value(value.before).get(r["p"]) or -(10**9))
            )
        )
        sign = 1 if value.which is Which.FIRST else -1
        return {
            p: min(rows, key=lambda r: (sign * r[value.by], *self.order(table, r)))[value.column]
            for p, rows in own.items()
        }

    # -- expressions and predicates

    def number(self, expression, row, table):  # noqa: C901, PLR0912 - one case a kind
        match expression:
            case ColumnOf(table=other, column=column):
                if other == table:
                    return row[column]
                return self.one_row(other).get(row["p"], {}).get(column)
            case ValueOf(name=name):
                values = self.value(name)
                return values[row["p"]] if isinstance(values, defaultdict) else values.get(row["p"])
            case BinOf(of=inner, edges=edges):
                value = self.number(inner, row, table)
                if value is None or not edges[0] <= value <= edges[-1]:
                    return None
                return min(sum(value >= edge for edge in edges) - 1, len(edges) - 2)
            case PartOf(of=inner, part=part):
                value = self.number(inner, row, table)
                of = domain(inner, dataset=self.dataset)
                since = of.lower if expression.since is None else expression.since
                until = of.upper if expression.until is None else expression.until
                if value is None or not since <= value <= until:
                    return None
                first = part_index(date_of(since), part)
                return part_index(date_of(value), part) - first
            case DaysOf(start=start, end=end, lower=lower, upper=upper):
                first, last = (self.number(each, row, table) for each in (start, end))
                if first is None or last is None:
                    return None
                kept = min(max(last - first, lower), upper)
                return None if expression.inside and kept != last - first else kept
            case CaseOf(cases=cases):
                held = (place for when, place in cases if self.holds(when, row, table))
                return next(held, None)
            case Holds(of=predicate):
                return int(self.holds(predicate, row, table))
            case OrMissing(of=inner):
                value = self.number(inner, row, table)
                past = domain(inner, dataset=self.dataset).upper + 1
                return past if value is None else value
            case QualityOf(of=ColumnOf(column=column)):
                return row["quality"][column]

    def holds(self, predicate, row, table):
        match predicate:
            case Everything():
                return True
            case Between(of=of, lower=lower, upper=upper):
                value = self.number(of, row, table)
                return (
                    value is not None
                    and (lower is None or value >= lower)
                    and (upper is None or value <= upper)
                )
            case IsIn(of=of, values=values):
                return self.number(of, row, table) in values
            case All(of=parts):
                return all(self.holds(part, row, table) for part in parts)
            case AnyOf(of=parts):
                return any(self.holds(part, row, table) for part in parts)
            case Not(of=part):
                return not self.holds(part, row, table)

    # -- aggregates

    def aggregate(self, aggregates):
        return tuple(
            self._keyed(a) if isinstance(a, KeyedAggregate) else self._dense(a) for a in aggregates
        )

    def _dense(self, a: Aggregate):
        table = self.dataset.table(a.relation.table)
        domains = [domain(axis, dataset=self.dataset) for axis in a.axes]
        asked = any(isinstance(axis, QualityOf) for axis in a.axes)
        judged = frozenset(c.name for c in table.columns) if asked else frozenset()
        rows = self.cleaned(table.name, judged)
        if self.flaw == "fan-out":
            rows = self._fanned(a, rows, table.name)
        kept = []
        stale = self.flaw == "bound before the filter" and isinstance(a.bounds, RowBound)
        if stale:
            rows = [r for own in by_person(rows).values() for r in sorted(own, key=lambda r: self.order(table, r))[: a.bounds.max_rows]]  # fmt: skip
        for row in rows:
            if not self.holds(a.relation.where, row, table.name):
                continue
            axes = [self.number(axis, row, table.name) for axis in a.axes]
            values = [self.number(e, row, table.name) for e in reads(a.value)]
            if None in axes or None in values:
                continue
            cell = 0
            for at, of in zip(axes, domains, strict=True):
                cell = cell * of.size() + at - of.lower
            loaded = self.flaw == "rows in load order"
            key = (row["#"],) if loaded else self.order(table, row, judged)
            kept.append((row["p"], cell, self._term(a.value, values), key))
        sums = [0] * cell_count(a.axes, dataset=self.dataset)
        for p, own in group(kept, 0).items():
            times = domains[-1].size() if domains else 1
            for cell, term in self._bounded(p, own, a.bounds, len(sums), times=times):
                sums[cell] += term
        if self.flaw == "bound after the sum" and not isinstance(a.bounds, OneEvent):
            most = getattr(a.bounds, "max_rows", None) or a.bounds.max_rows_per_cell
            people = len(by_person(rows))
            sums = [min(s, most * people) for s in sums]
        if self.flaw == "int64 wrap":
            sums = [(s + 2**63) % 2**64 - 2**63 for s in sums]
        return tuple(sums)

    def _bounded(self, p, own, bounds, cells, *, times):
        if self.flaw in ("no bound", "bound after the sum"):
            return [(cell, term) for _, cell, term, _ in own]
        in_order = sorted(own, key=lambda r: (r[3], r[1], r[2]))
        match bounds:
            case OneEvent():
                return [(cell, term) for _, cell, term, _ in own]
            case RowBound(max_rows=m):
                return [(cell, term) for _, cell, term, _ in in_order[:m]]
            case CellBound(max_cells=k, max_rows_per_cell=r, order=order):
                by_cell = group(sorted(own, key=lambda o: (o[3], o[2])), 1)
                time = times if order is CellOrder.EARLIEST else 1
                first = sorted(
                    by_cell,
                    key=lambda c: (
                        c % time,
                        self.place(p, [c] if cells <= 2**31 else limbs(c)),
                        c,
                    ),
                )[:k]
                return [(c, term) for c in first for _, _, term, _ in by_cell[c][:r]]

    def _fanned(self, a, rows, table):
        """A left join to every row of the other tables, as if each had one row per patient."""
        others = {
            e.table
            for axis in a.axes
            for e in [axis]
            if isinstance(e, ColumnOf) and e.table != table
        }
        for other in others:
            copies = defaultdict(int)
            for row in self.cleaned(other):
                copies[row["p"]] += 1
            rows = [r for r in rows for _ in range(max(1, copies[r["p"]]))]
        return rows

    def _term(self, value, known):
        match value:
            case Ones():
                return 1
            case Plain():
                return known[0]
            case Centred(of=of):
                return known[0] - centre(domain(of, dataset=self.dataset))[0]
            case CentredSquare(of=of):
                return (known[0] - centre(domain(of, dataset=self.dataset))[0]) ** 2
            case Product(of=factors):
                return math.prod(self._term(f, [x]) for f, x in zip(factors, known, strict=True))

    def _keyed(self, a: KeyedAggregate):
        found = defaultdict(set)
        for row in self.cleaned(a.relation.table):
            key = row[a.key.column]
            if key is not None and self.holds(a.relation.where, row, a.relation.table):
                found[row["p"]].add(key)
        counts = defaultdict(int)
        for p, keys in found.items():
            places = {key: self.place(p, limbs(sixty_bits(key))) for key in keys}
            for key in sorted(keys, key=lambda key: (places[key], key.encode()))[
                : a.bounds.max_cells
            ]:
                counts[key] += 1
        return dict(counts)


def clean(value, column: Column, *, flaw=""):
    """One cell to a canonical integer, text, or None."""
    match column.kind:
        case Kind.TEXT:
            return as_text(value)
        case Kind.CATEGORY:
            text = as_text(value, normal=flaw != "NFC and NFD twins")
            if text is None:
                return column.nulls
            codes = {unicodedata.normalize("NFC", code): index for code, index in column.codes}
            if flaw == "NFC and NFD twins":
                codes = dict(column.codes)
            return codes.get(text, column.other)
        case Kind.DATE:
            if isinstance(value, str):
                value = DATES_IN_TEXT.get(value)
            if isinstance(value, dt.datetime):
                value = value.date()
            if value is None:
                return column.nulls
            days = (value - EPOCH).days
            return days if column.lower <= days <= column.upper else None
        case Kind.NUMBER:
            return clean_number(value, column, flaw=flaw)


def quality(value, column: Column):
    """0 for a cell that is used as it is, 1 for a missing one, 2 for any other."""
    if as_text(value) is None or (column.kind is Kind.NUMBER and value == "nan"):
        return 1
    raw = dataclasses.replace(column, nulls=None, other=None, outside=Outside.DROP)
    return 0 if clean(value, raw) is not None else 2


def clean_number(value, column, *, flaw=""):
    number = NUMBERS_IN_TEXT.get(value) if isinstance(value, str) else value
    if flaw == "NULL becomes the upper bound" and number is None:
        return column.upper
    if flaw == "NaN passes" and number is not None and math.isnan(number):
        return column.upper
    if number is None or math.isnan(number):
        return column.nulls
    number = float(number)
    if math.isfinite(number):
        number *= column.scale.denominator
    if math.isfinite(number):
        number /= column.scale.numerator
    if math.isinf(number):
        point = 2**1100 if number > 0 else -(2**1100)
    else:
        point = math.floor(Fraction(number) + Fraction(1, 2))
    if column.lower <= point <= column.upper:
        return point
    if column.outside is Outside.DROP:
        return None
    return column.lower if point < column.lower else column.upper


def number_of(code):
    try:
        return float(code)
    except ValueError:
        return None


def normal(codes):
    return {unicodedata.normalize("NFC", code) for code in codes}


def as_text(value, *, normal=True):
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, bool):
        value = str(value).lower()
    text = unicodedata.normalize("NFC", str(value)) if normal else str(value)
    return text or None


def row_limbs(table, row):
    """Columns in words of at most 62 bits, one after the other; texts alone; words in limbs."""
    found, word, width = [], 0, 0

    def close():
        nonlocal word, width
        if width:
            found.extend([word] if width <= 31 else limbs(word))
        word = width = 0

    for column in table.columns:
        value = row[column.name]
        if column.kind is Kind.TEXT:
            close()
            found.extend(limbs(0 if value is None else sixty_bits(value)))
            continue
        of = column.domain()
        bits = of.size().bit_length()
        if width + bits > 62:
            close()
        word = (word << bits) + (0 if value is None else value - of.lower + 1)
        width += bits
    close()
    return found


def limbs(word):
    return [word & MASK, word >> 31 & MASK]


def folded(a, b):
    return (a * b & MASK) ^ (a * b >> 31)


def sixty_bits(text):
    return int(hashlib.sha256(text.encode()).hexdigest()[:15], 16)


def sortable(value):
    return (value is not None, value.encode() if isinstance(value, str) else value or 0)


def by_person(rows):
    found = defaultdict(list)
    for row in rows:
        found[row["p"]].append(row)
    return found


def group(rows, at):
    found = defaultdict(list)
    for row in itertools.chain(rows):
        found[row[at]].append(row)
    return found
