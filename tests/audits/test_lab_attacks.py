"""Each attack does what its textbook says, and to private answers no more than its bound."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from confide.attacks.lab.attack import defend_counts
from confide.attacks.lab.coin_game import ExposedShare, share_of
from confide.attacks.lab.gradient_inversion import inverted, updates
from confide.attacks.lab.mondrian import mondrian
from confide.attacks.lab.reconstruction import nearest_shares
from confide.attacks.lab.run import LAB_ATTACKS, chosen_attacks, run_lab
from confide.errors import ContractError, MissingExtraError, UnknownNameError
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.odds import concentrated_advantage
from lab_world import lab, rows

BY_NAME = {each.name: each for each in LAB_ATTACKS}
TIGHT = ("linkage", "homogeneity", "background", "averaging")
NEEDS = {"reconstruction": "scipy"}


def _of(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason="its extra is not installed")
    return BY_NAME[name]


def plain(name, **how):
    return _of(name).attack(lab(**how))


def _alone(lines):
    times = Counter(line[:3] for line in lines)
    return sum(times[line[:3]] == 1 for line in lines)


def test_linkage_finds_whoever_is_alone_with_the_quasi_identifiers():
    found = plain("linkage")
    assert found.exposed == _alone(rows())
    assert found.patients == 400
    assert found.exposed / found.patients > 0.8


def _values_by_class(lines, **how):
    settings = lab(lines)
    table = settings.table
    classes = mondrian(table.known(), table.sensitive.codes, k=settings.k, **how)
    held = {home: set() for home in classes}
    for home, line in zip(classes, lines, strict=True):
        held[home].add(line[3])
    return [held[home] for home in classes]


def test_homogeneity_exposes_every_patient_of_a_class_with_one_condition():
    found, values = plain("homogeneity"), _values_by_class(rows())
    assert found.exposed == sum(len(each) == 1 for each in values)
    assert found.exposed / found.patients > 0.15
    assert found.knowing_others.share == 1.0


def test_homogeneity_is_the_textbook_example_of_zip_30332_and_condition_g():
    """Six patients of 30332 share Condition G; everybody else's class is mixed."""
    lines = [(str(50 + i), "F", "30332", "Condition G") for i in range(6)]
    lines += [(str(20 + i), "M", "30301", f"Condition {'AB'[i % 2]}") for i in range(24)]
    assert plain("homogeneity", lines=lines, k=6).exposed == 6


def test_background_knowledge_exposes_whoever_is_in_a_class_of_two_conditions():
    found, values = plain("background"), _values_by_class(rows(), l=2)
    assert all(len(each) >= 2 for each in values), "homogeneity finds nobody"
    assert found.exposed == sum(len(each) == 2 for each in values)
    assert found.exposed / found.patients > 0.3


def test_two_anonymous_tables_expose_whom_neither_exposes_alone():
    found = plain("intersection")
    assert "0 and 0 of them" in found.remark
    assert found.exposed / found.patients > 0.15
    assert found.wrong == 0


@pytest.mark.parametrize("name", ["differencing", "tracker"])
def test_exact_counts_of_large_sets_expose_whoever_is_alone(name):
    found = plain(name, targets=400)
    assert found.exposed >= _alone(rows())
    assert found.wrong == 0
    assert plain(name, targets=50).patients == 50


@pytest.mark.parametrize("name", ["differencing", "tracker"])
def test_a_measured_value_is_found_by_halves(name):
    lines = [(*line[:3], f"{100 + place / 10}") for place, line in enumerate(rows())]
    found = plain(name, lines=lines, targets=400)
    assert found.exposed >= 0.9 * _alone(lines)
    assert found.wrong == 0


def test_without_a_padding_there_is_no_tracker():
    lines = [("30", "F", "1", "flu"), ("30", "F", "1", "HIV")] * 20
    found = plain("tracker", lines=lines)
    assert found.exposed == 0
    assert "no tracker" in found.remark


def test_fresh_noise_is_averaged_away():
    found = plain("averaging", targets=100)
    assert found.exposed >= 98
    assert plain("averaging", targets=100, epsilon="0.2").exposed >= 98


def test_rounded_counts_give_back_the_register():
    found = plain("reconstruction")
    assert found.patients == 64
    assert found.exposed >= 60


def test_the_program_of_reconstruction_is_exact_on_exact_counts():
    pytest.importorskip("scipy", reason="its extra is not installed")
    register = np.array([1.0, 0, 0, 1, 1, 0, 1, 0])
    sets = np.random.default_rng(3).integers(0, 2, (32, 8))
    assert np.abs(nearest_shares(sets, sets @ register) - register).max() < 1e-9


def test_exact_shares_of_many_attributes_tell_who_is_in_the_group():
    found = plain("membership")
    assert found.exposed >= 96
    assert found.patients == 100


def test_the_update_of_one_patient_is_the_record():
    found = plain("gradient")
    assert found.exposed == found.patients == 400
    known, outcome = np.array([[3, 0], [1, 4], [0, 2]]), np.array([1, 0, 1])
    features, guessed = inverted(updates(known, outcome))
    assert features == pytest.approx(known / known.max(axis=0))
    assert guessed.tolist() == outcome.tolist()


@pytest.mark.parametrize("epsilon", ["1/4", "1", "2"])
@pytest.mark.parametrize("name", BY_NAME)
def test_every_attack_respects_its_bound_on_the_private_answer(name, epsilon):
    private = _of(name).defend(lab(epsilon=epsilon, sown=5))
    assert private.holds, private
    assert private.bound < 1


@pytest.mark.parametrize("name", TIGHT)
def test_an_attack_on_one_count_reaches_its_bound(name):
    private = _of(name).defend(lab(games=20_000))
    assert private.found.share == pytest.approx(private.bound, abs=0.03)


@pytest.mark.parametrize("name", TIGHT)
def test_noise_of_half_the_scale_is_seen(name):
    found = _of(name).defend(lab(epsilon="2")).found
    assert not found.respects(lab(epsilon="1").bound())


def test_counts_that_nobody_pays_for_are_seen():
    """Three for the price of one; of two, each like a coin that lies, one tells as much as both."""
    assert not defend_counts(lab(games=20_000), answers=3, of=1).holds
    assert defend_counts(lab(games=20_000), answers=3).holds


def test_noise_that_is_too_small_for_a_gradient_is_seen():
    found = BY_NAME["gradient"].defend(lab(epsilon="4")).found
    assert not found.respects(concentrated_advantage(ZeroConcentratedDP(rho=Fraction(1, 2))))


def test_without_a_release_nobody_is_exposed():
    fair = share_of(np.array([1.0, 0.0] * 500))
    assert fair == ExposedShare(share=0.0, standard_error=fair.standard_error, games=1000)
    assert fair.standard_error == pytest.approx(2 * 0.5 / 1000**0.5, rel=1e-2)


def test_a_share_that_passes_its_bound_by_chance_is_measured_anew(monkeypatch):
    asked = []

    def defend(settings):
        asked.append(settings.games)
        return defend_counts(settings, answers=1, of=1 if len(asked) > 1 else None)

    from dataclasses import replace

    unlucky = ExposedShare(share=0.9, standard_error=0.01, games=5)

    def first_unlucky(settings):
        found = defend(settings)
        return replace(found, found=unlucky) if len(asked) == 1 else found

    attack = replace(BY_NAME["linkage"], defend=first_unlucky)
    found = run_lab(lab(games=500), attacks=(attack,))
    assert asked == [500, 5000]
    assert found.found[0].private.holds


def test_attacks_are_chosen_by_name():
    _of("reconstruction")
    assert chosen_attacks("all") == LAB_ATTACKS
    with pytest.raises(UnknownNameError, match="homogeneity"):
        chosen_attacks("homogenity")


@pytest.mark.parametrize("k", [1, 201])
def test_k_is_from_two_to_half_of_the_patients(k):
    with pytest.raises(ContractError, match="Expected k"):
        run_lab(lab(k=k), attacks=())


def test_reconstruction_says_which_extra_it_needs(monkeypatch):
    monkeypatch.setattr("confide.attacks.lab.attack.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="accounting"):
        chosen_attacks("reconstruction")
    assert [each.name for each in chosen_attacks("all")] == [
        each.name for each in LAB_ATTACKS if each.name != "reconstruction"
    ]
