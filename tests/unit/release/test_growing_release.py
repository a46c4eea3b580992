"""A growing release: charged once, each period measured once, the same bytes again."""

import csv
import datetime as dt
import json
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import confide
from confide.budget.growth import Growth, Step
from confide.budget.ledger import ChargeRequest
from confide.errors import (
    ContractError,
    InvalidParameterError,
    PolicyError,
    ReleaseFailedError,
)
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.events import PrivacyEvent, study_events_json
from confide.plans.growth import appended
from confide.privacy.amount import Amount
from confide.release.growing import growable
from confide.release.verify.verify import verify
from confide.report.pages.save import save
from confide.service.releasing.release import gate as gate_of
from confide.statistics import RunningCounts
from confide.tables.aggregates.square_root import ONE, product

DATASET = """\
dataset: {id: board, lineage: board, snapshot: "1"}
source: {kind: csv, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {release: {epsilon: 2}, calendar-year: {epsilon: 3}, lifetime: {epsilon: 4}}
tables:
  cases:
    from: cases.csv
    columns:
      reported: {kind: date, lower: 2026-01-01, upper: 2026-02-19}
      area: {categories: [north, south]}
"""
FIRST = dt.date(2026, 1, 1)


def write(folder: Path, *, days: int, snapshot: str = "1") -> None:
    """Cases of the first days: patient 100·d + i on day d, in the north if even."""
    with (folder / "cases.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["pid", "reported", "area"])
        for d in range(days):
            for i in range(20 + d):
                area = "north" if i % 2 == 0 else "south"
                rows.writerow([100 * d + i, FIRST + dt.timedelta(days=d), area])
    text = DATASET.replace('snapshot: "1"', f'snapshot: "{snapshot}"')
    (folder / "dataset.yaml").write_text(text)


def board(day: int, **more: object) -> dict[str, object]:
    """Running counts by area, with ``day`` days published."""
    through = (FIRST + dt.timedelta(days=day - 1)).isoformat()
    return {
        "id": "cases",
        "kind": "running-counts",
        "over": "reported",
        "by": ["area"],
        "count": "events",
        "through": through,
        "per-patient": {"cells": 2, "rows": 1},
        **more,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, days=10)
    return tmp_path


def plan_of(ws: confide.Workspace, day: int, **more: object) -> confide.Plan:
    return ws.plan(board(day, **more), epsilon="1", study=confide.Study(id="board"))


def spent(ws: confide.Workspace) -> dict[str, int]:
    return {use.scope.value: use.used for use in ws.spent().scopes}


def grow(folder: Path, *, steps: tuple[int, ...]) -> list[confide.Release]:
    releases = []
    for place, day in enumerate(steps):
        write(folder, days=day, snapshot=str(place))
        with confide.open(folder / "dataset.yaml") as ws:
            go = ws.release if place == 0 else ws.advance
            releases.append(go(plan_of(ws, day)))
    return releases


def test_a_step_costs_nothing_and_keeps_every_published_number(folder):
    with confide.open(folder / "dataset.yaml") as ws:
        first = ws.release(plan_of(ws, 10))
        before = spent(ws)
    write(folder, days=13, snapshot="2")
    with confide.open(folder / "dataset.yaml") as ws:
        second = ws.advance(plan_of(ws, 13))
        assert spent(ws) == before
    (old,), (new,) = first.noisy.values, second.noisy.values
    assert (len(old), len(new)) == (20, 26)
    assert new[:10] == old[:10]
    assert new[13:23] == old[10:]
    known = {(e.quantity, e.key): e.value for e in second.of("cases")}
    assert all(
        known[e.quantity, e.key] == pytest.approx(e.value, abs=1e-6) for e in first.of("cases")
    )


def test_periods_of_a_release_that_grows_are_charged_again_only_when_that_is_asked_for(folder):
    grow(folder, steps=(10, 12))
    write(folder, days=12, snapshot="later")
    with confide.open(folder / "dataset.yaml") as ws:
        before, entry = spent(ws), ws.ledger.growths("board")[0].opened
        assert growable(plan_of(ws, 13), ledger=ws.ledger) == entry
        assert growable(plan_of(ws, 12), ledger=ws.ledger) is None
        told = f"entry {entry} was charged for all of these periods; 12 are published"
        for day in (10, 11, 12, 13):  # before, between, the same, later
            for key in (None, "fresh"):
                with pytest.raises(ContractError, match=told) as refused:
                    ws.release(plan_of(ws, day), request=key)
                assert "confide advance" in str(refused.value.hint)
        with pytest.raises(ContractError, match="published periods would be drawn anew"):
            ws.release(plan_of(ws, 12, rolling=3))
        assert spent(ws) == before
        fresh = ws.release(plan_of(ws, 12), again=True)
        assert spent(ws) != before
        assert ws.release(plan_of(ws, 12)).noisy.payload() == fresh.noisy.payload()


def test_somebody_else_is_not_charged_for_what_grows_either(folder):
    grow(folder, steps=(10,))
    write(folder, days=10, snapshot="0")
    with confide.open(folder / "dataset.yaml") as ws:
        before = spent(ws)
        with pytest.raises(ContractError, match="was charged for all of these periods"):
            ws.release(plan_of(ws, 10), analyst="bob")
        assert spent(ws) == before


@pytest.mark.parametrize("looks_first", [True, False], ids=["while it reads", "at once"])
@pytest.mark.parametrize("rolling", [None, 3], ids=["the same", "another plan"])
def test_a_release_that_somebody_opens_is_opened_once(folder, monkeypatch, rolling, looks_first):
    if not looks_first:
        monkeypatch.setattr("confide.service.releasing.release.refuse_again", lambda *_, **__: None)
    told = []

    def meanwhile(stage):
        if stage == "read":
            with confide.open(folder / "dataset.yaml") as ws:
                more = {} if rolling is None else {"rolling": rolling}
                try:
                    ws.release(plan_of(ws, 10, **more), analyst="bob")
                except ContractError as refused:
                    told.append(str(refused))

    write(folder, days=10)
    with confide.open(folder / "dataset.yaml") as ws:
        ws.release(plan_of(ws, 10), analyst="ada", progress=meanwhile)
        states = [each.state.value for each in ws.ledger.entries("board")]
    assert ["Somebody opens a release" in words for words in told] == [True]
    assert states == ["published", *([] if looks_first else ["cancelled"])]


def test_a_run_of_what_was_released_or_advanced_delivers_the_stored_numbers(folder):
    first, second = grow(folder, steps=(10, 12))
    with confide.open(folder / "dataset.yaml") as ws:
        before = spent(ws)
        assert ws.release(plan_of(ws, 12)).noisy.payload() == second.noisy.payload()
        assert ws.release(plan_of(ws, 12), again=True).noisy.payload() == second.noisy.payload()
        assert spent(ws) == before
    write(folder, days=10, snapshot="0")
    with confide.open(folder / "dataset.yaml") as ws:
        assert ws.release(plan_of(ws, 10)).noisy.payload() == first.noisy.payload()
        assert spent(ws) == before


def test_the_coordinates_of_all_steps_are_those_of_one_release(folder):
    """New coordinates are C·x of the later snapshot plus noise of the one scale."""
    *_, last = grow(folder, steps=(10, 11, 15, 40))
    counts = [[(20 + d + 1 - side) // 2 for d in range(40)] for side in (0, 1)]
    exact = [value for series in counts for value in product([*series, *[0] * 10], until=40)]
    sigma = float(last.plan.measurements[0].mechanism.sigma_squared) ** 0.5
    off = (np.array(last.noisy.values[0]) - np.array(exact)) / sigma
    assert np.abs(off).max() < 5
    assert 0.6 < off.std() < 1.4
    assert len(set(last.noisy.values[0])) == 80
    assert sigma > ONE


def test_the_same_step_again_returns_the_same_bytes(folder):
    _, second = grow(folder, steps=(10, 12))
    with confide.open(folder / "dataset.yaml") as ws:
        again = ws.advance(plan_of(ws, 12), request="another key")
        assert again.noisy.payload() == second.noisy.payload()
        assert len(ws.ledger.entries("board")) == 2
        first = ws.advance(plan_of(ws, 10))
        assert len(first.noisy.values[0]) == 20


def test_a_step_back_to_periods_between_two_steps_is_refused(folder):
    grow(folder, steps=(10, 14))
    with confide.open(folder / "dataset.yaml") as ws, pytest.raises(PolicyError, match="passed"):
        ws.advance(plan_of(ws, 12))


@pytest.mark.parametrize(
    "changed",
    [{"count": "patients"}, {"per-patient": {"cells": 3, "rows": 1}}, {"where": {"area": ["north"]}}],
)  # fmt: skip
def test_only_the_same_question_goes_on(folder, changed):
    grow(folder, steps=(10,))
    with confide.open(folder / "dataset.yaml") as ws:
        with pytest.raises(ContractError, match="No release of this study grows"):
            ws.advance(plan_of(ws, 12, **changed))
        with pytest.raises(ContractError, match="No release of this study grows"):
            ws.advance(ws.plan(board(12), epsilon="2", study=confide.Study(id="board")))


def test_other_noise_or_a_fixed_horizon_does_not_go_on(folder):
    with confide.open(folder / "dataset.yaml") as ws:
        fixed = board(10)
        del fixed["through"]
        ws.release(ws.plan(fixed, epsilon="1", study=confide.Study(id="board")))
        with pytest.raises(ContractError, match="No release of this study grows"):
            ws.advance(plan_of(ws, 12))


def test_the_ledger_refuses_a_step_that_is_out_of_order_or_of_another_question(folder):
    grow(folder, steps=(10,))
    with confide.open(folder / "dataset.yaml") as ws:
        (growth,) = ws.ledger.growths("board")
        assert (growth.position, growth.latest, growth.closed) == (10, growth.opened, "")
        good = Step(question=growth.question, start=10, stop=11, continues=growth.opened)
        for step in (
            replace(good, start=9),
            replace(good, start=11, stop=12),
            replace(good, question="0" * 64),
            replace(good, continues=77),
        ):
            with pytest.raises(PolicyError, match="cannot go on"):
                ws.ledger.reserve(_asking(ws, step))
        held = ws.ledger.reserve(_asking(ws, good))
        with pytest.raises(PolicyError, match="is at it"):
            ws.ledger.reserve(_asking(ws, good, key="other"))
        ws.ledger.cancel(held)
        ws.ledger.start_reading(ws.ledger.reserve(_asking(ws, good, key="third")))
        ws.ledger.verify_chain()


def _asking(ws: confide.Workspace, step: Step, *, key: str = "k") -> ChargeRequest:
    dataset = ws.declared.dataset
    return ChargeRequest(
        analyst="ada",
        request_key=key,
        plan_digest="a" * 64,
        lineage="board",
        unit=dataset.unit.entity,
        adjacency=dataset.adjacency,
        measure=dataset.measure,
        amount=Amount(nano=0),
        events_json=study_events_json((), measure=dataset.measure),
        plan_json="{}",
        step=step,
    )


def test_a_request_is_free_only_if_it_continues(folder):
    with confide.open(folder / "dataset.yaml") as ws:
        opening = Step(question="0" * 64, start=0, stop=3)
        with pytest.raises(InvalidParameterError, match="charge above 0"):
            _asking(ws, opening)
    with pytest.raises(InvalidParameterError, match="begins at 0"):
        Step(question="0" * 64, start=1, stop=3)
    with pytest.raises(InvalidParameterError, match="begins at 0"):
        Step(question="0" * 64, start=0, stop=3, continues=5)


def test_a_step_that_dies_after_reading_began_ends_the_growth(folder, monkeypatch):
    grow(folder, steps=(10,))
    with confide.open(folder / "dataset.yaml") as ws:
        plan = plan_of(ws, 12)
        gate = gate_of(ws.site)

        def broken(*_: object, **__: object) -> None:
            raise RuntimeError("disk")

        monkeypatch.setattr(type(gate.engine), "aggregate", broken)
        with pytest.raises(ReleaseFailedError):
            ws.advance(plan)
        monkeypatch.undo()
        with pytest.raises(PolicyError):
            ws.advance(plan)
        with pytest.raises(PolicyError, match="it ended"):
            ws.advance(plan_of(ws, 13))
        (growth,) = ws.ledger.growths("board")
        assert growth.position == 12


def test_an_opening_that_was_given_back_hides_no_release_that_grows(folder):
    grow(folder, steps=(10,))
    with confide.open(folder / "dataset.yaml") as ws:
        (growth,) = ws.ledger.growths("board")
        opening = Step(question=growth.question, start=0, stop=10)
        noise = DiscreteLaplace(scale=Fraction(10**6))
        event = PrivacyEvent(mechanism=noise, l1=1, l2_squared=1)
        measure = ws.declared.dataset.measure
        again = replace(
            _asking(ws, replace(opening, start=10, stop=11, continues=growth.opened)),
            step=opening,
            amount=Amount(nano=1000),
            events_json=study_events_json((event,), measure=measure),
        )
        ws.ledger.cancel(ws.ledger.reserve(again))
        write(folder, days=12)
        assert len(ws.advance(plan_of(ws, 12)).noisy.values[0]) == 24


def test_after_rows_of_the_ledger_were_lost_nothing_grows():
    growth = Growth(opened=3, lineage="x", question="0" * 64, position=4, latest=3)
    step = Step(question="0" * 64, start=4, stop=5, continues=3)
    assert growth.problem(step, lineage="x") == ""
    assert "lost" in growth.lost().problem(step, lineage="x")
    assert growth.problem(step, lineage="y") == "it is of another question"


def test_an_older_copy_of_the_ledger_lets_no_period_be_measured_again(folder):
    grow(folder, steps=(10,))
    inside = folder / ".confide"
    old = (inside / "ledger.sqlite").read_bytes()
    write(folder, days=12)
    with confide.open(folder / "dataset.yaml") as ws:
        ws.advance(plan_of(ws, 12))
    (inside / "ledger.sqlite").write_bytes(old)
    from confide.workspace import open_ledger

    with open_ledger(folder / "dataset.yaml") as (ledger, _):
        ledger.unfreeze("the disk was restored")
    with confide.open(folder / "dataset.yaml") as ws:
        with pytest.raises(PolicyError, match="rows of the ledger were lost"):
            ws.advance(plan_of(ws, 12))


def test_a_step_verifies_and_names_the_entry_that_was_charged(folder, tmp_path):
    first, second = grow(folder, steps=(10, 12))
    save(second, tmp_path / "out")
    checked = verify(second.certificate, folder=tmp_path / "out")
    assert checked.holds, [check for check in checked.checks if not check.holds]
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "which was charged for all of its periods; nothing was charged now" in page
    accounting = second.certificate["accounting"]
    assert accounting["continues"] == first.certificate["accounting"]["entry"]
    assert {charge["amount"] for charge in accounting["charges"]} == {"0"}
    lying = json.loads(json.dumps(first.certificate))
    lying["accounting"]["continues"] = lying["accounting"]["entry"]
    failed = [
        check.name for check in verify(lying, folder=tmp_path / "out").checks if not check.holds
    ]
    assert "charges" in failed


def test_the_command_charges_no_period_that_grows_a_second_time_and_its_plan_says_so(folder):
    from command_line import confide as confide_command

    study = folder / "study.yaml"

    def at(day: int, *, snapshot: str) -> None:
        write(folder, days=day, snapshot=snapshot)
        statistic = json.dumps(board(day))
        study.write_text(
            f'study: {{id: board}}\nstatistics:\n  - {statistic}\nspend: {{at-most: {{epsilon: "1"}}}}\n'
        )

    def ran(verb: str, name: str, *more: str) -> tuple[int, object]:
        done = confide_command(verb, study, "-o", folder / "out" / name, *more, "--json")
        return done.code, done.json

    def lifetime() -> str:
        caps = confide_command("ledger", "show", folder / "dataset.yaml", "--json").json["caps"]
        return next(cap["spent"] for cap in caps if cap["cap"] == "lifetime")

    at(10, snapshot="1")
    assert ran("run", "a")[1]["charged"] is True
    before = lifetime()
    at(12, snapshot="2")
    assert ran("run", "b")[0] == 7
    assert ran("advance", "b")[0] == 0
    code, body = ran("run", "c")
    assert (code, body["charged"]) == (0, False)  # the study that was advanced: its stored numbers
    noisy = [(folder / "out" / name / "noisy.json").read_bytes() for name in ("b", "c")]
    assert noisy[0] == noisy[1]
    at(12, snapshot="3")
    for more in ((), ("--request", "fresh")):
        code, body = ran("run", "d", *more)
        assert (code, body["error"]) == (7, "ContractError")
        assert "12 are published" in body["message"]
        assert "confide advance" in body["hint"]
        assert "--again" in body["hint"]
    planned = confide_command("plan", study, "--json").json
    assert "12 are published" in planned["published-before"]
    assert "12 are published" in " ".join(confide_command("plan", study).out.split())
    assert lifetime() == before
    assert ran("run", "d", "--again")[1]["charged"] is True
    assert lifetime() > before


def test_periods_are_appended_series_by_series():
    assert appended((1, 2, 10, 20), (3, 4, 30, 40), start=2, stop=4) == (1, 2, 3, 4, 10, 20, 30, 40)


def test_the_price_of_a_plan_does_not_depend_on_how_much_of_it_is_published(folder):
    with confide.open(folder / "dataset.yaml") as ws:
        asked = {"error": {"within": 40}}
        early, late = (ws.plan(board(day, **asked)) for day in (10, 30))
        assert early.amount.nano == late.amount.nano
        assert isinstance(early.statistics[0], RunningCounts)
        assert early.amount.nano > 0


def test_periods_are_not_charged_anew_unasked_after_a_run_that_asked_was_killed(folder):
    """Its charge is given back, so the request is as good as never made."""
    grow(folder, steps=(10, 12))
    write(folder, days=12, snapshot="later")
    dies = (
        "import os, sys, confide\n"
        "from confide.budget.chained_ledger import ChainedLedger\n"
        "from unit.release.test_growing_release import plan_of\n"
        "ChainedLedger.start_reading = lambda *_: os._exit(9)\n"
        "ws = confide.open(sys.argv[1])\n"
        "ws.release(plan_of(ws, 12), again=True)\n"
    )
    with confide.open(folder / "dataset.yaml") as ws:
        before = spent(ws)
        ran = subprocess.run(
            [sys.executable, "-c", dies, folder / "dataset.yaml"], env=here(), check=False
        )
        assert ran.returncode == 9
        with pytest.raises(ContractError, match="was charged for all of these periods"):
            ws.release(plan_of(ws, 12))
        assert ws.release(plan_of(ws, 12), again=True)
        assert spent(ws) != before


def here():
    """The environment of a process that imports these tests."""
    path = Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), *sys.path])}
