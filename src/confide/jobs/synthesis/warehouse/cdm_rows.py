"""Rows of OMOP tables that follow from levels of synthetic patients.

::

    window     from the year of birth, or the first declared day, to death, or the last one
    first      drawn evenly from its bin, so early that the days to the last end within the window;
               or so many days after another kind
    last       first + days, drawn from their bin; not after the window
    between    as many as there are, evenly by chance
    end        start + days that an event lasts, drawn from their bin
    number     drawn evenly from its bin, anew for each row of a patient

A bin that lies outside of the window is brought to its nearer end, so no event comes before birth
or after death.

*Privacy:* post-processing of released levels with coins of a simulation.

*Utility:* codes of one list are taken evenly by chance, and one row more or less of a patient who
has more than are counted does not show.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Ints
from confide.errors import ContractError
from confide.jobs.synthesis.event_kind import EventKind
from confide.jobs.synthesis.rules import innermost, level_ends
from confide.jobs.synthesis.spec import Synthesis
from confide.tables.by_code import Accepted
from confide.tables.expression import ColumnOf, Expression, OrMissing
from confide.tables.relation import domain
from confide.tables.schema import Column, Dataset, Kind, Table

if TYPE_CHECKING:
    Generator = np.random.Generator  # noqa: TID251

Warehouse: TypeAlias = Mapping[str, Mapping[str, NDArray[Any]]]
"""Columns by the name of their source, by table of the source."""
YEAR_OF_BIRTH, DEATH = "year_of_birth", "death"
_NONE = -(2**62)
"""Day of what is not there."""


def warehouse_of(
    levels: Ints, *, spec: Synthesis, dataset: Dataset, generator: "Generator"
) -> Warehouse:
    """Return the rows of every table that the columns and kinds of a job make.

    Args:
        levels: Of synthetic patients; shape (patients, columns).
        spec: The job.
        dataset: Public facts.
        generator: Of whatever is drawn.
    """
    made = _Patients(levels, spec=spec, dataset=dataset, generator=generator)
    parts = [*made.single_rows()]
    parts += [made.events(kind) for kind in spec.kinds]
    sources: dict[str, list[_Part]] = {}
    for part in parts:
        sources.setdefault(part.table.source.lower(), []).append(part)
    return {name: _joined(name, found, dataset=dataset) for name, found in sources.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Rows of one declared table.

    Attributes:
        table: Which.
        patient: Number of the patient of each row, from 1.
        columns: By name of their source.
    """

    table: Table
    patient: Ints
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)


class _Patients:
    """Synthetic patients: what was drawn of them so far."""

    def __init__(
        self, levels: Ints, *, spec: Synthesis, dataset: Dataset, generator: "Generator"
    ) -> None:
        self._levels, self._spec, self._dataset = levels, spec, dataset
        self._coins, self._first = generator, dict[str, Ints]()
        self._stands = self._single()
        self._known = {name: self._drawn_column(name) for name in self._stands}
        self._born, self._last = self._window()

    def _reads(self, name: str) -> Expression:
        return self._spec.reads.reads[self._spec.columns.index(name)]

    def _codes(self, name: str) -> Ints:
        return self._levels[:, self._spec.columns.index(name)]

    def _single(self) -> dict[str, tuple[Table, Column]]:
        """Return the columns of the job that stand in tables with one row per patient."""
        inner = {name: innermost(self._reads(name)) for name in self._spec.columns}
        tables = {
            n: self._dataset.table(of.table) for n, of in inner.items() if isinstance(of, ColumnOf)
        }
        return {
            name: (tables[name], tables[name].column(of.column))
            for name, of in inner.items()
            if isinstance(of, ColumnOf)
        }

    def _absent(self, name: str) -> NDArray[np.bool_]:
        """Return of whom a column is missing."""
        of = self._reads(name)
        if not isinstance(of, OrMissing):
            return np.zeros(len(self._levels), dtype=bool)
        size = domain(of, dataset=self._dataset).size()
        return np.asarray(self._codes(name) == size - 1)

    def _drawn_column(self, name: str) -> Ints:
        """Return canonical integers of a column, evenly from its bins; any where it is missing."""
        low, high = self._ends(name)
        return np.asarray(self._coins.integers(low, high + 1), dtype=np.int64)

    def _ends(self, name: str) -> tuple[Ints, Ints]:
        """Return the ends of each patient's level; both 0 where it is missing."""
        of = self._reads(name)
        ends = level_ends(of, dataset=self._dataset)
        codes, absent = self._codes(name), self._absent(name)
        if ends is None:  # a category: the level itself
            return np.where(absent, 0, codes), np.where(absent, 0, codes)
        low, high = (np.where(absent, 0, each[codes]) for each in ends)
        return low, high

    def _window(self) -> tuple[Ints, Ints]:
        """Return the first and the last day on which each patient may have an event."""
        many = len(self._levels)
        born, last = np.full(many, _NONE), np.full(many, -_NONE)
        for name, (table, column) in self._stands.items():
            if column.source.lower() == YEAR_OF_BIRTH:
                years = self._known[name] * column.scale.numerator // column.scale.denominator
                first = (years - 1970).astype("datetime64[Y]").astype("datetime64[D]")
                born = np.where(self._absent(name), born, first.astype(np.int64))
            elif table.source.lower() == DEATH and column.kind is Kind.DATE:
                last = np.where(self._absent(name), last, self._known[name])
        return born, np.maximum(last, born)

    def single_rows(self) -> "list[_Part]":
        """Return the rows of tables with one row per patient."""
        base = self._spec.reads.relation.table
        everybody = np.ones(len(self._levels), dtype=bool)
        parts: dict[str, tuple[NDArray[np.bool_], dict[str, NDArray[Any]]]] = {
            base: (everybody, {})
        }
        for name, (table, column) in self._stands.items():
            values, absent = self._known[name], self._absent(name)
            if column.kind is Kind.DATE and table.source.lower() == DEATH:
                values = np.maximum(values, self._born)
            there, columns = parts.setdefault(table.name, (~everybody, {}))
            columns[column.source.lower()] = _written(values, absent=absent, column=column)
            parts[table.name] = (there | ~absent, columns)
        found = []
        for name, (there, columns) in parts.items():
            kept = {source: values[there] for source, values in columns.items()}
            patient = np.flatnonzero(there) + 1
            table = self._dataset.table(name)
            kept |= self._coded(table.only, rows=patient.size)
            found.append(_Part(table=table, patient=patient, columns=kept))
        return found

    def events(self, kind: EventKind) -> _Part:
        """Return the rows of the events of one kind."""
        table = self._dataset.table(kind.table)
        low, high = (
            np.maximum(self._born, int(table.column(kind.date).domain().lower)),
            np.minimum(self._last, int(table.column(kind.date).domain().upper)),
        )
        has = ~self._absent(kind.first)
        many = has.astype(np.int64)
        if kind.rows:
            many = np.where(has, np.maximum(self._drawn_column(kind.rows), 1), 0)
        high = np.maximum(high, low)
        span = np.zeros_like(many)
        if kind.days:
            span = np.where(self._absent(kind.days), 0, self._drawn_column(kind.days))
        first = np.clip(self._first_day(kind, latest=high - span), low, high)
        self._first[kind.name] = np.where(has, first, _NONE)
        last = np.clip(first + span, first, high)
        patient = np.repeat(np.arange(many.size), many)
        place = np.arange(patient.size) - np.repeat(np.cumsum(many) - many, many)
        day = self._coins.integers(first[patient], last[patient] + 1)
        day = np.where(place == 0, first[patient], day)
        day = np.where((place == many[patient] - 1) & (place > 0), last[patient], day)
        order = np.lexsort((day, patient))
        day, patient = day[order], patient[order]
        columns = {table.column(kind.date).source.lower(): _days(day)}
        columns |= self._ended(kind, table=table, day=day, patient=patient)
        columns |= self._measured(kind, table=table, patient=patient)
        columns |= self._coded((*table.only, *kind.codes), rows=patient.size)
        return _Part(table=table, patient=patient + 1, columns=columns)

    def _first_day(self, kind: EventKind, *, latest: Ints) -> Ints:
        """Return the day of each patient's first event, any for who has none.

        Args:
            kind: Of events.
            latest: Day on which it is at the latest where its bin has such days.
        """
        low, high = self._ends(kind.first)
        low, high = np.maximum(low, self._born), np.minimum(high, latest)
        first = np.asarray(self._coins.integers(low, np.maximum(low, high) + 1), dtype=np.int64)
        if not kind.after:
            return first
        days = [self._first[name] for name in kind.after]
        begun = np.minimum.reduce([np.where(day == _NONE, -_NONE, day) for day in days])
        known = (begun != -_NONE) & ~self._absent(kind.later)
        return np.where(known, np.where(known, begun, 0) + self._drawn_column(kind.later), first)

    def _ended(
        self, kind: EventKind, *, table: Table, day: Ints, patient: Ints
    ) -> dict[str, NDArray[Any]]:
        if not kind.end:
            return {}
        low, high = self._ends(kind.stay)
        lasts = self._coins.integers(low[patient], high[patient] + 1)
        end = np.minimum(day + lasts, np.maximum(self._last[patient], day))
        column = table.column(kind.end)
        end = np.maximum(np.minimum(end, column.domain().upper), day)
        return {column.source.lower(): _days(end, absent=self._absent(kind.stay)[patient])}

    def _measured(self, kind: EventKind, *, table: Table, patient: Ints) -> dict[str, NDArray[Any]]:
        if not kind.number:
            return {}
        column = table.column(kind.number)
        low, high = self._ends(kind.value)
        values = self._coins.integers(low[patient], high[patient] + 1)
        absent = self._absent(kind.value)[patient]
        found = {column.source.lower(): _written(values, absent=absent, column=column)}
        if column.units is not None:
            found |= self._coded((own_unit(column),), rows=patient.size)
        return found

    def _coded(self, codes: Sequence[Accepted], *, rows: int) -> dict[str, NDArray[Any]]:
        """Return codes of rows, evenly by chance where there are several."""
        return {
            each.source.lower(): _concepts(each.codes)[
                self._coins.integers(0, len(each.codes), size=rows)
            ]
            for each in codes
        }


def own_unit(column: Column) -> Accepted:
    """Return the code of the unit in which a number is declared.

    Raises:
        ContractError: If no code stands for it.
    """
    units = column.units
    for each in units.known if units is not None and not units.in_cell else ():
        if each.times == 1 and each.plus == 0:
            return Accepted(source=units.source if units is not None else "", codes=(each.code,))
    raise ContractError(
        f"Column {column.name!r}: no code stands for the unit in which it is declared.",
        hint="Name one under units.",
    )


def _written(values: Ints, *, absent: NDArray[np.bool_], column: Column) -> NDArray[Any]:
    """Return canonical integers as the source would hold them."""
    match column.kind:
        case Kind.DATE:
            return _days(values, absent=absent)
        case Kind.CATEGORY:
            codes = {index: code for code, index in reversed(column.codes)}
            labels = [codes.get(index, "0") for index in range(len(column.keys))]
            return _concepts((*labels, "0"))[np.where(absent, len(labels), values)]
        case _:
            physical = values * column.scale.numerator / column.scale.denominator
            if column.scale.denominator == 1 and not absent.any():
                return np.asarray(values * column.scale.numerator, dtype=np.int64)
            return np.where(absent, np.nan, physical)


def _concepts(codes: Sequence[str]) -> NDArray[Any]:
    """Return codes as whole numbers where all are; else as texts."""
    if all(code.isascii() and code.isdigit() for code in codes):
        return np.array([int(code) for code in codes], dtype=np.int64)
    return np.array(codes, dtype=object)


def _days(days: Ints, *, absent: NDArray[np.bool_] | None = None) -> NDArray[Any]:
    found = np.asarray(days, dtype=np.int64).astype("datetime64[D]")
    if absent is not None:
        found[absent] = np.datetime64("NaT")
    return found


def _joined(source: str, parts: Sequence[_Part], *, dataset: Dataset) -> dict[str, NDArray[Any]]:
    """Return the rows of one table of the source, by patient, numbered where there may be many."""
    names = list(dict.fromkeys(name for part in parts for name in part.columns))
    patient = np.concatenate([part.patient for part in parts])
    order = np.argsort(patient, kind="stable")
    id_column = parts[0].table.id_column or dataset.unit.id_column
    found: dict[str, NDArray[Any]] = {}
    if not parts[0].table.one_row_per_patient:
        found[f"{source}_id"] = np.arange(1, patient.size + 1)
    found[id_column.lower()] = patient[order]
    for name in names:
        found[name] = np.concatenate([_filled(part, name, parts=parts) for part in parts])[order]
    return found


def _filled(part: _Part, name: str, *, parts: Sequence[_Part]) -> NDArray[Any]:
    """Return a column of a part; missing values where only others have it."""
    if name in part.columns:
        return part.columns[name]
    of = next(each.columns[name].dtype for each in parts if name in each.columns)
    rows = part.patient.size
    if of.kind == "M":
        return np.full(rows, np.datetime64("NaT"), dtype=of)
    return np.full(rows, None, dtype=object) if of.kind == "O" else np.full(rows, np.nan)
