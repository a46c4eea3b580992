"""``events`` of synth.yaml: kinds of events of a patient, as per-patient values in public bins.

A kind is rows of one declared table with public labels.  Rows whose date lies outside of the first
and last edge of ``dates`` are none of it, so that a patient has a first date whenever they have an
event: what cannot be is then a rule that holds in the data.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from confide.errors import ContractError, concerning
from confide.files.texts import Bound, Counting, Section, Whole
from confide.files.where import canonical, read_where
from confide.jobs.synthesis.event_kind import MOST_OF_A_KIND, EventKind
from confide.jobs.synthesis.rules import Never
from confide.jobs.synthesis.warehouse.cdm_rows import own_unit
from confide.tables.by_code import Accepted
from confide.tables.expression import BinOf, ColumnOf, Expression, OrMissing, ValueOf
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Predicate
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween, PerPatientValue, Which
from confide.tables.schema import Dataset, Domain, Kind, Table

DATES = 10
"""Bins of the date of a first event."""
SPANS = (0, 1, 8, 31, 91, 366, 1096)
"""Days from the first event to the last, at which bins begin."""
STAYS = (0, 1, 2, 4, 8, 31, 366)
"""Days that an event lasts, at which bins begin, and the end of the last one."""
_STRANGE = re.compile(r"[^a-z0-9]+")


class EventSection(Section):
    """One kind of events of a patient, or one for each label of a category."""

    of: str
    where: dict[str, Any] = Field(default_factory=dict)
    each: str = ""
    date: str = ""
    dates: Counting | list[Bound] = DATES
    at_most: Counting = 1
    days: list[Whole] | None = None
    end: str = ""
    stay: list[Whole] | None = None
    number: str = ""
    values: Counting | list[Bound] = DATES
    after: list[str] = Field(default_factory=list)
    later: list[Whole] | None = None


@dataclass(slots=True)
class ReadEvents:
    """What the kinds of a synth.yaml come to.

    Attributes:
        kinds: In order.
        values: Per-patient values that the job asks for beside those of the data set.
        reads: Expression of each column, by its name.
        never: What cannot be.
    """

    kinds: list[EventKind] = field(default_factory=list)
    values: list[PerPatientValue] = field(default_factory=list)
    reads: dict[str, Expression] = field(default_factory=dict)
    never: list[Never] = field(default_factory=list)
    where: dict[str, tuple[str, str, Predicate]] = field(default_factory=dict)


def read_events(sections: Mapping[str, EventSection], *, dataset: Dataset) -> ReadEvents:
    """Return what kinds of events come to.

    Raises:
        ContractError: If one does not suit the data set; the message names it.
    """
    found = ReadEvents()
    for given, section in sections.items():
        for name, one in _each(given, section, dataset=dataset):
            with concerning(name, kind="Events"):
                _OneKind(name, one, dataset=dataset, found=found).read()
    return found


def _each(
    given: str, section: EventSection, *, dataset: Dataset
) -> Iterator[tuple[str, EventSection]]:
    """Yield a section for each label that is meant."""
    if not section.each:
        yield given, section
        return
    column = dataset.table(section.of).column(section.each)
    if column.kind is not Kind.CATEGORY:
        raise ContractError(
            f"Events {given!r}: each is of a category, and {section.each!r} is none.",
            hint="Name a column with public labels.",
        )
    wanted = section.where.get(section.each, list(column.keys))
    for label in wanted if isinstance(wanted, list) else [wanted]:
        where = {**section.where, section.each: [label]}
        slug = _STRANGE.sub("_", str(label).lower()).strip("_")
        yield f"{given}_{slug}", section.model_copy(update={"each": "", "where": where})


class _OneKind:
    """Reads one kind into what was found before it."""

    def __init__(
        self, name: str, section: EventSection, *, dataset: Dataset, found: ReadEvents
    ) -> None:
        self._name, self._section, self._found = name, section, found
        self._dataset, self._table = dataset, dataset.table(section.of)
        self._date = section.date or _only_date(self._table)
        within = self._domain(self._date)
        if within.kind is not Kind.DATE:
            raise ContractError(f"Column {self._date!r} is no date.")
        self._edges = _edges(self._date, section.dates, within=within)
        self._where = read_where(section.where, table=self._table.name, dataset=dataset)
        self._codes = _codes_of(self._where, table=self._table)
        between = Between(of=self._column(self._date), lower=self._edges[0], upper=self._edges[-1])
        parts = (between,) if isinstance(self._where, Everything) else (self._where, between)
        self._rows: Predicate = parts[0] if len(parts) == 1 else All(of=parts)

    def _domain(self, column: str) -> Domain:
        return self._table.column(column).domain()

    def _column(self, name: str) -> ColumnOf:
        return ColumnOf(table=self._table.name, column=name)

    def read(self) -> None:
        """Add the kind."""
        section, name = self._section, self._name
        first = self._at("first", Which.FIRST, column=self._date)
        bins = len(self._edges) - 1
        self._add(first, edges=self._edges)
        more: dict[str, Any] = {}
        if section.at_most > 1:
            more |= self._counted(first, bins=bins)
        if section.end:
            end = self._at("end", Which.FIRST, column=section.end)
            edges = _days_edges(section.stay or list(STAYS), name="stay")
            more |= {"end": section.end, "stay": self._between("stay", first, end, edges=edges)}
            self._not_without(first, more["stay"], bins=bins)
        if section.number:
            within = self._domain(section.number)
            if within.kind is not Kind.NUMBER:
                raise ContractError(f"Column {section.number!r} is no number.")
            if self._table.column(section.number).units is not None:
                own_unit(self._table.column(section.number))
            value = self._at("value", Which.LAST, column=section.number)
            self._add(value, edges=_edges(section.number, section.values, within=within))
            more |= {"number": section.number, "value": value}
            self._not_without(first, value, bins=bins)
        if section.after:
            more |= {"after": tuple(section.after), "later": self._later(first)}
            self._not_without(first, more["later"], bins=bins)
        self._found.where[name] = (self._table.name, self._date, self._rows)
        self._found.kinds.append(
            EventKind(
                name=name,
                table=self._table.name,
                date=self._date,
                first=first,
                codes=self._codes,
                **more,
            )
        )

    def _at(self, word: str, which: Which, *, column: str) -> str:
        """Add a per-patient value: a column of the first or last event; return its name."""
        return self._value(
            AtEnd(
                name=f"{self._name}_{word}",
                which=which,
                table=self._table.name,
                column=column,
                by=self._date,
                where=self._rows,
            )
        )

    def _value(self, value: PerPatientValue) -> str:
        if any(
            each.name == value.name for each in (*self._dataset.per_patient, *self._found.values)
        ):
            raise ContractError(f"There is a per-patient value {value.name!r} already.")
        self._found.values.append(value)
        return value.name

    def _add(self, name: str, *, edges: tuple[int, ...]) -> None:
        self._found.reads[name] = OrMissing(of=BinOf(of=ValueOf(name=name), edges=edges))

    def _between(self, word: str, start: str, end: str, *, edges: tuple[int, ...]) -> str:
        """Add days between two values; days beyond the edges count as at them."""
        name = f"{self._name}_{word}"
        self._value(DaysBetween(name=name, start=start, end=end, lower=edges[0], upper=edges[-1]))
        self._add(name, edges=edges)
        return name

    def _counted(self, first: str, *, bins: int) -> dict[str, str]:
        """Add how many events there are, and the days from the first to the last."""
        most = self._section.at_most
        if most > MOST_OF_A_KIND:
            raise ContractError(
                f"Expected at-most ≤ {MOST_OF_A_KIND}, got {most}.",
                hint="More events of a patient than so many make a column of too many levels.",
            )
        rows, table = f"{self._name}_rows", self._table.name
        self._value(CountOf(name=rows, table=table, where=self._rows, at_most=most))
        self._found.reads[rows] = ValueOf(name=rows)
        whole = self._edges[-1] - self._edges[0]
        begins = [day for day in SPANS if day < whole]
        edges = _days_edges(self._section.days or [*begins, whole], name="days")
        if edges[-2] > whole:
            raise ContractError(
                f"days: no two events are {edges[-2]} days apart within {whole} days of dates.",
                hint="Leave days out, or end them with the length of the window.",
            )
        last = self._at("last", Which.LAST, column=self._date)
        days = self._between("days", first, last, edges=edges)
        some, spans = tuple(range(1, most + 1)), tuple(range(len(edges) - 1))
        self._never(first, rows, (bins,), some)
        self._never(first, rows, tuple(range(bins)), (0,))
        self._never(rows, days, (0,), spans)
        self._never(rows, days, some, (len(spans),))
        for place, begun in enumerate(self._edges[:-1]):
            beyond = tuple(i for i in spans if begun + edges[i] > self._edges[-1])
            if beyond:
                self._never(first, days, (place,), beyond)
        if edges[:2] == (0, 1) and len(spans) > 1:
            self._never(rows, days, (1,), spans[1:])
        return {"rows": rows, "days": days}

    def _never(self, one: str, other: str, these: tuple[int, ...], those: tuple[int, ...]) -> None:
        self._found.never.append(Never(columns=(one, other), levels=(these, those)))

    def _not_without(self, first: str, other: str, *, bins: int) -> None:
        """Add that who has no event has no value of one."""
        of = self._found.reads[other]
        if isinstance(of, OrMissing) and isinstance(of.of, BinOf):
            self._never(first, other, (bins,), tuple(range(len(of.of.edges) - 1)))

    def _later(self, first: str) -> str:
        """Add the days from the first of other kinds; those beyond the edges are missing."""
        section, kinds = self._section, []
        for name in section.after:
            if name not in self._found.where:
                raise ContractError(
                    f"They come after {name!r}, which are not named before.",
                    hint="Name what comes first above what comes after it.",
                )
            kinds.append(self._found.where[name])
        if len({(table, date) for table, date, _ in kinds}) > 1:
            raise ContractError(
                "What they come after is in several tables.", hint="Name kinds of one table."
            )
        if section.later is None:
            raise ContractError("later: expected edges of days.", hint="Write later: [0, 30, 120].")
        table, date, _ = kinds[0]
        rows = tuple(predicate for _, _, predicate in kinds)
        begun = self._value(
            AtEnd(
                name=f"{self._name}_begun",
                which=Which.FIRST,
                table=table,
                column=date,
                by=date,
                where=rows[0] if len(rows) == 1 else AnyOf(of=rows),
            )
        )
        edges = _days_edges(section.later, name="later")
        name = f"{self._name}_later"
        around = {"lower": edges[0] - 1, "upper": edges[-1] + 1}
        self._value(DaysBetween(name=name, start=begun, end=first, **around))
        self._add(name, edges=edges)
        return name


def _only_date(table: Table) -> str:
    dates = [column.name for column in table.columns if column.kind is Kind.DATE]
    if not dates:
        raise ContractError(f"Table {table.name!r} has no date.", hint="Declare one.")
    return "start" if "start" in dates else dates[0]


def _edges(name: str, given: int | list[Any], *, within: Domain) -> tuple[int, ...]:
    if isinstance(given, list):
        edges = tuple(canonical(name, edge, within) for edge in given)
        if not (within.lower <= edges[0] and edges[-1] <= within.upper):
            raise ContractError(f"{name}: edges lie outside of the declared bounds.")
        return edges
    bins = max(1, min(given, within.size() - 1))
    whole = within.upper - within.lower
    return tuple(within.lower + whole * i // bins for i in range(bins + 1))


def _days_edges(given: list[int], *, name: str) -> tuple[int, ...]:
    edges = tuple(given)
    if len(edges) < 2 or any(a >= b for a, b in itertools.pairwise(edges)):
        raise ContractError(
            f"{name}: expected increasing edges of days.", hint=f"Write {name}: [0, 1, 31, 366]."
        )
    if edges[0] < 0 or (name == "days" and edges[0] != 0):
        raise ContractError(f"{name}: expected edges from 0 on.")
    return edges


def _codes_of(where: Predicate, *, table: Table) -> tuple[Accepted, ...]:
    """Return the codes that rows of a condition may have."""
    parts = where.of if isinstance(where, All) else (where,)
    found = []
    for part in parts:
        if isinstance(part, Everything):
            continue
        of = part.of if isinstance(part, IsIn) else None
        if not isinstance(part, IsIn) or not isinstance(of, ColumnOf) or of.table != table.name:
            raise ContractError(
                "where: expected labels of categories of the table, and nothing else.",
                hint="Write where: {condition: [Asthma]}: rows are made with the codes of labels.",
            )
        column = table.column(of.column)
        codes = tuple(code for code, index in column.codes if index in part.values)
        missing = [column.keys[i] for i in part.values if i not in dict(column.codes).values()]
        if missing:
            raise ContractError(f"where: no code of the data stands for {missing[0]!r}.")
        found.append(Accepted(source=column.source, codes=codes))
    return tuple(found)
