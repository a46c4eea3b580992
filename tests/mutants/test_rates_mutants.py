"""Deliberately broken rates, weighted sums and periods, run against the checks of the real ones."""

from dataclasses import replace

import pytest

from confide.attacks.audit.generate import neighbours
from confide.attacks.audit.sensitivity_search import search
from confide.files import study as study_file
from confide.plans.contribution import PerPatient
from confide.privacy.unit import Entity
from confide.statistics import Incidence, WeightedMean
from confide.tables.aggregates.value import Centred, Plain
from confide.tables.expression import ColumnOf
from confide.tables.filter import Between
from confide.workspace import open_study
from seeded import SeededEntropy
from small_clinic import make_clinic

pytestmark = pytest.mark.mutant

DRAWN = neighbours(300, entity=Entity.PATIENT, entropy=SeededEntropy(4))
HIGH = Between(of=ColumnOf(table="events", column="amount"), lower=50)
TWO = PerPatient(rows=2)
WEIGHTED = WeightedMean(id="w", table="events", column="change", per_patient=TWO)
TIMED = Incidence(id="i", table="events", time="span", of=HIGH, per_patient=TWO)


def every_claim_holds(statistic, change) -> bool:
    def claims(spec, dataset):
        return [change(question) for question in spec.questions(dataset)]

    found = search([statistic], drawn=DRAWN, entity=Entity.PATIENT, claims=claims)
    return all(one.holds for one in found)


def divided(question, by):
    of = question.sensitivity
    less = replace(of, l1=of.l1 // by, l2_squared=of.l2_squared // by**2, linf=of.linf // by)
    return replace(question, sensitivity=less)


@pytest.mark.parametrize("statistic", [WEIGHTED, TIMED], ids=lambda s: s.id)
def test_the_real_claims_hold(statistic) -> None:
    assert every_claim_holds(statistic, lambda question: question)


def test_a_weighted_sum_claimed_without_its_weight_is_caught() -> None:
    """Δ = h·m, as for the plain mean, although a row may weigh W = 100."""

    def unweighted(question):
        return divided(question, 100) if question.name == "weighted-sum" else question

    assert not every_claim_holds(WEIGHTED, unweighted)


def test_moments_of_weights_claimed_as_the_largest_weight_are_caught() -> None:
    """Δ = W·m, although the three moments of a row add up to W²."""

    def linear(question):
        return divided(question, 100) if question.name == "weights" else question

    assert not every_claim_holds(WEIGHTED, linear)


def test_person_time_summed_plainly_but_claimed_centred_is_caught() -> None:
    def plainly(question):
        match question.aggregate.value:
            case Centred(of=time):
                return replace(
                    question, aggregate=replace(question.aggregate, value=Plain(of=time))
                )
            case _:
                return question

    assert not every_claim_holds(TIMED, plainly)


def months_are_apart(clinic) -> bool:
    """Check that two months are two plans, as their charges need."""
    digests = []
    for period in ("2026-01", "2026-02"):
        workspace, study = open_study(clinic.study, period=period)
        with workspace:
            digests.append(study.plan().digest())
    return digests[0] != digests[1]


def test_months_of_one_study_under_one_charge_are_caught(tmp_path, monkeypatch) -> None:
    """A period that neither cuts the rows nor names the study: October answers for November."""
    clinic = make_clinic(tmp_path / "clinic")
    clinic.study.write_text(
        "study: {id: visits, period: {column: day, of: month}}\n"
        "statistics: [{id: n, kind: count, table: visits, error: {within: 40}}]\n"
    )
    assert months_are_apart(clinic)
    named = study_file.named_study
    monkeypatch.setattr(study_file, "_cut", lambda ask, **_: ask)
    monkeypatch.setattr(
        study_file, "named_study", lambda about, **how: replace(named(about, **how), period="")
    )
    assert not months_are_apart(clinic)
