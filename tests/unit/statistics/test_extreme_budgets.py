"""Every kind is forecast, released and reported at the least and the largest ε that is accepted."""

import pytest

import confide
from confide.drawing.words import load_words
from confide.files.kinds import KINDS
from confide.report.pages.save import contents
from every_kind import GAUSSIAN_ALONE, STUDIES, dataset, frames


def test_every_kind_is_tried() -> None:
    assert set(STUDIES) == set(KINDS)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("measure", ["pure", "zcdp"])
@pytest.mark.parametrize("epsilon", ["699.9", "0.01"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_forecast_released_and_reported(kind, epsilon, measure, tmp_path):
    if measure == "pure" and kind in GAUSSIAN_ALONE:
        pytest.skip("refused before the charge: these are noised with Gaussian noise")
    with confide.open(dataset(measure=measure), frames=frames(), folder=tmp_path) as ws:
        plan = ws.plan({"id": "asked", "kind": kind, **STUDIES[kind]}, epsilon=epsilon)
        ws.forecast(plan)
        release = ws.release(plan)
    keys = [(each.quantity, each.key, each.covers) for each in release.estimates]
    assert len(set(keys)) == len(keys)
    if epsilon == "0.01":  # nothing is known for certain
        shown = [each for each in release.estimates if each.standard_error and not each.flags]
        assert not [each for each in shown if each.lower is not None and each.lower == each.upper]
    assert contents(release, words=load_words("en"))["report.html"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_released_where_there_is_nobody_and_next_to_no_noise(kind, tmp_path):
    nobody = {name: each.iloc[:0] for name, each in frames().items()}
    with confide.open(dataset(measure="zcdp"), frames=nobody, folder=tmp_path) as ws:
        plan = ws.plan({"id": "asked", "kind": kind, **STUDIES[kind]}, epsilon="699.9")
        assert contents(ws.release(plan), words=load_words("en"))["report.html"]


@pytest.mark.parametrize("measure", ["pure", "zcdp"])
def test_a_rate_of_nobody_among_the_people_of_an_area_needs_no_noise(measure, tmp_path):
    nobody = {name: each.iloc[:0] for name, each in frames().items()}
    description = dataset(measure=measure)
    description["spines"]["town"] = {
        "levels": ["ward"],
        "file": "areas.csv",
        "population": "people",
        "source": "atlas",
    }
    (tmp_path / "areas.csv").write_text("ward,people\neast,1000\nwest,1000\nnorth,0\n")
    asked = {"id": "asked", "kind": "area-rate", "table": "people", "spine": "town", "per": 1000}
    with confide.open(description, frames=nobody, folder=tmp_path) as ws:
        found = ws.release(ws.plan(asked, epsilon="699.9")).of("asked")
    east = [each for each in found if each.key == ("east",)]
    assert [each.value for each in east] == [0, 0]
    assert all(0 <= each.upper < 5 for each in east)  # of 1,000 people, where nobody was counted
