"""The preview of noise and bias, against simulated years."""

import numpy as np
import pytest

from command_line import confide
from confide.budget.per_patient.preview import Year, best, left_out, outcomes, worst_case
from confide.errors import InvalidParameterError
from confide.privacy.measure import Measure

SKEWED = {1: 240, 2: 60, 4: 30, 12: 20}


def simulated_missing(shares, *, years, seed):
    """How many patients each of twelve releases lacks, on average over simulated years."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate([np.tile(np.arange(12) < k, (n * years, 1)) for k, n in SKEWED.items()])
    there = rng.permuted(rows, axis=1)
    late = there & (np.cumsum(there, axis=1) > shares)
    return late.sum(axis=0) / years


@pytest.mark.parametrize("shares", [1, 3, 8])
def test_the_patients_that_each_release_lacks_are_those_of_simulated_years(shares):
    year = Year(visits=SKEWED, releases=12, cap=0.5, measure=Measure.PURE)
    told = left_out(year, shares=shares).missing
    assert np.allclose(told, simulated_missing(shares, years=400, seed=shares), atol=0.7)


def test_at_counts_near_600_leaving_out_loses_and_near_6_it_gains():
    large = Year(
        visits={k: 10 * n for k, n in SKEWED.items()}, releases=12, cap=0.5, measure=Measure.PURE
    )
    assert round(worst_case(large).rmse) == 34
    assert round(left_out(large, shares=6).rmse) == 142
    assert best(outcomes(large)).shares == 12
    small = Year(visits={1: 24, 2: 6, 4: 3, 12: 2}, releases=12, cap=0.5, measure=Measure.PURE)
    assert worst_case(small).rmse > 7 * best(outcomes(small)).rmse


def test_gaussian_noise_grows_with_the_root_of_the_shares():
    year = Year(visits={1: 10}, releases=12, cap=0.5, measure=Measure.ZCDP)
    one, four = (left_out(year, shares=shares).noise for shares in (1, 4))
    assert (one, four) == pytest.approx((1.0, 2.0))


def test_a_table_that_makes_no_sense_is_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match="1 to 12 releases"):
        Year(visits={13: 1}, releases=12, cap=1.0, measure=Measure.PURE)
    assert Year(visits={1: 0, 2: 3}, releases=3, cap=1.0, measure=Measure.PURE).count == 2
    table = tmp_path / "visits.csv"
    for text in ("releases,patients\n1,many\n", "a,b\n1,2\n", "releases,patients\n1,2\n1,3\n"):
        table.write_text(text)
        assert confide("patients", "preview", table, "--epsilon", "0.5").code == 7
    table.write_text("releases,patients\n1,24\n12,2\n")
    assert confide("patients", "preview", table).code == 7
    figure = tmp_path / "preview.svg"
    ran = confide("patients", "preview", table, "--epsilon", "0.5", "--figure", figure, "--json")
    assert ran.code == 0
    assert ran.json["best"] == 1
    assert figure.read_text().startswith("<svg")
