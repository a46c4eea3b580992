"""How much of an interval is noise: told of every kind that has one for sampling."""

import statistics

import pytest

from confide.drawing.cells import cells_of
from confide.plans.estimates import Covers
from confide.report.wording.noise_part import _derived, _wide, noise_part

SHARES = ("prevalence",)


def test_an_estimator_that_is_asked_again_agrees_with_the_two_intervals_that_are_published(release):
    for name in SHARES:
        (of,) = (each for each in release.plan.statistics if each.id == name)
        cells = [cell for cell in cells_of(release.of(of)) if _wide(cell)]
        published = noise_part(release, of)
        assert published == pytest.approx(statistics.median(_derived(release, of, cells)), abs=0.03)


def test_every_kind_whose_intervals_cover_sampling_says_how_much_is_noise(release):
    told = 0
    for statistic in release.plan.statistics:
        cells = [cell for cell in cells_of(release.of(statistic)) if cell.half_width > 0]
        sampled = [
            c for c in cells if c.covers is Covers.SAMPLING_AND_NOISE and c.value is not None
        ]
        part = noise_part(release, statistic)
        assert (part is None) is (not sampled), statistic.id
        assert part is None or 0 <= part <= 1
        told += part is not None
    assert told > 10
