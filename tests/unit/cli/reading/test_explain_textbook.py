"""``confide explain composition`` and ``noise``: the textbook's calculations, from the command line."""

import math

import pytest

from command_line import confide
from confide.noise.gaussian import gaussian_delta


def rows(*words):
    body = confide("explain", *words, "--json").json
    return {row[0]: row[1:] for row in body["tables"][0]["rows"]}


def test_twelve_months_at_a_tenth_are_at_most_their_sum_by_every_rule_that_helps():
    found = rows("composition", "0.1*12", "--delta", "1e-6")
    assert found["Sum"][0] == "1.2"
    squares = 12 * 0.01
    adaptive = math.sqrt(2 * math.log(1e6) * squares) + squares / 2
    assert float(found["Filter for losses chosen one after another"][0]) == pytest.approx(
        adaptive, abs=1e-3
    )
    assert float(found["Optimal composition, equal losses"][0]) <= 1.2


def test_a_hundred_small_losses_are_far_less_than_their_sum():
    found = rows("composition", "0.1*100", "--delta", "1e-6")
    named = {name: float(row[0]) for name, row in found.items()}
    assert named["Optimal composition, equal losses"] == min(named.values())
    assert max(named, key=named.get) == "Sum"
    assert {found["Sum"][1], found["Advanced composition"][1]} == {
        "chosen as one goes",
        "fixed beforehand",
    }


def test_one_loss_that_is_large_is_its_sum_and_every_rule_is_still_there():
    found = rows("composition", "100", "--delta", "1e-6")
    assert found["Sum"][0] == "100"
    adaptive = float(found["Filter for losses chosen one after another"][0].replace(",", ""))
    assert adaptive == pytest.approx(math.sqrt(2 * math.log(1e6)) * 100 + 5000, rel=1e-3)


def test_losses_that_delta_covers_are_told_as_their_sum():
    assert (
        rows("composition", "1e-9*3", "--delta", "1e-6")["Optimal composition, equal losses"][0]
        == "0"
    )


def test_unequal_losses_have_no_optimal_rule_and_no_delta_leaves_the_sum():
    assert "Optimal composition, equal losses" not in rows(
        "composition", "0.1, 0.2", "--delta", "1e-6"
    )
    assert list(rows("composition", "0.1,0.2")) == ["Sum"]


def test_pure_and_concentrated_losses_together_are_less_than_their_rho_says():
    found = rows("composition", "0.1*5, rho 0.01", "--delta", "1e-6")
    named = {name: float(row[0]) for name, row in found.items()}
    assert list(named) == [
        "Sum of ρ = ε²/2, converted (zCDP)",
        "Sum of Rényi curves, converted",
        "At one Rényi order that the cap fixes, or the sum",
    ]
    concentrated, fixed, one_order = named.values()
    assert fixed < one_order < concentrated


def test_a_rho_without_a_delta_is_refused_by_name():
    told = confide("explain", "composition", "0.1, rho=0.01")
    assert told.code == 7
    assert "A ρ has an ε at a δ alone." in told.err
    assert "--delta 1e-6" in told.err


def test_the_exact_gaussian_rule_is_the_least_that_has_delta():
    found = rows("noise", "0.5", "--delta", "1e-6")
    exact, classical = (
        float(found[f"Gaussian, {rule} rule"][0]) for rule in ("exact", "classical")
    )
    assert exact < classical
    assert gaussian_delta(exact, epsilon=0.5) == pytest.approx(1e-6, rel=1e-2)
    assert float(found["Laplace"][0]) == pytest.approx(math.sqrt(2) / 0.5, rel=1e-3)


def test_above_one_the_classical_rule_is_not_shown_and_a_fraction_has_no_whole_noise():
    found = rows("noise", "2", "--delta", "1e-6", "--sensitivity", "0.024")
    assert set(found) == {
        "Laplace",
        "Gaussian, exact rule",
        *(n for n in found if n.startswith("Randomised")),
    }


@pytest.mark.parametrize(
    "words",
    [
        ("composition", "0.1x3"),
        ("composition", "0*3"),
        ("composition", "0.1*0"),
        ("composition", "0.1*100000"),
        ("composition", "0.1, -1"),
        ("composition", "0.1", "--delta", "2"),
        ("composition", "1000", "--delta", "1e-6"),
        ("noise", "0"),
        ("noise", "1", "--sensitivity", "0"),
        ("noise", "1", "--delta", "1"),
        ("noise", "1e-12", "--delta", "1e-12"),
    ],
)
def test_what_cannot_be_calculated_says_what_to_write(words):
    done = confide("explain", *words)
    assert done.code in {2, 7}, done.err
    assert "xpected" in done.err


def test_a_number_alone_is_an_epsilon():
    assert confide("explain", "0.5").out == confide("explain", "epsilon", "0.5").out
    assert confide("explain", "nonsense").code == 2
