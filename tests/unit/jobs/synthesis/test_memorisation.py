"""A generator without noise gives patients away; the one with noise does not, and keeps its bound.

Coins are seeded, so nothing here fails by chance.
"""

from fractions import Fraction

import pytest

from command_line import confide
from confide.errors import InvalidParameterError
from confide.jobs.synthesis.memorising.memorised import canaries_given_back, membership_found
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.odds import concentrated_advantage
from confide.service.synthesis import memorisation
from confide.service.synthesis.memorisation import made_up_clinic, show_memorisation
from seeded import SeededEntropy

CLINIC = made_up_clinic()
SEEDS = range(5)


def tables(epsilon):
    return [
        canaries_given_back(CLINIC, epsilon=epsilon, entropy=SeededEntropy(seed)) for seed in SEEDS
    ]


def test_without_noise_a_third_of_the_canaries_come_back_and_copies_pass_the_holdout():
    found = tables(None)
    assert sum(each.given_back for each in found) >= 0.3 * sum(each.planted for each in found)
    assert all(each.given_back >= 0.3 * each.planted for each in found)
    assert all(each.copies.above for each in found)


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(2)])
def test_with_noise_no_canary_comes_back_and_copies_are_those_of_a_holdout(epsilon):
    found = tables(epsilon)
    assert sum(each.given_back for each in found) == 0
    assert not any(each.copies.above for each in found)


def played(epsilon, **given):
    given = {"shadows": 12, "games": 100} | given
    return membership_found(CLINIC, epsilon=epsilon, entropy=SeededEntropy(7), **given)


def test_shadow_models_find_everybody_without_noise_and_keep_to_the_bound_with_it():
    assert played(None, shadows=2, games=20).advantage == 1
    found = played(Fraction(2))
    assert found.holds
    assert found.bound < 0.25


def test_a_generator_of_less_noise_than_is_said_passes_the_bound():
    loud = played(Fraction(10))
    said = concentrated_advantage(ZeroConcentratedDP(rho=CLINIC.spec(Fraction(1, 2)).rho))
    assert loud.advantage > said + 3 * loud.standard_error


def test_the_command_shows_both_generators(monkeypatch):
    monkeypatch.setattr(memorisation, "TIMES", 1)
    monkeypatch.setattr(
        memorisation,
        "membership_found",
        lambda clinic, **given: membership_found(clinic, **given, shadows=2, games=20),
    )
    found = confide("synth", "memorisation", "--json")
    assert found.code == 0
    without, noisy = found.json["generators"]
    assert without["given-back"] > 3  # of 20, where 12 are expected
    assert noisy["noise"] == "ε = 2"
    shown = confide("synth", "memorisation")
    assert "may be shown to anybody" in shown.out


@pytest.mark.parametrize("epsilon", ["0", "word", "100"])
def test_an_epsilon_that_cannot_be_shown_is_refused(epsilon):
    with pytest.raises(InvalidParameterError, match="Expected epsilon from"):
        show_memorisation(epsilon)
