"""Coverage of combined 95 % intervals over many studies whose truth is known; naive ones beside."""

import pytest

from synthesis_coverage import WORLDS, Coverage, study

WANTED, LEAST = 0.95, 0.93


@pytest.mark.audit
@pytest.mark.parametrize(
    ("world", "patients", "runs"),
    [
        ("plain", 1000, 500),
        ("plain", 10_000, 150),
        ("little", 1000, 200),
        ("hard", 10_000, 100),
    ],
)
def test_combined_intervals_cover_and_naive_ones_do_not(world, patients, runs, capsys):
    counted = Coverage(world=WORLDS[world])
    for number in range(runs):
        counted.add(study(patients, number=number, world=WORLDS[world]))
    with capsys.disabled():
        print("\n".join(["", f"{world}, {patients} patients, {runs} studies", *counted.lines()]))  # noqa: T201
    for name, told in counted.told.items():
        error = (WANTED * (1 - WANTED) / told) ** 0.5
        assert counted.held[name] / told >= LEAST - 3 * error, name
    mean, naive = counted.share(counted.held), counted.share(counted.naive)
    assert mean >= LEAST
    if patients == 1000:  # of many patients, noise is little beside sampling
        assert naive < mean - 0.05
