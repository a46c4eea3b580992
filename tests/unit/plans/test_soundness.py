"""A plan that was edited by hand is refused, also where its totals would look right."""

from dataclasses import replace

import pytest

from confide.errors import ContractError
from confide.plans.soundness.soundness import require_sound, underpriced
from confide.statistics import read_plan
from confide.workspace import open_study
from small_clinic import make_clinic


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    workspace, study = open_study(make_clinic(tmp_path_factory.mktemp("clinic")).study)
    with workspace:
        return study.plan()


def test_a_negative_delta_cannot_pay_for_another_measurement(plan):
    first, *others = plan.measurements
    forged = replace(plan, measurements=(replace(first, atto=-(10**12)), *others))
    assert underpriced(forged) == ("diabetes/count",)
    with pytest.raises(ContractError, match="less than it loses"):
        require_sound(forged)


@pytest.mark.parametrize("level", ["1e999999999", "1/" + "9" * 10_000, "0x1", " 1/2", "1_0"])
def test_a_number_of_any_other_form_than_a_plain_fraction_is_refused_at_once(plan, level):
    written = plan.to_json()
    written["statistics"][0]["level"] = level
    with pytest.raises(ContractError, match="Expected Fraction"):
        read_plan(written)
