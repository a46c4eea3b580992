"""Derived columns and per-patient values of dataset.yaml.

A derived column is a function of one row: bins of a number or date, a calendar part, days or cases.
A per-patient value is a function of one patient's own rows: first, last, any, count, days between.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from confide.errors import ContractError, UnboundedError, concerning
from confide.files.derived.cases import read_cases
from confide.files.texts import Bound, Counting, Section, Whole
from confide.files.where import canonical, read_where
from confide.tables.expression import (
    BinOf,
    ColumnOf,
    DatePart,
    DaysOf,
    PartOf,
    ValueOf,
)
from confide.tables.per_patient import (
    AtEnd,
    CountOf,
    DaysBetween,
    HasAny,
    PerPatientValue,
    Which,
)
from confide.tables.relation import domain, resolve
from confide.tables.schema import Dataset, Derived, Kind, Outside


class DerivedSection(Section):
    """Bins of a number or date, a calendar part, days between two dates, or named cases."""

    of: str | None = None
    bins: list[Bound] | None = None
    part: DatePart | None = None
    days_between: list[str] | None = None
    lower: Whole | None = None
    upper: Whole | None = None
    outside: Outside = Outside.CLIP
    case: dict[str, dict[str, Any]] | None = None
    else_: str = Field(default="drop", alias="else")
    missing: str = "drop"
    label: str = ""


class PerPatientSection(Section):
    """One value per patient, from that patient's own rows."""

    first: str | None = None
    last: str | None = None
    any: str | None = None
    count: str | None = None
    days_between: list[str] | None = None
    of: str | None = None
    by: str | None = None
    where: dict[str, Any] = Field(default_factory=dict)
    before: str | None = None
    at_most: Counting | None = None
    lower: Whole | None = None
    upper: Whole | None = None
    label: str = ""


_TAKES = {
    "first": ("of", "by", "where", "before"),
    "last": ("of", "by", "where", "before"),
    "any": ("where",),
    "count": ("where", "at_most"),
    "days_between": ("lower", "upper"),
}
"""What each kind of per-patient value reads beside its own key; what none reads is refused."""

_MAKES = {
    "bins": ("of",),
    "part": ("of",),
    "days_between": ("lower", "upper", "outside"),
    "case": ("of", "else_", "missing"),
}
"""The same of derived columns."""


def with_values(
    dataset: Dataset,
    *,
    per_patient: Mapping[str, PerPatientSection],
    derived: Mapping[str, DerivedSection],
) -> Dataset:
    """Return the data set with its per-patient values and derived columns, in that order.

    Raises:
        ContractError: If one of them does not fit the tables.
    """
    for name, section in per_patient.items():
        with concerning(name, kind="Per-patient value"):
            value = _value(name, section, dataset=dataset)
        dataset = replace(dataset, per_patient=(*dataset.per_patient, value))
    for name, part in derived.items():
        with concerning(name, kind="Derived"):
            found = _derived(name, part, dataset=dataset)
        dataset = replace(dataset, derived=(*dataset.derived, found))
    return dataset


def _derived(name: str, section: DerivedSection, *, dataset: Dataset) -> Derived:
    kinds = [kind for kind in _MAKES if getattr(section, kind) is not None]
    if len(kinds) != 1:
        raise ContractError(
            f"Derived {name!r} needs one of bins, part, days-between and case.",
            hint="Write bins: [20, 40, 60, 80], part: month, or days-between: [in, out].",
        )
    if unread := section.unread(kinds[0], "label", *_MAKES[kinds[0]]):
        raise ContractError(
            f"Derived {name!r} is made by {kinds[0].replace('_', '-')}, which does not read "
            f"{', '.join(unread)}.",
            hint="Leave it out.",
        )
    made: BinOf | PartOf | DaysOf
    match kinds[0]:
        case "case":
            return Derived(name=name, of=read_cases(name, section, dataset=dataset))
        case "days_between":
            made = _days_of(name, section, dataset=dataset)
        case _:
            made = _cut(name, section, dataset=dataset)
    domain(made, dataset=dataset)
    return Derived(name=name, of=made)


def _cut(name: str, section: DerivedSection, *, dataset: Dataset) -> BinOf | PartOf:
    of = _read(name, section.of, dataset=dataset)
    if section.bins is None:
        if section.part is None or isinstance(of, DaysOf):
            raise ContractError("Only a date has calendar parts.", hint="Use `bins` for a number.")
        return PartOf(of=of, part=section.part)
    within = domain(of, dataset=dataset)
    return BinOf(
        of=of, edges=tuple(canonical(str(section.of), edge, within) for edge in section.bins)
    )


def _days_of(name: str, section: DerivedSection, *, dataset: Dataset) -> DaysOf:
    ends = section.days_between or []
    if len(ends) != 2 or section.lower is None or section.upper is None:
        raise UnboundedError(
            f"Derived {name!r} needs two dates and bounds.",
            hint="Write days-between: [admitted, discharged], lower: 0, upper: 365.",
        )
    start, end = (_read(name, each, dataset=dataset) for each in ends)
    if isinstance(start, DaysOf) or isinstance(end, DaysOf):
        raise ContractError("Days are counted between two dates.")
    if isinstance(start, ColumnOf) and isinstance(end, ColumnOf) and start.table != end.table:
        several = [t for t in (start.table, end.table) if not dataset.keeps_one_row(t)]
        if len(several) > 1:
            raise ContractError(
                f"Derived {name!r}: {ends[0]} and {ends[1]} stand in different tables.",
                hint="Name two dates of one row, or declare per-patient dates of them.",
            )
    drop = section.outside is Outside.DROP
    return DaysOf(start=start, end=end, lower=section.lower, upper=section.upper, inside=drop)


def _read(name: str, column: str | None, *, dataset: Dataset) -> ColumnOf | ValueOf | DaysOf:
    """Return what a derived column is of: a column, a per-patient value, or a number of days."""
    if column is None:
        raise ContractError(f"Derived {name!r} does not say of what.", hint="Write of: age.")
    table = dataset.tables[0].name
    owners = [t.name for t in dataset.tables if any(c.name == column for c in t.columns)]
    if len(owners) > 1:
        raise ContractError(
            f"Derived {name!r}: several tables have a column {column!r}: {', '.join(owners)}.",
            hint=f"Write which one is meant: {owners[0]}.{column}.",
        )
    of = resolve(column, table=owners[0] if len(owners) == 1 else table, dataset=dataset)
    if not isinstance(of, ColumnOf | ValueOf | DaysOf):
        raise ContractError(f"Derived {name!r} must be of a column or a per-patient value.")
    return of


def _value(name: str, section: PerPatientSection, *, dataset: Dataset) -> PerPatientValue:
    kinds = [kind for kind in _TAKES if getattr(section, kind) is not None]
    if len(kinds) != 1:
        raise ContractError(
            f"Per-patient value {name!r} needs exactly one of first, last, any, count, "
            "days-between."
        )
    if unread := section.unread(kinds[0], "label", *_TAKES[kinds[0]]):
        raise _unread(name, unread, kind=kinds[0], before=section.before)
    match kinds[0]:
        case "first" | "last":
            return _at_end(name, section, dataset=dataset)
        case "any":
            table = str(section.any)
            where = read_where(section.where, table=table, dataset=dataset)
            return HasAny(name=name, table=dataset.table(table).name, where=where)
        case "count":
            table = str(section.count)
            if section.at_most is None:
                raise UnboundedError(
                    f"Per-patient value {name!r} counts without a cap.",
                    hint="Write at-most: 30, from public knowledge.",
                )
            where = read_where(section.where, table=table, dataset=dataset)
            return CountOf(
                name=name, table=dataset.table(table).name, where=where, at_most=section.at_most
            )
        case _:
            return _days(name, section, dataset=dataset)


def _unread(name: str, unread: Sequence[str], *, kind: str, before: str | None) -> ContractError:
    """Return the refusal of keys that a kind does not read."""
    kind, takes = (each.replace("_", "-") for each in (kind, ", ".join(_TAKES[kind])))
    hint = f"Leave it out; beside {kind} stand {takes}."
    if kind == "any" and before is not None:
        hint = (
            "Take the last such row, and ask whether it is known: "
            f"{name}: {{last: DATE, of: TABLE, before: {before}}}, and where: {{{name}: known}}."
        )
    return ContractError(
        f"Per-patient value {name!r} is of kind {kind}, which does not read {', '.join(unread)}.",
        hint=hint,
    )


def _at_end(name: str, section: PerPatientSection, *, dataset: Dataset) -> AtEnd:
    which = Which.FIRST if section.first is not None else Which.LAST
    column = str(section.first if section.first is not None else section.last)
    if section.of is None:
        raise ContractError(f"Per-patient value {name!r} needs of: table.")
    table = dataset.table(section.of)
    taken = table.column(column)
    by = section.by or (column if taken.kind is Kind.DATE else None)
    if by is None or table.column(by).kind is not Kind.DATE:
        raise ContractError(
            f"Per-patient value {name!r} needs by: a date column that orders the rows."
        )
    if section.before is not None:
        dataset.value(section.before)
    return AtEnd(
        name=name,
        which=which,
        table=table.name,
        column=column,
        by=by,
        where=read_where(section.where, table=table.name, dataset=dataset),
        before=section.before,
    )


def _days(name: str, section: PerPatientSection, *, dataset: Dataset) -> DaysBetween:
    ends = section.days_between or []
    if len(ends) != 2 or section.lower is None or section.upper is None:
        raise ContractError(
            f"Per-patient value {name!r} needs two dates and bounds.",
            hint="Write days-between: [first_a, first_b], lower: 0, upper: 3650.",
        )
    for end in ends:
        if domain(ValueOf(name=end), dataset=dataset).kind is not Kind.DATE:
            raise ContractError(f"Per-patient value {end!r} is not a date.")
    return DaysBetween(
        name=name, start=ends[0], end=ends[1], lower=section.lower, upper=section.upper
    )
