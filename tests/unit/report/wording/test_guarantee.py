import dataclasses
import math
from fractions import Fraction

import pytest

import cohorts
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.contribution import Counted
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.report.wording.guarantee import guarantee
from confide.report.wording.odds_words import meaning_of, odds_sentences
from confide.statistics.count.spec import Count

COUNT = Count(id="diabetes", table="person")


def _guarantee(words, *, nano=500_000_000, **terms):
    plan = cohorts.plan_of((COUNT,), dataset=cohorts.hospital(**terms), nano=nano)
    release = cohorts.release_of(plan)
    return guarantee(plan, accounting=release.form.accounting, words=words)


def test_the_promise_states_unit_adjacency_epsilon_delta_and_windows(words):
    promise = _guarantee(words, measure=Measure.PURE).promise
    assert "all records of one patient, added or removed" in promise[0]
    assert "ε = 0.5 and δ = 0" in promise[0]
    assert any("calendar year 2026" in sentence for sentence in promise)
    assert any("lifetime" in sentence and "δ = 5 × 10⁻⁷" in sentence for sentence in promise)


def test_no_epsilon_is_printed_without_a_delta(words):
    for terms in ({"measure": Measure.PURE}, {"measure": Measure.ZCDP}):
        said = _guarantee(words, **terms)
        texts = (*said.promise, *said.odds, *said.groups, *said.relies, *said.excluded)
        assert all("δ" in text for text in texts if "ε =" in text)


def test_substitution_is_told_in_its_own_words(words):
    said = _guarantee(words, adjacency=Adjacency.SUBSTITUTE)
    assert "replaced by another's" in said.promise[0]
    assert all("is in the data" not in sentence for sentence in said.odds)


def test_an_event_level_guarantee_says_what_it_is_not(words):
    unit = PrivacyUnit(entity=Entity.EVENT, id_column="person_id")
    dataset = dataclasses.replace(cohorts.hospital(), unit=unit)
    plan = cohorts.plan_of((dataclasses.replace(COUNT, counted=Counted.EVENTS),), dataset=dataset)
    said = guarantee(plan, accounting=cohorts.release_of(plan).form.accounting, words=words)
    assert "one event" in said.promise[0]
    assert "not for all of them together" in said.excluded[0]


def test_the_textbook_numbers_of_epsilon_one_half(words):
    meaning = meaning_of(PureDP(epsilon=Fraction(1, 2)), delta=Fraction(0))
    said = odds_sentences(meaning, unit=Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE, words=words)
    assert "at most 1.7\u00a0% likely." in said[0]
    assert "100 possible outputs 38 " in said[1]
    assert "and 62 when" in said[1]
    assert "more than 24.5 percentage points" in said[2]


def test_groups_of_two_and_five_have_two_and_five_times_epsilon(words):
    groups = _guarantee(words, measure=Measure.PURE).groups
    assert "ε = 1 at δ = 0" in groups[0]
    assert "ε = 2.5 at δ = 0" in groups[1]


def test_a_group_whose_delta_reaches_one_has_no_bound(words):
    statistics = (cohorts.every_statistic()[-1],)  # key selection has a δ
    dataset = cohorts.hospital(measure=Measure.PURE)
    plan = cohorts.plan_of(statistics, dataset=dataset, nano=8_000_000_000)
    release = cohorts.release_of(plan)
    said = guarantee(plan, accounting=release.form.accounting, words=words)
    assert "no useful bound" in said.groups[1]
    assert release.certificate["guarantee"]["groups"][1]["measure"] == "none"


def test_a_report_never_claims_a_status_in_law(words, html):
    promised = _guarantee(words)
    assert sum("status of the output in law" in sentence for sentence in promised.excluded) == 1
    for text in ("anonym", "de-identif"):
        assert text not in html.lower()


@pytest.mark.parametrize("sigma_squared", [4, 25, 400])
def test_the_odds_of_single_outputs_pass_the_bound_with_probability_at_most_delta(sigma_squared):
    rho, delta = Fraction(1, 2 * sigma_squared), Fraction(1, 10**4)
    meaning = meaning_of(ZeroConcentratedDP(rho=rho), delta=delta)
    noise = DiscreteGaussian(sigma_squared=Fraction(sigma_squared))
    reach = math.ceil(12 * math.sqrt(sigma_squared))
    ratios = {
        z: ((z - 1) ** 2 - z**2) / (2 * sigma_squared) for z in range(-reach, reach + 1)
    }  # ln p(z)/p(z−1): the output z with the patient (shift 1) against without
    passing = sum(
        noise.pmf(z) for z, ratio in ratios.items() if abs(ratio) > meaning.pointwise.epsilon
    )
    assert passing <= delta
    tighter = float(meaning.shown.epsilon)
    assert tighter < meaning.pointwise.epsilon
    assert sum(noise.pmf(z) for z, ratio in ratios.items() if abs(ratio) > 0.6 * tighter) > delta
