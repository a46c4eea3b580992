"""synth.yaml: one synthesis is one plan, one charge, one certificate.

See docs/reference/synth.md; the JSON Schema is generated from the models here.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from confide.budget.policy.epsilon_caps import EpsilonCaps
from confide.errors import ContractError, UnknownNameError, concerning, in_file
from confide.files.accounting import AmountSection, amount_nano
from confide.files.dataset import DeclaredDataset, read_dataset
from confide.files.policy.house_rule import require_no_house_rule
from confide.files.synth.accept import SynthAccept, read_criteria
from confide.files.synth.columns_read import (
    MissingWord,
    SynthColumn,
    charged_bins,
    charged_categories,
    column_read,
    selection_delta,
)
from confide.files.synth.events import EventSection, ReadEvents, read_events
from confide.files.synth.trained import job_of_method
from confide.files.texts import Counting, Level, Positive, Section, beside, read_section
from confide.files.where import canonical, read_where
from confide.files.yaml_text import read_yaml
from confide.jobs.synthesis.adaptive import usual_rounds
from confide.jobs.synthesis.asked import AnySynthesis
from confide.jobs.synthesis.criteria import Criteria
from confide.jobs.synthesis.finding.charged_categories import text_read
from confide.jobs.synthesis.rules import Never, NotAfter, innermost, level_ends
from confide.jobs.synthesis.spec import Synthesis
from confide.plans.plan import Study
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import Expression, TextAmong
from confide.tables.per_patient import PerPatientValue
from confide.tables.records import Records
from confide.tables.relation import Relation, domain
from confide.tables.schema import Dataset
from confide.tables.source import SourceKind

MOST_TABLES = 100
PERSON = "person"
"""The CDM's table of patients."""


class AboutSynthesis(Section):
    """Why the table is made."""

    id: str
    title: str = ""
    purpose: str = ""
    audience: Literal["public", "registered", "internal"] = "public"
    tier: str = ""
    project: str = ""
    licence: str = ""


class SynthSpend(Section):
    """What the synthesis costs: an amount, or a share of the cap over the lifetime."""

    epsilon: Positive | None = None
    rho: Positive | None = None
    share: Level | None = None
    delta: Positive | None = None


class SynthBounds(Section):
    """How much one patient may contribute."""

    rows: Counting = 1


class SynthFile(Section):
    """The sections of synth.yaml."""

    synthesis: AboutSynthesis
    dataset: str = "dataset.yaml"
    table: str = ""
    where: dict[str, Any] = Field(default_factory=dict)
    columns: list[str] | dict[str, SynthColumn]
    events: dict[str, EventSection] = Field(default_factory=dict)
    missing: MissingWord = "level"
    target: str = ""
    method: Literal["tree", "aim", "vae", "gan"] = "tree"
    together: list[list[str]] = Field(default_factory=list)
    never: list[dict[str, Any]] = Field(default_factory=list)
    order: list[list[str]] = Field(default_factory=list)
    per_patient: SynthBounds = Field(default_factory=SynthBounds)
    rows: Counting
    tables: Counting = 20
    bins_share: Level = Fraction(1, 10)
    categories_share: Level = Fraction(1, 10)
    spend: SynthSpend
    accept: SynthAccept | None = None
    small_cells: str | dict[str, Any] = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSynthesis:
    """What synth.yaml says, and the data set it is about.

    Attributes:
        study: Why.
        job: What is measured.
        tables: How many tables carry the uncertainty.
        declared: The data set.
        file: Name of synth.yaml.
        values: Per-patient values that the job asks for beside those of the data set.
        check: What checking its criteria costs, in the measure of the plan; 0 for nothing.
        delta: Charged beside steps on Poisson samples; 0 where nothing is sampled.
    """

    study: Study
    job: AnySynthesis
    tables: int
    declared: DeclaredDataset
    file: str
    values: tuple[PerPatientValue, ...] = ()
    check: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def asked_of(self, dataset: Dataset) -> Dataset:
        """Return the public facts of a data set with the per-patient values that the job asks."""
        return replace(dataset, per_patient=(*dataset.per_patient, *self.values))


def read_synth(
    source: Path | Mapping[str, Any], *, declared: DeclaredDataset | None = None
) -> DeclaredSynthesis:
    """Return what a synth.yaml, or a mapping in its words, asks.

    Args:
        source: The file, or its content.
        declared: The data set; read from the file that is named when None.

    Raises:
        ContractError: If it breaks its contract; the message names the place.
    """
    name = source.name if isinstance(source, Path) else "synthesis"
    with in_file(name):
        value = read_yaml(source) if isinstance(source, Path) else dict(source)
        if "statistics" in value:
            raise ContractError(
                "It asks for statistics, and for no synthetic table.", hint="Write confide plan."
            )
        file = read_section(SynthFile, value, name=name)
        require_no_house_rule(file.small_cells)
        if declared is None:
            here = source if isinstance(source, Path) else Path(name)
            declared = read_dataset(beside(file.dataset, of=here))
        amount = _amount(file.spend, declared=declared)
        share = file.accept.share if file.accept else None
        check = Fraction(math.floor((share or 0) * amount * NANO), NANO)
        events = _events(file, declared=declared)
        job, delta = job_of_method(
            _job(file, declared=declared, events=events, amount=amount - check),
            method=file.method,
            given=file.model_fields_set,
            delta=file.spend.delta,
            dataset=declared.dataset,
        )
        return DeclaredSynthesis(
            study=Study(**file.synthesis.model_dump()),
            job=job,
            tables=1 if delta else _tables(file.tables),
            declared=declared,
            file=name,
            values=tuple(events.values),
            check=check,
            delta=delta,
        )


def _events(file: SynthFile, *, declared: DeclaredDataset) -> ReadEvents:
    if file.events and declared.source.kind is not SourceKind.OMOP:
        raise ContractError(
            "events: their rows are written as OMOP tables, and the source is none.",
            hint="Leave events out; columns take per-patient values of dataset.yaml.",
        )
    return read_events(file.events, dataset=declared.dataset)


def _tables(many: int) -> int:
    if many > MOST_TABLES:
        raise ContractError(
            f"Expected at most {MOST_TABLES} tables, got {many}.",
            hint="Twenty are enough: intervals of 50 are 5 % shorter.",
        )
    return many


def _job(
    file: SynthFile, *, declared: DeclaredDataset, events: ReadEvents, amount: Fraction
) -> Synthesis:
    dataset = declared.dataset
    table = file.table or (dataset.tables[0].name if len(dataset.tables) == 1 else "")
    if not table and file.events:
        table = next((t.name for t in dataset.tables if t.source.lower() == PERSON), "")
    if not table:
        raise ContractError(
            "The synthesis does not say whose rows it is about.",
            hint=f"Write table: {dataset.tables[0].name} in synth.yaml; confide synth start takes "
            "it as --table.",
        )
    dataset.table(table)
    sections = file.columns if isinstance(file.columns, dict) else {}
    names = tuple(file.columns)
    reads = []
    for name in names:
        with concerning(name, kind="Column"):
            section = sections.get(name, SynthColumn())
            missing = section.missing or file.missing
            reads.append(column_read(name, section, missing=missing, table=table, dataset=dataset))
    names, reads = (*names, *events.reads), [*reads, *events.reads.values()]
    by_name = dict(zip(names, reads, strict=False))
    if len(by_name) < len(names):
        raise ContractError("A column is named twice.")
    dataset = replace(dataset, per_patient=(*dataset.per_patient, *events.values))
    charged, categories = charged_bins(sections), charged_categories(sections)
    texts = [by_name[each.column] for each in categories]
    return Synthesis(
        reads=Records(
            relation=Relation(
                table=table, where=read_where(file.where, table=table, dataset=dataset)
            ),
            reads=tuple(reads),
            bounds=RowBound(max_rows=file.per_patient.rows),
            unit=dataset.unit.entity,
            texts=tuple(text_read(each) for each in texts),
        ),
        columns=names,
        rows=file.rows,
        target=file.target,
        together=tuple(tuple(group) for group in file.together),
        never=(
            *(_never(each, of=by_name, dataset=dataset) for each in file.never),
            *events.never,
        ),
        kinds=tuple(events.kinds),
        charged=charged,
        adaptive=usual_rounds(len(names)) if file.method == "aim" else 0,
        bins_share=file.bins_share if charged else Fraction(0),
        categories=categories,
        categories_share=file.categories_share if categories else Fraction(0),
        categories_delta=selection_delta(file.spend.delta, dataset=dataset)
        if categories
        else Fraction(0),
        order=tuple(_not_after(each, of=by_name) for each in file.order),
        accept=_accepted(file.accept, of=by_name, dataset=dataset) if file.accept else None,
        **{measure_word(dataset): amount},
    )


def measure_word(dataset: Dataset) -> str:
    """Return in what jobs of a data set are planned: "epsilon" or "rho"."""
    return "epsilon" if dataset.measure is Measure.PURE else "rho"


def _accepted(section: SynthAccept, *, of: Mapping[str, Expression], dataset: Dataset) -> Criteria:
    return read_criteria(
        section,
        levels=lambda name, said: _levels(
            name, said, of=_known(name, of=of), dataset=dataset, rule="accept"
        ),
        never=lambda rule: _never(rule, of=of, dataset=dataset),
        order=lambda pair: _not_after(pair, of=of),
    )


def _amount(spend: SynthSpend, *, declared: DeclaredDataset) -> Fraction:
    """Return ρ or ε of all, in the measure in which it is planned."""
    dataset = declared.dataset
    given = [each for each in (spend.epsilon, spend.rho, spend.share) if each is not None]
    if len(given) != 1:
        raise ContractError(
            "spend: expected one of epsilon, rho and share.", hint="Write spend: {epsilon: 1}."
        )
    if spend.share is not None:
        nano = _share_of_cap(spend.share, declared=declared)
    else:
        section = AmountSection(epsilon=spend.epsilon, rho=spend.rho)
        nano = amount_nano(section, dataset=dataset, place="spend")
    return Fraction(nano, NANO)


def _share_of_cap(share: Fraction, *, declared: DeclaredDataset) -> int:
    """Return a share of the lifetime's cap in 1e-9 of the measure of the plan."""
    limits = declared.caps or declared.policy
    if limits is None:
        raise ContractError("spend: there is no cap to take a share of.", hint="Write epsilon: 1.")
    whole = EpsilonCaps.of(limits).lifetime
    if declared.dataset.mixed:
        section = AmountSection(epsilon=share * whole / NANO)
        return amount_nano(section, dataset=declared.dataset, place="spend")
    return int(share * whole)


def _never(rule: Mapping[str, Any], *, of: Mapping[str, Expression], dataset: Dataset) -> Never:
    found = []
    for name, said in rule.items():
        expression = _known(name, of=of)
        found.append(_levels(name, said, of=expression, dataset=dataset))
    return Never(columns=tuple(rule), levels=tuple(found))


def _known(name: str, *, of: Mapping[str, Expression]) -> Expression:
    if name not in of:
        raise UnknownNameError("column", name, known=of)
    return of[name]


def _levels(
    name: str, said: Any, *, of: Expression, dataset: Dataset, rule: str = "never"
) -> tuple[int, ...]:
    """Return levels that a rule names: labels, or the bins that lie wholly within a range."""
    within = domain(of, dataset=dataset)
    if isinstance(said, Mapping):
        ends = level_ends(of, dataset=dataset)
        if ends is None or not said or set(said) - {"from", "to"}:
            raise ContractError(
                f"{rule}: {name}: expected labels, or from and to of a number or date."
            )
        inside = domain(innermost(of), dataset=dataset)
        low = canonical(name, said["from"], inside) if "from" in said else inside.lower
        high = canonical(name, said["to"], inside) if "to" in said else inside.upper
        places = tuple(
            i for i, (a, b) in enumerate(zip(*ends, strict=True)) if low <= a and b <= high
        )
        if not places:
            raise ContractError(
                f"{rule}: {name}: no bin lies wholly within this range.",
                hint="Give the column bins whose edges are the range's.",
            )
        return places
    if isinstance(innermost(of), TextAmong):
        raise ContractError(
            f"{rule}: {name}: its levels are not known yet.",
            hint="Declare its categories in dataset.yaml.",
        )
    labels: Sequence[Any] = said if isinstance(said, list) else [said]
    if not within.keys:
        inside = domain(innermost(of), dataset=dataset)
        return tuple(canonical(name, each, inside) - within.lower for each in labels)
    for each in labels:
        if str(each) not in within.keys:
            raise UnknownNameError(f"level of {name}", str(each), known=within.keys)
    return tuple(within.keys.index(str(each)) for each in labels)


def _not_after(pair: Sequence[str], *, of: Mapping[str, Expression]) -> NotAfter:
    if len(pair) != 2:
        raise ContractError(
            "A rule of order names two columns, of which the first is never above the second.",
            hint="Write order: [[admission, discharge]].",
        )
    for name in pair:
        _known(name, of=of)
    return NotAfter(first=pair[0], then=pair[1])
