"""The record of what a change of structure must not move: it repeats itself, and it tells."""

from fractions import Fraction

import pytest

import confide
from confide.noise.discrete_laplace import DiscreteLaplace

pytest.importorskip("pandas")

from every_kind import STUDIES, dataset, frames
from nothing_moves import EPSILON, recorded, seeded

KINDS = ("histogram", "key-selection", "survival", "linear-regression", "table-1")


def record(kind, folder):
    with seeded(), confide.open(dataset(measure="pure"), frames=frames(), folder=folder) as ws:
        return recorded(
            ws, ws.plan({"id": "asked", "kind": kind, **STUDIES[kind]}, epsilon=EPSILON)
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_repeats_itself(kind, tmp_path):
    first, again = (record(kind, tmp_path / name) for name in "ab")
    assert first == again
    assert {"plan.json", "exact.txt", "payload.json", "estimates.txt"} <= first.keys()
    assert "en/report.html" in first


def test_a_record_tells_that_noise_was_drawn_otherwise(tmp_path, monkeypatch):
    before = record("count", tmp_path / "a")
    real = DiscreteLaplace.randomize

    def moved(self, values, *, entropy):
        return real(DiscreteLaplace(scale=self.scale * Fraction(3)), values, entropy=entropy)

    monkeypatch.setattr(DiscreteLaplace, "randomize", moved)
    after = record("count", tmp_path / "b")
    changed = {name for name in before if before[name] != after[name]}
    assert {"payload.json", "estimates.txt", "en/report.html"} <= changed
    assert not changed & {"plan.json", "exact.txt", "forecast.txt"}
