"""study.yaml: one study is one plan, one charge, one certificate.

See docs/reference/study.md; the JSON Schema is generated from the models here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, assert_never

from pydantic import BeforeValidator, Field

from confide.errors import ContractError, UnknownNameError
from confide.files.dataset import AmountSection, DeclaredDataset, amount_nano, read_dataset
from confide.files.error_target import read_target
from confide.files.texts import (
    Counting,
    Exact,
    Level,
    Positive,
    Quantity,
    Section,
    beside,
    read_section,
)
from confide.files.where import read_where
from confide.files.yaml_text import read_yaml
from confide.plans.allocate import Ask, make_plan
from confide.plans.contribution import Counted, PerPatient
from confide.plans.plan import Plan, Statistic, Study
from confide.statistics import (
    STATISTICS,
    Count,
    Histogram,
    KeySelection,
    Mean,
    Proportion,
    Quantiles,
    Sum,
    Variance,
)
from confide.tables.filter import All, Everything, Predicate
from confide.tables.schema import Dataset

_LEVEL = Fraction(95, 100)


class AboutStudy(Section):
    """Why the release is made."""

    id: str
    title: str = ""
    purpose: str = ""
    audience: Literal["public", "registered", "internal"] = "public"
    period: str = ""


class CohortSection(Section):
    """A named condition."""

    where: dict[str, Any]


class ErrorSection(Section):
    """The error one can live with."""

    within: Quantity | None = None
    within_share: Positive | None = None
    mdape: Positive | None = None
    width: Quantity | None = None
    level: Level = _LEVEL


class ExpectSection(Section):
    """Public planning values."""

    count: Positive | None = None
    share: Positive | None = None


class PerPatientBounds(Section):
    """What one patient may contribute."""

    cells: Counting | None = None
    rows: Counting | None = None


_OTHER_WORDS = {
    "median": "quantiles, with at: [0.5]",
    "quartiles": "quantiles, with at: [0.25, 0.5, 0.75]",
    "percentiles": "quantiles",
    "quantile": "quantiles",
    "average": "mean",
    "total": "sum",
    "sd": "variance",
    "prevalence": "proportion",
    "percentage": "proportion",
    "rate": "proportion",
}


def _kind(value: object) -> object:
    """Send other words for a statistic to the one that is known."""
    if isinstance(value, str) and value.lower() in _OTHER_WORDS:
        raise ValueError(f"unknown kind {value!r}; write kind: {_OTHER_WORDS[value.lower()]}")
    return value


class StatisticSection(Section):
    """One statistic and what it may spend."""

    id: str
    kind: Annotated[
        Literal[
            "count",
            "histogram",
            "sum",
            "mean",
            "variance",
            "proportion",
            "quantiles",
            "key-selection",
        ],
        BeforeValidator(_kind),
    ]
    title: str = ""
    table: str | None = None
    cohort: str | None = None
    where: dict[str, Any] = Field(default_factory=dict)
    of: dict[str, Any] | None = None
    column: str | None = None
    key: str | None = None
    by: list[str] = Field(default_factory=list)
    count: Literal["patients", "events"] = "patients"
    at: list[Exact] | None = None
    bins: Counting | None = None
    per: Counting = 1
    threshold: Counting | None = None
    round_to: Counting = 1
    per_patient: PerPatientBounds = Field(default_factory=PerPatientBounds)
    level: Level = _LEVEL
    expect: ExpectSection = Field(default_factory=ExpectSection)
    error: ErrorSection | None = None
    share: Positive | None = None
    delta: Positive | None = None


class SpendSection(Section):
    """The most that the study may cost."""

    at_most: AmountSection


class StudyFile(Section):
    """The sections of study.yaml."""

    study: AboutStudy
    dataset: str = "dataset.yaml"
    cohorts: dict[str, CohortSection] = Field(default_factory=dict)
    statistics: list[StatisticSection]
    spend: SpendSection | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredStudy:
    """What study.yaml says, and the data set it is about."""

    study: Study
    asks: tuple[Ask, ...]
    nano: int | None
    declared: DeclaredDataset

    def plan(self) -> Plan:
        """Return the priced plan."""
        return make_plan(self.asks, study=self.study, dataset=self.declared.dataset, nano=self.nano)


def read_study(path: Path, *, declared: DeclaredDataset | None = None) -> DeclaredStudy:
    """Return what a study.yaml asks.

    Args:
        path: The file.
        declared: The data set; read from the file that the study names when None.

    Raises:
        ContractError: If it breaks its contract; the message names the place.
    """
    file = read_section(StudyFile, read_yaml(path), name=path.name)
    if declared is None:
        declared = read_dataset(beside(file.dataset, of=path))
    dataset = declared.dataset
    nano = None
    if file.spend is not None:
        nano = amount_nano(file.spend.at_most, dataset=dataset, place="spend → at-most")
    cohorts = {name: cohort.where for name, cohort in file.cohorts.items()}
    return DeclaredStudy(
        study=Study(**file.study.model_dump()),
        asks=tuple(
            read_ask(section, cohorts=cohorts, dataset=dataset) for section in file.statistics
        ),
        nano=nano,
        declared=declared,
    )


def ask_from(value: Mapping[str, Any], *, dataset: Dataset) -> Ask:
    """Return the ask that one item of ``statistics`` writes, from Python."""
    section = read_section(StatisticSection, dict(value), name="statistic")
    return read_ask(section, cohorts={}, dataset=dataset)


def read_ask(
    section: StatisticSection, *, cohorts: Mapping[str, dict[str, Any]], dataset: Dataset
) -> Ask:
    """Return the statistic of a section with what it may spend.

    Raises:
        ContractError: If a name, unit or bound does not fit.
    """
    statistic = _statistic(section, cohorts=cohorts, dataset=dataset)
    if section.error is not None and section.share is not None:
        raise ContractError(
            f"Statistic {section.id!r} names both an error and a share.", hint="Keep one of them."
        )
    error = None if section.error is None else read_target(section, dataset=dataset)
    return Ask(statistic=statistic, error=error, share=section.share, delta=section.delta)


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
    _refuse_strangers(section)
    by, counted = tuple(section.by), Counted(section.count)
    match section.kind:
        case "count":
            return Count(**common, counted=counted)
        case "histogram":
            return Histogram(
                **common,
                by=by,
                counted=counted,
                threshold=section.threshold,
                round_to=section.round_to,
            )
        case "sum":
            return Sum(**common, column=_needed(section, "column"), by=by)
        case "mean":
            return Mean(**common, column=_needed(section, "column"), by=by)
        case "variance":
            return Variance(**common, column=_needed(section, "column"), by=by)
        case "proportion":
            if section.of is None:
                raise ContractError(
                    f"Proportion {section.id!r} does not say of what.",
                    hint="Write of: {diabetes: [yes]}.",
                )
            of = read_where(section.of, table=table, dataset=dataset)
            share = section.expect.share
            return Proportion(**common, of=of, by=by, per=section.per, expect_share=share)
        case "quantiles":
            extra: dict[str, Any] = {} if section.at is None else {"at": tuple(section.at)}
            extra |= {} if section.bins is None else {"bins": section.bins}
            return Quantiles(**common, column=_needed(section, "column"), by=by, **extra)
        case "key-selection":
            return KeySelection(**common, key=_needed(section, "key"))
        case _:
            assert_never(section.kind)


_FIELDS = {
    "of": ("proportion",),
    "column": ("sum", "mean", "variance", "quantiles"),
    "key": ("key-selection",),
    "by": ("histogram", "sum", "mean", "variance", "proportion", "quantiles"),
    "count": ("count", "histogram"),
    "at": ("quantiles",),
    "bins": ("quantiles",),
    "per": ("proportion",),
    "threshold": ("histogram",),
    "round_to": ("histogram",),
    "delta": ("key-selection",),
}


def _refuse_strangers(section: StatisticSection) -> None:
    for field, kinds in _FIELDS.items():
        if field in section.model_fields_set and section.kind not in kinds:
            raise ContractError(
                f"Statistic {section.id!r}: a {section.kind} has no {field.replace('_', '-')!r}.",
                hint=f"It belongs to: {', '.join(kinds)}.",
            )


def _needed(section: StatisticSection, field: str) -> str:
    value = getattr(section, field)
    if value is None:
        raise ContractError(
            f"Statistic {section.id!r}: a {section.kind} needs {field!r}.",
            hint=f"Write {field}: name.",
        )
    return str(value)


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


KINDS = tuple(STATISTICS)
