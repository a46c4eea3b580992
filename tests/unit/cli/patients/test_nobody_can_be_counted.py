"""Under caps that leave patients out, a release that by public amounts counts nobody is refused."""

import datetime as dt
import re
from pathlib import Path

import pytest

from command_line import confide
from confide.errors import BudgetExhaustedError
from confide.privacy.individual import FEMTO
from confide.release import left_out
from confide.workspace import open_workspace
from patients_world import write_hospital

NEXT_YEAR = f"{dt.datetime.now(dt.UTC).year + 1}-01-01"
KEYS = "{id: k, kind: key-selection, table: visits, key: note, per-patient: {cells: 1}}"
COUNT = "{id: n, kind: count, table: visits}"
SUM = "{id: s, kind: sum, table: visits, column: cost, per-patient: {rows: 4}}"
WARDS = "{id: w, kind: histogram, table: visits, by: [ward], per-patient: {cells: 1, rows: 1}}"
PERSONS = "{id: p, kind: count, table: people}"
MEAN = "{id: m, kind: mean, table: visits, column: cost, per-patient: {rows: 1}}"


@pytest.fixture
def at(tmp_path, monkeypatch):
    """A hospital whose patients may be charged 100 a year; one selection charged everybody 60."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    hospital(tmp_path)
    study("k", KEYS, epsilon=60)
    assert confide("run", "k.yaml", "--out", "k").code == 0
    return tmp_path


def hospital(folder, **how):
    write_hospital(folder, **{"cap": 'epsilon: "100"', "life": 'epsilon: "1000"'} | how)
    if how.get("measure") == "zcdp":
        return
    for name, more in (("policy.yaml", "selection-delta: 1e-6"), ("dataset.yaml", "delta: 1e-6")):
        text = (folder / name).read_text().replace("{measure: pure}", f"{{measure: pure, {more}}}")
        (folder / name).write_text(text)


def study(name, *statistics, **most):
    ((unit, amount),) = most.items()
    asked = "".join(f"  - {each}\n" for each in statistics)
    text = f"study: {{id: {name}, title: {name}}}\nstatistics:\n{asked}"
    Path(f"{name}.yaml").write_text(text + f'spend: {{at-most: {{{unit}: "{amount}"}}}}\n')


def refused(name):
    """Plan and run a study that is refused; return the words, the same of both."""
    before = rows()
    planned, body = confide("plan", f"{name}.yaml"), confide("plan", f"{name}.yaml", "--json")
    ran = confide("run", f"{name}.yaml", "--out", f"out-{name}")
    assert (planned.code, body.code, ran.code) == (5, 5, 5), (planned.err, ran.err)
    told = body.json["refusal"]["message"]
    words = " ".join(told.split())
    assert words in " ".join(planned.out.split())
    said = " ".join(ran.err.replace("→", "").split())
    assert words in said
    assert body.json["fits"] is False
    assert rows() == before, "nothing was charged or recorded"
    return told


def rows():
    return confide("ledger", "verify", "--json").json["rows"]


def test_a_plan_that_charges_everybody_more_than_is_left_says_what_the_run_will_say(at):
    study("k2", KEYS.replace("cells: 1", "cells: 2"), epsilon=60)
    told = refused("k2")
    assert told.startswith(
        "The cap annual has 40 left after what every patient was charged, and this plan charges "
        "every patient 60. "
    )
    assert f"it fits from {NEXT_YEAR} on" in told


def test_a_count_that_charges_whoever_is_counted_more_than_is_left_is_refused(at):
    study("q", COUNT, epsilon=45)
    told = refused("q")
    assert "whoever is counted at least 45: nobody would be" in told
    assert "The cap annual has 40 left" in told
    assert f"it fits from {NEXT_YEAR} on" in told


def test_what_fits_to_the_last_step_is_released(at):
    study("q", COUNT, epsilon=40)
    assert confide("plan", "q.yaml").code == 0
    assert confide("run", "q.yaml", "--out", "q").code == 0
    study("more", PERSONS, epsilon="40.000000001")
    refused("more")


def test_two_numbers_of_the_same_rows_are_paid_for_together(at):
    study("both", COUNT, COUNT.replace("id: n", "id: again"), epsilon=50)
    assert "at least 50" in refused("both")
    study("wards", COUNT, WARDS, epsilon=50)
    told = refused("wards")
    assert "whoever is counted in 'w' at least 50" in told  # a patient without a ward is in 'n'
    study("mixed", COUNT, PERSONS, epsilon=50)
    assert confide("plan", "mixed.yaml").code == 0, "a patient may be in one of the two"


def test_a_statistic_in_which_nobody_can_be_counted_is_named(at):
    persons, visits = PERSONS.replace("}", ", share: 0.8}"), COUNT.replace("}", ", share: 0.2}")
    study("some", visits, persons, epsilon=60)
    told = refused("some")
    assert "whoever is counted in 'p' at least 48" in told
    assert "nobody would be" in told
    study("all", visits, persons, epsilon=300)
    assert "whoever is counted at least 60" in refused("all")


def test_a_mean_charges_each_row_by_its_bounds_and_a_sum_may_charge_little(at):
    study("m", MEAN, epsilon=45)
    assert "at least 45" in refused("m")
    study("s", SUM, epsilon=45)
    assert confide("plan", "s.yaml").code == 0, "a small cost charges little"


def test_what_was_released_is_delivered_again_whatever_is_left(at):
    study("q", COUNT, epsilon=30)
    assert confide("run", "q.yaml", "--out", "q").code == 0
    study("k3", KEYS.replace("cells: 1", "cells: 3"), epsilon=40)
    assert confide("run", "k3.yaml", "--out", "k3").code == 0
    assert confide("ledger", "show", "--json").json["patient-caps"][0]["left"] == "0"
    for name in ("q", "k", "k3"):
        assert confide("plan", f"{name}.yaml").code == 0
        assert confide("run", f"{name}.yaml", "--out", f"{name}-again").code == 0
    assert confide("run", "q.yaml", "--out", "anew", "--again", "--request", "anew").code == 5


def test_ledger_show_tells_of_each_cap_that_leaves_patients_out(at):
    (cap,) = confide("ledger", "show", "--json").json["patient-caps"]
    assert cap == {
        "cap": "annual", "letter": "ε", "window": "calendar-year", "limit": "100",
        "kept-to": "100", "everybody": "60", "left": "40", "epsilon": {},
    }  # fmt: skip
    shown = confide("ledger", "show").out
    assert re.search(r"annual\s+calendar year\s+ε 100\s+60\s+40", shown)


def test_what_everybody_was_charged_is_the_same_whoever_is_in_the_data(tmp_path, monkeypatch):
    shown = []
    for name, patients in (("many", 40), ("few", 3)):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        hospital(tmp_path / name, patients=patients)
        study("a", SUM, epsilon=90)
        study("b", KEYS, epsilon=30)
        study("c", COUNT, epsilon=75)
        for each in "ab":
            assert confide("run", f"{each}.yaml", "--out", each).code == 0
        assert confide("ledger", "show", "--json").json["patient-caps"][0]["everybody"] == "30"
        shown.append(confide("plan", "c.yaml", "--json").json["refusal"])
    assert shown[0] == shown[1] is not None


def test_what_everybody_was_charged_needs_no_membership_file(at):
    for file in (at / ".confide" / "patients").rglob("*"):
        if file.is_file():
            file.unlink()
    assert confide("ledger", "show", "--json").json["patient-caps"][0]["everybody"] == "60"
    study("q", COUNT, epsilon=45)
    assert confide("plan", "q.yaml").code == 5


def test_under_substitution_what_is_kept_to_stands_beside_the_limit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hospital(tmp_path, adjacency="substitute")
    study("k", KEYS, epsilon=30)
    assert confide("run", "k.yaml", "--out", "k").code == 0
    (cap,) = confide("ledger", "show", "--json").json["patient-caps"]
    assert (cap["limit"], cap["kept-to"], cap["everybody"], cap["left"]) == (
        "100",
        "50",
        "30",
        "20",
    )
    assert "add up to 50" in confide("ledger", "show").out
    study("q", COUNT, epsilon=45)
    assert "has 20 left" in refused("q")


def test_under_zcdp_epsilon_stands_beside_what_is_left(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hospital(tmp_path, measure="zcdp", cap='rho: "1"', life='rho: "100"')
    study("k", KEYS, rho="0.6")
    assert confide("run", "k.yaml", "--out", "k").code == 0
    study("q", COUNT, rho="0.5")
    assert refused("q").count("in ε: requested") == 1
    (cap,) = confide("ledger", "show", "--json").json["patient-caps"]
    assert (cap["everybody"], cap["left"]) == ("0.6", "0.4")
    assert set(cap["epsilon"]) == {"limit", "kept-to", "everybody", "left"}


@pytest.mark.parametrize("window", ["calendar-year", "rolling-365d", "lifetime"])
def test_every_window_says_when_it_fits_as_far_as_that_is_known(tmp_path, monkeypatch, window):
    monkeypatch.chdir(tmp_path)
    hospital(tmp_path, window=window)
    today = dt.datetime.now(dt.UTC).date()
    study("k", KEYS, epsilon=60)
    assert confide("run", "k.yaml", "--out", "k").code == 0
    if window == "rolling-365d":
        assert confide("ledger", "confirm-day", today, "--reason", "it is").code == 0
    (cap,) = confide("ledger", "show", "--json").json["patient-caps"]
    assert cap["everybody"] == "60"
    study("q", COUNT, epsilon=45)
    told = refused("q")
    day = {
        "calendar-year": NEXT_YEAR,
        "rolling-365d": (today + dt.timedelta(days=365)).isoformat(),
    }.get(window)
    assert re.findall(r"fits from (\S+) on", told) == ([day] if day else [])
    study("never", COUNT, epsilon=101)
    assert "fits from" not in refused("never")


def test_without_its_ledger_a_plan_above_the_whole_cap_is_told(at):
    (at / ".confide").chmod(0o755)
    (at / ".confide" / "ledger.sqlite").chmod(0o644)
    study("q", COUNT, epsilon=101)
    told = confide("plan", "q.yaml", "--json")
    assert (told.code, told.json["fits"]) == (5, False)
    assert "has 100 left" in told.json["refusal"]["message"]


def test_the_facade_says_what_a_release_would_be_refused_with(at):
    count = {"id": "n", "kind": "count", "table": "visits"}
    with open_workspace("dataset.yaml") as here:
        assert here.refusal(here.plan(count, epsilon="40")) is None
        plan = here.plan(count, epsilon="45")
        found = here.refusal(plan)
        with pytest.raises(BudgetExhaustedError) as raised:
            here.release(plan)
        assert str(found) == str(raised.value)
        assert (found.cap, found.remaining, found.requested) == ("annual", 40, 45)
        assert found.available == NEXT_YEAR


def test_a_selection_charged_between_check_and_charge_gives_the_charge_back(at, monkeypatch):
    count = {"id": "n", "kind": "count", "table": "visits"}
    honest, calls = left_out.require_somebody, []

    def late(plan, **how):
        calls.append(how)
        if len(calls) > 1:
            honest(plan, **how)

    from confide.release import gate

    monkeypatch.setattr(gate, "require_somebody", late)
    with open_workspace("dataset.yaml") as here:
        with pytest.raises(BudgetExhaustedError, match="nobody would be"):
            here.release(here.plan(count, epsilon="45"))
        assert here.ledger.entries("hospital")[-1].state.value == "cancelled"


ASKED = {
    "count": {"kind": "count", "table": "visits"},
    "events": {"kind": "count", "table": "visits", "count": "events", "per-patient": {"rows": 3}},
    "histogram": {"kind": "histogram", "table": "visits", "by": ["ward"],
                  "per-patient": {"cells": 4}},
    "sum": {"kind": "sum", "table": "visits", "column": "cost", "per-patient": {"rows": 2}},
    "mean": {"kind": "mean", "table": "visits", "column": "cost", "per-patient": {"rows": 4}},
    "variance": {"kind": "variance", "table": "visits", "column": "cost",
                 "per-patient": {"rows": 2}},
    "proportion": {"kind": "proportion", "table": "people", "of": {"sex": ["f"]}},
    "selection": {"kind": "key-selection", "table": "visits", "key": "note",
                  "per-patient": {"cells": 1}},
}  # fmt: skip


@pytest.mark.thinned(2)
@pytest.mark.parametrize("measure", ["pure", "zcdp"])
@pytest.mark.parametrize("names", [*[(each,) for each in ASKED], ("count", "mean"),
                                   ("events", "histogram"), ("selection", "proportion", "sum")])  # fmt: skip
def test_nobody_who_is_counted_pays_less_than_the_least_charge(tmp_path, measure, names):
    from confide.plans.pricing.least_charge import least_charges

    unit = {"pure": "epsilon", "zcdp": "rho"}[measure]
    hospital(tmp_path, measure=measure, cap=f'{unit}: "100"', life=f'{unit}: "1000"')
    asked = [{"id": each, **ASKED[each]} for each in names]
    with open_workspace(tmp_path / "dataset.yaml") as here:
        plan = here.plan(*asked, **{unit: "2"})
        here.release(plan)
        least = [each.femto for each in least_charges(plan)]
        store, engine = here.patients(), here.engine()
        paid = [
            store.statement(here.ledger, identity=engine.identity(str(patient)))[0][1]
            for patient in range(40)
        ]
        counted = [each for each in paid if each]
        assert counted
        assert min(counted) >= min(least)
        assert max(least) <= max(counted) <= 2 * FEMTO
        if names in {("count",), ("mean",), ("events",), ("selection",), ("proportion",)}:
            assert min(counted) == min(least) or measure == "zcdp", "the bound is attained"
