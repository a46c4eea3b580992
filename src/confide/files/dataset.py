"""dataset.yaml: public facts only; reading it never opens the data.

See docs/reference/dataset.md; the JSON Schema is generated from the models here.
"""

import csv
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from confide.budget.ledger import Caps
from confide.errors import ContractError, UnboundedError
from confide.files.texts import Counting, Day, Exact, Positive, Section, Whole, beside, read_section
from confide.files.where import canonical, read_where
from confide.files.yaml_text import read_yaml
from confide.privacy.accounting.concentrated import rho_for
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import atto, nano
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.tables.expression import BinOf, ColumnOf, DatePart, PartOf, ValueOf
from confide.tables.per_patient import (
    AtEnd,
    CountOf,
    DaysBetween,
    HasAny,
    PerPatientValue,
    Which,
)
from confide.tables.relation import EPOCH, domain, resolve
from confide.tables.schema import Column, Dataset, Derived, Kind, Outside, Table
from confide.tables.source import Source, SourceKind

LABEL_OF_CODES = "code"


class AboutSection(Section):
    """Name, lineage and snapshot of the data."""

    id: str
    lineage: str
    snapshot: str


class SourceSection(Section):
    """Where the data are, and what the engine may use."""

    kind: SourceKind
    path: str = ""
    version: str = ""
    memory_limit: str = "2GB"
    threads: Counting = 2


class ProtectsSection(Section):
    """Privacy unit and adjacency; one for the whole ledger."""

    unit: Entity
    id: str
    adjacency: Adjacency


class AccountingSection(Section):
    """How losses add up, and δ."""

    measure: Measure
    delta: Exact = Fraction(0)
    selection_delta: Exact | None = None


class AmountSection(Section):
    """One amount: ε, or ρ under zcdp."""

    epsilon: Positive | None = None
    rho: Positive | None = None


class CapsSection(Section):
    """The most that may be spent."""

    lifetime: AmountSection
    calendar_year: AmountSection | None = None
    release: AmountSection | None = None


class IssuerSection(Section):
    """Who issues certificates."""

    organisation: str = ""
    contact: str = ""


class ColumnSection(Section):
    """One declared column."""

    from_: str | None = Field(default=None, alias="from")
    kind: Literal["number", "year", "date", "category", "text"] | None = None
    lower: Exact | Day | None = None
    upper: Exact | Day | None = None
    step: Positive = Fraction(1)
    unit: str = ""
    categories: dict[str, str] | list[str] | None = None
    nulls: str = "drop"
    other: str = "drop"
    outside: Outside = Outside.CLIP
    source: str = ""


class TableSection(Section):
    """One declared table."""

    from_: str | None = Field(default=None, alias="from")
    id: str = ""
    rows_per_patient: Literal["1", 1] | None = None
    columns: dict[str, ColumnSection]


class DerivedSection(Section):
    """Bins of a number or date, or a calendar part."""

    of: str
    bins: list[Exact | Day] | None = None
    part: DatePart | None = None


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


class DatasetFile(Section):
    """The sections of dataset.yaml."""

    dataset: AboutSection
    source: SourceSection
    protects: ProtectsSection
    accounting: AccountingSection
    caps: CapsSection
    issuer: IssuerSection = Field(default_factory=IssuerSection)
    population_at_most: Counting = 10**10
    population: Counting | None = None
    tables: dict[str, TableSection]
    derived: dict[str, DerivedSection] = Field(default_factory=dict)
    per_patient: dict[str, PerPatientSection] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredDataset:
    """What dataset.yaml says.

    Attributes:
        dataset: The public facts that plans hold.
        source: Where the data are.
        caps: The most that may be spent, in grid units.
        organisation: Who issues certificates.
        contact: How to reach them.
        base: Folder of the file; the workspace folder is ``.confide`` in it.
        memory_limit: For the engine, such as "2GB".
        threads: For the engine.
    """

    dataset: Dataset
    source: Source
    caps: Caps
    organisation: str
    contact: str
    base: Path
    memory_limit: str = "2GB"
    threads: int = 2


def read_dataset(path: Path) -> DeclaredDataset:
    """Return what a dataset.yaml declares.

    Raises:
        ContractError: If it breaks its contract; the message names the place.
    """
    return declare(read_yaml(path), path=path)


def declare(value: object, *, path: Path) -> DeclaredDataset:
    """Return what the content of a dataset.yaml declares; ``path`` is where it would stand."""
    if isinstance(value, dict):
        value = _with_category_files(value, path=path)
    file = read_section(DatasetFile, value, name=path.name)
    tables = tuple(_table(name, section) for name, section in file.tables.items())
    accounting = file.accounting
    selection = accounting.selection_delta
    if selection is None:
        selection = accounting.delta / 2 if accounting.measure is Measure.ZCDP else accounting.delta
    dataset = Dataset(
        id=file.dataset.id,
        lineage=file.dataset.lineage,
        snapshot=file.dataset.snapshot,
        unit=PrivacyUnit(entity=file.protects.unit, id_column=file.protects.id),
        adjacency=file.protects.adjacency,
        measure=accounting.measure,
        delta=accounting.delta,
        selection_delta=selection,
        population_at_most=file.population_at_most,
        population=file.population,
        tables=tables,
    )
    dataset = _with_values(dataset, file)
    return DeclaredDataset(
        dataset=dataset,
        source=Source(kind=file.source.kind, path=file.source.path, version=file.source.version),
        caps=_caps(file.caps, dataset=dataset),
        organisation=file.issuer.organisation,
        contact=file.issuer.contact,
        base=path.parent,
        memory_limit=file.source.memory_limit,
        threads=file.source.threads,
    )


def amount_nano(section: AmountSection, *, dataset: Dataset, place: str) -> int:
    """Return an amount of a file in 1e-9 of the data set's measure, rounded down.

    Under zcdp an ε is read at the declared δ less the δ kept for key selection.

    Raises:
        ContractError: If it names no amount, or one of another measure.
    """
    match section.epsilon, section.rho, dataset.measure:
        case Fraction() as epsilon, None, Measure.PURE:
            return nano(epsilon)
        case Fraction() as epsilon, None, Measure.ZCDP:
            rho = rho_for(epsilon, delta=dataset.delta - dataset.selection_delta)
            return nano(rho)
        case None, Fraction() as rho, Measure.ZCDP:
            return nano(rho)
        case _:
            raise ContractError(
                f"{place}: expected one amount in the measure {dataset.measure.value}.",
                hint="Write {epsilon: 1}, or {rho: 0.02} under zcdp.",
            )


def _caps(section: CapsSection, *, dataset: Dataset) -> Caps:
    def optional(amount: AmountSection | None, place: str) -> int | None:
        return None if amount is None else amount_nano(amount, dataset=dataset, place=place)

    lifetime = amount_nano(section.lifetime, dataset=dataset, place="caps → lifetime")
    return Caps(
        lifetime=lifetime,
        calendar_year=optional(section.calendar_year, "caps → calendar-year"),
        release=optional(section.release, "caps → release"),
        delta_lifetime_atto=atto(dataset.selection_delta) if dataset.selection_delta else 0,
    )


def _with_category_files(value: dict[str, Any], *, path: Path) -> dict[str, Any]:
    """Replace ``categories: {file: x.csv}`` by the codes and labels of the file."""
    tables = value.get("tables")
    if not isinstance(tables, dict):
        return value
    for table in tables.values():
        columns = table.get("columns") if isinstance(table, dict) else None
        for column in columns.values() if isinstance(columns, dict) else ():
            named = column.get("categories") if isinstance(column, dict) else None
            if isinstance(named, dict) and set(named) == {"file"}:
                column["categories"] = _category_file(beside(named["file"], of=path))
    return value


def _category_file(path: Path) -> dict[str, str]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError:
        raise ContractError(f"There is no category file {path.name}.") from None
    if rows and rows[0][0].strip().lower() == LABEL_OF_CODES:
        rows = rows[1:]
    if any(len(row) not in (1, 2) for row in rows):
        raise ContractError(
            f"{path.name} should hold one or two columns.", hint="Write code,label on each line."
        )
    return {row[0]: row[-1] for row in rows}


def _table(name: str, section: TableSection) -> Table:
    return Table(
        name=name,
        source=section.from_ or name,
        columns=tuple(_column(key, column) for key, column in section.columns.items()),
        one_row_per_patient=section.rows_per_patient is not None,
        id_column=section.id,
    )


def _column(name: str, section: ColumnSection) -> Column:
    kind = section.kind or ("category" if section.categories is not None else None)
    if kind is None:
        raise UnboundedError(
            f"Column {name!r} says neither its kind nor its categories.",
            hint="Write kind: number with lower and upper, kind: date, categories, or kind: text.",
        )
    source = section.from_ or name
    match kind:
        case "category":
            return _category(name, section, source=source)
        case "text":
            return Column(name=name, kind=Kind.TEXT, source=source, because=section.source)
        case "date":
            return _date_column(name, section, source=source)
        case _:
            return _number(name, section, source=source)


def _category(name: str, section: ColumnSection, *, source: str) -> Column:
    declared = section.categories or {}
    pairs = declared if isinstance(declared, dict) else {label: label for label in declared}
    keys = tuple(dict.fromkeys(pairs.values()))

    def policy(word: str) -> int | None:
        if word == "drop":
            return None
        if word not in keys:
            raise ContractError(
                f"Column {name!r}: {word!r} is not one of its categories.",
                hint="Write drop, or a declared category.",
            )
        return keys.index(word)

    return Column(
        name=name,
        kind=Kind.CATEGORY,
        source=source,
        keys=keys,
        codes=tuple((code, keys.index(label)) for code, label in pairs.items()),
        nulls=policy(section.nulls),
        other=policy(section.other),
        because=section.source,
    )


def _date_column(name: str, section: ColumnSection, *, source: str) -> Column:
    if not hasattr(section.lower, "toordinal") or not hasattr(section.upper, "toordinal"):
        raise UnboundedError(
            f"Column {name!r} needs its first and last date.",
            hint="Write lower: 2010-01-01, upper: 2026-12-31, from public knowledge.",
        )
    if section.nulls != "drop":
        raise ContractError(f"Column {name!r}: a missing date can only be dropped.")
    return Column(
        name=name,
        kind=Kind.DATE,
        source=source,
        lower=section.lower.toordinal() - EPOCH,  # type: ignore[union-attr]
        upper=section.upper.toordinal() - EPOCH,  # type: ignore[union-attr]
        because=section.source,
    )


def _number(name: str, section: ColumnSection, *, source: str) -> Column:
    if not isinstance(section.lower, Fraction) or not isinstance(section.upper, Fraction):
        raise UnboundedError(
            f"Column {name!r} has no clip bounds, so no finite noise would protect it.",
            hint=f"Declare lower and upper for {name!r} from public knowledge.",
        )
    step = section.step
    return Column(
        name=name,
        kind=Kind.NUMBER,
        source=source,
        lower=_grid(name, section.lower, step),
        upper=_grid(name, section.upper, step),
        scale=step,
        unit="a" if section.kind == "year" else section.unit,
        nulls=None
        if section.nulls == "drop"
        else _grid(name, _constant(name, section.nulls), step),
        outside=section.outside,
        because=section.source,
    )


def _constant(name: str, text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ContractError(
            f"Column {name!r}: expected nulls: drop or a number within the bounds."
        ) from None


def _grid(name: str, physical: Fraction, step: Fraction) -> int:
    steps = physical / step
    if steps.denominator != 1:
        raise ContractError(
            f"Column {name!r}: {float(physical):g} is not a multiple of the step {step}.",
            hint="Use bounds on the grid, or a finer step.",
        )
    return int(steps)


def _with_values(dataset: Dataset, file: DatasetFile) -> Dataset:
    from dataclasses import replace

    for name, section in file.per_patient.items():
        value = _value(name, section, dataset=dataset)
        dataset = replace(dataset, per_patient=(*dataset.per_patient, value))
    for name, derived in file.derived.items():
        dataset = replace(
            dataset, derived=(*dataset.derived, _derived(name, derived, dataset=dataset))
        )
    return dataset


def _derived(name: str, section: DerivedSection, *, dataset: Dataset) -> Derived:
    table = dataset.tables[0].name
    owners = [t.name for t in dataset.tables if any(c.name == section.of for c in t.columns)]
    of = resolve(section.of, table=owners[0] if len(owners) == 1 else table, dataset=dataset)
    if not isinstance(of, ColumnOf | ValueOf):
        raise ContractError(f"Derived {name!r} must be of a column or a per-patient value.")
    within = domain(of, dataset=dataset)
    match section.bins, section.part:
        case list() as bins, None:
            edges = tuple(math.ceil(canonical(name, edge, within)) for edge in bins)
            return Derived(name=name, of=BinOf(of=of, edges=edges))
        case None, DatePart() as part:
            derived = Derived(name=name, of=PartOf(of=of, part=part))
            domain(derived.of, dataset=dataset)
            return derived
        case _:
            raise ContractError(
                f"Derived {name!r} needs either bins or part.",
                hint="Write bins: [20, 40, 60, 80] or part: month.",
            )


def _value(name: str, section: PerPatientSection, *, dataset: Dataset) -> PerPatientValue:
    kinds = [
        kind
        for kind in ("first", "last", "any", "count", "days_between")
        if getattr(section, kind) is not None
    ]
    if len(kinds) != 1:
        raise ContractError(
            f"Per-patient value {name!r} needs exactly one of first, last, any, count, "
            "days-between."
        )
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
