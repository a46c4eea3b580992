"""Calibration plot, decision curve and subgroups of a model, in the report and in its card."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from browser import browser, measured
from confide.drawing.words import load_words
from confide.plans.rounds.held_out import RECALIBRATED
from confide.report.charts.chart import evaluations
from confide.report.models.model_card import model_card
from confide.report.pages.save import contents
from confide.workspace import open_workspace
from valid_charts import valid

N = 12_000
WORDS = load_words("en")
DATASET = {
    "dataset": {"id": "figures", "lineage": "figures", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "person_id", "adjacency": "add-remove"},
    "accounting": {"measure": "zcdp", "delta": "1e-6"},
    "caps": {"lifetime": {"epsilon": "20"}},
    "tables": {
        "people": {
            "rows-per-patient": "1",
            "columns": {
                "age": {"kind": "number", "lower": "0", "upper": "100"},
                "sex": {"categories": ["female", "male"]},
                "site": {"categories": ["North", "South <&>", "Islands"]},
                "ill": {"categories": ["no", "yes"]},
            },
        }
    },
}
SPEC = {
    "id": "risk",
    "kind": "logistic-regression",
    "table": "people",
    "of": {"ill": ["yes"]},
    "covariates": ["age", "sex"],
    "hold-out": "0.4",
    "subgroups": ["sex", "site"],
    "recalibrate": "line",
}


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """A release with all of it, one without subgroups, one that held nobody out, one of noise."""
    rng = np.random.default_rng(0)
    age, sex = rng.integers(0, 100, N), rng.choice(["female", "male"], N)
    site = rng.choice(["North", "South <&>", "Islands"], N, p=[0.7, 0.29, 0.01])
    eta = (age - 60) / 15 + 0.8 * (sex == "male")
    ill = np.where(rng.random(N) < 1 / (1 + np.exp(-eta)), "yes", "no")
    frame = pa.table({"person_id": np.arange(N), "age": age, "sex": sex, "site": site, "ill": ill})
    plain = {k: v for k, v in SPEC.items() if k not in ("subgroups", "recalibrate")}
    bare = {k: v for k, v in plain.items() if k != "hold-out"}
    with open_workspace(
        DATASET, frames={"people": frame}, folder=tmp_path_factory.mktemp("f")
    ) as ws:
        return [
            ws.release(ws.plan(spec, epsilon=epsilon))
            for spec, epsilon in ((SPEC, "4"), (plain, "2"), (bare, "1"), (SPEC, "0.02"))
        ]


def drawn(release):
    return evaluations(release, release.plan.statistics[0], words=WORDS)


def rows_of(figure):
    found = []

    def walk(node):
        if isinstance(node, dict):
            if isinstance(node.get("values"), list):
                found.extend(row for row in node["values"] if isinstance(row, dict))
            for inner in node.values():
                walk(inner)
        elif isinstance(node, list):
            for inner in node:
                walk(inner)

    walk(valid(figure.chart))
    return found


def test_a_calibration_plot_has_published_points_with_intervals_and_the_diagonal(releases):
    rows = rows_of(drawn(releases[1])["calibration"])
    shares = [
        e
        for e in releases[1].of("risk")
        if e.quantity == "observed share" and e.key[0].startswith("risk") and e.value is not None
    ]
    points = [(row["value"], row["low"], row["high"]) for row in rows if "series" in row]
    assert list(dict.fromkeys(points)) == [(e.value, e.lower, e.upper) for e in shares]
    assert len(points) > 5
    ends = [row for row in rows if row.keys() == {"predicted", "value"}]
    assert all(row["predicted"] == row["value"] for row in ends)
    bars = [row for row in rows if "height" in row]
    counts = {e.key[0]: e.value for e in releases[1].of("risk") if e.quantity == "count"}
    held = sum(v for key, v in counts.items() if key.startswith("risk"))
    assert sum(100 * row["height"] * (row["to"] - row["from"]) for row in bars) == pytest.approx(
        held, rel=0.02
    )


def test_a_decision_curve_compares_the_model_with_treating_all_and_nobody(releases):
    rows = [row for row in rows_of(drawn(releases[1])["benefit"]) if "series" in row]
    by = {
        name: [row for row in rows if row["series"] == name] for name in {r["series"] for r in rows}
    }
    assert by.keys() == {"by the model", "treat all", "treat nobody"}
    (share,) = (
        e
        for e in releases[1].of("risk")
        if (e.quantity, e.key) == ("observed share", ("held out",))
    )
    for row in by["treat all"]:
        odds = row["risk"] / (1 - row["risk"])
        assert row["value"] == pytest.approx(share.value - (1 - share.value) * odds)
        assert row["low"] <= row["value"] <= row["high"]
    published = [e.value for e in releases[1].of("risk") if e.quantity == "net benefit"]
    assert {row["value"] for row in by["by the model"]} >= set(published)
    assert {row["value"] for row in by["treat nobody"]} == {0.0}


def test_subgroups_that_are_too_small_have_words_and_no_number(releases):
    rows = rows_of(drawn(releases[0])["subgroups"])
    islands = [row for row in rows if row.get("group") == "site: Islands"]
    assert len(islands) == 2
    assert all(row["value"] is None and row["missing"] == "too few" for row in islands)
    assert all(math.isfinite(row["low"]) for row in rows if row.get("group") == "sex: male")


def test_figures_of_a_model_are_files_and_parts_of_the_report_with_alternatives(releases):
    files = contents(releases[0], words=WORDS)
    names = {f"figures/risk.{name}.svg" for name in ("calibration", "benefit", "subgroups")}
    assert names <= files.keys()
    html = files["report.html"].decode()
    alternatives = re.findall(r'role="img" aria-label="([^"]*)"', html)
    assert sum("Calibration: " in text and "Slope" in text for text in alternatives) == 1
    assert sum("treating nobody 0" in text for text in alternatives) == 1
    assert html.count("site: Islands") > 3  # in the table too, which leaves out lines by risk
    assert not re.search(r">risk 0", html)
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    assert "South &lt;&amp;&gt;" in html
    assert "South <&>" not in html


def test_a_calibration_plot_shows_the_final_model_with_its_measures_inside(releases):
    found = {(e.quantity, e.key[0]): e for e in releases[0].of("risk")}
    rows = rows_of(drawn(releases[0])["calibration"])
    after = {e.value for (quantity, _), e in found.items() if quantity == "recalibrated risk"}
    assert {row["predicted"] for row in rows if "series" in row} <= after
    inside = [row["text"] for row in rows if "text" in row]
    assert [text.split()[0] for text in inside] == ["C", "slope", "intercept"]
    slope = found["calibration slope", RECALIBRATED].value
    assert float(inside[1].split()[1]) == pytest.approx(slope, rel=0.06)


def test_a_browser_lays_out_figures_of_a_model_without_overlaps(releases, tmp_path):
    page = tmp_path / "report.html"
    page.write_bytes(contents(releases[0], words=WORDS)["report.html"])
    with browser() as window:
        for width, media in ((390, "screen"), (1200, "screen"), (703, "print")):
            assert measured(window, page, width=width, media=media) == []


def test_a_card_shows_the_model_before_and_after_with_figures_and_subgroups(releases):
    card = model_card(releases[0], words=WORDS, folder="../out/figures")
    for name in ("calibration", "benefit", "subgroups"):
        assert re.search(
            rf"^!\[[^\]]+\]\(\.\./out/figures/risk\.{name}\.svg\)$", card, re.MULTILINE
        )
    assert "| calibration slope |" in card
    assert "| calibration slope, recalibrated |" in card
    assert "neither evaluation is flattered" in card
    assert re.search(r"^\| sex: female \| .* to .* \| 0\.\d+ \(.*\) \|", card, re.MULTILINE)
    assert re.search(r"^\| site: Islands \| .* \| — \(too few held out\)", card, re.MULTILINE)


def test_recalibrated_coefficients_are_those_that_predict_moved_by_the_line(releases):
    by = {(e.quantity, e.key[0]): e.value for e in releases[0].of("risk")}
    intercept = by["recalibration intercept", RECALIBRATED]
    slope = by["recalibration slope", RECALIBRATED]
    centre = next(k for q, k in by if q == "prediction coefficient")
    for (quantity, key), value in by.items():
        if quantity == "recalibrated coefficient":
            moved = slope * by["prediction coefficient", key] + intercept * (key == centre)
            assert value == pytest.approx(moved)


def test_nobody_held_out_or_too_few_of_them_is_no_figure(releases):
    assert drawn(releases[2]) == {}
    assert drawn(releases[3]) == {}
    card = model_card(releases[3], words=WORDS)
    assert "![" not in card
    assert "too few held out" in card
    json.dumps([e.value for e in releases[3].of("risk")], allow_nan=False)


def test_a_model_of_counts_has_observed_over_expected_events_by_predicted_rate(tmp_path):
    rng = np.random.default_rng(3)
    age = rng.integers(0, 100, 9_000)
    visits = np.minimum(rng.poisson(np.exp((age - 50) / 30)), 5)
    frame = pa.table({"person_id": np.arange(9_000), "age": age, "visits": visits})
    columns = {
        "age": {"kind": "number", "lower": "0", "upper": "100"},
        "visits": {"kind": "number", "lower": "0", "upper": "5"},
    }
    tables = {"people": {"rows-per-patient": "1", "columns": columns}}
    spec = {
        "id": "visits",
        "kind": "poisson-regression",
        "table": "people",
        "events": "visits",
        "covariates": ["age"],
        "hold-out": "0.4",
    }
    with open_workspace(
        {**DATASET, "tables": tables}, frames={"people": frame}, folder=tmp_path
    ) as ws:
        release = ws.release(ws.plan(spec, epsilon="3"))
    figure = drawn(release)["calibration"]
    ratios = [e for e in release.of("visits") if e.quantity == "observed to expected"]
    rows = [row for row in rows_of(figure) if "group" in row]
    assert {row["value"] for row in rows} == {e.value for e in ratios}
    assert len(ratios) > 4
    assert 0.85 < ratios[0].lower < 1.1 < 1.2 * ratios[0].upper
    assert "Slope of the calibration line" in figure.alt
    (rate,) = (
        e for e in release.of("visits") if e.key == ratios[3].key and e.quantity == "observed rate"
    )
    assert rate.value == pytest.approx(ratios[3].value * float(rate.key[0].split()[-1]), rel=0.01)


def test_a_house_rule_withholds_lines_by_risk_and_figures_go_without_them(releases):
    release = releases[1]
    kept = tuple(
        replace(e, value=None, lower=None, upper=None, standard_error=None, flags=("small cell",))
        if e.key[0].startswith("risk ") and " to " in e.key[0]
        else e
        for e in release.estimates
    )
    withheld = replace(release, estimates=kept)
    assert drawn(withheld).keys() == {"benefit"}
    card = model_card(withheld, words=WORDS)
    assert "— (small cell)" in card
    shown = [e.key for e in release.of("risk") if e.quantity == "observed share" and e.value]
    some = tuple(
        full if full.key == shown[-2] else e
        for full, e in zip(release.estimates, kept, strict=True)
    )
    assert "calibration" in drawn(replace(release, estimates=some))


MORE_COLUMNS = {
    "age": {"kind": "number", "lower": "0", "upper": "100"},
    "sex": {"categories": ["female", "male"]},
    "visits": {"kind": "number", "lower": "0", "upper": "5"},
    "stage": {"categories": ["none", "mild", "late"]},
    "days": {"kind": "number", "lower": "0", "upper": "365"},
    "died": {"categories": ["no", "yes"]},
    "sbp": {"kind": "number", "lower": "80", "upper": "200"},
}
JUDGED = {"hold-out": "0.4", "recalibrate": "line", "subgroups": ["sex"]}
FAMILIES = {
    "rates": {"kind": "poisson-regression", "events": "visits", **JUDGED},
    "hazards": {
        "kind": "hazard-regression",
        "time": "days",
        "of": {"died": ["yes"]},
        "edges": [0, 90, 180, 360],
        **JUDGED,
    },
    "classes": {"kind": "multinomial-regression", "outcome": "stage", **JUDGED},
    "line": {"kind": "linear-regression", "outcome": "sbp", "subgroups": ["sex"]},
}


@pytest.fixture(scope="module")
def families(tmp_path_factory):
    """A release of each family that is judged by subgroups."""
    rng = np.random.default_rng(5)
    age, sex = rng.integers(0, 101, N), rng.choice(["female", "male"], N)
    risk = (age - 50) / 30 + 0.5 * (sex == "male")
    days = np.minimum(rng.exponential(500, N) / np.exp(risk), rng.uniform(0, 900, N))
    stage = np.searchsorted([0, 1], risk + rng.logistic(size=N))
    given = {
        "age": age,
        "sex": sex,
        "visits": np.minimum(rng.poisson(np.exp(risk) / 2), 5),
        "stage": np.array(["none", "mild", "late"])[stage],
        "days": np.minimum(np.ceil(days), 365).astype(int),
        "died": np.where((days < 365) & (rng.random(N) < 0.7), "yes", "no"),
        "sbp": np.clip(rng.normal(130 + 8 * risk, 10), 80, 200).astype(int),
    }
    frame = pa.table({"person_id": np.arange(N)} | given)
    tables = {"people": {"rows-per-patient": "1", "columns": MORE_COLUMNS}}
    dataset = {**DATASET, "tables": tables, "caps": {"lifetime": {"epsilon": "50"}}}
    folder = tmp_path_factory.mktemp("families")
    with open_workspace(dataset, frames={"people": frame}, folder=folder) as ws:
        asked = {
            name: {"id": "m", "table": "people", "covariates": ["age"], **spec}
            for name, spec in FAMILIES.items()
        }
        return {
            name: ws.release(ws.plan(spec, epsilon="9" if name == "classes" else "4"))
            for name, spec in asked.items()
        }


@pytest.mark.parametrize("name", FAMILIES)
def test_subgroups_of_every_family_are_a_figure_of_published_numbers(families, name):
    release = families[name]
    figure = drawn(release)["subgroups"]
    rows = [row for row in rows_of(figure) if "group" in row]
    published = {e.value for e in release.of("m")}
    assert {row["value"] for row in rows} <= published
    assert any("sex: male" in row["group"] and row["value"] is not None for row in rows)
    assert figure.alt.startswith("Subgroups: ")
    files = contents(release, words=WORDS)
    assert "figures/m.subgroups.svg" in files
    told = next(text for path, text in files.items() if path.endswith(".csv"))
    assert b"sex: male" in told


@pytest.mark.parametrize("name", ["rates", "hazards"])
def test_a_calibration_plot_of_rates_holds_no_line_of_subgroups(families, name):
    figure = drawn(families[name])["calibration"]
    groups = [row.get("group", "") for row in rows_of(figure)]
    assert not any("sex" in group or group == "recalibrated" for group in groups)
