"""Small public cohorts: declared schemas, plans of every statistic, and made-up noisy answers.

No patient is behind these numbers; they are written down or follow a formula.
"""

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from confide.budget.ledger import Charge, Entry, Scope, State
from confide.noise.mechanism import Mechanism
from confide.noise.threshold import KeyThreshold
from confide.plans.canonical import Json
from confide.plans.contribution import Counted, PerPatient
from confide.plans.mechanisms import additive
from confide.plans.person_time import Per, PersonTime
from confide.plans.plan import Measurement, Noisy, Plan, Statistic, Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.public_numbers import PublicNumber
from confide.plans.rounds.descent import next_ask
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import Amount
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.release.certificate.certificate import Issuer, certificate
from confide.release.certificate.cuts import with_cuts
from confide.release.certificate.parts import SoftwarePart
from confide.release.noisy import NoisyAggregates
from confide.release.site.keys import SigningKey
from confide.report.release import Release
from confide.rows.relational.descent import DescentRows
from confide.statistics.area_rate.spec import AreaRate
from confide.statistics.count.spec import Count
from confide.statistics.data_quality.spec import DataQuality
from confide.statistics.degree_histogram.spec import DegreeHistogram
from confide.statistics.hierarchy.spec import Hierarchy
from confide.statistics.histogram.spec import Histogram
from confide.statistics.hypothesis_tests.chi_squared import ChiSquaredTest
from confide.statistics.hypothesis_tests.trend import TrendTest
from confide.statistics.hypothesis_tests.two_means import TwoMeansTest
from confide.statistics.hypothesis_tests.two_proportions import TwoProportionsTest
from confide.statistics.incidence.spec import Incidence
from confide.statistics.key_selection.spec import KeySelection
from confide.statistics.logistic.multinomial import MultinomialRegression
from confide.statistics.logistic.regression import LogisticRegression
from confide.statistics.mean.spec import Mean
from confide.statistics.median_difference.spec import MedianDifference
from confide.statistics.person_time.hazard import HazardRegression
from confide.statistics.person_time.poisson import PoissonRegression
from confide.statistics.proportion.spec import Proportion
from confide.statistics.quantiles.spec import Quantiles
from confide.statistics.regression.linear import LinearRegression
from confide.statistics.running_counts.spec import RunningCounts
from confide.statistics.series.spec import Series
from confide.statistics.smr.spec import SMR
from confide.statistics.standardized_rate.spec import StandardizedRate
from confide.statistics.sum.spec import Sum
from confide.statistics.survival import Survival
from confide.statistics.table_one import Characteristic, Summary, TableOne
from confide.statistics.top_category.spec import TopCategory
from confide.statistics.top_features.spec import TopFeatures
from confide.statistics.variance.spec import Variance
from confide.statistics.weighted_mean.spec import WeightedMean
from confide.statistics.weighted_proportion.spec import WeightedProportion
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_count
from confide.tables.aggregates.degrees import DegreeAggregate
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.factorized import FactorizedAggregate
from confide.tables.aggregates.moments import MomentAggregate
from confide.tables.aggregates.pooled import PooledAggregate
from confide.tables.aggregates.shapes import Ranked
from confide.tables.aggregates.square_root import product
from confide.tables.aggregates.value import Centred, CentredSquare, Plain, Product
from confide.tables.expression import BinOf, ColumnOf, DatePart, PartOf
from confide.tables.filter import Between, IsIn
from confide.tables.relation import domain
from confide.tables.schema import Column, Dataset, Derived, Kind, Table
from confide.tables.spine import Spine

WARDS = tuple(f"Ward {number:02d}" for number in range(1, 61))
DISTRICTS = ("North", "East", "South", "West", "Harbour", "Old town", "Hills", "Airport")
DRUGS = {
    "metformin": 812,
    "lisinopril": 640,
    "atorvastatin": 598,
    "amlodipine": 377,
    "omeprazole": 301,
    "warfarin": 96,
    "digoxin": 41,
}


def _day(text: str) -> int:
    return (dt.date.fromisoformat(text) - dt.date(1970, 1, 1)).days


def person_table(districts: tuple[str, ...] = DISTRICTS) -> Table:
    return Table(
        name="person",
        source="person",
        one_row_per_patient=True,
        columns=(
            Column(
                name="sex",
                kind=Kind.CATEGORY,
                source="gender_concept_id",
                keys=("female", "male"),
                codes=(("8532", 0), ("8507", 1)),
                because="OMOP vocabulary",
            ),
            Column(
                name="district",
                kind=Kind.CATEGORY,
                source="district",
                keys=districts,
                because="list of districts, city statistics 2025",
            ),
            Column(
                name="diabetes",
                kind=Kind.CATEGORY,
                source="diabetes",
                keys=("no", "yes"),
                because="questionnaire DIQ010",
            ),
            Column(
                name="age",
                kind=Kind.NUMBER,
                source="age",
                lower=20,
                upper=80,
                unit="a",
                because="age of inclusion, study protocol",
            ),
            Column(
                name="systolic",
                kind=Kind.NUMBER,
                source="sbp",
                lower=80,
                upper=200,
                unit="mm[Hg]",
                because="plausible range of LOINC 8480-6",
            ),
            Column(
                name="bmi",
                kind=Kind.NUMBER,
                source="bmi",
                lower=120,
                upper=600,
                scale=Fraction(1, 10),
                unit="kg/m2",
                because="plausible range of LOINC 39156-5",
            ),
            Column(
                name="outcome",
                kind=Kind.CATEGORY,
                source="outcome",
                keys=("alive", "dead"),
                because="registry of deaths",
            ),
            Column(
                name="followed",
                kind=Kind.NUMBER,
                source="followed",
                lower=0,
                upper=1825,
                unit="d",
                because="five years of follow-up, study protocol",
            ),
        ),
    )


def visit_table() -> Table:
    return Table(
        name="visit",
        source="visit",
        columns=(
            Column(
                name="ward",
                kind=Kind.CATEGORY,
                source="ward",
                keys=WARDS,
                because="list of wards, annual report 2025",
            ),
            Column(
                name="start",
                kind=Kind.DATE,
                source="start",
                lower=_day("2025-01-01"),
                upper=_day("2026-12-31"),
                because="period of the study",
            ),
            Column(
                name="days",
                kind=Kind.NUMBER,
                source="days",
                lower=0,
                upper=60,
                unit="d",
                because="longest stay that the insurer pays",
            ),
            Column(name="drug", kind=Kind.TEXT, source="drug"),
            Column(
                name="weight",
                kind=Kind.NUMBER,
                source="weight",
                lower=0,
                upper=8,
                because="sampling plan of the insurer",
            ),
        ),
        weight="weight",
    )


CONTACTS = Table(name="contact", source="contact", columns=(), other_id="contact_id")


def hospital(
    *,
    measure: Measure = Measure.ZCDP,
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
    districts: tuple[str, ...] = DISTRICTS,
    name: str = "north-hospital",
) -> Dataset:
    """A hospital's public description: persons with one row each, visits with several."""
    return Dataset(
        id=name,
        lineage="north-ehr",
        snapshot="2026-10-31",
        unit=PrivacyUnit(entity=Entity.PATIENT, id_column="person_id"),
        adjacency=adjacency,
        measure=measure,
        delta=Fraction(1, 10**6),
        selection_delta=Fraction(5, 10**7),
        population_at_most=10**6,
        tables=(person_table(districts), visit_table(), CONTACTS),
        spines=(
            Spine(
                name="city",
                levels=("district", "bank"),
                areas=tuple((name, ("left", "right")[i % 2]) for i, name in enumerate(districts)),
                population=tuple(900 + 700 * i for i in range(len(districts))),
                because="list of districts, city statistics 2025",
            ),
        ),
        derived=(
            Derived(
                name="age_band",
                of=BinOf(
                    of=ColumnOf(table="person", column="age"), edges=(20, 30, 40, 50, 60, 70, 80)
                ),
            ),
            Derived(
                name="month",
                of=PartOf(of=ColumnOf(table="visit", column="start"), part=DatePart.MONTH),
            ),
        ),
    )


SEX = ColumnOf(table="person", column="sex")
DIABETES = ColumnOf(table="person", column="diabetes")
AGE = ColumnOf(table="person", column="age")
HAS_DIABETES = IsIn(of=DIABETES, values=(1,))
ADULTS = Between(of=AGE, lower=30)


def every_statistic() -> tuple[Statistic, ...]:
    """One of each kind, and the forms a histogram takes."""
    return (
        Count(id="diabetes", table="person", where=HAS_DIABETES, title="Patients with diabetes"),
        Histogram(id="districts", table="person", by=("district",), title="Patients by district"),
        Histogram(id="age-sex", table="person", by=("age_band", "sex")),
        Sum(id="bed-days", table="visit", column="days", per_patient=PerPatient(rows=5)),
        Mean(id="sbp", table="person", column="systolic", by=("age_band", "sex"), where=ADULTS),
        Variance(id="bmi", table="person", column="bmi", by=("sex",)),
        Proportion(
            id="prevalence",
            table="person",
            of=HAS_DIABETES,
            by=("age_band",),
            per=100,
            title="Prevalence of diabetes by age",
        ),
        Quantiles(id="bmi-quartiles", table="person", column="bmi", by=("sex",), bins=48),
        TableOne(
            id="characteristics",
            table="person",
            by=("sex",),
            variables=(
                Characteristic(column="age_band"),
                Characteristic(column="systolic", show=tuple(Summary), bins=32),
                Characteristic(column="bmi"),
                Characteristic(column="diabetes"),
            ),
        ),
        DataQuality(id="quality", table="person", fields=("sex", "systolic", "bmi")),
        *rates(),
        survival_statistic(),
        DegreeHistogram(id="contacts", table="contact", persons="person", at_most=8),
        Series(
            id="stays-over-time",
            table="visit",
            column="days",
            over="start",
            every=DatePart.MONTH,
            per_patient=PerPatient(cells=3, rows=1),
        ),
        RunningCounts(
            id="visits-so-far",
            table="visit",
            over="start",
            every=DatePart.WEEK,
            counted=Counted.EVENTS,
            per_patient=PerPatient(cells=3, rows=1),
            rolling=4,
        ),
        *comparisons(),
        Hierarchy(id="regions", table="person", spine="city", where=HAS_DIABETES),
        AreaRate(id="diabetes-rate", table="person", spine="city", of=HAS_DIABETES, per=1000),
        TopCategory(
            id="top-wards", table="visit", by=("ward",), per_patient=PerPatient(cells=3), size=2
        ),
        TopFeatures(id="top-features", table="person", features=("age", "systolic"), outcome="bmi"),
        KeySelection(id="drugs", table="visit", key="drug", per_patient=PerPatient(cells=3)),
    )


def comparisons() -> tuple[Statistic, ...]:
    """One test of each kind, and a regression."""
    return (
        ChiSquaredTest(id="independence", table="person", by=("age_band", "diabetes")),
        TwoProportionsTest(id="sexes", table="person", of=HAS_DIABETES, by=("sex",)),
        TrendTest(id="ages", table="person", of=HAS_DIABETES, by=("age_band",)),
        TwoMeansTest(id="pressures", table="person", column="systolic", by=("sex",)),
        MedianDifference(id="bmi-medians", table="person", column="bmi", by=("sex",), bins=48),
        LinearRegression(
            id="line", table="person", outcome="systolic", covariates=("age", "bmi", "sex")
        ),
        LogisticRegression(
            id="odds", table="person", of=HAS_DIABETES, covariates=("age", "bmi", "sex")
        ),
        MultinomialRegression(
            id="bands",
            table="person",
            outcome="age_band",
            covariates=("bmi", "sex"),
            hold_out=Fraction(1, 5),
        ),
        PoissonRegression(
            id="stays",
            table="visit",
            events="days",
            covariates=("age", "sex"),
            per_patient=PerPatient(rows=2),
        ),
        HazardRegression(
            id="deaths",
            table="person",
            time="followed",
            of=IsIn(of=ColumnOf(table="person", column="outcome"), values=(1,)),
            covariates=("age", "bmi", "sex"),
            edges=tuple(Fraction(365 * year) for year in range(6)),
        ),
    )


def rates() -> tuple[Statistic, ...]:
    """One rate of each kind, and the weighted statistics."""
    standard = tuple(PublicNumber(keys=(sex,), value=Fraction(50)) for sex in ("female", "male"))
    winter = Between(of=ColumnOf(table="visit", column="start"), upper=_day("2025-03-31"))
    rows = PerPatient(rows=2)
    return (
        Incidence(
            id="winter-visits",
            table="visit",
            of=winter,
            time="days",
            by=("sex",),
            per=Per(number=1000, time=PersonTime.DAYS),
            compare=("male",),
            per_patient=rows,
        ),
        StandardizedRate(
            id="adjusted",
            table="person",
            of=HAS_DIABETES,
            strata=("sex",),
            standard=standard,
            by=("age_band",),
            per=Per(number=100),
        ),
        SMR(
            id="smr",
            table="person",
            of=HAS_DIABETES,
            strata=("sex",),
            reference=standard,
            by=("district",),
            per=Per(number=100),
        ),
        WeightedProportion(
            id="weighted-share", table="visit", of=winter, by=("sex",), per_patient=rows
        ),
        WeightedMean(
            id="weighted-days", table="visit", column="days", by=("sex",), per_patient=rows
        ),
    )


def survival_statistic(**more: Any) -> Survival:
    asked = {"by": ("sex",), "bins": 12, "title": "Survival by sex"} | more
    return Survival(
        id="survival",
        table="person",
        time="followed",
        status="outcome",
        censored=("alive",),
        **asked,
    )


def wards_statistic() -> Histogram:
    return Histogram(
        id="wards", table="visit", by=("ward",), per_patient=PerPatient(cells=3), threshold=15
    )


def months_statistic() -> Histogram:
    return Histogram(
        id="months",
        table="visit",
        by=("month",),
        counted=Counted.EVENTS,
        per_patient=PerPatient(cells=4, rows=2),
    )


STUDY = Study(
    id="bulletin-2026",
    title="Diabetes and blood pressure, 2026",
    purpose="Public-health bulletin of the North region",
    audience="public",
    period="2026",
)


def plan_of(
    statistics: tuple[Statistic, ...], *, dataset: Dataset, nano: int = 40_000_000, study=STUDY
) -> Plan:
    """A plan in which every statistic has an equal share of ``nano``."""
    asks = [Ask(statistic=statistic) for statistic in statistics]
    return make_plan(asks, study=study, dataset=dataset, nano=nano)


def _shape(index: int, cells: int) -> float:
    """Return a smooth bump over the cells with some structure."""
    at = (index + 0.5) / cells
    return math.exp(-((at - 0.42) ** 2) / 0.08) + 0.15 * math.sin(7 * at) ** 2


def made_up_answer(measurement: Measurement, *, dataset: Dataset, persons: int = 6_000) -> Noisy:
    """Return plausible noisy integers for a measurement: a bump plus a fixed pseudo-noise."""
    aggregate, mechanism = measurement.aggregate, measurement.mechanism
    if isinstance(mechanism, KeyThreshold):
        return {key: count for key, count in DRUGS.items() if count >= mechanism.threshold()}
    if isinstance(aggregate, Ranked):
        return tuple(range(aggregate.size))
    if isinstance(aggregate, MomentAggregate):
        return _made_up_moments(aggregate, mechanism, dataset=dataset, persons=persons)
    if isinstance(aggregate, DegreeAggregate):
        shapes = [(degree + 1) * math.exp(-degree / 2) for degree in aggregate.degrees]
        return tuple(round(persons * shape / sum(shapes)) for shape in shapes)
    if isinstance(aggregate, DescentAggregate):
        return _made_up_model(aggregate, mechanism, dataset=dataset, persons=persons)
    if isinstance(aggregate, PooledAggregate):
        finest = replace(measurement, aggregate=aggregate.of)
        cells = made_up_answer(finest, dataset=dataset, persons=persons)
        return aggregate.combined((cells,), dataset=dataset)
    if isinstance(aggregate, FactorizedAggregate):
        length = aggregate.length(dataset)
        counts = [round(persons * _shape(index, length) / length) for index in range(length)]
        noise = math.sqrt(additive(mechanism).variance())
        exact = product(counts, until=aggregate.published(dataset))
        return tuple(
            value + round(noise * math.sin(12.9898 * (index + 1)))
            for index, value in enumerate(exact)
        )
    assert isinstance(aggregate, Aggregate)
    cells = cell_count(aggregate.axes, dataset=dataset)
    shapes = [_shape(index, cells) for index in range(cells)]
    counts = [persons * shape / sum(shapes) for shape in shapes]
    match aggregate.value:
        case Centred():
            answers = [
                count * (-12 + 30 * index / cells + 5 * (index % 2))
                for index, count in enumerate(counts)
            ]
        case CentredSquare():
            answers = [count * 4_200.0 for count in counts]
        case Plain():
            answers = [count * 6.3 for count in counts]
        case Product():
            answers = [count * -40.0 for count in counts]
        case _:
            answers = counts
    spread = math.sqrt(mechanism.variance())
    return tuple(
        round(answer + spread * math.sin(12.9898 * (index + 1)))
        for index, answer in enumerate(answers)
    )


def _made_up_model(
    aggregate: DescentAggregate, mechanism: Mechanism, *, dataset: Dataset, persons: int
) -> Noisy:
    """Return what made-up rows answer in turn, with a fixed pseudo-noise."""
    rng = np.random.default_rng(7)
    columns = {"p": np.arange(persons), "rk": np.ones(persons), "fold": np.full(persons, 999)}
    for index, covariate in enumerate(aggregate.covariates):
        of = domain(covariate, dataset=dataset)
        columns[f"e{index}"] = rng.integers(of.lower, of.upper + 1, persons)
    first = columns["e0"] > np.median(columns["e0"])
    most = domain(aggregate.outcome, dataset=dataset).upper
    events = most * (rng.random(persons) < 0.15 + 0.2 * first)
    columns[f"e{len(aggregate.covariates)}"] = events
    if aggregate.exposure is not None:
        time = domain(aggregate.exposure, dataset=dataset)
        columns[f"e{len(aggregate.covariates) + 1}"] = rng.integers(
            time.lower, time.upper + 1, persons
        )
    rows = DescentRows(aggregate, columns, dataset=dataset)
    sigma = math.sqrt(additive(mechanism).variance())
    noisy: tuple[int, ...] = ()
    while ask := next_ask(aggregate, noisy, sigma=sigma, dataset=dataset):
        exact = rows.answer(ask)
        noisy += tuple(v + round(sigma * math.sin(12.9898 * i)) for i, v in enumerate(exact))
    return noisy


def _made_up_moments(
    aggregate: MomentAggregate, mechanism: Mechanism, *, dataset: Dataset, persons: int
) -> Noisy:
    cells = cell_count(aggregate.axes, dataset=dataset)
    if aggregate.missing:  # those without a value, those with one, cell by cell
        cells *= 2
    counts = [persons // cells] * cells
    sums = [[round(n * (-12 + 30 * i / cells)) for i, n in enumerate(counts)]]
    squares = [[n * 4_200 for n in counts]] if aggregate.degree == 2 else []
    answers = aggregate.combined((counts, *sums, *squares), dataset=dataset)
    spread = math.sqrt(additive(mechanism).variance())
    return tuple(
        answer + round(spread * math.sin(12.9898 * (index + 1)))
        for index, answer in enumerate(answers)
    )


def noisy_of(plan: Plan, *, answers: Mapping[str, Noisy] | None = None) -> NoisyAggregates:
    """Fabricate the noisy aggregates of a plan; ``answers`` by "statistic/question" override."""
    given = answers or {}
    return NoisyAggregates(
        plan=plan,
        values=tuple(
            given[name]
            if (name := f"{m.statistic}/{m.name}") in given
            else made_up_answer(m, dataset=plan.dataset)
            for m in plan.measurements
        ),
    )


def entry_of(noisy: NoisyAggregates, *, number: int = 7, spent: int = 90_000_000) -> Entry:
    """Fabricate the ledger entry that a release of ``noisy`` would have."""
    import hashlib

    plan = noisy.plan

    def charge(scope: Scope, period: str, amount: int, before: int, cap: int) -> Charge:
        return Charge(
            scope=scope, period=period, amount=amount, before=before, after=before + amount, cap=cap
        )

    charges = [
        charge(Scope.RELEASE, "", plan.amount.nano, 0, max(100_000_000, plan.amount.nano)),
        charge(Scope.CALENDAR_YEAR, "2026", plan.amount.nano, spent, spent + 3 * plan.amount.nano),
        charge(Scope.LIFETIME, "", plan.amount.nano, 2 * spent, 2 * spent + 20 * plan.amount.nano),
    ]
    if plan.amount.atto:
        cap = int(plan.dataset.selection_delta * 10**18)
        charges.append(charge(Scope.LIFETIME_DELTA, "", plan.amount.atto, plan.amount.atto, cap))
    return Entry(
        number=number,
        previous="11" * 32,
        hash="22" * 32,
        at="2026-11-02T09:30:00Z",
        lineage=plan.dataset.lineage,
        analyst="epidemiology",
        request_key="bulletin-2026-1",
        plan_digest=plan.digest(),
        measure=plan.dataset.measure,
        amount=Amount(nano=plan.amount.nano, atto=plan.amount.atto),
        charges=tuple(charges),
        state=State.PUBLISHED,
        payload_sha256=hashlib.sha256(noisy.payload()).hexdigest(),
    )


def signing_key() -> SigningKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return SigningKey(Ed25519PrivateKey.from_private_bytes(b"a test key, 32 bytes of no value"))


def certificate_of(noisy: NoisyAggregates, *, number: int = 7) -> Json:
    software = SoftwarePart(
        name="confide",
        version="0",
        source_sha256="33" * 32,
        python="3.11",
        lock_sha256="44" * 32,
        libraries={"duckdb": "2.0.0"},
        checks=["the plan follows from its statistics"],
    )
    return certificate(
        noisy,
        estimates=with_cuts(noisy.estimates(), plan=noisy.plan),
        entry=entry_of(noisy, number=number),
        issuer=Issuer(organisation="North Hospital", contact="dpo@north.example"),
        software=software,
        signer=signing_key(),
    ).to_json()


def release_of(
    plan: Plan, *, answers: Mapping[str, Noisy] | None = None, number: int = 7
) -> Release:
    """Fabricate a whole release of a plan."""
    noisy = noisy_of(plan, answers=answers)
    return Release(
        noisy=noisy,
        estimates=with_cuts(noisy.estimates(), plan=noisy.plan),
        certificate=certificate_of(noisy, number=number),
    )
