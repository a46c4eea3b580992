"""Noise in parts as sites add it: its law, exactly and by draws."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.noise.distributed.gaussian_parts import GaussianParts
from confide.plans.sites.shared_noise import SharedNoise
from confide.privacy.sensitivity import Sensitivity
from confide.privacy.unit import Entity
from federated_members import members
from seeded import SeededEntropy

DRAWS = 40_000
MOVED = Sensitivity(
    l1=1, l2_squared=1, linf=1, entity=Entity.PATIENT, unit="persons", because="one row"
)


def summed(noise, *, seed, alive):
    """Sums over sites of parts alone, rounded as the coordinator does."""
    total = np.zeros(DRAWS, dtype=np.int64)
    for site in range(alive):
        part = noise.part.randomize((0,) * DRAWS, entropy=SeededEntropy(seed + site))
        total += np.array(part, dtype=np.int64)
    return np.array([noise.rounded(int(each)) for each in total])


@pytest.mark.parametrize(("each", "grid"), [(Fraction(20), 1), (Fraction(45, 4), 3)])
def test_a_sum_over_sites_has_the_variance_that_is_stated(each, grid):
    noise = SharedNoise(part=GaussianParts(sigma_squared_each=each, parts=2), sites=3, grid=grid)
    found = summed(noise, seed=11, alive=3)
    stated = float(noise.total.sigma_squared)
    spread = stated * np.sqrt(2 / DRAWS)
    assert abs(found.var() - stated) < 5 * spread < 0.1 * stated  # 10 % off would be seen
    assert abs(found.mean()) < 5 * np.sqrt(stated / DRAWS)


@pytest.mark.parametrize("grid", [1, 3])
def test_intervals_of_the_stated_law_cover_sums_over_sites(grid):
    part = GaussianParts(sigma_squared_each=Fraction(12), parts=2)
    noise = SharedNoise(part=part, sites=3, grid=grid)
    found = summed(noise, seed=5, alive=3)
    for level in (0.5, 0.95):
        inside = np.mean(np.abs(found) <= noise.total.half_width(level))
        assert inside >= level - 5 * np.sqrt(level * (1 - level) / DRAWS)


@pytest.mark.parametrize("nano", [1_000, 5_000_000, 50_000_000, 900_000_000])
@pytest.mark.parametrize("per_person", [1, 3])
def test_noise_that_is_bought_keeps_its_charge_and_wastes_nothing(nano, per_person):
    rho = Fraction(nano, 10**9)
    federation = members(sites=5, drops=1, per_person=per_person)
    noise = SharedNoise.bought(rho, sensitivity=MOVED, federation=federation)
    assert rho * (1 - Fraction(1, 10**6)) <= noise.loses(MOVED) <= rho
    assert noise.is_of(federation)
    assert noise.grid % 2 == 1


@pytest.mark.parametrize("nano", [1_000, 5_000_000])
@pytest.mark.parametrize("moved", [10**6, 10**9, 10**12])
def test_what_parts_lack_to_one_law_is_paid_for_however_far_a_person_moves_a_sum(moved, nano):
    rho, federation = Fraction(nano, 10**9), members(sites=5, drops=1, per_person=3)
    far = replace(MOVED, l1=moved, l2_squared=moved**2, linf=moved)
    noise = SharedNoise.bought(rho, sensitivity=far, federation=federation)
    assert rho * (1 - Fraction(1, 10**6)) <= noise.loses(far) <= rho


@pytest.mark.parametrize("grid", [1, 3, 5, 7])
def test_rounding_is_to_the_nearest_and_fair(grid):
    noise = SharedNoise(
        part=GaussianParts(sigma_squared_each=Fraction(9), parts=2), sites=3, grid=grid
    )
    for total in range(-50, 51):
        assert abs(noise.rounded(total) * grid - total) * 2 < grid
        assert noise.rounded(-total) == -noise.rounded(total)
