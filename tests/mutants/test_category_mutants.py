"""Broken syntheses: categories of a text that come from the rows at no charge, or at too little."""

from collections import Counter
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from category_search import (
    charged_for_texts,
    moved_after,
    moved_counts,
    selecting,
    told_of_one,
)
from confide.jobs.synthesis.finding import charged_categories
from confide.jobs.synthesis.finding.charged_categories import FoundCategories
from confide.jobs.synthesis.measured import settled
from confide.jobs.synthesis.measuring import Measuring
from confide.jobs.synthesis.spec import Synthesis
from confide.noise.threshold import KeyThreshold
from confide.privacy.adjacency import Adjacency

pytestmark = pytest.mark.mutant
ADDED = Adjacency.ADD_REMOVE


def test_one_patient_moves_counts_of_texts_by_one_each_and_by_no_more_texts_than_rows():
    assert moved_counts() == (1, 1)
    assert moved_counts(most=3) == (3, 1)


def test_what_follows_depends_on_the_rows_as_far_as_is_stated_given_the_categories():
    assert moved_after() == 1
    assert moved_after(most=3, tries=10) == 3


def test_a_text_that_one_patient_alone_has_becomes_no_category():
    assert told_of_one() == 0


def test_the_selection_and_its_delta_are_charged():
    assert charged_for_texts()


def rows_with(texts, patients):
    """Count rows in the place of patients."""
    del patients
    found = Counter(text for text in texts if text)
    return {text: found[text] for text in sorted(found)}


def test_rows_that_are_counted_in_the_place_of_patients_are_caught():
    with mock.patch.object(charged_categories, "patients_of_texts", rows_with):
        assert moved_counts(most=3)[1] > 1


class BoundOfOneText(Synthesis):
    """Reads more rows of a patient than the selection is told."""

    def selection(self, adjacency):
        return replace(super().selection(adjacency), keys_per_person=1)


def bounded(kind, *, most=3):
    """Return whether one patient moves counts by as many texts as the selection is told."""
    return moved_counts(most=most)[0] <= selecting(kind, most=most).selection(ADDED).keys_per_person


def test_a_patient_of_more_texts_than_the_selection_is_told_is_caught():
    assert bounded(Synthesis)
    assert not bounded(BoundOfOneText)


class ThresholdWithoutDelta(Measuring):
    """Adds the noise, and tells every text whose noisy count is positive."""

    def _categories(self, rows, known, *, entropy):
        with mock.patch.object(KeyThreshold, "threshold", return_value=1):
            return super()._categories(rows, known, entropy=entropy)


def test_a_threshold_that_keeps_no_delta_is_caught():
    assert told_of_one(ThresholdWithoutDelta) > 10


class CategoriesWithoutNoise(Measuring):
    """Takes the texts that are there."""

    def _categories(self, rows, known, *, entropy):
        del entropy
        texts = sorted({text for text in rows.reveal_texts_to_job()["t0"] if text})
        found = (FoundCategories(texts=tuple(texts), patients=(0,) * len(texts)),)
        return replace(known, spec=settled(self._spec, (), categories=found), categories=found)


def test_categories_that_are_read_from_the_rows_are_caught():
    assert told_of_one(CategoriesWithoutNoise) == 60


class LevelsOfTheRows(Measuring):
    """Numbers categories by how often they are there, whatever was released."""

    def _placed(self, rows, codes, known):
        found = super()._placed(rows, codes, known).copy()
        often = np.argsort(-np.bincount(found[:, 0], minlength=5), kind="stable")
        found[:, 0] = np.argsort(often)[found[:, 0]]
        return found


def test_levels_that_follow_the_rows_are_caught():
    assert moved_after(LevelsOfTheRows) != 1


class SelectionWithoutCharge(Synthesis):
    """Finds categories, and states no event for it."""

    def events(self, dataset):
        return tuple(each for each in super().events(dataset) if each.name != "categories")


class SelectionWithoutDelta(Synthesis):
    """States the noise of the selection, and nothing of its δ."""

    def events(self, dataset):
        return tuple(
            replace(each, noise=each.noise.noise()) if each.name == "categories" else each
            for each in super().events(dataset)
        )


def test_a_selection_that_is_not_charged_is_caught():
    assert not charged_for_texts(SelectionWithoutCharge)


def test_a_selection_whose_delta_is_not_charged_is_caught():
    assert not charged_for_texts(SelectionWithoutDelta)
