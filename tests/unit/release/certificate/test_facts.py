"""A certificate names every fact that was taken as public; a release knows its statistics."""

import pytest

import confide
from confide.errors import UnknownNameError
from confide.release.certificate.facts import DECLARED, public_facts
from small_clinic import DATASET, make_clinic

DERIVED = """\
  quarter: {of: first_stay, part: quarter}
per-patient:
  first_stay: {first: day, of: visits, where: {any: [{ward: [north]}, {cost: {from: 5}}]}}
  last_cost: {last: cost, of: visits, by: day, before: first_stay}
  ever_day: {any: visits, where: {day: {to: 2026-03-01}, not: {cost: known}}}
  wait: {days-between: [first_stay, first_stay], lower: 0, upper: 9}
"""


def test_values_and_derived_columns_are_facts_with_their_conditions_and_edges(tmp_path):
    clinic = make_clinic(tmp_path, dataset=DATASET.replace("per-patient:\n", DERIVED))
    with confide.open(clinic.dataset) as workspace:
        facts = {each.name: each for each in public_facts(workspace.declared.dataset)}
    assert facts["patients.age"].value == "[0, 100] a"
    told = {
        "age_band": "bins of patients.age: 0, 40, 60, 100",
        "quarter": "quarter of first_stay",
        "first_stay": "first day of visits where (visits.ward in [north] or visits.cost from 5)",
        "last_cost": "last cost of visits by day, before first_stay",
        "ever_day": "any row of visits where "
        "(visits.day to 2026-03-01 and not visits.cost is known)",
        "wait": "days between first_stay and first_stay, [0, 9] d",
        "stays": "count of rows of visits, at most 3",
    }
    assert {name: facts[name].value for name in told} == told
    assert {facts[name].source for name in told} == {DECLARED}


def test_the_certificate_holds_them_and_a_strange_statistic_is_refused(tmp_path):
    clinic = make_clinic(tmp_path)
    with confide.open(clinic.dataset) as workspace:
        release = workspace.release(workspace.study(clinic.study).plan())
    names = [fact["name"] for fact in release.certificate["data"]["facts-taken-as-public"]]
    assert {"stays", "age_band", "visits.cost"} <= set(names)
    assert release.of("diabetes")
    with pytest.raises(UnknownNameError, match="Did you mean 'diabetes'"):
        release.of("diabete")
