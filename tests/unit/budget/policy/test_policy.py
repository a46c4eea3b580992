"""Policies as nouns: limits in grid units, and a digest that follows every field."""

from dataclasses import replace
from fractions import Fraction

import pytest

from confide.budget.policy.policy import (
    Basis,
    CapScope,
    Limit,
    Policy,
    PolicyCap,
    Window,
)
from confide.errors import ContractError
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity

LAW = PolicyCap(
    id="legal-release",
    basis=Basis.LEGAL,
    priority=1,
    scope=CapScope.RELEASE,
    window=Window.RELEASE,
    limit=Limit(odds_factor=Fraction("1.5")),
)
POLICY = Policy(
    id="hospital",
    version=1,
    effective="2027-01-01",
    unit=Entity.PATIENT,
    adjacency=Adjacency.ADD_REMOVE,
    measure=Measure.PURE,
    caps=(LAW,),
)


def test_an_odds_factor_is_a_cap_of_its_logarithm_rounded_down():
    assert POLICY.units(LAW) == 405_465_108


def test_an_epsilon_is_read_at_the_reported_delta_under_zcdp():
    cap = replace(LAW, limit=Limit(epsilon=Fraction(1)))
    lenient = replace(POLICY, measure=Measure.ZCDP, report_delta=Fraction("1e-5"))
    strict = replace(lenient, report_delta=Fraction("1e-6"))
    assert 0 < strict.units(cap) < lenient.units(cap)


@pytest.mark.parametrize(
    "limit",
    [{}, {"epsilon": Fraction(0)}, {"odds_factor": Fraction(1)}, {"epsilon": 1, "rho": 1}],
)
def test_a_limit_is_one_positive_amount(limit):
    with pytest.raises(ContractError):
        Limit(**limit)


def test_no_finite_factor_bounds_the_odds_under_zcdp():
    zcdp = replace(POLICY, measure=Measure.ZCDP, report_delta=Fraction("1e-6"))
    with pytest.raises(ContractError):
        zcdp.units(LAW)


def test_a_digest_follows_every_field():
    assert POLICY.digest() != replace(POLICY, version=2).digest()
    assert POLICY.digest() == replace(POLICY).digest()
