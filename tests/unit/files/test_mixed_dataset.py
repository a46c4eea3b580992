"""dataset.yaml of a mixed ledger: caps in ε at one δ, orders from them, and what it refuses."""

from fractions import Fraction

import pytest

from confide.budget.policy.epsilon_caps import EpsilonCaps
from confide.errors import ContractError
from confide.files.dataset import declared_by
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure, Mixed
from ledger_policies import cap, over_both
from unit.plans.pricing.test_roads import DATASET, ward


def changed(**sections):
    return declared_by(DATASET | sections, folder=".")


def test_caps_of_a_mixed_ledger_are_epsilon_and_each_window_has_its_best_order():
    of = ward()
    assert (of.caps.lifetime, of.caps.calendar_year) == (10 * NANO, 3 * NANO)
    best = [MixedCap.of(Fraction(each), delta=Fraction("1e-6")).order for each in (3, 10)]
    assert of.measure == of.terms().measure == Mixed(atto=10**12, yearly=best[0], lifetime=best[1])


def test_without_a_cap_on_a_year_all_counts_in_the_order_of_the_lifetime():
    of = changed(caps={"lifetime": {"epsilon": 3}})
    assert of.measure.yearly == of.measure.lifetime == ward().measure.yearly
    assert of.year().cap.epsilon == 3


def test_half_of_delta_is_kept_for_selections_unless_the_file_says_less():
    of = changed(accounting={"measure": "mixed", "delta": "1e-6"})
    assert of.measure.atto == 5 * 10**11
    assert of.caps.delta_lifetime_atto == 5 * 10**11


@pytest.mark.parametrize("kept", ["0", "1e-7", "5e-7", "9.99999e-7"])
def test_delta_of_caps_and_of_selections_together_is_that_of_the_file(kept):
    of = changed(accounting={"measure": "mixed", "delta": "1e-6", "selection-delta": kept})
    assert of.measure.atto + (of.caps.delta_lifetime_atto or 0) == 10**12
    for epsilon, order in ((3, of.measure.yearly), (10, of.measure.lifetime)):
        delta = Fraction(of.measure.atto, 10**18)
        assert MixedCap.of(Fraction(epsilon), delta=delta).order == order


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        ({"caps": {"lifetime": {"rho": "0.1"}}}, "everything is under measure: mixed"),
        ({"accounting": {"measure": "mixed"}}, "delta"),
        (
            {"accounting": {"measure": "mixed", "delta": "1e-6", "selection-delta": "1e-6"}},
            "selection-delta",
        ),
        (
            {"accounting": {"measure": "zcdp", "delta": "1e-6", "releases-a-year": 4}},
            "measure: mixed",
        ),
        ({"accounting": {"measure": "Mixed", "delta": "1e-6"}}, "'pure', 'zcdp' or 'mixed'"),
        ({"accounting": DATASET["accounting"] | {"releases-a-year": 0}}, "releases-a-year"),
    ],
)
def test_what_no_mixed_ledger_can_keep_is_refused_with_the_place(sections, told):
    with pytest.raises(ContractError, match=told):
        changed(**sections)


POLICY = """\
policy: {id: p, version: 1, effective: 2026-01-01}
protects: {unit: patient, adjacency: add-remove}
accounting: {measure: mixed, report-delta: 1e-6}
caps:
  - {id: a, basis: internal, priority: 1, scope: patient, window: lifetime, limit: {epsilon: 10}}
  - {id: b, basis: internal, priority: 1, scope: dataset, window: rolling-365d, limit: {epsilon: 3}}
  - {id: c, basis: internal, priority: 1, scope: analyst, window: calendar-year, limit: {epsilon: 1}}
"""


def under(text, folder, **accounting):
    (folder / "policy.yaml").write_text(text)
    without = {name: part for name, part in DATASET.items() if name != "caps"}
    said = {"delta": "1e-6", **accounting}
    return declared_by(without | {"policy": "policy.yaml", "accounting": said}, folder=folder)


def test_the_caps_of_a_policy_give_each_window_and_each_asker_an_order(tmp_path):
    of = under(POLICY, tmp_path, measure="mixed")
    best = [MixedCap.of(Fraction(each), delta=Fraction("1e-6")).order for each in (3, 10, 1)]
    assert of.measure == Mixed(
        atto=10**12, yearly=best[0], lifetime=best[1], each=(best[2], best[1])
    )
    assert of.terms().caps is None
    assert (of.year().cap.epsilon, of.year().yearly) == (3, True)


def test_a_measure_that_is_left_out_is_that_of_the_policy_else_mixed(tmp_path):
    assert under(POLICY, tmp_path).dataset.mixed
    zcdp = POLICY.replace("measure: mixed", "measure: zcdp")
    assert under(zcdp, tmp_path).measure is Measure.ZCDP
    assert under(POLICY.replace("measure: mixed, ", ""), tmp_path).dataset.mixed
    assert changed(accounting={"delta": "1e-6"}).dataset.mixed


def test_a_file_and_its_policy_name_one_measure_and_one_delta(tmp_path):
    with pytest.raises(ContractError, match="measure: expected mixed as in policy"):
        under(POLICY, tmp_path, measure="zcdp")
    with pytest.raises(ContractError, match="accounting → delta: expected 1/1000000"):
        under(POLICY, tmp_path, delta="1e-7")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{epsilon: 10}", '{odds-factor: "1.5"}', "odds factor bounds no noise but that of ε"),
        ("{epsilon: 10}", '{rho: "0.1"}', "everything is in ε under mixed"),
        ("measure: mixed, report-delta: 1e-6", "measure: mixed", "mixed needs a report-delta"),
        (
            "caps:",
            "tiers: [{id: t}]\nreleases: [{id: r, tier: t, mechanism: gaussian}]\ncaps:",
            "planned with either noise under mixed",
        ),
    ],
)
def test_what_no_policy_over_a_mixed_ledger_can_say_is_refused_with_the_place(
    tmp_path, old, new, told
):
    with pytest.raises(ContractError, match=told):
        under(POLICY.replace(old, new, 1), tmp_path)


@pytest.mark.parametrize(
    ("caps", "found"),
    [
        ((("patient", "calendar-year", 3), ("dataset", "rolling-365d", 2)), (2, 2, None, None)),
        ((("analyst", "lifetime", 3),), (None, 3, None, 3)),
        ((("project", "calendar-year", 3), ("dataset", "lifetime", 9)), (None, 9, 3, None)),
        ((("release", "release", 1),), (None, 1, None, None)),
    ],
)
def test_orders_are_those_of_the_tightest_caps_on_everybody_where_there_are_any(caps, found):
    limits = over_both(*(cap(str(n), *each[:2], str(each[2])) for n, each in enumerate(caps)))
    of = EpsilonCaps.of(limits)
    nano = [None if each is None else each * NANO for each in found]
    assert [of.yearly, of.lifetime, *of.each] == nano


def test_a_plan_of_either_measure_costs_no_more_than_the_epsilon_it_was_given():
    from confide.plans.pricing.roads import lanes_of
    from unit.plans.pricing.test_roads import plan

    of = ward()
    for number, measure in ((1, Measure.PURE), (40, Measure.ZCDP)):
        made = plan(number)
        assert made.dataset.measure is measure
        assert NANO * 0.999 < lanes_of(made, measure=of.measure).alone <= NANO
