"""The headline of a number that counts somebody twice, or that has no interval."""

import pytest

import confide
from confide.drawing.words import load_words
from confide.report.wording.section import section
from confide.statistics.running_counts.spec import AGAIN

WORDS = load_words("en")
VISITS = """\
dataset: {id: h, lineage: h, snapshot: "1"}
source: {kind: csv, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {lifetime: {epsilon: 1000}}
tables:
  visits: {from: v.csv, columns: {day: {kind: date, lower: 2020-01-01, upper: 2024-12-31}}}
"""
FOLLOWED = """\
dataset: {id: h, lineage: h, snapshot: "1"}
source: {kind: csv, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {lifetime: {epsilon: 1000}}
tables:
  p:
    from: p.csv
    rows-per-patient: 1
    columns:
      sex: {categories: [female, male]}
      fu: {kind: number, lower: 0, upper: 4000, unit: d}
      died: {categories: ["yes", "no"]}
"""
PEOPLE = 100


def released(folder, spec, *, epsilon):
    with confide.open(folder / "dataset.yaml") as ws:
        release = ws.release(ws.plan(spec, epsilon=epsilon))
    return release, section(release, release.plan.statistics[0], words=WORDS)


def visits(folder):
    (folder / "dataset.yaml").write_text(VISITS)
    rows = [f"{i},{year}-03-01" for i in range(PEOPLE) for year in range(2020, 2025)]
    (folder / "v.csv").write_text("\n".join(["pid,day", *rows]) + "\n")


@pytest.mark.parametrize(("cells", "again"), [(1, False), (5, True)])
def test_a_running_count_in_which_a_patient_counts_several_times_says_so(tmp_path, cells, again):
    visits(tmp_path)
    spec = {"id": "c", "kind": "running-counts", "table": "visits", "over": "day", "every": "year"}
    release, said = released(tmp_path, spec | {"per-patient": {"cells": cells}}, epsilon=60)
    last = [e for e in release.estimates if e.quantity == "running count"][-1]
    assert last.value == pytest.approx(PEOPLE * cells, abs=8)
    assert (AGAIN in last.flags) is again
    assert ("these are not different patients" in said.headline) is again
    counts = [e for e in release.estimates if e.quantity == "count"]
    assert not any(AGAIN in e.flags for e in counts)


def test_a_bound_that_holds_every_period_leaves_nothing_out(tmp_path):
    visits(tmp_path)
    spec = {"id": "c", "kind": "running-counts", "table": "visits", "over": "day", "every": "year"}
    for cells, cut in ((4, True), (5, False)):
        release, _ = released(tmp_path, spec | {"per-patient": {"cells": cells}}, epsilon=10)
        flags = {flag for each in release.estimates for flag in each.flags}
        assert ("rows beyond the bound are left out" in flags) is cut


def test_no_headline_prints_an_interval_that_is_not_there(tmp_path):
    (tmp_path / "dataset.yaml").write_text(FOLLOWED)
    rows = [
        f"{i},{('female', 'male')[i % 2]},{i * 7 % 900},{'yes' if i % 4 else 'no'}"
        for i in range(150)
    ]
    (tmp_path / "p.csv").write_text("\n".join(["pid,sex,fu,died", *rows]) + "\n")
    spec = {"kind": "incidence", "table": "p", "time": "fu", "of": {"died": ["yes"]}, "per": 1000}
    told = []
    for number in range(100):  # about one in eight has an end that is not there
        asked = spec | {"id": f"r{number}", "by": ["sex"] if number % 2 else []}
        told.append(released(tmp_path, asked, epsilon="0.5")[1].headline)
        if number > 8 and any("flagged" in text for text in told):
            break
    assert not any("nan" in text or "inf" in text for text in told)
    assert any("flagged" in text for text in told)
