"""Effective sample sizes whose Σw² is drowned by the noise of a large bound of weights."""

import numpy as np
import pytest

import confide
from every_kind import dataset, frames

RELEASES = 25


@pytest.mark.parametrize(
    ("kind", "epsilon"), [("weighted-mean", "20"), ("weighted-proportion", "2")]
)
def test_the_interval_of_a_size_that_noise_drowns_holds_it(kind, epsilon, tmp_path):
    described, people = dataset(measure="zcdp"), frames()
    described["tables"]["people"]["columns"]["weight"]["upper"] = 200
    people["people"]["weight"] = weights = 5.0 + people["people"]["pid"] % 20
    truth = weights.sum() ** 2 / (weights**2).sum()
    asked = {"column": "age"} if kind == "weighted-mean" else {"of": {"ill": ["yes"]}}
    sizes = []
    with confide.open(described, frames=people, folder=tmp_path) as ws:
        for run in range(RELEASES):
            study = {"id": f"asked{run}", "kind": kind, "table": "people", **asked}
            sizes += ws.release(ws.plan(study, epsilon=epsilon)).estimates
    sizes = [each for each in sizes if each.quantity == "effective sample size"]
    held = [e.lower <= truth and (e.upper is None or truth <= e.upper) for e in sizes]
    assert all("denominator too small" in each.flags for each in sizes)
    assert np.mean(held) >= 0.7  # a nominal 0.95; it was 0.15 to 0.5
