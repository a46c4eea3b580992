"""Degree histograms as published: intervals that cover, means of bounded networks, whole
releases."""

import csv
from fractions import Fraction

import pytest

from command_line import confide
from confide.errors import ContractError
from confide.files.study import ask_from
from confide.plans.pricing.calibrate_to_error import ErrorTarget
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.statistics import DegreeHistogram
from networks import network
from noisy_answers import draws, estimate, mechanisms

HISTOGRAM = (120, 900, 1500, 700, 300, 90, 40)
MEAN = sum(k * n for k, n in enumerate(HISTOGRAM)) / sum(HISTOGRAM)
SPEC = DegreeHistogram(id="d", table="contacts", persons="people", at_most=6)


@pytest.mark.parametrize("entity", [Entity.PATIENT, Entity.EDGE])
@pytest.mark.parametrize("measure", Measure)
def test_counts_and_mean_of_a_degree_histogram_are_covered(entity, measure):
    to, runs = network(entity, measure=measure), 2000
    noise = mechanisms(SPEC, to=to, spend=Fraction(1, 2 if measure is Measure.PURE else 20))
    hits = [0, 0]
    for noisy in draws({"degrees": HISTOGRAM}, noise=noise, runs=runs, seed=12):
        *bins, mean = estimate(SPEC, noisy, to=to, noise=noise)
        hits[0] += sum(e.lower <= n <= e.upper for e, n in zip(bins, HISTOGRAM, strict=True))
        hits[1] += mean.lower <= MEAN <= mean.upper
    assert 0.94 <= hits[0] / runs / len(HISTOGRAM) <= 0.975  # the cut at 0 adds to rare degrees
    assert 0.933 <= hits[1] / runs <= 0.967


@pytest.mark.parametrize(
    ("entity", "last", "flag"),
    [(Entity.PATIENT, "6", "projected"), (Entity.EDGE, "6 or more", "capped")],
)
def test_the_last_bin_and_the_mean_say_what_became_of_larger_degrees(entity, last, flag):
    to = network(entity)
    noise = mechanisms(SPEC, to=to, spend=Fraction(100))
    *bins, mean = estimate(SPEC, {"degrees": HISTOGRAM}, to=to, noise=noise)
    assert [e.key[0] for e in bins] == ["0", "1", "2", "3", "4", "5", last]
    assert [e.value for e in bins] == list(HISTOGRAM)
    assert mean.value == pytest.approx(MEAN)
    assert mean.flags == (flag,)
    assert mean.lower <= MEAN <= mean.upper


def test_few_persons_have_no_mean_and_negative_counts_are_shown_as_zero():
    to = network()
    noise = mechanisms(SPEC, to=to, spend=Fraction(1))
    *bins, mean = estimate(SPEC, {"degrees": (30, -4, 0, 0, 0, 0, 0)}, to=to, noise=noise)
    assert (bins[1].value, bins[1].flags) == (0, ("below zero",))
    assert mean.value is None
    assert mean.flags == ("denominator too small", "projected")


def test_without_persons_degrees_begin_at_one():
    to = network(Entity.EDGE)
    spec = DegreeHistogram(id="d", table="contacts", at_most=3)
    noise = mechanisms(spec, to=to, spend=Fraction(1))
    found = next(draws({"degrees": (900, 90, 9)}, noise=noise, runs=1, seed=1))
    assert [e.key[0] for e in estimate(spec, found, to=to, noise=noise)] == [
        "1",
        "2",
        "3 or more",
        "all",
    ]
    assert spec.forecast(noise, dataset=to, level=Fraction(95, 100)).half_width < 20


def test_a_study_names_it_and_refuses_other_bounds():
    item = {
        "id": "d",
        "kind": "degree-histogram",
        "table": "contacts",
        "at-most": 6,
        "persons": "people",
    }
    assert ask_from(item, dataset=network()).statistic == SPEC
    asked = ask_from(item | {"error": {"within": "20"}}, dataset=network())
    assert isinstance(asked.error, ErrorTarget)
    with pytest.raises(ContractError, match="bounded by at-most alone"):
        ask_from(item | {"per-patient": {"rows": 3}}, dataset=network())
    with pytest.raises(ContractError, match="at-most"):
        ask_from({k: v for k, v in item.items() if k != "at-most"}, dataset=network())


@pytest.mark.parametrize("unit", ["patient", "edge"])
def test_a_release_of_a_contact_network_passes_the_gate_and_verifies(tmp_path, unit):
    with (tmp_path / "contacts.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["person_id", "contact_id"])
        writer.writerows((i, (i + step) % 400) for i in range(400) for step in (1, 2))
    (tmp_path / "persons.csv").write_text("person_id\n" + "".join(f"{i}\n" for i in range(450)))
    (tmp_path / "dataset.yaml").write_text(f"""
dataset: {{id: ring, lineage: ring, snapshot: "1"}}
source: {{kind: csv, path: .}}
protects: {{unit: {unit}, id: person_id, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 20}}}}
tables:
  persons: {{from: persons.csv, rows-per-patient: 1, columns: {{}}}}
  contacts: {{from: contacts.csv, other-id: contact_id, columns: {{}}}}
""")
    (tmp_path / "study.yaml").write_text("""
study: {id: ring}
statistics: [{id: degrees, kind: degree-histogram, table: contacts, persons: persons, at-most: 6}]
spend: {at-most: {epsilon: 10}}
""")
    ran = confide("run", tmp_path / "study.yaml", "--out", tmp_path / "out", "--json")
    assert ran.code == 0, ran.err
    assert confide("verify", tmp_path / "out").code == 0
    with (tmp_path / "out" / "tables" / "degrees.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    values = [float(row["value"]) for row in rows]
    assert abs(values[4] - 400) < 30
    assert abs(values[0] - 50) < 30
    html = (tmp_path / "out" / "report.html").read_text()
    assert "mean number of contacts" in html
    refused = confide("plan", _count(tmp_path))
    assert refused.code == (7 if unit == "edge" else 0)
    prepared = confide("prepare", tmp_path / "dataset.yaml")
    assert prepared.code == (7 if unit == "edge" else 0), prepared.err


def _count(folder):
    path = folder / "count.yaml"
    path.write_text(
        "study: {id: c}\nstatistics: [{id: n, kind: count, table: persons}]\n"
        "spend: {at-most: {epsilon: 1}}\n"
    )
    return path
