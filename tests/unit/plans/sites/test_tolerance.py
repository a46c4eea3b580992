"""What a federation withstands: thresholds between their limits, and nothing beyond."""

import pytest

from confide.errors import InvalidParameterError
from confide.plans.sites.tolerance import Tolerance, least_threshold


@pytest.mark.parametrize(
    ("n", "d", "c", "least", "most", "honest"),
    [(3, 0, 1, 3, 3, 2), (5, 1, 1, 4, 4, 3), (10, 2, 1, 6, 8, 7), (20, 4, 4, 13, 16, 12)],
)
def test_thresholds_are_between_their_limits(n, d, c, least, most, honest):
    assert least_threshold(sites=n, colluders=c) == least
    for threshold in range(least, most + 1):
        held = Tolerance(sites=n, drops=d, colluders=c, threshold=threshold)
        assert (held.least_alive, held.honest) == (n - d, honest)
        assert 2 * threshold > n + c
    for threshold in (least - 1, most + 1):
        with pytest.raises(InvalidParameterError, match=f"from {least} to {most}"):
            Tolerance(sites=n, drops=d, colluders=c, threshold=threshold)


@pytest.mark.parametrize(
    ("n", "d", "c", "t"),
    [(2, 0, 1, 2), (3, 1, 1, 2), (4, 0, 0, 3), (4, -1, 1, 3), (201, 0, 1, 150), (4, 0, 3, 4)],
)
def test_what_would_protect_nobody_is_refused(n, d, c, t):
    with pytest.raises(InvalidParameterError):
        Tolerance(sites=n, drops=d, colluders=c, threshold=t)


def test_numbers_of_sites_are_whole():
    with pytest.raises(InvalidParameterError, match="whole"):
        Tolerance(sites=5, drops=True, colluders=1, threshold=4)
