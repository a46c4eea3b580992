"""The hazard register follows from plan and charges, rule by rule."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

from confide.plans.contribution import Counted, PerPatient
from confide.plans.house_rule import HouseRule, SmallCells
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.loss import ApproxDP, PureDP
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.release.certificate.certificate import shown_loss
from confide.release.certificate.form import HazardStatus
from confide.release.certificate.hazards import RULES, HazardFacts, hazards
from confide.statistics.histogram.spec import Histogram
from confide.statistics.key_selection.spec import KeySelection
from noisy_answers import dataset

DELTA = Fraction(1, 10**7)
SCOPES = ("release", "calendar-year/2026", "lifetime")
BY_SEX = Histogram(id="by_sex", table="participants", by=("sex",))


def stated(*statistics, epsilon="1", study=None, scopes=SCOPES, committed=True, to=None, **changes):
    to = replace(to or dataset(), **changes)
    plan = make_plan(
        [
            Ask(statistic=each, delta=DELTA if isinstance(each, KeySelection) else None)
            for each in statistics or (BY_SEX,)
        ],
        study=study or Study(id="s"),
        dataset=to,
        nano=int(Fraction(epsilon) * 10**9),
    )
    return HazardFacts(plan=plan, shown=shown_loss(plan), scopes=scopes, committed=committed)


def status(name, case):
    return RULES[name](case)[0]


@pytest.mark.parametrize(
    ("epsilon", "expected"),
    [("1", "handled"), ("1.000000001", "accepted"), ("5", "accepted"), ("6", "open")],
)
def test_a_large_epsilon_is_open_and_a_middling_one_accepted(epsilon, expected):
    assert status("large-epsilon", stated(epsilon=epsilon)).value == expected


def test_no_delta_is_no_catastrophe_and_one_of_selections_is_checked_against_the_population():
    keys = KeySelection(id="cities", table="participants", key="city")
    assert status("delta-catastrophe", stated()) is HazardStatus.NOT_APPLICABLE
    zcdp = stated(to=dataset(measure=Measure.ZCDP))
    assert status("delta-catastrophe", zcdp) is HazardStatus.HANDLED
    assert status("delta-catastrophe", stated(keys)) is HazardStatus.ACCEPTED
    assert status("delta-catastrophe", stated(keys, population=900)) is HazardStatus.HANDLED
    assert status("keys-from-data", stated(keys)) is HazardStatus.HANDLED
    assert status("keys-from-data", stated(BY_SEX, keys)) is HazardStatus.HANDLED
    assert status("keys-from-data", stated()) is HazardStatus.NOT_APPLICABLE


def test_a_weaker_unit_is_never_called_handled():
    assert status("event-level-unit", stated()) is HazardStatus.NOT_APPLICABLE
    rows = replace(BY_SEX, counted=Counted.EVENTS)
    events = stated(rows, to=dataset(entity=Entity.EVENT))
    assert status("event-level-unit", events) is HazardStatus.ACCEPTED


def test_a_budget_that_resets_is_accepted_and_no_lifetime_cap_is_open():
    assert status("periodic-reset", stated()) is HazardStatus.ACCEPTED
    assert status("periodic-reset", stated(scopes=("lifetime",))) is HazardStatus.NOT_APPLICABLE
    assert (
        status("periodic-reset", stated(scopes=("rolling-365d", "lifetime")))
        is HazardStatus.HANDLED
    )
    assert status("periodic-reset", stated(scopes=("calendar-year/2026",))) is HazardStatus.OPEN


def test_facts_without_a_source_are_open():
    assert status("bounds-from-data", stated()) is HazardStatus.OPEN
    named = [
        replace(table, columns=tuple(replace(c, because="protocol") for c in table.columns))
        for table in dataset().tables
    ]
    assert status("bounds-from-data", stated(tables=tuple(named))) is HazardStatus.HANDLED


def test_rows_beyond_the_bounds_are_accepted_and_named():
    visits = Histogram(id="wards", table="visits", by=("ward",))
    case = stated(replace(visits, per_patient=PerPatient(cells=2)))
    found, because = RULES["contribution-bounding"](case)
    assert found is HazardStatus.ACCEPTED
    assert "wards" in because
    assert status("contribution-bounding", stated()) is HazardStatus.NOT_APPLICABLE


def test_house_rule_period_and_snapshot_are_read_off_the_release():
    house = Study(id="s", small_cells=SmallCells(rule=HouseRule.CMS))
    assert status("small-cells", stated(study=house)) is HazardStatus.HANDLED
    assert status("small-cells", stated()) is HazardStatus.NOT_APPLICABLE
    assert status("repeated-release", stated(study=Study(id="s", period="2026-10"))) is (
        HazardStatus.ACCEPTED
    )
    assert status("repeated-release", stated()) is HazardStatus.NOT_APPLICABLE
    assert status("snapshot", stated(committed=False)) is HazardStatus.OPEN
    assert status("snapshot", stated()) is HazardStatus.HANDLED


def test_a_growing_release_is_one_charge(monkeypatch):
    monkeypatch.setattr("confide.release.certificate.hazards.grown_to", lambda _: 3)
    assert status("repeated-release", stated()) is HazardStatus.HANDLED


def test_every_hazard_has_a_status_and_a_reason_and_stands_in_the_reference():
    from pathlib import Path

    page = (Path(__file__).parents[4] / "docs/reference/certificate.md").read_text("utf-8")
    lines = hazards(stated())
    assert [line.id for line in lines] == list(RULES)
    for line in lines:
        assert line.status in HazardStatus
        assert line.because
        assert f"`{line.id}`" in page


@pytest.mark.parametrize(
    "shown", [PureDP(epsilon=Fraction(1)), ApproxDP(epsilon=Fraction(1), delta=Fraction(0))]
)
def test_delta_zero_is_no_delta_in_either_form(shown):
    case = stated()
    other = SimpleNamespace(plan=case.plan, shown=shown, scopes=case.scopes, committed=True)
    assert RULES["delta-catastrophe"](other)[0] is HazardStatus.NOT_APPLICABLE
