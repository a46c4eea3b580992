"""Subjects and declarations for tests of legal documents: a study, its release, a year of a
ledger."""

import datetime as dt
from dataclasses import replace
from fractions import Fraction

import cohorts
from confide.budget.ledger import Scope, ScopeSpent, Spent, State
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.pricing.calibrate_to_error import Within
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.release.certificate.form import CertificateForm
from confide.report.legal.audited import AuditResults
from confide.report.legal.build import build
from confide.report.legal.declared import (
    Article6,
    Article9,
    Identifiability,
    LegalDeclaration,
    Outcome,
    Site,
    SiteKind,
)
from confide.report.legal.document import Kind, StatedField, TextTable
from confide.report.legal.subject import YearEntry, of_release, of_study, of_year
from confide.statistics.count.spec import Count
from confide.statistics.histogram.spec import Histogram
from confide.statistics.mean.spec import Mean
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn

__all__ = [
    "Ask",
    "AuditResults",
    "Identifiability",
    "Outcome",
    "StatedField",
    "of_year",
    "replace",
]

PUBLIC = Site(
    id="north",
    kind=SiteKind.PUBLIC,
    article_6=Article6.PUBLIC_TASK,
    article_9=Article9.PUBLIC_HEALTH,
)
PRIVATE = Site(
    id="south",
    kind=SiteKind.PRIVATE,
    article_6=Article6.LEGITIMATE_INTERESTS,
    article_9=Article9.RESEARCH_AND_STATISTICS,
    national_law="Research Act, section 3",
)
LAW = LegalDeclaration(file="legal.yaml", sites=(PUBLIC, PRIVATE))
AUDIT = AuditResults(file="audit.json", quick=True, holds=True, checks=(("L1", 20), ("L2", 6)))
WITH_DIABETES = IsIn(of=ColumnOf(table="person", column="diabetes"), values=(1,))
DIABETES = Count(id="diabetes", table="person", where=WITH_DIABETES, expect=600)
BY_SEX = Histogram(id="by-sex", table="person", by=("sex",))
PRESSURE = Mean(id="pressure", table="person", column="systolic", expect=600)
ASKS = (
    Ask(statistic=DIABETES, error=Within(amount=Fraction(20))),
    Ask(statistic=BY_SEX, error=Within(amount=Fraction(30))),
)


def study_plan(asks=ASKS, *, measure=Measure.ZCDP, adjacency=Adjacency.ADD_REMOVE, nano=None):
    dataset = cohorts.hospital(measure=measure, adjacency=adjacency)
    return make_plan(asks, study=cohorts.STUDY, dataset=dataset, nano=nano)


def plan_of_every_statistic():
    return cohorts.plan_of(cohorts.every_statistic(), dataset=cohorts.hospital(), nano=400_000_000)


def spent_on(plan, *, used=90_000_000, year=3, life=20):
    def use(scope, period, used, cap):
        return ScopeSpent(scope=scope, period=period, used=used, cap=cap, remaining=cap - used)

    return Spent(
        lineage=plan.dataset.lineage,
        measure=plan.dataset.measure,
        scopes=(
            use(Scope.RELEASE, "", 0, 2 * plan.amount.nano),
            use(Scope.CALENDAR_YEAR, "2026", used, used + year * plan.amount.nano),
            use(Scope.LIFETIME, "", 2 * used, 2 * used + life * plan.amount.nano),
        ),
    )


def forecast_subject(plan=None, *, asks=ASKS, audit=AUDIT):
    plan = plan or study_plan(asks)
    return of_study(
        plan,
        asks=asks,
        spent=spent_on(plan),
        organisation="North Hospital",
        file="study.yaml",
        audit=audit,
    )


def release_subject(plan=None, *, asks=ASKS, audit=AUDIT):
    plan = plan or study_plan(asks)
    certificate = cohorts.certificate_of(cohorts.noisy_of(plan))
    return of_release(
        plan,
        certificate=CertificateForm.read(certificate),
        file="certificate.json",
        asks=asks,
        asked_in="study.yaml" if asks else "",
        audit=audit,
    )


def year_entries(plan):
    """Two charged requests of 2026, one refused, one cancelled, and one of 2025."""
    noisy = cohorts.noisy_of(plan)
    first = cohorts.entry_of(noisy, number=7)
    at = dt.datetime(2026, 5, 4, tzinfo=dt.UTC).isoformat()

    def entry(number, state, at=at):
        return replace(first, number=number, state=state, at=at)

    entries = (
        entry(3, State.PUBLISHED, "2025-12-31T23:59:59+00:00"),
        entry(5, State.PUBLISHED),
        entry(7, State.BURNED),
        entry(9, State.REFUSED),
        entry(11, State.CANCELLED),
    )
    return tuple(YearEntry(entry=each, title="Diabetes by sex") for each in entries)


def year_subject(plan=None):
    plan = plan or study_plan()
    return of_year(
        2026,
        dataset=plan.dataset,
        entries=year_entries(plan),
        spent=spent_on(plan),
        organisation="North Hospital",
        file="dataset.yaml",
        audit=AUDIT,
    )


SUBJECTS = {"forecast": forecast_subject, "release": release_subject, "year": year_subject}


def document(kind=Kind.DPIA, subject=None, *, law=LAW, language="en"):
    return build(kind, subject or release_subject(), law=law, language=language)


def items_of(made, kind):
    return [item for part in made.everything() for item in part.items if isinstance(item, kind)]


def table_of(made, title):
    return next(table for table in items_of(made, TextTable) if table.title.startswith(title))
