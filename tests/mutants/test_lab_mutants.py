"""Broken answers of the attack lab against its bounds, and a lab that writes into releases."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.attacks.lab import apart, gradient_inversion
from confide.attacks.lab import attack as counted
from confide.attacks.lab.own_table import OwnTable, coded
from confide.attacks.lab.run import LAB_ATTACKS
from confide.errors import ContractError
from confide.noise.discrete_laplace import DiscreteLaplace
from lab_world import lab

ON_COUNTS = ("linkage", "homogeneity", "background", "averaging")
BY_NAME = {each.name: each for each in LAB_ATTACKS}


def every_bound_is_respected(names, settings=None):
    for name in names:
        private = BY_NAME[name].defend(settings or lab(games=20_000, sown=3))
        assert private.holds, name


def _wide():
    """Sixty columns, so that updates are longer than the clip."""
    columns = {f"c{k}": coded([str((n * (k + 3)) % 7) for n in range(80)]) for k in range(60)}
    ill = coded(["yes" if n % 3 else "no" for n in range(80)])
    return lab_of(OwnTable(quasi=columns, sensitive=ill, sensitive_name="ill"))


def lab_of(table):
    return replace(lab(games=20_000, sown=3), table=table)


def no_place_in_a_release_is_taken(folder):
    (folder / "out" / "figures").mkdir(parents=True)
    (folder / "out" / "certificate.json").write_text("{}")
    for place in (folder / "out" / "mine", folder / "out" / "figures" / "mine"):
        with pytest.raises(ContractError, match="lies in a release"):
            apart.require_apart(place)


def test_bounds_are_respected_and_places_refused(tmp_path):
    every_bound_is_respected((*ON_COUNTS, "intersection", "tracker", "differencing"))
    every_bound_is_respected(("gradient",), _wide())
    no_place_in_a_release_is_taken(tmp_path)


class _Half(DiscreteLaplace):
    @classmethod
    def calibrate(cls, target, *, l1):
        return DiscreteLaplace(scale=l1 / Fraction(target.epsilon) / 2)


@pytest.mark.mutant
@pytest.mark.parametrize("name", ["linkage", "homogeneity", "background"])
def test_counts_with_half_the_noise_are_caught(name, monkeypatch):
    monkeypatch.setattr(counted, "DiscreteLaplace", _Half)
    with pytest.raises(AssertionError, match=name):
        every_bound_is_respected((name,))


class _OneCount(DiscreteLaplace):
    @classmethod
    def calibrate(cls, target, *, l1):
        return DiscreteLaplace.calibrate(target, l1=min(1, l1))


@pytest.mark.mutant
def test_a_tracker_billed_as_one_count_is_caught(monkeypatch):
    monkeypatch.setattr(counted, "DiscreteLaplace", _OneCount)
    with pytest.raises(AssertionError, match="tracker"):
        every_bound_is_respected(("tracker",))


@pytest.mark.mutant
def test_an_update_that_is_not_clipped_is_caught(monkeypatch):
    monkeypatch.setattr(
        gradient_inversion,
        "clipped_updates",
        lambda each: np.trunc(each * 2**20).astype(np.int64),
    )
    with pytest.raises(AssertionError, match="gradient"):
        every_bound_is_respected(("gradient",), _wide())


@pytest.mark.mutant
def test_a_lab_that_looks_for_a_certificate_beside_it_alone_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(apart, "around", lambda place: (place,))
    with pytest.raises(pytest.fail.Exception):
        no_place_in_a_release_is_taken(tmp_path)
