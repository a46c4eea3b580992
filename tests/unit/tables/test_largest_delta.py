"""How large a δ may be: alone, and beside a public number of patients."""

import re
from fractions import Fraction

import pytest

from confide.errors import ContractError
from confide.tables.largest_delta import require_delta


@pytest.mark.parametrize(
    ("delta", "population"),
    [
        ("1e-6", None),
        ("1e-12", None),
        ("1e-4", 100),
        ("1e-5", 1000),
        ("1e-4", 1),
        ("2e-8", 5 * 10**5),
    ],
)
def test_a_delta_that_leaks_at_most_a_hundredth_of_a_record_is_accepted(delta, population):
    require_delta(Fraction(delta), population=population)


def test_a_delta_above_1e_4_is_refused_whatever_the_population():
    with pytest.raises(ContractError, match=r"Expected delta ≤ 0\.0001"):
        require_delta(Fraction("1.0001e-4"), population=1)


def test_a_delta_above_1e_6_needs_the_number_of_patients():
    with pytest.raises(ContractError, match="A delta above 1e-06 needs the public number"):
        require_delta(Fraction("1.0001e-6"), population=None)


@pytest.mark.parametrize("population", [101, 1000, 1001, 99_999, 10**7])
def test_a_delta_that_leaks_more_is_refused_with_one_that_does_not(population):
    with pytest.raises(ContractError, match=r"Expected delta × population ≤ 0.01") as refused:
        require_delta(Fraction("1.01e-2") / population, population=population)
    hinted = re.search(r'"(.*)"', refused.value.hint).group(1)
    require_delta(Fraction(hinted), population=population)
    with pytest.raises(ContractError):
        require_delta(10 * Fraction(hinted), population=population)
