"""The numbers of legal documents: beliefs, attributes, groups, least loss, alternatives, cells."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

import cohorts
import legal_papers as papers
from confide.drawing.columns_read import columns_read
from confide.errors import ContractError
from confide.plans.contribution import Counted, PerPatient
from confide.plans.pricing.allocate import Ask, forecast, least_nano, make_plan
from confide.plans.pricing.calibrate_to_error import IntervalWidth, MedianShare, WithinShare
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import Amount
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.report.legal.alternatives import Other, alternatives
from confide.report.legal.beliefs import LossSpan, of_group, posterior, windows
from confide.report.legal.small_cells import SMALL, small_cells
from confide.report.legal.subject import loss_of
from confide.report.wording.odds_words import meaning_of, shown_at
from confide.statistics.histogram.spec import Histogram
from confide.tables.filter import All

HALF = PureDP(epsilon=Fraction(1, 2))


def test_the_beliefs_of_a_pure_loss_of_one_half_are_those_of_the_textbook():
    meaning = meaning_of(HALF, delta=Fraction(0))
    told = [str(posterior(meaning, prior=Fraction(text))) for text in ("1/100", "1/10", "1/2")]
    assert told == ["0.017", "0.155", "0.623"]  # π e^0.5 / (1 − π + π e^0.5), rounded up


def test_an_attribute_costs_two_patients_where_data_sets_differ_by_adding_or_removing():
    dataset = cohorts.hospital(measure=Measure.PURE)
    changed = replace(dataset, adjacency=Adjacency.SUBSTITUTE)
    span = LossSpan(name="release", period="", loss=HALF)
    assert span.of_attribute(dataset=dataset).pointwise.epsilon == 1
    assert span.of_attribute(dataset=changed).pointwise.epsilon == Fraction(1, 2)
    assert str(posterior(span.of_attribute(dataset=dataset), prior=Fraction(1, 2))) == "0.732"


def rare(ratio, *, cap):
    """The chance of an event of such a log-ratio that a cap (ε, δ) holds: δ/(1 − e^(ε−ratio))."""
    return float(cap.delta) / -math.expm1(float(cap.epsilon) - ratio)


@pytest.mark.parametrize("name", ["year", "year-cap", "lifetime-cap", "patient-cap"])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_beliefs_of_a_year_and_of_caps_hold_of_every_event_within_them(name, adjacency):
    dataset = replace(cohorts.hospital(measure=Measure.PURE), adjacency=adjacency)
    cap = ApproxDP(epsilon=Fraction(1), delta=Fraction(1, 10**6))
    span = LossSpan(name=name, period="", loss=cap)
    for told in (span.meaning(dataset=dataset), span.of_attribute(dataset=dataset)):
        for ratio in (1.001, 1.0465, 1.2, 1.5, 1.99, 2.001, 3, 10):
            if ratio > told.pointwise.epsilon:
                assert rare(ratio, cap=cap) <= told.exception
    assert rare(1.0465, cap=cap) == pytest.approx(22e-6, rel=0.01)


@pytest.mark.parametrize("size", [2, 5])
def test_a_group_has_k_times_a_pure_loss_and_k_squared_times_a_concentrated_one(size):
    dataset = cohorts.hospital()
    rho = ZeroConcentratedDP(rho=Fraction(1, 100))
    pure, zcdp = (of_group(loss, size=size, dataset=dataset) for loss in (HALF, rho))
    assert pure.pointwise.epsilon == size * HALF.epsilon
    group = ZeroConcentratedDP(rho=size**2 * rho.rho)
    assert zcdp.shown == shown_at(group, delta=dataset.delta)


def test_the_bound_of_a_group_with_key_selection_is_never_below_that_of_one():
    dataset = cohorts.hospital()
    loss = ZeroConcentratedDP(rho=Fraction(1, 100), delta=Fraction(1, 10**7))
    one, two = meaning_of(loss, delta=dataset.delta), of_group(loss, size=2, dataset=dataset)
    assert two.pointwise.epsilon > one.pointwise.epsilon
    assert two.exception > one.exception


def test_a_group_about_which_nothing_is_left_to_say_has_no_bound():
    huge = ApproxDP(epsilon=Fraction(30), delta=Fraction(1, 10**6))
    assert of_group(huge, size=5, dataset=cohorts.hospital()) is None


def test_a_document_tells_this_release_its_year_and_the_lifetime():
    spans = windows(papers.release_subject())
    assert [span.name for span in spans] == ["release", "year-cap", "lifetime-cap"]
    epsilons = [shown_at(span.loss, delta=Fraction(1, 10**6)).epsilon for span in spans]
    assert epsilons == sorted(epsilons)
    table = papers.table_of(papers.document(), "Belief that a given patient")
    assert [row[0] for row in table.rows[1:4]] == [
        "a belief of 1\u00a0%",
        "a belief of 10\u00a0%",
        "a belief of 50\u00a0%",
    ]
    assert table.rows[-1][0] == "except with a probability of at most"
    assert table.rows[-1][1] == "10⁻⁶"


def test_the_least_loss_reaches_the_error_asked_and_a_little_less_does_not():
    plan, subject = papers.study_plan(), papers.forecast_subject()
    table = papers.table_of(papers.document(subject=subject), "Error asked")
    row = table.rows[0]
    ask = papers.ASKS[0]
    least = least_nano(ask, dataset=plan.dataset)
    loss = loss_of(Amount(nano=least), measure=plan.dataset.measure)
    assert f"ε = {float(shown_at(loss, delta=plan.dataset.delta).epsilon):.4g}" in row[2]
    assert row[1] == "within ±20 patients (95\u00a0%)"
    assert row[2] == row[3]
    assert row[4] == "±20 patients"
    less = make_plan(
        [Ask(statistic=ask.statistic)],
        study=cohorts.STUDY,
        dataset=plan.dataset,
        nano=least * 98 // 100,
    )
    assert forecast(less, ask.statistic).half_width > 20


def test_a_plan_that_spends_the_least_says_so_and_one_that_shares_asks_why():
    made = papers.document(subject=papers.forecast_subject())
    said = [item.texts for item in papers.items_of(made, papers.StatedField)]
    assert any(texts[0].startswith("Yes. Every statistic names the error") for texts in said)
    assert "budget-choice" not in {item.id for _, item in made.missing()}
    asks = (papers.ASKS[0], Ask(statistic=papers.BY_SEX))
    plan = papers.study_plan(asks, nano=40_000_000)
    made = papers.document(subject=papers.forecast_subject(plan, asks=asks))
    said = [item.texts for item in papers.items_of(made, papers.StatedField)]
    assert any("1 of 2 statistics name no error" in texts[0] for texts in said)
    assert "budget-choice" in {item.id for _, item in made.missing()}
    unknown = papers.document(subject=papers.release_subject(plan, asks=()))
    assert "budget-choice" in {item.id for _, item in unknown.missing()}
    cell = papers.table_of(unknown, "Error asked").rows[0][1]
    assert cell == "not known from the certificate"


def test_every_form_of_an_error_asked_is_told():
    targets = (WithinShare(share=Fraction(1, 20)), MedianShare(share=Fraction(1, 10)))
    asks = (
        Ask(statistic=papers.DIABETES, error=targets[0]),
        Ask(statistic=replace(papers.DIABETES, id="again"), error=targets[1]),
        Ask(statistic=papers.PRESSURE, error=IntervalWidth(width=Fraction(8))),
    )
    plan = papers.study_plan(asks)
    table = papers.table_of(
        papers.document(subject=papers.forecast_subject(plan, asks=asks)), "Error asked"
    )
    assert [row[1] for row in table.rows] == [
        "within ±5\u00a0% of what is expected (95\u00a0%)",
        "half of the errors within 10\u00a0% of what is expected",
        "an interval at most 8 mmHg wide (95\u00a0%)",
    ]


@pytest.mark.parametrize("measure", [Measure.PURE, Measure.ZCDP])
def test_half_and_twice_the_loss_are_half_and_twice_the_epsilon_shown(measure):
    plan = papers.study_plan(measure=measure)
    found = {each.other: each for each in alternatives(plan)}
    epsilon = shown_at(plan.loss, delta=plan.dataset.delta).epsilon
    for other, factor in ((Other.HALF, Fraction(1, 2)), (Other.TWICE, 2)):
        shown = shown_at(found[other].plan.loss, delta=plan.dataset.delta).epsilon
        assert shown <= factor * epsilon
        assert math.isclose(shown, factor * epsilon, rel_tol=2e-3)
        ratio = (
            found[other].forecasts["by-sex"].half_width
            / found[Other.PLANNED].forecasts["by-sex"].half_width
        )
        assert math.isclose(ratio, 1 / factor, rel_tol=0.1)


def test_replacement_doubles_the_error_of_a_histogram_under_the_same_pure_loss():
    plan = papers.study_plan(measure=Measure.PURE)
    found = {each.other: each for each in alternatives(plan)}
    planned = found[Other.PLANNED].forecasts["by-sex"].half_width
    replaced = found[Other.SUBSTITUTE].forecasts["by-sex"].half_width
    assert math.isclose(replaced, 2 * planned, rel_tol=0.05)
    back = papers.study_plan(measure=Measure.PURE, adjacency=Adjacency.SUBSTITUTE)
    others = {each.other for each in alternatives(back)}
    assert Other.ADD_REMOVE in others
    assert Other.SUBSTITUTE not in others


def test_single_events_are_an_alternative_where_the_study_can_be_planned_so():
    visits = Histogram(
        id="visits",
        table="visit",
        by=("ward",),
        counted=Counted.EVENTS,
        per_patient=PerPatient(rows=4),
    )
    plan = cohorts.plan_of((visits,), dataset=cohorts.hospital())
    found = {each.other: each for each in alternatives(plan)}
    event = found[Other.EVENT]
    assert event.plan.dataset.unit.entity.value == "event"
    assert (
        event.forecasts["visits"].half_width < found[Other.PLANNED].forecasts["visits"].half_width
    )
    assert {each.other: each for each in alternatives(papers.study_plan())}[
        Other.EVENT
    ].plan is None


def test_chances_of_small_cells_are_sums_of_the_law_of_the_noise():
    plan = papers.study_plan((*papers.ASKS, Ask(statistic=papers.PRESSURE)), nano=60_000_000)
    found = small_cells(plan)
    assert [each.statistic.id for each in found] == ["diabetes", "by-sex"]  # a mean counts no cell
    for each in found:
        noise = plan.of(each.statistic.id)[0].mechanism
        far = 40 * math.ceil(noise.standard_deviation())
        above = sum(noise.pmf(z) for z in range(SMALL, far))
        assert math.isclose(each.seems_occupied, above, rel_tol=1e-6)
        assert math.isclose(each.seems_empty, above, rel_tol=1e-6)  # the law is symmetric
        assert sum(noise.pmf(z) for z in range(-each.most, each.most + 1)) >= 0.95


def test_the_columns_read_are_those_of_questions_and_conditions():
    assert columns_read(papers.study_plan()) == {("person", "diabetes"), ("person", "sex")}
    both = All(of=(papers.WITH_DIABETES,))
    mean = replace(papers.PRESSURE, where=both)
    plan = cohorts.plan_of((mean,), dataset=cohorts.hospital())
    assert columns_read(plan) == {("person", "diabetes"), ("person", "systolic")}
    table = papers.table_of(papers.document(), "Declared columns")
    read = {row[0] for row in table.rows if row[-1] == "yes"}
    assert read == {"person.diabetes", "person.sex"}


def test_a_year_adds_up_what_was_charged_and_nothing_else():
    plan = papers.study_plan()
    subject = papers.year_subject(plan)
    assert [each.entry.number for each in subject.entries] == [5, 7, 9, 11]
    assert subject.loss == loss_of(Amount(nano=2 * plan.amount.nano), measure=plan.dataset.measure)
    table = papers.table_of(papers.document(subject=subject), "Requests of the year")
    assert [row[3] for row in table.rows] == [
        "published",
        "failed after reading began; stays charged",
        "refused",
        "withdrawn before reading",
    ]
    assert [row[4] == "none" for row in table.rows] == [False, False, True, True]


def test_a_year_without_requests_is_refused():
    plan = papers.study_plan()
    with pytest.raises(ContractError, match="no request in 2024"):
        papers.of_year(
            2024,
            dataset=plan.dataset,
            entries=papers.year_entries(plan),
            spent=papers.spent_on(plan),
            organisation="",
            file="dataset.yaml",
        )


def test_another_years_cap_is_not_told_in_the_document_of_a_year():
    plan = papers.study_plan()
    entries = papers.year_entries(plan)
    subject = papers.of_year(
        2025,
        dataset=plan.dataset,
        entries=entries,
        spent=papers.spent_on(plan),
        organisation="",
        file="dataset.yaml",
    )
    assert [line.period for line in subject.lines] == [""]
