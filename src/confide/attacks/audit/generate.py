"""Neighbouring databases over an alphabet of troublesome values, thousands at a time.

All databases of a search lie in one table, which says in two columns of which database a row is, so
one query answers all of them.
A search holds three versions of it: in each database one person, the *target*, is present, or
absent, or replaced; everybody else has the same rows, with the same person ids, in all three.  For
the event as the unit the same is done with one row of the target.

Half of the targets are drawn at random from an alphabet of troublesome values.  The other half are
*directed*: eight rows at an extreme, in as few or as many cells as possible, against the opposite
extreme, so that the bounds are reached.

*Privacy:* no data of anybody are read.

References:
    [Casa22] Casacuberta, Shoemate, Vadhan, Wagaman. Widespread underestimation of sensitivity in
        differentially private libraries and how to fix it. CCS 2022.
        https://arxiv.org/abs/2207.10635
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.attacks.audit.generated_schema import ALPHABETS, base
from confide.noise.entropy import Entropy, uniform_below
from confide.privacy.unit import Entity

MOST_OTHERS = 5
MOST_EVENTS = 8

GeneratedRows: TypeAlias = dict[str, NDArray[np.int64]]
"""Rows of one table: person and database, and for each column a place in its alphabet."""

_Version: TypeAlias = tuple[Sequence[GeneratedRows], Sequence[GeneratedRows]]

_NUMBERS = ("amount", "change", "big", "whole")
_LABELS = ("code", "day", "note")
_EVENT_COLUMNS = (*_NUMBERS, *_LABELS)
_PERSON_COLUMNS = ("sex", "age")
_WITH_ENDS = (*_NUMBERS, *_PERSON_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Three versions of all databases of one search.

    Attributes:
        databases: How many; their numbers are 0, 1, …
        present: Frames by table, with the targets.
        absent: Without the targets (or one row of each).
        replaced: With other persons (or another row) in their place.
    """

    databases: int
    present: Mapping[str, Any]
    absent: Mapping[str, Any]
    replaced: Mapping[str, Any]

    def only(self, database: int) -> "Neighbours":
        """Return one of the databases, as number 0 of a search of one."""

        def chosen(table: Any) -> Any:
            high, low = divmod(database, base(self.databases))
            here = (table["db_high"].to_numpy() == high) & (table["db_low"].to_numpy() == low)
            return _numbered(table.filter(here), np.zeros(int(here.sum()), np.int64), databases=1)

        return self._mapped(chosen, databases=1)

    def alone(self) -> "Neighbours":
        """Return the databases without anybody but their targets."""

        def targets(table: Any) -> Any:
            person = table["pid"].fill_null(1).to_numpy()
            return table.filter(person % (MOST_OTHERS + 1) == 0)

        return self._mapped(targets, databases=self.databases)

    def renamed(self, turn: int) -> "Neighbours":
        """Return the same databases with other ids, so with another order of rows."""
        from pyarrow import compute

        def moved(table: Any) -> Any:
            ids = compute.add(table["pid"], self.databases * turn * (MOST_OTHERS + 1))
            return table.set_column(table.schema.get_field_index("pid"), "pid", ids)

        return self._mapped(moved, databases=self.databases)

    def _mapped(self, change: Callable[[Any], Any], *, databases: int) -> "Neighbours":
        present, absent, replaced = (
            {name: change(table) for name, table in version.items()}
            for version in (self.present, self.absent, self.replaced)
        )
        return Neighbours(databases=databases, present=present, absent=absent, replaced=replaced)


def neighbours(databases: int, *, entity: Entity, entropy: Entropy) -> Neighbours:
    """Draw databases of at most six persons with at most eight events each, and their neighbours.

    Args:
        databases: How many.
        entity: Whether neighbours differ in a person or in one event.
        entropy: Source of the choices.

    Example:
        >>> from confide.noise.entropy import SystemEntropy
        >>> drawn = neighbours(50, entity=Entity.PATIENT, entropy=SystemEntropy())
        >>> len(drawn.present["events"]) > len(drawn.absent["events"])
        True
    """
    rest, people = _others(databases, entropy=entropy)
    habits = _Habits.drawn(databases, entropy=entropy)
    target, person = _target(habits, entropy=entropy)
    absent: _Version
    replaced: _Version
    if entity is Entity.PATIENT:
        other, another = _target(habits.opposite(entropy=entropy), entropy=entropy)
        absent, replaced = ((rest,), (people,)), ((rest, other), (people, another))
    else:
        first = np.unique(target["db"], return_index=True)[1]
        kept = {name: np.delete(column, first) for name, column in target.items()}
        row = {name: column[first] for name, column in target.items()}
        everybody = (people, person)
        absent = ((rest, kept), everybody)
        replaced = ((rest, kept, _other_row(row, entropy=entropy)), everybody)
    return Neighbours(
        databases=databases,
        present=_frames((rest, target), (people, person), databases=databases),
        absent=_frames(*absent, databases=databases),
        replaced=_frames(*replaced, databases=databases),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Habits:
    """What the target of each database does; shape (databases,) each unless said.

    Attributes:
        directed: Whether the target aims at a bound.
        extreme: Which end each of its numbers is at, 0 or 1; shape (columns, databases).
        spread: 0: one cell; 1: the first two; 2: the last two; 3: all four.
        cell: The one cell.
    """

    directed: NDArray[np.bool_]
    extreme: NDArray[np.int64]
    spread: NDArray[np.int64]
    cell: NDArray[np.int64]

    @classmethod
    def drawn(cls, databases: int, *, entropy: Entropy) -> "_Habits":
        return cls(
            directed=uniform_below(2, count=databases, entropy=entropy) == 1,
            extreme=_ends(databases, entropy=entropy),
            spread=uniform_below(4, count=databases, entropy=entropy),
            cell=uniform_below(4, count=databases, entropy=entropy),
        )

    def end(self, name: str) -> NDArray[np.int64]:
        ends: NDArray[np.int64] = self.extreme[_WITH_ENDS.index(name)]
        return ends

    def opposite(self, *, entropy: Entropy) -> "_Habits":
        """Return the other end of some numbers, or other cells, or both."""
        other_end = _ends(self.cell.size, entropy=entropy)
        elsewhere = uniform_below(2, count=self.cell.size, entropy=entropy)
        swapped = np.array([0, 2, 1, 3])[self.spread]
        return _Habits(
            directed=self.directed,
            extreme=self.extreme ^ other_end,
            spread=np.where(elsewhere == 1, swapped, self.spread),
            cell=(self.cell + elsewhere) % 4,
        )


def _ends(databases: int, *, entropy: Entropy) -> NDArray[np.int64]:
    count = len(_WITH_ENDS) * databases
    return uniform_below(2, count=count, entropy=entropy).reshape(len(_WITH_ENDS), databases)


def _others(databases: int, *, entropy: Entropy) -> tuple[GeneratedRows, GeneratedRows]:
    """Return events and person rows of everybody but the targets; some rows belong to nobody."""
    persons = uniform_below(MOST_OTHERS + 1, count=databases, entropy=entropy)
    db = np.repeat(np.arange(databases), persons)
    pid = _ids(db, 1 + _ordinals(persons))
    pid[uniform_below(40, count=pid.size, entropy=entropy) == 0] = -1
    events = uniform_below(MOST_EVENTS + 1, count=pid.size, entropy=entropy)
    rows = uniform_below(3, count=pid.size, entropy=entropy)
    return _repeated(db, pid, events, of=_EVENT_COLUMNS, entropy=entropy), _repeated(
        db, pid, rows, of=_PERSON_COLUMNS, entropy=entropy
    )


def _target(habits: _Habits, *, entropy: Entropy) -> tuple[GeneratedRows, GeneratedRows]:
    """Return the events and person rows of one target in each database."""
    databases = habits.cell.size
    db = np.arange(databases)
    some = uniform_below(MOST_EVENTS + 1, count=databases, entropy=entropy)
    many = np.where(habits.directed, MOST_EVENTS, some)
    events = _repeated(db, _ids(db, 0), many, of=_EVENT_COLUMNS, entropy=entropy)
    ordinal = _ordinals(many)
    aimed, at = habits.directed[events["db"]], events["db"]
    spread, cell = habits.spread[at], habits.cell[at]
    label = np.select(
        [spread == 0, spread == 1, spread == 2],
        [cell, ordinal % 2, 2 + ordinal % 2],
        default=ordinal % 4,
    )
    for name in _NUMBERS:
        events[name] = np.where(aimed, habits.end(name)[at], events[name])
    for name in _LABELS:
        events[name] = np.where(aimed, label, events[name])
    rows = np.where(habits.directed, 1, uniform_below(3, count=databases, entropy=entropy))
    persons = _repeated(db, _ids(db, 0), rows, of=_PERSON_COLUMNS, entropy=entropy)
    aimed, at = habits.directed[persons["db"]], persons["db"]
    for name in _PERSON_COLUMNS:
        persons[name] = np.where(aimed, habits.end(name)[at], persons[name])
    return events, persons


def _other_row(row: GeneratedRows, *, entropy: Entropy) -> GeneratedRows:
    """Return another event in place of each: any, or the opposite extreme in another cell."""
    count = row["db"].size
    other = row | _drawn(count, of=_EVENT_COLUMNS, entropy=entropy)
    aimed = uniform_below(2, count=count, entropy=entropy) == 1
    elsewhere = uniform_below(2, count=count, entropy=entropy)
    for name in _NUMBERS:
        other[name] = np.where(aimed & (row[name] < 2), 1 - row[name], other[name])
    for name in _LABELS:
        moved = (row[name] + elsewhere) % 4
        other[name] = np.where(aimed & (row[name] < 4), moved, other[name])
    return other


def _repeated(
    db: NDArray[np.int64],
    pid: NDArray[np.int64],
    times: NDArray[np.int64],
    *,
    of: Sequence[str],
    entropy: Entropy,
) -> GeneratedRows:
    rows = {"db": np.repeat(db, times), "pid": np.repeat(pid, times)}
    return rows | _drawn(rows["db"].size, of=of, entropy=entropy)


def _drawn(count: int, *, of: Sequence[str], entropy: Entropy) -> GeneratedRows:
    return {name: uniform_below(len(ALPHABETS[name]), count=count, entropy=entropy) for name in of}


def _ids(db: NDArray[np.int64], slot: NDArray[np.int64] | int) -> NDArray[np.int64]:
    return db * (MOST_OTHERS + 1) + slot


def _ordinals(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0 … times[i] − 1 for each i, one after another."""
    ends = np.cumsum(times)
    return np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - times, times)


def _frames(
    events: Sequence[GeneratedRows], persons: Sequence[GeneratedRows], *, databases: int
) -> dict[str, Any]:
    return {
        "events": _table(events, databases=databases),
        "patients": _table(persons, databases=databases),
    }


def _table(parts: Sequence[GeneratedRows], *, databases: int) -> Any:
    """Return rows as a frame; a person number below 0 is NULL, a note carries its database."""
    import pyarrow as pa

    rows = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    high, low = np.divmod(rows["db"], base(databases))
    columns: dict[str, Any] = {
        "db_high": pa.array(high),
        "db_low": pa.array(low),
        "pid": pa.array(rows["pid"], mask=rows["pid"] < 0),
    }
    for name in rows.keys() - {"db", "pid"}:
        letters = pa.array(ALPHABETS[name], type=pa.int32() if name == "day" else None)
        letters = letters.cast(pa.date32()) if name == "day" else letters
        columns[name] = letters.take(pa.array(rows[name]))
    if "note" in columns:
        columns["note"] = _noted(pa.array(rows["db"]), columns["note"])
    return pa.table(columns)


def copied(frames: Mapping[str, Any], *, copies: int) -> dict[str, Any]:
    """Return many copies of one database in one, with persons of their own."""
    import pyarrow as pa

    found = {}
    for name, table in frames.items():
        rows = table.num_rows
        copy = np.repeat(np.arange(copies), rows)
        many = table.take(pa.array(np.tile(np.arange(rows), copies)))
        own = many["pid"].to_numpy() % (MOST_OTHERS + 1)
        many = many.set_column(many.schema.get_field_index("pid"), "pid", pa.array(_ids(copy, own)))
        found[name] = _numbered(many, copy, databases=copies)
    return found


def _numbered(table: Any, db: NDArray[np.int64], *, databases: int) -> Any:
    """Return a table with the digits of other database numbers."""
    import pyarrow as pa

    for name, digit in zip(("db_high", "db_low"), np.divmod(db, base(databases)), strict=True):
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(digit))
    return table


def _noted(db: Any, note: Any) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    return compute.binary_join_element_wise(db.cast(pa.string()), note, "/")
