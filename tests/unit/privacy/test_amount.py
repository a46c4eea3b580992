import math
from fractions import Fraction
from typing import Any

import pytest

from confide.errors import InvalidParameterError
from confide.privacy.amount import (
    LARGEST,
    NANO,
    Amount,
    amount,
    atto,
    decimal_text,
    from_nano,
    nano,
    split,
)
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure


@pytest.mark.parametrize(
    ("text", "steps"),
    [("0.5", 500_000_000), ("1/3", 333_333_333), ("1e-9", 1), ("4", 4 * 10**9), ("1.9e-9", 1)],
)
def test_amounts_are_rounded_down_to_nanos(text: str, steps: int) -> None:
    assert nano(text) == steps
    assert from_nano(steps) <= amount(text)


def test_delta_is_counted_in_attos() -> None:
    assert atto("1e-6") == 10**12
    assert atto(Fraction(1, 3)) == 333_333_333_333_333_333


@pytest.mark.parametrize(
    "value",
    [
        math.nan, math.inf, True, None, "nan", "inf", "-1", "0", "", "0x1", "1_000",
        "٣", "1e999999999", "1/0", "1/00", "--1", "1.", ".5", "1,5", "1/2/3", "1e-100", -1, 0,
        Fraction(-1, 2), Fraction(0), b"1",
    ],
)  # fmt: skip
def test_nan_negatives_zero_and_other_texts_are_refused(value: Any) -> None:
    with pytest.raises(InvalidParameterError, match="Expected"):
        nano(value)


@pytest.mark.parametrize("value", ["0", -1, Fraction(-1, 2)])
def test_an_amount_is_more_than_nothing(value: Any) -> None:
    with pytest.raises(InvalidParameterError, match="Expected an amount > 0"):
        amount(value)


def test_an_amount_below_one_step_is_refused_rather_than_free() -> None:
    with pytest.raises(InvalidParameterError, match=r"at least 1/1000000000"):
        nano("0.9e-9")
    with pytest.raises(InvalidParameterError, match=r"at least 1/1000000000000000000"):
        atto("1e-19")


@pytest.mark.parametrize("cap", ["0.5", "0.1", "4", "0.405465108", "1e-8"])
def test_three_thirds_of_a_cap_fit_it(cap: str) -> None:
    third = nano(amount(cap) / 3)
    assert 3 * third <= nano(cap) < 3 * (third + 1)


def test_shares_in_proportion_never_pass_the_total() -> None:
    assert split(100, weights=(1, 1, 1)) == (33, 33, 33)
    assert split(3, weights=(1, 1, 1)) == (1, 1, 1)
    assert split(10**9, weights=(Fraction(1, 2), 3)) == (142_857_142, 857_142_857)


@pytest.mark.parametrize(
    ("total", "weights"), [(2, (1, 1, 1)), (5, ()), (5, (1, 0)), (5, (1, -1)), (5, (9, 1))]
)
def test_shares_of_nothing_are_refused(total: int, weights: tuple[int, ...]) -> None:
    with pytest.raises(InvalidParameterError, match="Expected"):
        split(total, weights=weights)


@pytest.mark.parametrize(("total", "weights"), [(2, (1, 1, 1)), (5, ()), (9, (9, 1))])
def test_shares_of_less_than_a_step_are_told_as_such(total: int, weights: tuple[int, ...]) -> None:
    with pytest.raises(InvalidParameterError, match="shares of at least one step"):
        split(total, weights=weights)


@pytest.mark.parametrize("steps", [1, 7, 10**9, 10**9 + 1, 2**62])
def test_an_amount_is_read_as_it_was_written(steps: int) -> None:
    assert nano(decimal_text(steps, per_one=NANO)) == steps


@pytest.mark.parametrize("nano", [-1, 1.0, True, LARGEST + 1, "1"])
def test_amounts_are_whole_units_of_at_least_0(nano):
    with pytest.raises(InvalidParameterError, match="Expected nano as an int"):
        Amount(nano=nano)


def test_an_amount_covers_another_only_in_both_parts():
    assert Amount(nano=2, atto=1).covers(Amount(nano=1))
    assert not Amount(nano=2).covers(Amount(nano=1, atto=1))


def test_an_amount_is_at_most_2_to_the_62_so_that_two_fit_64_bits():
    assert Amount(nano=2**62, atto=2**62).atto == 2**62
    with pytest.raises(InvalidParameterError, match="Expected atto as an int"):
        Amount(nano=0, atto=2**62 + 1)
    with pytest.raises(InvalidParameterError, match="Expected nano as an int"):
        Amount(nano=2**62 + 1)


@pytest.mark.parametrize("atto", [-1, 1.0, True])
def test_a_delta_is_whole_units_of_at_least_0(atto):
    with pytest.raises(InvalidParameterError, match="Expected atto as an int"):
        Amount(nano=1, atto=atto)


def test_a_loss_off_the_grid_is_charged_rounded_up_in_both_parts():
    third = Fraction(1, 3)
    assert Amount.of(PureDP(epsilon=third)) == Amount(nano=333_333_334)
    assert Amount.of(ApproxDP(epsilon=Fraction(2), delta=third * Fraction("1e-6"))) == Amount(
        nano=2 * 10**9, atto=333_333_333_334
    )
    assert Amount.of(ZeroConcentratedDP(rho=third, delta=Fraction("1e-18"))) == Amount(
        nano=333_333_334, atto=1
    )
    with pytest.raises(AssertionError):
        Amount.of("ε = 1")


def test_an_amount_stands_for_the_loss_of_its_measure():
    half, some = Fraction(1, 2), Fraction("1e-18")
    assert Amount(nano=5 * 10**8).loss(Measure.PURE) == PureDP(epsilon=half)
    assert Amount(nano=5 * 10**8, atto=1).loss(Measure.PURE) == ApproxDP(epsilon=half, delta=some)
    assert Amount(nano=5 * 10**8).loss(Measure.ZCDP) == ZeroConcentratedDP(rho=half)
    assert Amount(nano=5 * 10**8, atto=1).loss(Measure.ZCDP) == ZeroConcentratedDP(
        rho=half, delta=some
    )


def test_amounts_add_up_in_both_parts():
    assert Amount.total([Amount(nano=1, atto=5), Amount(nano=2), Amount(nano=0)]) == Amount(
        nano=3, atto=5
    )
    assert Amount.total([]) == Amount(nano=0)


@pytest.mark.parametrize(
    ("amount", "measure", "text"),
    [
        (Amount(nano=10), Measure.PURE, "ε=0.00000001"),
        (Amount(nano=2 * 10**9, atto=10**17), Measure.ZCDP, "ρ=2, δ=0.1"),
        (Amount(nano=0, atto=1), Measure.PURE, "ε=0, δ=0.000000000000000001"),
    ],
)
def test_an_amount_is_told_with_its_letter_and_with_delta_if_there_is_one(amount, measure, text):
    assert amount.text(measure) == text


def test_less_than_nothing_is_told_with_its_sign():
    assert decimal_text(-1_500_000_000, per_one=NANO) == "-1.5"
    assert decimal_text(0, per_one=NANO) == "0"
