"""What stands in the way of a run is said last: a cap, and what would fit; a source that is away."""

import re

import pytest

from command_line import confide
from small_clinic import DATASET, make_clinic

SMALL = DATASET.replace("release: {epsilon: 1}", "release: {epsilon: 0.02}")
STUDY = """study: {{id: wide}}
statistics:
  - {{id: n, kind: count, table: patients, error: {{within: {0}}}}}
  - {{id: m, kind: count, table: patients, where: {{sex: [female]}}, error: {{within: {1}}}}}
"""
FITS = re.compile(r"About ([\d.]+) times the errors would fit")


@pytest.mark.parametrize("measure", ["zcdp", "pure"])
@pytest.mark.parametrize("within", [(30, 60), (90, 500)])
def test_errors_as_wide_as_a_plan_says_fit_and_narrower_ones_do_not(tmp_path, measure, within):
    delta = ", delta: 1e-6" if measure == "zcdp" else ""
    dataset = re.sub(r"measure: zcdp, delta: 1e-6", f"measure: {measure}{delta}", SMALL)
    clinic = make_clinic(tmp_path / "clinic", dataset=dataset)

    def planned(times):
        clinic.study.write_text(STUDY.format(*(round(times * each, 4) for each in within)))
        return confide("plan", clinic.study)

    told = planned(1)
    assert told.code == 5
    said = " ".join(told.err.split())
    assert "a cap would be passed (release" in said
    wider = float(FITS.search(said)[1])
    assert planned(wider * 1.02).code == 0
    assert planned(wider * 0.97).code == 5


def test_a_plan_ends_with_why_the_source_cannot_be_read_and_that_a_run_is_refused(tmp_path):
    clinic = make_clinic(tmp_path / "clinic")
    assert "would be refused" not in confide("plan", clinic.study).err
    text = clinic.dataset.read_text()
    clinic.dataset.write_text(text.replace("from: patients.csv", "from: nowhere.csv"))
    ran = confide("plan", clinic.study)
    assert ran.code == 0, ran.err
    said = " ".join(ran.err.split())
    assert "A run would be refused, free of charge." in said
    assert "nowhere.csv" in said
    assert confide("run", clinic.study, "--out", tmp_path / "out", "--quiet").code != 0
    spent = confide("ledger", "show", clinic.dataset, "--json").json
    assert not spent["entries"]
