"""dataset.yaml of a mixed ledger: caps in ε at one δ, orders from them, and what it refuses."""

from fractions import Fraction

import pytest

from confide.errors import ContractError
from confide.files.dataset import declared_by
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure, Mixed
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


def test_a_mixed_ledger_takes_no_policy_yet_and_says_what_to_write(tmp_path):
    (tmp_path / "policy.yaml").write_text(
        "policy: {id: p, version: 1, effective: 2026-01-01}\n"
        "protects: {unit: patient, adjacency: add-remove}\n"
        "accounting: {measure: zcdp, report-delta: 1e-6}\n"
        "caps: [{id: a, basis: internal, priority: 1, scope: patient, window: lifetime, "
        "limit: {epsilon: 4}}]\n"
    )
    without = {name: part for name, part in DATASET.items() if name != "caps"}
    with pytest.raises(ContractError, match="no policy yet"):
        declared_by(without | {"policy": "policy.yaml"}, folder=tmp_path)


def test_a_plan_of_either_measure_costs_no_more_than_the_epsilon_it_was_given():
    from confide.plans.pricing.roads import lanes_of
    from unit.plans.pricing.test_roads import plan

    of = ward()
    for number, measure in ((1, Measure.PURE), (40, Measure.ZCDP)):
        made = plan(number)
        assert made.dataset.measure is measure
        assert NANO * 0.999 < lanes_of(made, measure=of.measure).alone <= NANO
