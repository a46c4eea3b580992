"""Combined intervals hold a truth that is known exactly; five hundred studies are in the audit."""

from dataclasses import replace

import numpy as np
import pytest

from synthesis_coverage import HARD, PLAIN, Coverage, drawn, study, told, truth


def test_the_truth_is_that_of_the_patients_that_are_drawn():
    many = drawn(400_000, start=1)
    values = {
        "age": many["age"].astype(float),
        "sex": np.array(["F", "M"], dtype=object)[many["sex"]],
        "stage": np.array(["I", "II", "III", "IV"], dtype=object)[many["stage"]],
        "died": np.array(["no", "yes"], dtype=object)[many["died"]],
    }
    seen = {
        told(name, analysis): found
        for analysis in PLAIN.asked
        for name, found in analysis.of(values).items()
    }
    assert seen.keys() == truth().keys()
    within_bins = "mean of age where stage = II"  # where a bin is all that the table knows
    for name, (value, variance) in seen.items():
        wide = 1.0 if name == within_bins else 6 * variance**0.5
        assert value == pytest.approx(truth()[name], abs=wide), name


def test_combined_intervals_hold_the_truth_and_a_plain_analysis_of_one_table_does_not():
    """Seeded; 500 studies in the audit."""
    found = Coverage()
    for number in range(900, 908):
        found.add(study(1000, number=number, tables=10))
    assert found.refused == 0
    assert not found.drowned  # nothing that is common is said to be rare
    assert found.share(found.held) >= 0.88
    assert found.share(found.naive) < 0.85


def test_an_estimate_of_a_level_that_is_rarer_than_the_noise_says_that_it_is_drowned():
    """One patient in a hundred, of 1,000: no table has fewer than none, so it is drawn too often."""
    asked = replace(HARD, asked=HARD.asked[:4])
    for number in (0, 1, 3):
        found = study(1000, number=number, tables=10, world=asked)
        drowned = {name for name, each in found.items() if each["drowned"]}
        assert "share of ward = C" in drowned
        assert not drowned & {"share of died = yes", "share of died = yes where ward = A"}
