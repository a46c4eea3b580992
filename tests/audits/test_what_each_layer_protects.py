"""Each layer of a federation, taken away: what protects whom from what (sums-over-sites.md)."""

import numpy as np

from layers_world import (
    CLIPPED,
    EACH,
    GRID,
    HONEST,
    OUTCOME,
    SITES,
    bound_of,
    game,
    noise,
    record_in,
    through_masks,
)
from seeded import SeededEntropy

TARGET = 0


def test_without_masks_and_noise_the_coordinator_reads_each_patients_record():
    """Plain federated learning: the update of a batch of one is the patient [ZLH19]."""
    for who in range(len(OUTCOME)):
        assert record_in(CLIPPED[who] / GRID, who=who)
        assert record_in(EACH[who], who=who)


def test_under_masks_the_coordinator_reads_nothing_of_a_sites_update(tmp_path):
    vectors = CLIPPED
    masked, total = through_masks(vectors, folder=tmp_path, run="1")
    assert (total == vectors.sum(axis=0)).all()
    for who in range(SITES):
        assert not record_in(masked[who], who=who)
        assert not (masked[who] == vectors[who]).any()


def test_masks_alone_do_not_protect_a_patient_from_who_knows_the_others(tmp_path):
    """The sum is exact: whoever subtracts the other sites' updates has the patient's record."""
    _, total = through_masks(CLIPPED, folder=tmp_path, run="1")
    left = total - CLIPPED[1:].sum(axis=0)
    assert record_in(left, who=TARGET)


def test_with_noise_the_sum_gives_no_record_to_who_knows_all_others(tmp_path):
    """A colluding site subtracts its own part; five are left, as many as the plan counts on."""
    drawn, entropy = noise().noise, SeededEntropy(3)
    parts = np.array([drawn.sample(4, entropy=entropy) for _ in range(SITES)])
    _, total = through_masks(CLIPPED + parts, folder=tmp_path, run="1")
    left = total - CLIPPED[1:].sum(axis=0) - parts[-1]
    assert not record_in(left, who=TARGET)
    assert (left == CLIPPED[0] + parts[:-1].sum(axis=0)).all()


def test_masks_and_noise_together_expose_no_more_than_is_charged():
    found = game(parts=HONEST, games=4000)
    assert found.respects(bound_of(HONEST))
    assert found.share > 0.1  # the attack is no straw man


def test_without_masks_a_sites_own_part_of_the_noise_exposes_more_than_is_charged():
    """The coordinator of a sum without masks sees x + z of one site: m times the ρ."""
    found = game(parts=1, games=4000)
    assert found.respects(bound_of(1))
    assert not found.respects(bound_of(HONEST))


def test_without_noise_whether_a_patient_is_there_is_certain():
    assert game(parts=0, games=400).share == 1


def test_whoever_sees_the_sum_alone_has_less_than_is_charged():
    assert game(parts=SITES, games=4000).respects(bound_of(SITES))
    assert bound_of(SITES) < bound_of(HONEST)
