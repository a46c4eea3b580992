"""dataset.yaml: public facts only; reading it never opens the data.

See docs/reference/dataset.md; the JSON Schema is generated from the models here.
"""

import enum
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from confide.budget.ledger import Caps, LedgerTerms
from confide.budget.per_patient.caps import patient_caps
from confide.budget.policy.policy import Policy
from confide.budget.stores.place import Place, SQLitePlace
from confide.drawing.labels import Labels
from confide.errors import ContractError, in_file
from confide.files.accounting import (
    AccountingSection,
    AmountSection,
    amount_nano,
    counted_in,
    ledger_measure,
    require_mixed_alone,
    room_of_a_year,
)
from confide.files.areas.spines import ShapeFile, SpineSection, read_spines, shape_files
from confide.files.columns import TableSection, read_table, with_category_files
from confide.files.ledger import LedgerSection, read_anchor, read_place
from confide.files.linked import require_no_ledger_behind
from confide.files.public.labels import read_labels
from confide.files.public.private_places import PrivatePlaces, declared_places, with_source
from confide.files.source.omop import without_no_concept
from confide.files.source.stays import require_patients
from confide.files.source.suited import require_suited
from confide.files.texts import Counting, Section, beside, read_section
from confide.files.values import DerivedSection, PerPatientSection, with_values
from confide.files.yaml_text import parse_yaml, read_yaml
from confide.plans.plan import Plan
from confide.plans.pricing.roads import YearRoom
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import atto
from confide.privacy.measure import LedgerMeasure, Measure, Mixed
from confide.privacy.unit import Entity, PrivacyUnit
from confide.release.certificate.certificate import Issuer
from confide.tables.schema import Dataset
from confide.tables.source import Source, SourceKind

if TYPE_CHECKING:
    from confide.drawing.charts.outlines import Maps


class AboutSection(Section):
    """Name, lineage and snapshot of the data."""

    id: str
    lineage: str
    snapshot: str


class Checking(enum.Enum):
    """Whether a source has to be checked by its steward before anything is charged."""

    AS_YOU_LIKE = "as-you-like"
    REQUIRED = "required"


class SourceSection(Section):
    """Where the data are, and what the engine may use."""

    kind: SourceKind
    path: str = ""
    version: str = ""
    url: str = Field(default="", repr=False)
    schema_name: str = ""
    copies_schema: str = ""
    memory_limit: str = "2GB"
    threads: Counting = 2
    checked: Checking = Checking.AS_YOU_LIKE


class ProtectsSection(Section):
    """Privacy unit and adjacency; one for the whole ledger."""

    unit: Entity
    id: str
    adjacency: Adjacency


class CapsSection(Section):
    """The most that may be spent."""

    lifetime: AmountSection
    calendar_year: AmountSection | None = None
    release: AmountSection | None = None


class IssuerSection(Section):
    """Who issues certificates."""

    organisation: str = ""
    contact: str = ""


class DatasetFile(Section):
    """The sections of dataset.yaml."""

    dataset: AboutSection
    source: SourceSection
    protects: ProtectsSection
    accounting: AccountingSection
    caps: CapsSection | None = None
    policy: str = ""
    issuer: IssuerSection = Field(default_factory=IssuerSection)
    ledger: LedgerSection = Field(default_factory=LedgerSection)
    population_at_most: Counting = 10**10
    population: Counting | None = None
    tables: dict[str, TableSection]
    derived: dict[str, DerivedSection] = Field(default_factory=dict)
    per_patient: dict[str, PerPatientSection] = Field(default_factory=dict)
    spines: dict[str, SpineSection] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredDataset:
    """What dataset.yaml says.

    Attributes:
        dataset: The public facts that plans hold.
        source: Where the data are.
        caps: The most that may be spent, in grid units; None where a policy says it.
        organisation: Who issues certificates.
        contact: How to reach them.
        base: Folder of the file; the workspace folder is ``.confide`` in it.
        memory_limit: For the engine, such as "2GB".
        threads: For the engine.
        shapes: Where outlines of areas are, by spine and level; for figures alone.
        labels: What reports call columns and tables; for them alone.
        ledger: Where the budget is kept.
        anchor: File of signed heads; None for the one in the workspace folder.
        policy: What the file under ``policy`` says; None where there are ``caps``.
        checked: Whether `confide check` has to end before anything is charged.
        releases_a_year: How many releases are to fit into a year of a mixed ledger.
        orders: In which its mixed ledger counts, where that is open; it keeps them for life.
    """

    dataset: Dataset
    source: Source
    caps: Caps | None
    organisation: str
    contact: str
    base: Path
    memory_limit: str = "2GB"
    threads: int = 2
    shapes: Mapping[tuple[str, str], ShapeFile] = field(default_factory=dict)
    labels: Labels = field(default_factory=Labels)
    ledger: Place = field(default_factory=SQLitePlace)
    anchor: Path | None = None
    policy: Policy | None = None
    checked: Checking = Checking.AS_YOU_LIKE
    releases_a_year: int | None = None
    orders: Mixed | None = None

    def issuer(self) -> Issuer:
        """Return who issues certificates of it."""
        return Issuer(organisation=self.organisation, contact=self.contact)

    def outlines(self, plan: Plan) -> "Maps":
        """Return the outlines that the figures of a plan draw; ContractError if one is broken."""
        from confide.files.areas.shapes import outlines_for

        return outlines_for(plan, shapes=self.shapes) if self.shapes else {}

    def private(self) -> PrivatePlaces:
        """Return which files a study may not take public numbers from."""
        places = declared_places(
            base=self.base,
            source=self.source,
            tables=[table.source for table in self.dataset.tables],
            anchor=self.anchor,
        )
        return with_source(places, base=self.base, source=self.source)

    def terms(self) -> LedgerTerms:
        """Return what the ledger is told of the data set when it is opened."""
        return LedgerTerms(
            lineage=self.dataset.lineage,
            unit=self.dataset.unit.entity,
            adjacency=self.dataset.adjacency,
            measure=self.measure,
            caps=self.caps,
        )

    @property
    def measure(self) -> LedgerMeasure:
        """In what its ledger counts: in the orders of one that is open, or the best for caps."""
        return self.orders or ledger_measure(self.dataset, limits=self.caps or self.policy)

    def year(self) -> YearRoom | None:
        """Return what a mixed ledger gives a year; None of another."""
        limits = self.caps or self.policy
        return room_of_a_year(self.measure, limits=limits, releases=self.releases_a_year)


def read_dataset(path: Path) -> DeclaredDataset:
    """Return what a dataset.yaml declares.

    Raises:
        ContractError: If it breaks its contract; the message names the place.
    """
    with in_file(path.name):
        value = read_yaml(path)
        require_no_ledger_behind(path)
        return declare(value, path=path)


def declared_by(
    dataset: str | Path | Mapping[str, Any], *, folder: str | Path | None
) -> DeclaredDataset:
    """Return what a dataset.yaml declares: its path, its text, or its content as a mapping.

    Args:
        dataset: Any of the three.
        folder: Where it would stand, when ``dataset`` is not a path.

    Raises:
        ContractError: If it breaks its contract.
    """
    place = Path(folder or ".") / "dataset.yaml"
    match dataset:
        case Mapping():
            return declare(dict(dataset), path=place)
        case str() if "\n" in dataset:
            return declare(parse_yaml(dataset, name=place.name), path=place)
        case _:
            return read_dataset(Path(dataset))


def declare(value: object, *, path: Path) -> DeclaredDataset:
    """Return what the content of a dataset.yaml declares; ``path`` is where it would stand."""
    path = path.absolute()  # a process may go to another folder, with data of others
    if isinstance(value, dict):
        value = with_category_files(
            value, path=path, private=functools.partial(_private, value, path=path)
        )
    file = read_section(DatasetFile, value, name=path.name)
    source = _source(file.source)
    tables = tuple(read_table(name, section) for name, section in file.tables.items())
    if source.kind is SourceKind.OMOP:
        tables = tuple(map(without_no_concept, tables))
    require_suited(tables, source=source)
    unit = PrivacyUnit(entity=file.protects.unit, id_column=file.protects.id)
    require_patients(tables, unit=unit, source=source)
    policy = governing(file, path=path)
    accounting = file.accounting if policy is None else file.accounting.under(policy)
    selection = accounting.selections
    if accounting.selection_delta is None and policy is not None:
        selection = policy.selection_delta
    require_mixed_alone(accounting, name=path.name)
    dataset = Dataset(
        id=file.dataset.id,
        lineage=file.dataset.lineage,
        snapshot=file.dataset.snapshot,
        unit=unit,
        adjacency=file.protects.adjacency,
        measure=accounting.planned_in,
        mixed=accounting.is_mixed,
        delta=accounting.delta,
        selection_delta=selection,
        population_at_most=file.population_at_most,
        population=file.population,
        tables=tables,
        spines=read_spines(
            file.spines,
            tables=tables,
            path=path,
            private=lambda: declared_places(
                base=path.parent,
                source=source,
                tables=[table.source for table in tables],
                anchor=read_anchor(file.ledger, base=path.parent),
            ),
        ),
        patients=patient_caps(policy),
    )
    dataset = with_values(dataset, per_patient=file.per_patient, derived=file.derived)
    return DeclaredDataset(
        dataset=dataset,
        source=source,
        caps=None if file.caps is None else _caps(file.caps, dataset=dataset),
        releases_a_year=accounting.releases_a_year,
        organisation=file.issuer.organisation,
        contact=file.issuer.contact,
        base=path.parent,
        memory_limit=file.source.memory_limit,
        threads=file.source.threads,
        checked=file.source.checked,
        shapes=shape_files(file.spines, path=path),
        labels=read_labels(file.tables, derived=file.derived, per_patient=file.per_patient),
        ledger=read_place(file.ledger),
        anchor=read_anchor(file.ledger, base=path.parent),
        policy=policy,
    )


def _source(section: SourceSection) -> Source:
    if section.url and section.checked is Checking.REQUIRED:
        raise ContractError(
            "source → checked: whether a database is as it was when it was checked is not known.",
            hint="Leave checked out, and run `confide check` before a study.",
        )
    return Source(
        kind=section.kind,
        path=section.path,
        version=section.version,
        url=section.url,
        schema=section.schema_name,
        copies=section.copies_schema,
    )


def _private(value: Mapping[str, Any], *, path: Path) -> PrivatePlaces:
    """Return what the text of a dataset.yaml declares to be data, before its tables are read.

    Raises:
        ContractError: If source or ledger break their contract: then nobody knows what is private.
    """
    source = read_section(SourceSection, value.get("source"), name=f"{path.name}: source")
    ledger = read_section(LedgerSection, value.get("ledger", {}), name=f"{path.name}: ledger")
    return declared_places(
        base=path.parent,
        source=_source(source),
        tables=[
            str((isinstance(table, dict) and table.get("from")) or name)
            for name, table in value["tables"].items()
        ],
        anchor=read_anchor(ledger, base=path.parent),
    )


def governing(file: DatasetFile, *, path: Path) -> Policy | None:
    """Return the policy that holds instead of caps; None where the file has caps of its own.

    Raises:
        ContractError: If there are both or neither, or the two files promise different things.
    """
    from confide.files.policy.policy import read_policy

    if bool(file.policy) == (file.caps is not None):
        raise ContractError(
            f"{path.name}: expected either caps or a policy.",
            hint="Write caps: {lifetime: {epsilon: 4}}, or policy: policy.yaml.",
        )
    if not file.policy:
        return None
    policy = read_policy(beside(file.policy, of=path))
    protects, accounting = file.protects, file.accounting.under(policy)
    selection = accounting.selection_delta
    pairs = {
        "protects → unit": (protects.unit.value, policy.unit.value),
        "protects → adjacency": (protects.adjacency.value, policy.adjacency.value),
        "accounting → measure": (
            accounting.measure.value,
            counted_in(policy).value,
        ),
        "accounting → selection-delta": (
            str(policy.selection_delta if selection is None else selection),
            str(policy.selection_delta),
        ),
    }
    if policy.mixed or policy.measure is Measure.ZCDP:
        pairs["accounting → delta"] = (str(accounting.delta), str(policy.report_delta))
    for place, (ours, theirs) in pairs.items():
        if ours != theirs:
            raise ContractError(
                f"{path.name}: {place}: expected {theirs} as in {file.policy}, got {ours}.",
                hint="The ledger counts in one unit and measure; write the same in both files.",
            )
    return policy


def _caps(section: CapsSection, *, dataset: Dataset) -> Caps:
    if dataset.mixed:  # caps are ε, whichever measure a plan is in
        dataset = replace(dataset, measure=Measure.PURE)

    def optional(amount: AmountSection | None, place: str) -> int | None:
        return None if amount is None else amount_nano(amount, dataset=dataset, place=place)

    lifetime = amount_nano(section.lifetime, dataset=dataset, place="caps → lifetime")
    return Caps(
        lifetime=lifetime,
        calendar_year=optional(section.calendar_year, "caps → calendar-year"),
        release=optional(section.release, "caps → release"),
        delta_lifetime_atto=atto(dataset.selection_delta) if dataset.selection_delta else 0,
    )
