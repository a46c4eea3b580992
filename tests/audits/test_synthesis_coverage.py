"""Coverage of combined 95 % intervals over many studies whose truth is known; naive ones beside."""

import pytest

from synthesis_coverage import Coverage, study, truth

WANTED, LEAST = 0.95, 0.93


@pytest.mark.audit
@pytest.mark.parametrize(("patients", "runs"), [(1000, 500), (10_000, 150)])
def test_combined_intervals_cover_and_naive_ones_do_not(patients, runs, capsys):
    counted = Coverage()
    for number in range(runs):
        study(patients, number=number, into=counted)
    with capsys.disabled():
        print("\n".join(["", f"{patients} patients, {runs} studies", *counted.lines()]))  # noqa: T201
    assert counted.refused == 0
    error = (WANTED * (1 - WANTED) / runs) ** 0.5
    for name in truth():
        assert counted.held[name] / runs >= LEAST - 3 * error, name
    mean, naive = (
        sum(each.values()) / (runs * len(truth())) for each in (counted.held, counted.naive)
    )
    assert mean >= LEAST
    if patients == 1000:  # of many patients, noise is little beside sampling
        assert naive < mean - 0.05
