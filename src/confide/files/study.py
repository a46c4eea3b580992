"""study.yaml: one study is one plan, one charge, one certificate.

See docs/reference/study.md; the JSON Schema is generated from the models here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from confide.drawing.labels import Labels
from confide.errors import (
    ContractError,
    UnknownNameError,
    UnsupportedError,
    concerning,
    in_file,
)
from confide.files.accounting import AmountSection, amount_nano
from confide.files.dataset import DeclaredDataset, read_dataset
from confide.files.error_target import read_target
from confide.files.kinds import AnyStatistic, with_conditions
from confide.files.period import PeriodSection, in_period, named_study
from confide.files.policy.house_rule import SmallCellsWords, promised_of
from confide.files.public.private_places import PrivatePlaces
from confide.files.public.public_tables import with_public_files
from confide.files.superseded import superseded
from confide.files.texts import Section, beside, read_section
from confide.files.where import read_where
from confide.files.yaml_text import read_yaml
from confide.plans.contribution import PerPatient
from confide.plans.plan import Plan, Statistic, Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.pricing.over_sites import over_sites
from confide.plans.pricing.roads import (
    NO_RECORD,
    Chosen,
    OnRecord,
    measured_in,
    planned_by,
)
from confide.plans.sites.federation import Federation
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.statistics.section import StatisticSection
from confide.tables.filter import All, Everything, Predicate
from confide.tables.schema import Dataset

_DATASET = "dataset.yaml"


class AboutStudy(Section):
    """Why the release is made."""

    id: str
    title: str = ""
    purpose: str = ""
    audience: Literal["public", "registered", "internal"] = "public"
    period: PeriodSection | str = ""
    tier: str = ""
    project: str = ""
    release: str = ""
    region: str = ""
    licence: str = ""
    supersedes: str | None = None


class CohortSection(Section):
    """A named condition."""

    where: dict[str, Any]


class _Item(Section):
    """One statistic alone."""

    statistic: AnyStatistic


class SpendSection(Section):
    """The most that the study may cost."""

    at_most: AmountSection


class StudyFile(Section):
    """The sections of study.yaml."""

    study: AboutStudy
    dataset: str = _DATASET
    cohorts: dict[str, CohortSection] = Field(default_factory=dict)
    statistics: list[AnyStatistic]
    labels: dict[str, str] = Field(default_factory=dict)
    spend: SpendSection | None = None
    small_cells: SmallCellsWords = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedIn:
    """What a study asks, as it is read for one measure.

    Attributes:
        dataset: In that measure.
        asks: Statistics with what each may spend.
        nano: The most that all may cost, in 1e-9; None where each names an error.
    """

    dataset: Dataset
    asks: tuple[Ask, ...]
    nano: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredStudy:
    """What study.yaml says, and the data set it is about.

    Attributes:
        study: Why.
        asked: What is asked of the data set; in each measure that it can be planned in.
        declared: The data set.
        file: Name of study.yaml.
        record: What the ledger says of its plans.
        labels: What its reports call columns and curves; of no plan.
    """

    study: Study
    asked: tuple[AskedIn, ...]
    declared: DeclaredDataset
    file: str
    record: OnRecord = field(default=NO_RECORD, compare=False)
    labels: Labels = field(default_factory=Labels, compare=False)

    @property
    def asks(self) -> tuple[Ask, ...]:
        """The statistics, with what each may spend."""
        return self.asked[0].asks

    def plan(self) -> Plan:
        """Return the priced plan."""
        return self.chosen().taken.plan

    def plan_over(self, federation: Federation) -> Plan:
        """Return the priced plan over sites: the same at each, whatever its ledger holds.

        A mixed ledger plans it in ρ.

        Raises:
            UnsupportedError: If a statistic is not one that sites add.
        """
        with in_file(self.file):
            found = {each.dataset.measure: each for each in self.asked}
            asked = found.get(Measure.ZCDP) or self.asked[0]
            made = make_plan(
                asked.asks,
                study=self.study,
                dataset=asked.dataset,
                nano=asked.nano,
                federation=federation,
            )
            return over_sites(made, federation=federation)

    def chosen(self) -> Chosen:
        """Return the priced plan, beside the one in the other measure of a mixed ledger."""
        found = {each.dataset.measure: each for each in self.asked}

        def make(dataset: Dataset) -> Plan:
            asked = found.get(dataset.measure)
            if asked is None:
                raise UnsupportedError("The study has no form in this measure.")
            return make_plan(asked.asks, study=self.study, dataset=dataset, nano=asked.nano)

        with in_file(self.file):
            dataset, year = self.declared.dataset, self.declared.year()
            return planned_by(make, dataset=dataset, year=year, record=self.record)


def read_study(
    path: Path, *, declared: DeclaredDataset | None = None, period: str | None = None
) -> DeclaredStudy:
    """Return what a study.yaml asks.

    Args:
        path: The file.
        declared: The data set; read from the file that the study names when None.
        period: Which run of a study that repeats: "2026-10".

    Raises:
        ContractError: If it breaks its contract; the message names the place.
    """
    with in_file(path.name):
        return _read(path, declared=declared, period=period)


def _read(path: Path, *, declared: DeclaredDataset | None, period: str | None) -> DeclaredStudy:
    value = read_yaml(path)

    def private() -> PrivatePlaces:
        named = beside(str(value.get("dataset", _DATASET)), of=path)
        return (read_dataset(named) if declared is None else declared).private()

    if "synthesis" in value:
        raise ContractError(
            "It asks for a synthetic table, and is no study.", hint="Write confide synth plan."
        )
    value = with_public_files(value, path=path, private=private)
    file = read_section(StudyFile, value, name=path.name)
    if declared is None:
        declared = read_dataset(beside(file.dataset, of=path))
    repeats = file.study.period
    about = file.study.model_dump(exclude={"period", "supersedes"})
    about["supersedes"] = superseded(file.study.supersedes, of=path)
    about["small_cells"] = promised_of(file.small_cells)
    study = named_study(about, section=repeats, period=period)
    asked, problem = [], None
    for dataset in measured_in(declared.dataset):
        try:
            asked.append(_asked(file, dataset=dataset, period=study.period))
        except (ContractError, UnsupportedError) as no_form:
            problem = problem or no_form
    if not asked:
        raise problem or ContractError("The study asks for nothing.", hint="Add a statistic.")
    return DeclaredStudy(
        study=study,
        asked=tuple(asked),
        declared=declared,
        file=path.name,
        labels=declared.labels | _looks(file, asked=asked[0]),
    )


def _looks(file: StudyFile, *, asked: AskedIn) -> Labels:
    """Return how the questions of a file are shown, and what it calls columns itself."""
    looks = {}
    for section, ask in zip(file.statistics, asked.asks, strict=True):
        with concerning(section.id):
            looks[section.id] = section.look(ask.statistic, dataset=asked.dataset)
    of = asked.dataset
    known = {column.name for table in of.tables for column in table.columns}
    known |= {each.name for each in (*of.derived, *of.per_patient)}
    for name in file.labels:
        if name not in known:
            raise UnknownNameError("column", name, known=known)
    return Labels(columns=file.labels, questions=looks)


def _asked(file: StudyFile, *, dataset: Dataset, period: str) -> AskedIn:
    """Return what a file asks of a data set of one measure."""
    nano = None
    if file.spend is not None:
        nano = amount_nano(file.spend.at_most, dataset=dataset, place="spend → at-most")
    cohorts = {name: cohort.where for name, cohort in file.cohorts.items()}
    asks = [read_ask(section, cohorts=cohorts, dataset=dataset) for section in file.statistics]
    return AskedIn(
        dataset=dataset,
        asks=tuple(
            _cut(ask, section=file.study.period, period=period, dataset=dataset) for ask in asks
        ),
        nano=nano,
    )


def _cut(ask: Ask, *, section: PeriodSection | str, period: str, dataset: Dataset) -> Ask:
    """Return the ask about the rows of one period."""
    if isinstance(section, str):
        return ask
    spec: Any = ask.statistic
    where = in_period(spec.where, section=section, period=period, table=spec.table, dataset=dataset)
    return replace(ask, statistic=replace(spec, where=where))


def ask_from(value: Mapping[str, Any], *, dataset: Dataset) -> Ask:
    """Return the ask that one item of ``statistics`` writes, from Python."""
    section = read_section(_Item, {"statistic": dict(value)}, name="statistic").statistic
    return read_ask(section, cohorts={}, dataset=dataset)


def read_ask(
    section: StatisticSection, *, cohorts: Mapping[str, dict[str, Any]], dataset: Dataset
) -> Ask:
    """Return the statistic of a section with what it may spend.

    Raises:
        ContractError: If a name, unit or bound does not fit.
    """
    with concerning(section.id):
        return _ask(section, cohorts=cohorts, dataset=dataset)


def _ask(
    section: StatisticSection, *, cohorts: Mapping[str, dict[str, Any]], dataset: Dataset
) -> Ask:
    statistic = _statistic(section, cohorts=cohorts, dataset=dataset)
    if section.error is not None and section.share is not None:
        raise ContractError(
            f"Statistic {section.id!r} names both an error and a share.", hint="Keep one of them."
        )
    error = None if section.error is None else read_target(section, dataset=dataset)
    return Ask(
        statistic=statistic, error=error, share=section.share, delta=section.selection_delta()
    )


def _statistic(
    section: StatisticSection, *, cohorts: Mapping[str, dict[str, Any]], dataset: Dataset
) -> Statistic:
    table = section.table or (dataset.tables[0].name if len(dataset.tables) == 1 else None)
    if table is None:
        raise ContractError(
            f"Statistic {section.id!r} does not say whose rows it is about.",
            hint=f"Write table: {dataset.tables[0].name}.",
        )
    dataset.table(table)
    _refuse_several_of_a_row(section, dataset=dataset)
    where = _where(section, cohorts=cohorts, table=table, dataset=dataset)
    common: dict[str, Any] = {
        "id": section.id,
        "table": table,
        "where": where,
        "level": section.level,
        "expect": section.expect.count,
        "title": section.title,
        "per_patient": PerPatient(cells=section.per_patient.cells, rows=section.per_patient.rows),
    }
    asked = with_conditions(section, table=table, dataset=dataset)
    return asked.statistic(common, dataset=dataset)


def _refuse_several_of_a_row(section: StatisticSection, *, dataset: Dataset) -> None:
    """Refuse bounds on patients above 1 where rows are protected: they would be read as 1."""
    stated = section.per_patient
    if dataset.unit.entity is Entity.EVENT and max(stated.rows or 1, stated.cells or 1) > 1:
        raise ContractError(
            f"Statistic {section.id!r} bounds what a patient contributes, but each row is "
            "protected by itself, whoever it is of, and all rows count.",
            hint="Leave per-patient out; or write unit: patient in dataset.yaml, which protects "
            "all rows of a patient.",
        )


def _where(
    section: StatisticSection,
    *,
    cohorts: Mapping[str, dict[str, Any]],
    table: str,
    dataset: Dataset,
) -> Predicate:
    parts: list[Predicate] = []
    if section.cohort is not None:
        if section.cohort not in cohorts:
            raise UnknownNameError("cohort", section.cohort, known=cohorts)
        parts.append(read_where(cohorts[section.cohort], table=table, dataset=dataset))
    if section.where:
        parts.append(read_where(section.where, table=table, dataset=dataset))
    if not parts:
        return Everything()
    return parts[0] if len(parts) == 1 else All(of=tuple(parts))
