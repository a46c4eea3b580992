"""A bound that may leave something of a patient out is told before, with and after the number."""

import csv
import json
import re
from pathlib import Path

import pytest

from command_line import confide
from confide.plans.contribution import question
from confide.plans.estimates import CUT as FLAG
from confide.plans.soundness.cuts import may_cut
from confide.release.certificate.cuts import LIMITED
from confide.release.verify.verify import read_certificate, verify
from confide.report.load import load
from confide.rows.engines.duckdb import open_engine
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Ones
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.source import Source, SourceKind
from issued import issue, signed
from rows_world import KEY, ask, col, dataset, menu, random_database, val
from small_clinic import DATASET, make_clinic


def told_in(certificate):
    """In which fields a certificate says what bounds may leave out."""
    parts = certificate["guarantee"]["contribution-bounds"]
    return {field for part in parts for field in ("stops", "left-out") if field in part}


LEFT_OUT = "what is beyond is left out"
CUT = {
    "visits": {"kind": "count", "table": "visits", "count": "events", "per-patient": {"rows": 2}},
    "costs": {"kind": "sum", "table": "visits", "column": "cost", "per-patient": {"rows": 2}},
    "cost": {
        "kind": "mean", "table": "visits", "column": "cost", "per-patient": {"rows": 1},
        "expect": {"count": 200},
    },
    "middle": {
        "kind": "quantiles", "table": "visits", "column": "cost", "at": ["0.5"], "bins": 10,
        "per-patient": {"rows": 1}, "expect": {"count": 200},
    },
    "wards": {"kind": "histogram", "table": "visits", "by": ["ward"], "per-patient": {"cells": 1}},
    "north": {
        "kind": "proportion", "table": "visits", "of": {"ward": ["north"]},
        "per-patient": {"rows": 1}, "expect": {"count": 200},
    },
    "notes": {
        "kind": "key-selection", "table": "visits", "key": "why", "per-patient": {"cells": 2},
        "share": "0.6",
    },
    "top": {"kind": "top-category", "table": "visits", "by": ["ward"], "per-patient": {"cells": 1}},
}  # fmt: skip
WHOLE = {
    "people": {"kind": "count", "table": "patients"},
    "sexes": {"kind": "histogram", "table": "patients", "by": ["sex"]},
    "age": {"kind": "mean", "table": "patients", "column": "age", "expect": {"count": 200}},
    "visitors": {"kind": "count", "table": "visits"},
    "visitors_by_sex": {"kind": "histogram", "table": "visits", "by": ["sex"]},
    "all_wards": {
        "kind": "histogram", "table": "visits", "by": ["ward"], "per-patient": {"cells": 2}
    },
}  # fmt: skip
WHY = DATASET.replace(
    "      ward: {categories",
    "      why: {from: ward, kind: text}\n      ward: {categories",
).replace("release: {epsilon: 1}, calendar-year: {epsilon: 3}", "release: {epsilon: 9}")


def study(folder, statistics, *, data=WHY):
    clinic = make_clinic(folder, dataset=data)
    clinic.study.write_text(
        json.dumps(
            {
                "study": {"id": "s", "title": "Bounds"},
                "statistics": [{"id": name, **each} for name, each in statistics.items()],
                "spend": {"at-most": {"epsilon": 8}},
            }
        )
    )
    return clinic


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cuts")
    clinic = study(folder / "clinic", CUT | WHOLE)
    ran = confide("run", clinic.study, "--out", folder / "out", "--quiet")
    assert ran.code == 0, ran.err
    return clinic, folder / "out"


def told_of(released, *, names=(*CUT, *WHOLE), field="left-out", phrase=LEFT_OUT, flag=FLAG):
    """For each statistic, whether headline, table, certificate, screen and forecast tell of a
    cut."""
    clinic, out = released
    alone = load(out)  # its tables may stand without the page
    page = (out / "report.html").read_text("utf-8")
    sections = re.split(r'<section aria-labelledby="s\d+">', page)[1:]
    certificate = json.loads((out / "certificate.json").read_text())
    bounds = certificate["guarantee"]["contribution-bounds"]
    certified = {n.partition("/")[0] for b in bounds if field in b for n in b["measurements"]}
    screen = {e["id"]: e["notes"] for e in confide("show", out, "--json").json["tables"]}
    plan = confide("plan", clinic.study, "--json").json["statistics"]
    expected = {each["id"]: each["notes"] for each in plan}
    methods = (out / "methods.md").read_text("utf-8").splitlines()
    lines = [line for line in methods if line.startswith("- **")]
    found = {}
    for name, part, line in zip(names, sections, lines, strict=False):
        headline = re.search(r'class="headline">(.*?)</p>', part, re.DOTALL)[1]
        notes = alone.table(name).notes
        found[name] = {
            "headline": phrase in headline,
            "table": any(phrase in note for note in notes),
            "certificate": name in certified,
            "screen": bool(screen[name]),
            "file": flag in (out / "tables" / f"{name}.csv").read_text("utf-8"),
            "forecast": any(phrase in note for note in expected[name]),
            "methods": phrase in line,
        }
    return found


def test_headline_table_certificate_screen_forecast_and_methods_tell_where_a_bound_may_cut(
    released,
):
    told = told_of(released)
    assert list(told) == [*CUT, *WHOLE]
    silent = [(name, place) for name in CUT for place, tells in told[name].items() if not tells]
    loud = [(name, place) for name in WHOLE for place, tells in told[name].items() if tells]
    assert (silent, loud) == ([], [])


STOPS = "who has more counts as one with so many"
LIMITS = {
    "mean": {"kind": "mean", "table": "patients", "column": "stays", "expect": {"count": 200}},
    "sum": {"kind": "sum", "table": "patients", "column": "stays"},
    "bands": {"kind": "histogram", "table": "patients", "by": ["stay_band"]},
    "exactly": {"kind": "count", "table": "patients", "where": {"stays": [3]}},
    "at_most": {"kind": "count", "table": "patients", "where": {"stays": {"to": 3}}},
    "not_three": {"kind": "count", "table": "patients", "where": {"not": {"stays": [3]}}},
    "rate": {
        "kind": "incidence", "table": "patients", "events": "stays", "person-time": "years", "time": "age",
        "per": 100, "expect": {"count": 200},
    },
    "through": {"kind": "count", "table": "patients", "where": {"later": ["yes"]}},
}  # fmt: skip
NO_LIMITS = {
    "people": {"kind": "count", "table": "patients"},
    "any": {"kind": "count", "table": "patients", "where": {"stays": {"from": 1}}},
    "many": {"kind": "count", "table": "patients", "where": {"stays": {"from": 3}}},
    "few": {"kind": "count", "table": "patients", "where": {"stays": {"to": 2}}},
    "one": {"kind": "count", "table": "patients", "where": {"stays": [0, 1]}},
    "known": {"kind": "count", "table": "patients", "where": {"stays": "known"}},
    "below": {"kind": "histogram", "table": "patients", "by": ["few_stays"]},
}
LIMITED_DATA = WHY.replace(
    "derived:\n",
    "derived:\n  stay_band: {of: stays, bins: [0, 1, 2, 3]}\n"
    "  few_stays: {of: stays, bins: [0, 1, 2]}\n",
).replace(
    "at-most: 3}\n", "at-most: 3}\n  later: {any: visits, where: {stays: [3], ward: [north]}}\n"
)


def test_headline_table_certificate_screen_forecast_and_methods_tell_where_a_count_stops(
    tmp_path,
):
    """Of a condition it is told where numbers from the limit on are not all read alike."""
    clinic = study(tmp_path / "clinic", LIMITS | NO_LIMITS, data=LIMITED_DATA)
    out = tmp_path / "out"
    ran = confide("run", clinic.study, "--out", out, "--quiet")
    assert ran.code == 0, ran.err
    told = told_of(
        (clinic, out), names=(*LIMITS, *NO_LIMITS), field="stops", phrase=STOPS, flag=LIMITED
    )
    silent = [(name, place) for name in LIMITS for place, tells in told[name].items() if not tells]
    loud = [(name, place) for name in NO_LIMITS for place, tells in told[name].items() if tells]
    assert (silent, loud) == ([], [])
    certificate = read_certificate(out / "certificate.json")
    assert told_in(certificate) == {"stops"}
    assert verify(certificate, folder=out).holds


def test_a_count_per_patient_stops_at_its_limit_and_the_numbers_say_so(tmp_path):
    """Patients have 0, 1, 2 or 3 visits, 1.5 on average, and 0.75 where one of each counts."""
    clinic = study(
        tmp_path / "clinic",
        {"stays": {"kind": "mean", "table": "patients", "column": "stays"}},
        data=WHY.replace("at-most: 3", "at-most: 1"),
    )
    ran = confide("run", clinic.study, "--out", tmp_path / "out", "--quiet")
    assert ran.code == 0, ran.err
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    stays, known = certificate["guarantee"]["contribution-bounds"]
    table = (tmp_path / "out" / "tables" / "stays.csv").read_text("utf-8")
    (row,) = csv.DictReader(table.splitlines())
    assert abs(float(row["value"]) - 0.75) < 0.1
    assert "stays at 1" in stays["stops"]["en"]
    assert "stops" not in known
    assert "left-out" not in stays
    assert row["flags"] == LIMITED
    assert "The count stays stops at 1" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_a_certificate_that_tells_of_limits_falsely_does_not_verify(tmp_path):
    more = "  - {id: stays, kind: sum, table: patients, column: stays, error: {within: 90}}\n"
    found = issue(tmp_path, more=more)
    assert told_in(found.certificate) == {"stops"}
    assert verify(found.certificate, folder=found.out).holds
    false = found.certificate
    for each in false["guarantee"]["contribution-bounds"]:
        if "stops" in each:
            each["stops"] = {"en": "Nothing stops.", "zh": "无"}
    assert not verify(signed(false, found.signer), folder=found.out).holds


def test_counts_may_be_too_low_and_other_numbers_differ(released):
    _, out = released
    page = (out / "report.html").read_text("utf-8")
    low, other = (
        f"at most {{}}; {LEFT_OUT}, so numbers may {how}" for how in ("be too low", "differ from")
    )
    assert low.format("2 records") in page
    assert other.format("1 record") in page


def test_the_certificate_tells_of_cuts_in_two_languages_and_verifies(released):
    _, out = released
    certificate = json.loads((out / "certificate.json").read_text())
    cut = [e for e in certificate["guarantee"]["contribution-bounds"] if "left-out" in e]
    assert all(set(each["left-out"]) == {"en", "zh"} for each in cut)
    assert verify(certificate, folder=out).holds


def test_a_certificate_that_tells_of_cuts_falsely_does_not_verify(tmp_path):
    more = (
        "  - {id: stays, kind: count, table: visits, count: events, per-patient: {rows: 2},\n"
        "     error: {within: 60}}\n"
    )
    found = issue(tmp_path, more=more)
    assert told_in(found.certificate) == {"left-out"}
    false = found.certificate
    for each in false["guarantee"]["contribution-bounds"]:
        each["left-out"] = {"en": "Nothing is left out.", "zh": "无"}
    assert not verify(signed(false, found.signer), folder=found.out).holds


def test_the_forecast_says_how_much_a_bound_leaves_out_of_a_declared_shape(tmp_path):
    """Half of the patients have one visit and half have nine: of ten rows, two may keep three."""
    data = WHY.replace("    from: visits.csv", "    from: visits.csv\n    usual-rows: {1: 1, 9: 1}")
    asked = {
        "two": CUT["visits"],
        "all": CUT["visits"] | {"per-patient": {"rows": 9}},
        "keys": CUT["notes"],
    }
    clinic = study(tmp_path, asked, data=data)
    notes = {
        each["id"]: " ".join(each["notes"])
        for each in confide("plan", clinic.study, "--json").json["statistics"]
    }
    assert "about 70 % of what visits holds" in notes["two"]
    assert "about 0 % of what visits holds" in notes["all"]
    assert "up to 70 % of what visits holds" in notes["keys"]
    assert "70 %" in confide("plan", clinic.study).out


def test_a_shape_is_for_planning_and_changes_no_number_that_is_asked(tmp_path):
    plain = study(tmp_path / "plain", {"visits": CUT["visits"]})
    data = WHY.replace("    from: visits.csv", "    from: visits.csv\n    usual-rows: {1: 1, 9: 1}")
    shaped = study(tmp_path / "shaped", {"visits": CUT["visits"]}, data=data)
    bodies = [confide("plan", each.study, "--json").json for each in (plain, shaped)]
    assert bodies[0]["measurements"] == bodies[1]["measurements"]


@pytest.mark.parametrize("shape", ["{0: 1}", "{1: 0}", "{many: 1}", "{2: -1}"])
def test_a_shape_that_is_none_is_refused(tmp_path, shape):
    data = WHY.replace("    from: visits.csv", f"    from: visits.csv\n    usual-rows: {shape}")
    ran = confide("plan", study(tmp_path, {"visits": CUT["visits"]}, data=data).study)
    assert ran.code == 7
    assert "usual-rows" in ran.err


def test_where_nothing_is_told_larger_bounds_keep_nothing_more():
    """Patients per group, of random databases without noise: the words follow from the schema."""
    of, database = dataset(), random_database(5)
    counted = [
        aggregate
        for aggregate in (
            *menu(),
            ask(axes=[col("sex", "person")], bounds=CellBound(max_cells=1)),
            ask(axes=[val("any ß"), col("code")], bounds=CellBound(max_cells=5)),
            ask(axes=[val("any ß"), col("code")], bounds=CellBound(max_cells=1)),
            ask(bounds=CellBound(max_cells=1)),
        )
        if isinstance(aggregate, Aggregate)
        and aggregate.value == Ones()
        and isinstance(aggregate.bounds, CellBound)
        and aggregate.bounds.max_rows_per_cell == 1
    ]
    told = [
        may_cut(question("n", each, dataset=of, counted="persons"), dataset=of) for each in counted
    ]
    wide = [
        Aggregate(
            relation=e.relation, axes=e.axes, value=e.value, bounds=CellBound(max_cells=10**6)
        )
        for e in counted
    ]
    source = Source(kind=SourceKind.FRAMES)
    with open_engine(
        source, base=Path(), dataset=of, hash_key=KEY, frames=database.frames
    ) as engine:
        kept = engine.aggregate(tuple(counted), dataset=of).reveal_to_gate()
        every = engine.aggregate(tuple(wide), dataset=of).reveal_to_gate()
    silent = [(a, b) for a, b, cut in zip(kept, every, told, strict=True) if not cut]
    loud = [(a, b) for a, b, cut in zip(kept, every, told, strict=True) if cut]
    assert len(silent) >= 3
    assert all(a == b for a, b in silent)
    assert any(a != b for a, b in loud)


def test_rows_are_told_of_wherever_a_patient_may_have_several():
    of = dataset()
    several = ask(bounds=RowBound(max_rows=10**6))
    assert may_cut(question("n", several, dataset=of), dataset=of)
    one = ask("person", bounds=RowBound(max_rows=1))
    assert not may_cut(question("n", one, dataset=of), dataset=of)
