"""What is published counts in the window in which it was charged: of a growing release, and of a
job."""

import csv
import datetime as dt
import shutil

import pyarrow as pa
import pytest

import confide
from confide.budget.chain.ledger_time import SystemClock
from confide.errors import (
    BudgetExhaustedError,
    BurnedError,
    ContractError,
    LedgerFrozenError,
    PolicyError,
)
from confide.release.growing import growable
from confide.service.releasing.jobs import planned, run_in_parts
from counting_job import ThreeParts
from recovery_world import ran

DATASET = """\
dataset: {{id: board, lineage: board, snapshot: "{snapshot}"}}
source: {{kind: csv, path: .}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: zcdp, delta: 1e-6}}
{caps}
population-at-most: 1000
tables:
  cases:
    columns:
      reported: {{kind: date, lower: 2028-01-01, upper: 2028-12-31}}
"""
POLICY = """\
policy: {{id: board, version: 1, effective: 2020-01-01, owner: Board, languages: [en]}}
protects: {{unit: patient, adjacency: add-remove}}
accounting: {{measure: zcdp, report-delta: 1e-6, selection-delta: 0}}
caps:
  - {{id: win, basis: legal, priority: 1, scope: patient, window: {window}, limit: {{rho: "0.5"}}{how}}}
  - {{id: life, basis: internal, priority: 3, scope: dataset, window: lifetime, limit: {{rho: "9"}}}}
tiers:
  - {{id: open, weight: 1}}
"""
BY_YEAR = "caps: {calendar-year: {epsilon: 3}, lifetime: {epsilon: 40}}"
FOR_LIFE = "caps: {lifetime: {epsilon: 40}}"
POLICYS = "policy: policy.yaml"


@pytest.fixture
def clock(monkeypatch):
    """Return a way to say which day it is."""
    days = {}
    monkeypatch.setattr(SystemClock, "now", lambda _: days["now"])

    def at(day):
        days["now"] = dt.datetime.fromisoformat(day).replace(tzinfo=dt.UTC)

    return at


def write(folder, *, caps, snapshot):
    with (folder / "cases.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["pid", "reported"])
        rows.writerows([i, f"2028-{1 + i % 12:02d}-03"] for i in range(120))
    text = DATASET.format(snapshot=snapshot, caps=caps)
    (folder / "dataset.yaml").write_text(text, "utf-8")


def counts(through, *, since="2028-01-01"):
    return {
        "id": "cases",
        "kind": "running-counts",
        "over": "reported",
        "every": "month",
        "since": since,
        "until": "2028-12-31",
        "through": through,
        "count": "events",
        "per-patient": {"cells": 1, "rows": 1},
    }


def opened(folder, *, caps, snapshot="1"):
    write(folder, caps=caps, snapshot=snapshot)
    return confide.open(folder / "dataset.yaml", folder=folder)


def grown(folder, *, caps, clock, year=True):
    """Open a growing release in 2026, and let the year end."""
    clock("2026-03-01")
    with opened(folder, caps=caps) as ws:
        ws.release(ws.plan(counts("2028-01-31"), rho="0.1"))
    clock("2027-02-01")
    if year:
        with opened(folder, caps=caps) as ws:
            ws.ledger.open_year("board", year=2027, reason="a new year")


def advanced(folder, *, caps, through="2028-02-29"):
    with opened(folder, caps=caps, snapshot="2") as ws:
        before = ws.ledger.head()
        try:
            return ws.advance(ws.plan(counts(through), rho="0.1"))
        finally:
            ws.ledger.verify_chain()
            assert ws.ledger.head().number >= before.number


def test_a_growing_release_ends_with_the_year_in_which_it_was_charged(tmp_path, clock):
    grown(tmp_path, caps=BY_YEAR, clock=clock)
    with pytest.raises(PolicyError, match="charged in 2026, and 2027 is open"):
        advanced(tmp_path, caps=BY_YEAR)
    with opened(tmp_path, caps=BY_YEAR, snapshot="2") as ws:
        next_one = ws.plan(counts("2028-02-29"), rho="0.1")
        assert growable(next_one, ledger=ws.ledger) is None
        with pytest.raises(ContractError, match="it grows no more"):
            ws.release(next_one)
        anew = ws.plan(counts("2028-02-29", since="2028-02-01"), rho="0.1")
        assert ws.release(anew, again=True).of("cases")
        year = next(s for s in ws.spent().scopes if s.period == "2027")
        assert year.used == anew.amount.nano


def test_it_goes_on_within_the_year_and_not_in_one_that_nobody_opened(tmp_path, clock):
    grown(tmp_path, caps=BY_YEAR, clock=clock, year=False)
    with pytest.raises(PolicyError, match="The clock shows 2027, but the budget of 2026"):
        advanced(tmp_path, caps=BY_YEAR)
    clock("2026-12-31")
    assert len(advanced(tmp_path, caps=BY_YEAR).of("cases")) >= 2


def test_where_no_cap_has_a_window_it_goes_on_in_any_year(tmp_path, clock):
    grown(tmp_path, caps=FOR_LIFE, clock=clock)
    assert len(advanced(tmp_path, caps=FOR_LIFE).of("cases")) >= 2


def vouched(folder, day, *, clock):
    """Let an officer say which day it is."""
    clock(day)
    with opened(folder, caps=POLICYS) as ws:
        if "calendar-year" in (folder / "policy.yaml").read_text("utf-8"):
            ws.ledger.open_year("board", year=int(day[:4]), reason="a new year")
        else:
            ws.ledger.desk.confirm_day("board", day=day, reason="the date is right")


def stepped(folder, through, *, snapshot, rho="0.1"):
    """Publish the next periods under a policy."""
    with opened(folder, caps=POLICYS, snapshot=snapshot) as ws:
        try:
            return ws.advance(ws.plan(counts(through), rho=rho, study=study()))
        finally:
            ws.ledger.verify_chain()


@pytest.mark.parametrize("how", ["", ", enforce: drop"])
@pytest.mark.parametrize("window", ["rolling-365d", "calendar-year"])
def test_no_window_of_a_policy_holds_what_was_charged_in_another(window, how, tmp_path, clock):
    (tmp_path / "policy.yaml").write_text(POLICY.format(window=window, how=how), "utf-8")
    clock("2026-03-01")
    with opened(tmp_path, caps=POLICYS) as ws:
        ws.release(ws.plan(counts("2028-01-31"), rho="0.1", study=study()))
    if window == "rolling-365d":
        vouched(tmp_path, "2026-03-02", clock=clock)
    assert stepped(tmp_path, "2028-02-29", snapshot="2")
    vouched(tmp_path, "2027-03-05", clock=clock)
    if window == "rolling-365d":  # the step counts still; it was not before that day for sure
        vouched(tmp_path, "2028-03-04", clock=clock)
    with pytest.raises(PolicyError, match=window):
        stepped(tmp_path, "2028-03-31", snapshot="3")


@pytest.mark.parametrize("how", ["", ", enforce: drop"])
def test_a_growing_release_counts_in_rolling_windows_from_its_newest_step_on(how, tmp_path, clock):
    text = POLICY.format(window="rolling-365d", how=how)
    (tmp_path / "policy.yaml").write_text(text, "utf-8")
    clock("2026-03-01")
    with opened(tmp_path, caps=POLICYS) as ws:
        ws.release(ws.plan(counts("2028-01-31"), rho="0.4", study=study()))
    vouched(tmp_path, "2026-03-01", clock=clock)
    vouched(tmp_path, "2027-02-20", clock=clock)
    assert stepped(tmp_path, "2028-02-29", snapshot="2", rho="0.4")
    vouched(tmp_path, "2027-03-05", clock=clock)  # of its opening alone, nothing would count

    def another(title):
        with opened(tmp_path, caps=POLICYS, snapshot="2") as ws:
            one = {"id": title, "kind": "count", "table": "cases"}
            return ws.release(ws.plan(one, rho="0.4", study=study())).of(title)

    with pytest.raises(BudgetExhaustedError, match="confirm-day 2028-03-04"):
        another("beside")
    assert stepped(tmp_path, "2028-03-31", snapshot="3", rho="0.4")
    vouched(tmp_path, "2028-03-04", clock=clock)  # the second step came after the day before
    with pytest.raises(BudgetExhaustedError, match="confirm-day 2029-03-04"):
        another("beside")
    vouched(tmp_path, "2029-03-04", clock=clock)
    assert another("after")


def test_a_ledger_with_a_growing_release_that_left_its_window_goes_on_after_a_loss(tmp_path, clock):
    """A lost row may have published its next period, so it counts again, past a cap if need be."""
    text = POLICY.format(window="rolling-365d", how="")
    (tmp_path / "policy.yaml").write_text(text, "utf-8")
    clock("2026-03-01")
    with opened(tmp_path, caps=POLICYS) as ws:
        ws.release(ws.plan(counts("2028-01-31"), rho="0.4", study=study()))
    vouched(tmp_path, "2026-03-01", clock=clock)
    vouched(tmp_path, "2027-03-05", clock=clock)
    copy = tmp_path / "copy"
    with opened(tmp_path, caps=POLICYS) as ws:
        count = {"id": "n", "kind": "count", "table": "cases"}
        ws.release(ws.plan(count, rho="0.4", study=study()))
        shutil.copy2(tmp_path / ".confide" / "ledger.sqlite", copy)
        ws.release(ws.plan({**count, "id": "m"}, rho="0.05", study=study()))
    shutil.copy2(copy, tmp_path / ".confide" / "ledger.sqlite")
    ran("ledger", "show", tmp_path / "dataset.yaml", code=6)
    ran("ledger", "unfreeze", tmp_path / "dataset.yaml", "--reason", "an older copy")
    caps = ran("ledger", "show", tmp_path / "dataset.yaml", "--json").json["caps"]
    assert [float(each["spent"]) for each in caps if "365" in each["cap"]] == [0.85]
    ran("ledger", "verify", tmp_path / "dataset.yaml")


def test_a_growing_study_that_a_cap_refused_is_planned_shown_and_run_for_less(tmp_path, clock):
    clock("2026-03-01")
    with opened(tmp_path, caps=FOR_LIFE) as ws:
        for _ in range(2):
            with pytest.raises(BudgetExhaustedError):
                ws.release(ws.plan(counts("2028-01-31"), rho="90", study=study()))
        shown = ran("ledger", "show", tmp_path / "dataset.yaml", "--json").json["entries"]
        assert [each["state"] for each in shown] == ["refused", "refused"]
        assert ws.release(ws.plan(counts("2028-01-31"), rho="0.1", study=study()))
    ran("ledger", "verify", tmp_path / "dataset.yaml")


def test_a_step_where_no_window_holds_counts_again_for_a_cap_that_comes_later(
    tmp_path, clock, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    relaxed = POLICY.replace("basis: legal, priority: 1", "basis: internal, priority: 2")
    (tmp_path / "policy.yaml").write_text(relaxed.format(window="rolling-365d", how=""), "utf-8")
    clock("2026-03-01")
    with opened(tmp_path, caps=POLICYS) as ws:
        ws.release(ws.plan(counts("2028-01-31"), rho="0.4", study=study()))
    vouched(tmp_path, "2026-03-01", clock=clock)
    vouched(tmp_path, "2027-03-05", clock=clock)
    rolling, lifetime = relaxed.format(window="rolling-365d", how=""), "lifetime"
    for version, window in ((2, lifetime), (3, "rolling-365d")):
        text = rolling.replace("rolling-365d", window).replace("version: 1", f"version: {version}")
        (tmp_path / "policy.yaml").write_text(text, "utf-8")
        ran("ledger", "adopt", tmp_path / "dataset.yaml", "--reason", "another window")
        if window == lifetime:
            assert stepped(tmp_path, "2028-02-29", snapshot="2", rho="0.4")
    with opened(tmp_path, caps=POLICYS, snapshot="3") as ws:
        (win,) = (each for each in ws.spent().scopes if each.cap_id == "win")
        assert win.used == 400_000_000


def study():
    from confide.plans.plan import Study

    return Study(id="board", tier="open")


def test_a_job_in_parts_ends_with_the_year_in_which_it_was_charged(tmp_path, clock):
    frame = pa.table({"patient": [str(i) for i in range(40)], "sex": ["F", "M"] * 20})
    dataset = {
        "dataset": {"id": "c", "lineage": "c", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "patient", "adjacency": "add-remove"},
        "accounting": {"measure": "pure"},
        "caps": {"calendar-year": {"epsilon": "2"}, "lifetime": {"epsilon": "20"}},
        "tables": {"people": {"columns": {"sex": {"categories": ["F", "M"]}}}},
    }
    job = ThreeParts()

    def run(*, progress=lambda _: None):
        with confide.open(dataset, frames={"people": frame}, folder=tmp_path) as ws:
            plan = planned(ws, job)
            run_in_parts(ws, job, plan=plan, runner=job, request="k", progress=progress)

    def stop(stage):
        if stage == "read":
            raise KeyboardInterrupt

    def reads_nothing(stage):
        assert stage != "read"

    clock("2026-02-01")
    with pytest.raises(KeyboardInterrupt):
        run(progress=stop)
    clock("2027-02-01")
    with confide.open(dataset, frames={"people": frame}, folder=tmp_path) as ws:
        ws.ledger.open_year("c", year=2027, reason="a new year")
    with pytest.raises(BurnedError, match="counts no more under a cap of window calendar-year"):
        run(progress=reads_nothing)


def test_a_step_without_the_records_of_patients_is_refused_and_ends_nothing(tmp_path, clock):
    text = POLICY.format(window="rolling-365d", how=", enforce: drop")
    (tmp_path / "policy.yaml").write_text(text, "utf-8")
    clock("2026-03-01")
    with opened(tmp_path, caps=POLICYS) as ws:
        ws.release(ws.plan(counts("2028-01-31"), rho="0.4", study=study()))
    (records,) = tmp_path.rglob("patients/*/members")
    (kept,) = records.glob("*.members")
    aside = tmp_path / "aside"
    for damage in (
        lambda: shutil.move(kept, aside),
        lambda: kept.write_bytes(aside.read_bytes()[:-1]),
        lambda: shutil.copy(aside, kept.with_name(f"999{kept.suffix}")),
    ):
        shutil.copy(kept, aside.with_name("whole"))
        damage()
        with pytest.raises(LedgerFrozenError):
            stepped(tmp_path, "2028-02-29", snapshot="2", rho="0.4")
        shutil.copy(aside.with_name("whole"), kept)
        kept.with_name(f"999{kept.suffix}").unlink(missing_ok=True)
    assert stepped(tmp_path, "2028-02-29", snapshot="2", rho="0.4")
