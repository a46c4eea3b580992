"""The accuracy table says what its last run stored, and what it promises holds of those numbers."""

import copy
import importlib.util
import json

import pytest

from pages import DOCS, ROOT

PAGE = DOCS / "reference" / "benchmarks-accuracy.md"
STORED = json.loads((ROOT / "benchmarks" / "accuracy.json").read_text("utf-8"))
WORSE: set[tuple[str, str]] = set()
"""Rows in which a peer is better by more than runs can deceive, and the page says so."""


@pytest.fixture(scope="module")
def table():
    spec = importlib.util.spec_from_file_location(
        "accuracy_page", ROOT / "benchmarks" / "accuracy_page" / "__init__.py"
    )
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_accuracy_page_is_that_of_the_stored_run(table):
    assert table.page(STORED) == PAGE.read_text("utf-8")
    assert STORED["runs"] == 200
    assert set(STORED["confide"]["default"]) == set(table.ROWS)


def test_the_default_is_never_worse_than_the_better_of_pure_and_zcdp(table):
    assert table.worse_than_own(STORED) == []


def test_where_a_peer_is_better_is_known(table):
    assert set(table.worse_than_peers(STORED)) == WORSE


def test_a_curve_of_500_patients_has_a_small_error(table):
    assert STORED["confide"]["default"]["survival-late curve"]["rms"] <= 0.0075


def test_a_peer_that_were_better_would_be_named(table):
    stored = copy.deepcopy(STORED)
    mean = stored["confide"]["default"]["mean mean"]
    mean["error"] = 0.2 * mean["rms"]
    stored["opendp"]["Laplace"]["mean mean"] = mean | {"rms": 0.8 * mean["rms"], "error": 0.0}
    assert ("mean mean", "opendp") not in table.worse_than_peers(stored)  # the run may deceive
    mean["error"] = 0.01 * mean["rms"]
    assert ("mean mean", "opendp") in table.worse_than_peers(stored)
    assert "worse than a peer" in table.page(stored)


def test_a_default_with_the_wrong_noise_would_be_named(table):
    stored = copy.deepcopy(STORED)
    stored["confide"]["default"]["count count"] = stored["confide"]["zcdp"]["count count"]
    stored["noise"]["default"]["count"] = stored["noise"]["zcdp"]["count"]
    assert table.worse_than_own(stored) == ["count count"]
    assert "**It is worse than the better of pure and zcdp**" in table.page(stored)


def test_noise_that_is_three_percent_larger_is_not_the_same(table):
    stored = copy.deepcopy(STORED)
    own = stored["noise"]["default"]["mean"]
    assert table.same_noise(stored, "mean") == "pure"
    own["scales"] = [1.03 * scale for scale in own["scales"]]
    assert table.same_noise(stored, "mean") is None
