"""What an outline shows by name: automatic fields, tables and figures, each with its source.

*Privacy:* functions of a subject's public facts and of what people wrote.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from confide.drawing.columns_read import columns_read, undeclared_columns
from confide.drawing.conditions import label
from confide.drawing.numbers import clean
from confide.report.legal import exhibits, necessity
from confide.report.legal.asked import Who
from confide.report.legal.audited import AuditResults
from confide.report.legal.declared import Site
from confide.report.legal.document import AskedField, PartItem, StatedField
from confide.report.legal.pictures import belief_picture, cap_gauges
from confide.report.legal.scribe import Scribe
from confide.report.legal.subject import Stage

PRINCIPLES = (
    "fairness",
    "transparency",
    "purpose-limitation",
    "minimisation",
    "accuracy",
    "storage-limitation",
    "integrity",
    "accountability",
)
"""Art. 5(1)(a) to (f) and 5(2), in the order of the template of an impact assessment."""


def _stage(scribe: Scribe) -> str:
    subject = scribe.subject
    if subject.certificate is not None:
        return scribe.say("stage.release", date=subject.certificate.issued[:10])
    if subject.stage is Stage.YEAR:
        return scribe.say("stage.year", period=subject.period)
    return scribe.say("stage.forecast")


def _software(scribe: Scribe) -> str:
    software = scribe.subject.software
    return scribe.say("software", version=software.version, source=software.source_sha256)


def _population(scribe: Scribe) -> str:
    population = scribe.subject.dataset.population
    return "" if population is None else f"{population:,}"


def _tables(scribe: Scribe) -> str:
    return scribe.words.listed([label(table.name) for table in scribe.subject.dataset.tables])


def _published(scribe: Scribe) -> Iterable[PartItem]:
    """Yield the statistics, one sentence each; of a year its requests."""
    plan = scribe.subject.plan
    if plan is None:
        return [exhibits.entries_table(scribe)]
    titles = (exhibits.statistic_title(each, plan=plan, scribe=scribe) for each in plan.statistics)
    return [scribe.stated("published", *titles, source=scribe.from_plan())]


def _audience(scribe: Scribe) -> Iterable[PartItem]:
    audience = scribe.subject.audience
    if not audience:
        return []
    said = scribe.say(f"audience.{audience}")
    return [scribe.stated("audience", said, source=scribe.from_plan())]


def _outcome(scribe: Scribe) -> Iterable[PartItem]:
    """Yield what the data holder takes the released statistics to be."""
    decided = scribe.law.identifiability
    texts = [scribe.say(f"outcome.{decided.outcome.value}")]
    if decided.justification.strip():
        texts.append(scribe.say("justification", text=" ".join(decided.justification.split())))
    return [scribe.stated("outcome", *texts, source=scribe.from_law())]


def _columns_read(scribe: Scribe) -> Iterable[PartItem]:
    plan = exhibits.plan_of(scribe)
    declared = sum(
        len(table.columns) + len(undeclared_columns(table)) for table in plan.dataset.tables
    )
    text = scribe.say("columns-read", read=str(len(columns_read(plan))), of=str(declared))
    return [scribe.stated("columns-read", text, source=scribe.computed(scribe.from_plan()))]


def _principles(scribe: Scribe) -> Iterable[PartItem]:
    rows = [
        (scribe.say(f"principle.{name}.name"), scribe.say(f"principle.{name}.measure"))
        for name in PRINCIPLES
    ]
    heads, source = ("principle", "measure"), scribe.from_software()
    return [scribe.table("principles", heads, rows, source=source, labels=2)]


def _audit(scribe: Scribe) -> Iterable[PartItem]:
    """Yield what the site's audit found, or that no results were given."""
    found = scribe.subject.audit
    if found is None:
        return [scribe.note("no-audit")]
    texts = [_audited(found, scribe=scribe)]
    if not found.holds:
        texts.append(scribe.say("audit.failed", checks=scribe.words.listed(list(found.failed[:5]))))
    return [scribe.stated("audit", *texts, source=scribe.say("from.audit", file=found.file))]


def _audited(found: AuditResults, *, scribe: Scribe) -> str:
    layers = [
        scribe.say("audit.layer", count=str(count), name=scribe.say(f"layer.{layer}"))
        for layer, count in found.checks
    ]
    return scribe.say(
        f"audit.{'holds' if found.holds else 'broken'}",
        count=str(found.total),
        layers=scribe.words.listed(layers),
        form=scribe.say(f"audit.{'quick' if found.quick else 'full'}"),
    )


def _field(
    name: str, of: Callable[[Scribe], str], source: Callable[[Scribe], str]
) -> Callable[[Scribe], Iterable[PartItem]]:
    return lambda scribe: [scribe.stated(name, of(scribe), source=source(scribe))]


def _sentences(name: str) -> Callable[[Scribe], Iterable[PartItem]]:
    """Return a field whose sentences say what this software does."""
    return lambda scribe: [
        scribe.stated(name, *scribe.words.each(f"legal.{name}"), source=scribe.from_software())
    ]


def _one(of: Callable[[Scribe], PartItem | None]) -> Callable[[Scribe], Iterable[PartItem | None]]:
    return lambda scribe: [of(scribe)]


OF_SUBJECT: Mapping[str, Callable[[Scribe], Iterable[PartItem | None]]] = {
    "issuer": _field("issuer", lambda s: s.subject.organisation, Scribe.from_dataset),
    "study": _field("study", lambda s: s.subject.title, Scribe.from_plan),
    "stage": _field("stage", _stage, Scribe.from_plan),
    "template": _field("template", lambda s: s.say("template"), lambda s: s.say("from.text")),
    "software": _field("software", _software, Scribe.from_software),
    "purpose": _field("purpose", lambda s: s.subject.purpose, Scribe.from_plan),
    "dataset": _field("dataset", lambda s: s.subject.dataset.id, Scribe.from_dataset),
    "snapshot": _field("snapshot", lambda s: s.subject.dataset.snapshot, Scribe.from_dataset),
    "population": _field("population", _population, Scribe.from_dataset),
    "tables": _field("tables", _tables, Scribe.from_dataset),
    "by-design": _sentences("by-design"),
    "security": _sentences("security"),
    "published": _published,
    "audience": _audience,
    "outcome": _outcome,
    "columns-read": _columns_read,
    "principles": _principles,
    "audit": _audit,
    "columns": _one(exhibits.columns_table),
    "mechanisms": _one(exhibits.mechanisms_table),
    "sites": _one(exhibits.sites_table),
    "beliefs": _one(exhibits.beliefs_table),
    "attributes": _one(exhibits.attributes_table),
    "groups": _one(exhibits.groups_table),
    "small-cells": _one(exhibits.small_cells_table),
    "asked": _one(necessity.asked_table),
    "budget": _one(necessity.chosen),
    "alternatives": necessity.alternative_tables,
    "instead": _one(necessity.qualitative),
    "belief-picture": _one(belief_picture),
    "gauges": _one(cap_gauges),
}


def _site_kind(site: Site, *, scribe: Scribe) -> StatedField:
    said = scribe.say(f"site.{site.kind.value}")
    return scribe.stated("site-kind", said, source=scribe.from_law())


def _usual(site: Site, *, scribe: Scribe) -> StatedField:
    said = scribe.say(f"usual.{'yes' if site.is_usual else 'no'}")
    return scribe.stated("usual", said, source=scribe.from_law())


def _why(site: Site, *, scribe: Scribe) -> StatedField:
    return scribe.stated("why", " ".join(site.why.split()), source=scribe.from_law())


def _national_law(site: Site, *, scribe: Scribe) -> AskedField:
    """Return the field for the provision of law that a site rests on."""
    name, title = f"{site.id}-national-law", clean(site.title, most=120)
    return scribe.written(name, "national-law", site.national_law, who=Who.LAWYER, site=title)


def _step(site: Site, step: str, *, scribe: Scribe) -> AskedField:
    """Return the field for one step of a balancing test."""
    text = getattr(site.balancing_test, step)
    name = f"balancing-{step}"
    return scribe.written(f"{site.id}-{step}", name, text, who=Who.CONTROLLER)


OF_SITE: Mapping[str, Callable[..., Any]] = {
    "site-kind": _site_kind,
    "usual": _usual,
    "why": _why,
    "national-law": _national_law,
    **{
        f"balancing-{step}": partial(_step, step=step)
        for step in ("interest", "necessity", "balance", "outcome")
    },
}
