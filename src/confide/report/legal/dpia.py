"""The annex on statistics for a data protection impact assessment, Art. 35 GDPR.

Parts and numbers are those of the EDPB's template of 2026 (version 1.0 for public consultation):
0 overview · 1 systematic description · 2 analysis · 3 necessity and proportionality · 4 risks,
measures, residual risks · 5 involvement · 6 conclusion and decision.  The wording is our own.

References:
    [EDPB26] EDPB. Template for data protection impact assessment. Version 1.0, adopted 10 March
        2026, for public consultation.
    [GDPR] Regulation (EU) 2016/679, Art. 35(7). https://eur-lex.europa.eu/eli/reg/2016/679/oj
"""

from typing import assert_never

from confide.report.legal.document import Item, Kind, LegalDocument, Part, Stated
from confide.report.legal.dpia_analysis import analysis
from confide.report.legal.dpia_proportion import proportion
from confide.report.legal.dpia_risks import risks
from confide.report.legal.exhibits import (
    columns_table,
    entries_table,
    published_text,
    tables_text,
)
from confide.report.legal.heading import facts_of, sources_of
from confide.report.legal.scribe import Scribe
from confide.report.legal.subject import Stage


def dpia(scribe: Scribe) -> LegalDocument:
    """Return the annex."""
    return LegalDocument(
        kind=Kind.DPIA,
        language=scribe.words.language,
        what=scribe.say("what.dpia"),
        title=scribe.subject.title,
        facts=facts_of(scribe),
        basis=scribe.say("basis-of.dpia"),
        parts=(
            _overview(scribe),
            _description(scribe),
            analysis(scribe),
            proportion(scribe),
            risks(scribe),
            _involvement(scribe),
            _decision(scribe),
        ),
        sources=sources_of(scribe, "dpia"),
    )


def _overview(scribe: Scribe) -> Part:
    subject = scribe.subject
    return scribe.part(
        "0",
        "overview",
        parts=(
            scribe.part(
                "0.1",
                "controllers",
                scribe.stated("issuer", subject.organisation, source=scribe.from_dataset()),
                scribe.asked("controller"),
                scribe.asked("controller-unit"),
                scribe.asked("contact"),
                scribe.asked("officer"),
                scribe.asked("joint-controllers"),
            ),
            scribe.part("0.2", "processors", scribe.asked("processors")),
            scribe.part(
                "0.3",
                "name",
                scribe.stated("study", subject.title, source=scribe.from_plan()),
                scribe.asked("record-of-processing"),
            ),
            scribe.part(
                "0.4",
                "planning",
                scribe.stated("stage", _stage(scribe), source=scribe.from_plan()),
                scribe.asked("start"),
                scribe.asked("end"),
            ),
            _sheet(scribe),
        ),
    )


def _stage(scribe: Scribe) -> str:
    subject = scribe.subject
    match subject.stage:
        case Stage.FORECAST:
            return scribe.say("stage.forecast")
        case Stage.RELEASE:
            return scribe.say("stage.release", date=str(subject.certificate["issued"])[:10])
        case Stage.YEAR:
            return scribe.say("stage.year", period=subject.period)
        case _:
            assert_never(subject.stage)


def _sheet(scribe: Scribe) -> Part:
    software = scribe.subject.software
    version = scribe.say("software", version=software["version"], source=software["source-sha256"])
    return scribe.part(
        "0.5",
        "sheet",
        scribe.stated("template", scribe.say("template"), source=scribe.say("from.text")),
        scribe.stated("software", version, source=scribe.from_software()),
        scribe.asked("dpia-version"),
        scribe.asked("dpia-team"),
        scribe.asked("dpia-reasons"),
        scribe.asked("dpia-scope"),
        scribe.asked("dpia-publication"),
    )


def _description(scribe: Scribe) -> Part:
    subject = scribe.subject
    return scribe.part(
        "1",
        "description",
        parts=(
            scribe.part("1.1.a", "data", scribe.note("data"), columns_table(scribe)),
            scribe.part(
                "1.1.b",
                "purposes",
                scribe.stated("purpose", subject.purpose, source=scribe.from_plan()),
                scribe.asked("purposes"),
            ),
            scribe.part("1.1.c", "secondary", scribe.asked("secondary-use")),
            _nature(scribe),
            scribe.part("1.2", "phases", scribe.note("phases"), scribe.asked("retention")),
            scribe.part("1.3", "means", scribe.note("means"), scribe.asked("assets")),
            scribe.part("1.4", "codes", scribe.asked("codes-of-conduct")),
        ),
    )


def _nature(scribe: Scribe) -> Part:
    subject, plan = scribe.subject, scribe.subject.plan
    population = subject.dataset.population
    published: Item
    if plan is None:
        published = entries_table(scribe)
    else:
        published = scribe.stated(
            "published", *published_text(plan, scribe=scribe), source=scribe.from_plan()
        )
    return scribe.part(
        "1.1.d",
        "nature",
        scribe.note("nature"),
        published,
        scribe.stated("tables", tables_text(scribe), source=scribe.from_dataset()),
        scribe.stated(
            "population",
            "" if population is None else f"{population:,}",
            source=scribe.from_dataset(),
        ),
        scribe.stated("snapshot", subject.dataset.snapshot, source=scribe.from_dataset()),
        _audience(scribe),
        scribe.asked("context"),
        scribe.asked("cross-border"),
        scribe.asked("third-countries"),
    )


def _audience(scribe: Scribe) -> Stated | None:
    audience = scribe.subject.audience
    if not audience:
        return None
    return scribe.stated("audience", scribe.say(f"audience.{audience}"), source=scribe.from_plan())


def _involvement(scribe: Scribe) -> Part:
    return scribe.part(
        "5",
        "involvement",
        parts=(
            scribe.part(
                "5.1",
                "officer-advice",
                scribe.asked("officer-advice"),
                scribe.signature("officer-signature"),
            ),
            scribe.part("5.2", "views", scribe.asked("views-of-data-subjects")),
        ),
    )


def _decision(scribe: Scribe) -> Part:
    return scribe.part(
        "6",
        "decision",
        scribe.note("decision"),
        scribe.asked("decision"),
        scribe.asked("decision-reasons"),
        scribe.signature("controller-signature"),
    )
