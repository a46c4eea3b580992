"""Exact numbers as people write them, and dataclasses that take them so."""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import pytest

from confide.errors import InvalidParameterError
from confide.privacy.exact import exact, takes_numbers


@takes_numbers
@takes_numbers
@dataclass(frozen=True, kw_only=True)
class Prior:
    mean: Fraction
    spread: Fraction | None = None
    limits: tuple[Fraction, ...] = ()
    name: str = ""


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(1, 10)),
        (-2.5e-3, Fraction(-1, 400)),
        (Decimal("2.50"), Fraction(5, 2)),
        (Fraction(1, 3), Fraction(1, 3)),
        (" 1e-6 ", Fraction(1, 10**6)),
        ("1/3", Fraction(1, 3)),
        ("10/40", Fraction(1, 4)),
    ],
)
def test_a_number_is_what_its_author_wrote(written, meant):
    found = exact(written)
    assert found == meant
    assert type(found) is Fraction


@pytest.mark.parametrize("digits", ["1e399", "-1e-399", "1." + "1" * 399])
def test_a_decimal_may_have_400_digits_and_no_more(digits):
    assert exact(Decimal(digits)) == Fraction(digits)
    longer = digits + "1" if "." in digits else digits.replace("399", "400")
    with pytest.raises(InvalidParameterError, match="got a Decimal"):
        exact(Decimal(longer))


@pytest.mark.parametrize("value", [True, None, b"1", [1]])
def test_what_is_no_number_is_refused_by_its_type(value):
    with pytest.raises(InvalidParameterError, match=f"got a {type(value).__name__}"):
        exact(value)


@pytest.mark.parametrize("text", ["1/0", "1/00", "one", "", "1_000", "1e9999"])
def test_other_texts_are_refused_with_examples(text):
    with pytest.raises(InvalidParameterError, match=r"such as 0\.5, 1e-6 or 1/3\.$"):
        exact(text)


@pytest.mark.parametrize(
    "value", [math.nan, -math.inf, Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")]
)
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(InvalidParameterError, match="Expected a finite number"):
        exact(value)


def test_a_dataclass_reads_its_fractions_as_they_are_written():
    assert Prior(mean=0.1, spread="1/3", limits=["0.5", 2], name="1/2") == Prior(
        mean=Fraction(1, 10),
        spread=Fraction(1, 3),
        limits=(Fraction(1, 2), Fraction(2)),
        name="1/2",
    )
    assert Prior(mean=1, spread=None).spread is None


def test_a_dataclass_names_the_field_that_it_refuses():
    with pytest.raises(InvalidParameterError, match=r"^Prior: mean: Expected an exact number"):
        Prior(mean="much")
    with pytest.raises(InvalidParameterError, match=r"^Prior: spread: Expected a finite number"):
        Prior(mean=1, spread=math.nan)


@pytest.mark.parametrize("limits", ["12", 5])
def test_one_text_or_number_is_no_list_of_numbers(limits):
    with pytest.raises(InvalidParameterError, match=r"Prior: limits: Expected a list of numbers"):
        Prior(mean=1, limits=limits)
