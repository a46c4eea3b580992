"""Broken syntheses: what is public in the real one is read from the rows, at no charge."""

from dataclasses import fields, replace

import numpy as np
import pytest

from confide.jobs.synthesis import adaptive
from confide.jobs.synthesis.counts import exact_table, merged_levels, renamed, sizes_of
from confide.jobs.synthesis.measured import NoisyTable, settled
from confide.jobs.synthesis.measuring import Measuring
from confide.jobs.synthesis.scores import pair_scores
from confide.jobs.synthesis.spec import FINDING, Synthesis
from confide.plans.job import plan_job
from confide.plans.plan import Study
from synthesis_search import (
    LEAD,
    SCORE,
    SHAPE,
    chosen_often,
    farthest,
    farthest_in_rounds,
    files_of_bins,
    holds,
)
from synthesis_world import dataset, job

pytestmark = pytest.mark.mutant


def search(measuring=Measuring, **given):
    return farthest(measuring, most=2, **given)


def test_the_real_one_passes_and_attains_what_it_states():
    for target in ("", "died"):
        found = search(target=target)
        assert holds(found, most=2)
        assert found["one_ways"] == (2, 4)
        assert found["tables"] == (2, 4)
    assert chosen_often() > 3


def test_bins_that_are_found_pass_and_attain_what_is_stated():
    for target in ("", "died"):
        found = search(target=target, found=5)
        assert holds(found, most=2)
        assert found["bins"] == found["one_ways"] == found["tables"] == (2, 4)
    assert files_of_bins() > 6


class DomainFromData(Measuring):
    """Counts the levels that are there."""

    def _one_ways(self, codes, known, *, entropy):  # noqa: ARG002
        sizes = tuple(int(size) for size in codes.max(axis=0) + 1)
        found = [exact_table(codes, (v,), sizes=sizes) for v in range(len(sizes))]
        return replace(known, one_ways=tuple(each.astype(float) for each in found))


class BinsFromData(Measuring):
    """Puts numbers into bins of equally many rows."""

    def _codes(self, rows):
        codes = super()._codes(rows).copy()
        ranks = np.argsort(np.argsort(codes[:, 0], kind="stable"), kind="stable")
        codes[:, 0] = ranks * 5 // len(codes)
        return codes


class EdgesFromData(Measuring):
    """Finds bins of equally many rows, and says that it found them in the noisy counts."""

    def _coarse(self, codes, known):
        coarse = super()._coarse(codes, known)
        ranks = np.argsort(np.argsort(codes[:, 0], kind="stable"), kind="stable")
        coarse[:, 0] = ranks * int(coarse[:, 0].max() + 1) // len(codes)
        return coarse


class EdgesWithoutNoise(Measuring):
    """Publishes edges that lie where the exact counts say."""

    def _bins(self, codes, known, *, entropy):  # noqa: ARG002
        exact = exact_table(codes, (0,), sizes=self._spec.sizes(self._plan.dataset))
        grids = (exact.astype(float),)
        return replace(known, spec=settled(self._spec, grids), grids=grids)


class EdgesWithoutCharge(Synthesis):
    """Finds bins, and states no event for it."""

    def events(self, dataset):
        return tuple(each for each in super().events(dataset) if each.name != FINDING)


def scores_of_rows(codes, known, *, pairs, impossible, noise):
    """Scores that expect of a pair what single columns of the rows say."""
    del impossible, noise
    found = {}
    for pair in pairs:
        exact = exact_table(codes, pair, sizes=known.sizes)
        expected = np.outer(exact.sum(axis=1), exact.sum(axis=0)) / len(codes)
        found[pair] = int(np.abs(exact - np.rint(expected)).sum())
    return found


class RoundsFromData(Measuring):
    """Takes in each round the pair that is farthest off."""

    def _rounds(self, codes, known, *, entropy):
        class Greatest:
            candidates = 0

            def select(self, utilities, *, entropy):
                del entropy
                return (int(np.argmax(utilities)),)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(adaptive, "replace", lambda of, **to: of if isinstance(of, Greatest)
                          else replace(of, **to))  # fmt: skip
            patch.setattr(Synthesis, "choice", lambda *_: Greatest())
            return super()._rounds(codes, known, entropy=entropy)


class BoundsFromData(Measuring):
    """Begins where the least value is."""

    def _codes(self, rows):
        codes = super()._codes(rows).copy()
        codes[:, 0] -= codes[:, 0].min()
        return codes


class CategoriesFromData(Measuring):
    """Numbers categories by how often they are there."""

    def _codes(self, rows):
        codes = super()._codes(rows).copy()
        often = np.argsort(-np.bincount(codes[:, 2], minlength=4), kind="stable")
        codes[:, 2] = np.argsort(often)[codes[:, 2]]
        return codes


class MergingFromData(Measuring):
    """Merges the levels that are rare in the rows, whatever the noisy counts say."""

    def _tables(self, codes, known, *, entropy):  # noqa: ARG002
        exact = [np.bincount(codes[:, v]) for v in range(codes.shape[1])]
        merging = merged_levels(exact, deviation=1)
        merged, sizes = renamed(codes, merging), sizes_of(merging)
        tables = [(v, exact_table(merged, v, sizes=sizes)) for v in known.wanted]
        made = tuple(NoisyTable(variables=v, counts=t.astype(float)) for v, t in tables)
        return replace(known, tables=made)


class NumberFromData(Measuring):
    """Expects as many rows as there are."""

    def _scores(self, merged, known):
        shares, total = known.merged_one_ways, len(merged)
        pairs = self._spec.components.apart()
        return pair_scores(merged, pairs, noisy=shares, total=total)


class StructureFromData(Measuring):
    """Takes the pairs that are farthest from independent."""

    def _choice(self, codes, known, *, entropy):  # noqa: ARG002

        scores = self._scores(renamed(codes, known.merging), known)
        order = sorted(scores, key=lambda pair: -scores[pair])
        components, found = self._spec.components, []
        for pair in order:
            if pair in components.apart():
                components.join(pair)
                found.append(pair)
        return replace(known, chosen=tuple(found))


@pytest.mark.parametrize("target", ["", "died"])
def test_a_domain_that_is_read_from_the_rows_is_caught(target):
    assert SHAPE in search(DomainFromData, target=target, tries=20)


def test_bins_that_follow_the_rows_are_caught():
    assert not holds(search(BinsFromData, tries=20), most=2)


def test_bins_that_are_found_in_exact_counts_are_caught():
    assert not holds(search(EdgesFromData, found=5, tries=20), most=2)
    assert files_of_bins(EdgesWithoutNoise) == 1


def charged_for_bins(kind):
    """Return whether a plan charges for what its job draws to find bins."""
    names = [each.name for each in fields(Synthesis)]
    spec = kind(**{name: getattr(job(found=5), name) for name in names})
    plan = plan_job(spec, study=Study(id="s"), dataset=dataset())
    noise = spec.noise(spec.bins_share, tables=1, adjacency=plan.adjacency)
    drawn = [each for each in plan.events if each.name == FINDING and each.noise == noise]
    return len(drawn) == 1 and abs(float(plan.loss.rho) - float(spec.rho)) < 1e-6


def test_bins_that_are_found_without_a_charge_are_caught():
    assert charged_for_bins(Synthesis)
    assert not charged_for_bins(EdgesWithoutCharge)


def test_rounds_pass_and_choose_by_chance():
    for most in (1, 2):
        found = farthest_in_rounds(most=most)
        assert 0 < found[SCORE] <= most
        assert found[LEAD] <= 2 * most
    assert chosen_often(adaptive=3) > 3


def test_rounds_that_expect_what_the_rows_say_are_caught():
    found = farthest_in_rounds(scores_of_rows, most=1, tries=30)
    assert found[SCORE] > 1 or found[LEAD] > 2


def test_rounds_that_take_the_pair_that_is_farthest_off_are_caught():
    assert chosen_often(RoundsFromData, adaptive=3) == 1


def test_bounds_that_follow_the_rows_are_caught():
    assert not holds(search(BoundsFromData), most=2)


def test_categories_in_the_order_of_the_rows_are_caught():
    assert not holds(search(CategoriesFromData), most=2)


def test_levels_that_are_merged_by_exact_counts_are_caught():
    assert SHAPE in search(MergingFromData)


def test_a_number_of_rows_that_is_read_is_caught():
    found = search(NumberFromData)
    assert found[SCORE][0] > 2 or found[LEAD][0] > 4


def test_a_structure_that_is_read_from_the_rows_is_caught():
    assert chosen_often(StructureFromData) == 1


def test_a_patient_with_more_rows_than_are_stated_is_caught():
    assert not holds(farthest(Measuring, most=3, tries=20), most=2)
