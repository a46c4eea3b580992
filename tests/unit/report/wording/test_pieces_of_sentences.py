"""Single sentences and fields at their edges."""

import datetime as dt
import importlib
import sys
from dataclasses import replace
from fractions import Fraction

import pytest

import cohorts
import legal_papers as papers
from confide.budget.entry import StoredRelease
from confide.budget.policy.windows import span
from confide.drawing.cells import cells_of
from confide.drawing.quantities import intervals_text
from confide.errors import ContractError, MissingExtraError, UnknownNameError
from confide.privacy.loss import PureDP
from confide.release.certificate.certificate import Issuer
from confide.release.certificate.form import CertificateForm
from confide.release.certificate.parts import FactPart, SpendPart
from confide.report.charts.chart import figure
from confide.report.legal.beliefs import LossSpan
from confide.report.legal.exhibits import plan_of, window_text
from confide.report.legal.fields import _population
from confide.report.legal.scribe import Scribe
from confide.report.pages import folder
from confide.report.pages.first_page import _bar, first_page
from confide.report.pages.journal import word_document
from confide.report.policy.policy_planned import _falls_in
from confide.report.policy.policy_words import _exact
from confide.report.release import certified
from confide.report.wording.bounding import _rows_of, kept_text
from confide.report.wording.describe import title_of
from confide.report.wording.explain import _loss, explain_plan
from confide.report.wording.methods import _facts
from confide.report.wording.section import _share, section
from confide.report.wording.survey_words import odds_text
from confide.report.wording.textbook import noise
from confide.statistics import Count, Histogram
from confide.tables.aggregates.degrees import DegreeBounds, How
from confide.tables.by_code import Accepted

COUNT = Count(id="count", table="person")
SEXES = Histogram(id="sexes", table="person", by=("sex",))
HOSPITAL = cohorts.hospital()


def released(*statistics):
    return cohorts.release_of(cohorts.plan_of(statistics, dataset=HOSPITAL))


def scribe_of(subject, *, words):
    return Scribe(words=words, subject=subject, law=papers.LAW)


def test_a_step_that_is_free_has_no_part_of_the_charge():
    plan = cohorts.plan_of((COUNT,), dataset=HOSPITAL)
    (measurement,) = plan.measurements
    free = replace(plan, measurements=(replace(measurement, nano=0),))
    assert (_share(COUNT, plan=plan), _share(COUNT, plan=free)) == (1, 0)


def test_a_word_document_without_its_library_names_the_extra(words, monkeypatch):
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(MissingExtraError, match="python-docx"):
        word_document(released(COUNT), words=words)
    monkeypatch.undo()
    importlib.invalidate_caches()


@pytest.mark.parametrize(("asked", "is_told"), [((COUNT,), False), ((COUNT, SEXES), True)])
def test_the_whole_study_is_drawn_where_it_has_several_questions(asked, is_told, words):
    release = released(*asked)
    sections = [section(release, each, words=words) for each in asked]
    _, whole = first_page(release, sections, words=words)
    assert (words.say("page.whole") in str(whole)) is is_told


def test_a_bar_is_as_wide_as_its_share():
    assert 'width="48"' in str(_bar(0.4, kind="amount"))


@pytest.mark.parametrize("how", How)
def test_a_bound_of_degrees_is_told_with_its_number(how, words):
    name = "projected" if how is How.PROJECTED else "capped"
    told = kept_text(DegreeBounds(at_most=1_000, how=how), words=words)
    assert told == words.say(f"bounded.{name}", most="1,000")


def test_a_given_title_is_cut_at_a_hundred_and_twenty_letters(words):
    long = replace(COUNT, title="x" * 200)
    plan = cohorts.plan_of((long,), dataset=HOSPITAL)
    assert title_of(long, plan=plan, words=words) == "x" * 119 + "…"


def test_a_year_of_a_ledger_has_no_plan(words):
    assert plan_of(scribe_of(papers.forecast_subject(), words=words)) == papers.study_plan()
    with pytest.raises(ContractError, match="has no plan"):
        plan_of(scribe_of(papers.year_subject(), words=words))


def test_a_cap_of_patients_is_named_with_its_window(words):
    scribe = scribe_of(papers.forecast_subject(), words=words)
    cap = LossSpan(name="patient-cap", period="lifetime", loss=PureDP(epsilon=Fraction(1)))
    assert words.say("guarantee.patients-lifetime") in window_text(cap, scribe=scribe)


@pytest.mark.parametrize(("population", "text"), [(None, ""), (1_234, "1,234")])
def test_a_population_is_told_where_it_is_declared(population, text, words):
    subject = papers.forecast_subject()
    known = replace(subject, dataset=replace(subject.dataset, population=population))
    assert _population(scribe_of(known, words=words)) == text


def test_a_fact_is_told_with_its_source_where_it_has_one(words):
    data = CertificateForm.read(released(COUNT).certificate).data
    facts = [FactPart(name="person.age", value="80", source=source) for source in ("", "protocol")]
    bare, sourced = _facts(data.model_copy(update={"facts_taken_as_public": facts}), words=words)
    assert bare == words.say("methods.fact-bare", name="person.age", value="80")
    assert "protocol" in sourced


@pytest.mark.parametrize(("title", "told"), [("Diabetes", "Diabetes"), ("", "s1")])
def test_a_plan_is_explained_by_the_title_of_its_study_or_by_its_id(title, told, words):
    plan = cohorts.plan_of((COUNT,), dataset=HOSPITAL)
    named = replace(plan, study=replace(plan.study, title=title, id="s1"))
    assert told in explain_plan(named, words=words).title


@pytest.mark.parametrize(("epsilon", "text"), [(1, "2.72"), (3, "20.1"), (7, "1,097")])
def test_odds_have_three_digits_at_least(epsilon, text):
    assert odds_text(PureDP(epsilon=Fraction(epsilon))) == text


def test_codes_that_a_row_has_or_has_not_are_told(words):
    person = HOSPITAL.table("person")
    some = Accepted(source="kind", codes=("a", "b"))
    told = {
        name: _rows_of(replace(person, **{name: (some,)}), words=words)
        for name in ("only", "without")
    }
    for name, said in told.items():
        parts = {"column": "kind", "codes": "a or b", "table": "person"}
        assert said == [words.say(f"bounded.{name}", **parts), *_rows_of(person, words=words)]


@pytest.mark.parametrize("outlines", [None, {("person", "region"): "shapes"}])
def test_a_release_keeps_the_outlines_of_areas_that_it_is_given(outlines):
    noisy = released(COUNT).noisy
    stored = StoredRelease(entry=cohorts.entry_of(noisy), payload=noisy.payload())
    issuer = Issuer(organisation="North Hospital", contact="")
    made = certified(stored, issuer=issuer, signer=cohorts.signing_key(), outlines=outlines)
    assert made.outlines == (outlines or {})


def test_a_release_without_a_statistic_says_so():
    with pytest.raises(UnknownNameError, match="other"):
        released(COUNT).of("other")


@pytest.mark.parametrize(
    ("period", "is_so"), [("2027-01", True), ("2027-12", True), ("2028-01", False), ("soon", False)]
)
def test_a_release_is_as_planned_where_its_period_is_within_the_planned_one(period, is_so):
    planned, late = span("2027"), dt.date(2028, 6, 1)
    assert _falls_in(planned, period=period, day=late) is is_so


def test_a_pure_spend_of_a_certificate_is_a_pure_loss():
    assert _loss(SpendPart(measure="pure", epsilon="1/2")) == PureDP(epsilon=Fraction(1, 2))


def test_an_amount_off_the_grid_is_told_as_a_fraction():
    assert [_exact(Fraction(each)) for each in ("1/2", "1/3")] == ["0.5", "1/3"]


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), [(0, 0, 1), (1, 0, 0), (1, 1, 1)])
def test_noise_is_explained_of_numbers_that_can_be(epsilon, delta, sensitivity, words):
    with pytest.raises(ContractError, match="Expected ε > 0"):
        noise(
            Fraction(epsilon),
            delta=Fraction(delta),
            sensitivity=Fraction(sensitivity),
            words=words,
        )


def test_intervals_that_all_cover_the_same_are_told_by_what_they_cover(words):
    release = released(SEXES)
    first, *_ = cells_of(release.of("sexes"))
    drawn = figure(release, SEXES, words=words).chart.to_dict()
    assert intervals_text("chart.one-interval", first, words=words) in drawn["title"]["subtitle"]


def test_a_folder_of_results_may_be_read_by_others(tmp_path):
    folder.write_folder({"a.txt": b"text"}, tmp_path / "out")
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o755
