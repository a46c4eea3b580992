"""A cap is printed as no more than it is, the same by every command, and never as passed."""

from fractions import Fraction

import pytest

from command_line import confide
from confide.budget.ledger import Scope
from confide.drawing.numbers import limit_of, used_of
from confide.report.wording.gauges import line_texts
from confide.report.wording.guarantee import ChargeLine
from small_clinic import make_clinic

CAPS = ("0.0229389", "0.1258965", "0.04892111", "2", "0.5")


def line(cap, *, before, amount, scope=Scope.LIFETIME):
    before, amount = Fraction(before), Fraction(amount)
    return ChargeLine(
        scope=scope,
        period="",
        before=before,
        amount=amount,
        after=before + amount,
        cap=Fraction(cap),
    )


@pytest.mark.parametrize("cap", CAPS)
def test_a_cap_is_printed_as_no_more_than_it_is(cap):
    assert limit_of(Fraction(cap)) <= Fraction(cap)
    *_, shown = line_texts(line(cap, before=0, amount="0.01"))
    assert Fraction(shown) <= Fraction(cap) < Fraction(shown) * Fraction("1.001")


@pytest.mark.parametrize("cap", CAPS)
def test_what_is_spent_is_rounded_up_and_a_cap_that_is_full_does_not_look_passed(cap):
    whole = Fraction(cap)
    assert used_of(whole / 3, cap=whole) >= whole / 3
    _, _, after, shown = line_texts(line(cap, before=whole / 2, amount=whole / 2))
    assert after == shown
    assert used_of(whole + Fraction(1, 10**9), cap=whole) > limit_of(whole)


@pytest.mark.parametrize("cap", CAPS)
def test_a_release_that_fills_a_cap_does_not_look_larger_than_it(cap):
    before, amount, after, shown = line_texts(line(cap, before=0, amount=cap))
    assert before == "0"
    assert amount == after == shown


def test_plan_and_ledger_print_a_limit_as_the_policy_does(tmp_path):
    clinic = make_clinic(tmp_path / "clinic")
    planned = " ".join(confide("plan", clinic.study).out.split())
    assert confide("run", clinic.study, "--out", clinic.folder / "out").code == 0
    held = " ".join(confide("ledger", "show", clinic.dataset).out.split())
    for cap in confide("ledger", "show", clinic.dataset, "--json").json["caps"]:
        if cap["limit"] is not None:
            shown = f"{cap['letter']} {float(limit_of(Fraction(cap['limit']))):.4g}"
            assert shown in planned or cap["letter"] == "δ"
            assert shown in held
