from fractions import Fraction

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from confide.drawing.numbers import clean, decimals_for, epsilon_text, fixed, percent, power_text

LOSSES = st.fractions(min_value=Fraction(1, 10**9), max_value=50)


@settings(max_examples=100)
@given(LOSSES)
def test_a_printed_epsilon_is_never_less_than_the_real_one(epsilon):
    printed = Fraction(epsilon_text(epsilon).replace(",", ""))
    assert epsilon <= printed <= epsilon * Fraction(1002, 1000)


@settings(max_examples=100)
@given(st.fractions(min_value=0, max_value=1))
def test_a_printed_share_is_never_less_than_the_real_one_by_more_than_rounding(share):
    printed = Fraction(percent(share).split("\u00a0")[0]) / 100
    assert -Fraction(1, 10**9) <= printed - share <= Fraction(1, 1000)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1e-6", "10⁻⁶"),
        ("2.5e-7", "2.5 × 10⁻⁷"),
        ("9.999e-7", "10⁻⁶"),
        ("0.25", "0.25"),
        ("1", "1"),
    ],
)
def test_small_probabilities_are_powers_of_ten_rounded_up(value, text):
    assert power_text(Fraction(value)) == text


def test_numbers_show_two_digits_of_their_uncertainty():
    assert [decimals_for(width) for width in (123.0, 1.2, 0.12, 0.0, float("inf"))] == [
        -1,
        1,
        2,
        0,
        0,
    ]


def test_a_rounded_zero_has_no_sign():
    assert fixed(-0.001, decimals=2) == "0.00"
    assert fixed(-1234.5, decimals=1) == "−1,234.5"


def test_text_that_reorders_or_hides_is_replaced():
    assert clean("a\u202eb\u2066c\x00d\u200be") == "a�b�c�d�e"


def test_text_of_any_script_stays():
    for text in ("قسم ٧", "病区七", "Station Ä", "می\u200cخواهم"):
        assert clean(text) == text


def test_long_text_is_cut():
    assert len(clean("x" * 500)) == 80


@pytest.mark.parametrize("point", [0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF, 0xFDD0, 0xFDEF])
def test_a_text_with_what_xml_cannot_hold_can_be_drawn(point):
    vl_convert = pytest.importorskip("vl_convert", reason="vl-convert is not installed")
    svg = f"<svg xmlns='http://www.w3.org/2000/svg'><text>{clean(f'a{chr(point)}b')}</text></svg>"
    assert clean(f"a{chr(point)}b") == "a\ufffdb"
    assert vl_convert.svg_to_png(svg)
