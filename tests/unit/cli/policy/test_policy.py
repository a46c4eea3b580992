"""``confide policy``: text, JSON, exit codes and figures."""

from decimal import Decimal

import pytest

from command_line import confide
from pages import ROOT

FOLDER = ROOT / "examples" / "policy"


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")  # so that no phrase is broken over two lines


GOOD, CONFLICT, DROP = (FOLDER / f"{name}.yaml" for name in ("policy", "conflict", "drop"))


def test_check_shows_every_cap_as_odds():
    ran = confide("policy", "check", GOOD)
    assert ran.code == 0
    assert "legal-release" in ran.out
    assert "1.5 %" in ran.out  # of 1 %, by a factor of 1.5
    body = confide("policy", "check", GOOD, "--json").json
    assert body["schema"] == "confide.policy-check/1"
    law, annual, _ = body["caps"]
    assert (law["limit"], law["units"]) == ("odds × 1.5", "0.405465108")
    assert law["posterior-of-1-percent"] == "0.015"
    assert annual["true-positive-rate-at-1-percent"] == 1.7  # e^0.5, rounded up
    assert len(body["digest"]) == 64


def test_the_odds_of_a_cap_count_what_selections_may_spend_beside_it(tmp_path):
    text = GOOD.read_text("utf-8")
    assert "measure: pure" in text
    path = tmp_path / "policy.yaml"
    path.write_text(text.replace("measure: pure", 'measure: pure, selection-delta: "1e-6"', 1))
    ran = confide("policy", "explain", path)
    assert ran.code == 0, ran.err
    assert "10⁻⁶" in ran.out


def test_check_names_the_first_mistake(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(GOOD.read_text("utf-8").replace("window: lifetime", "window: release"))
    ran = confide("policy", "check", path)
    assert ran.code == 7
    assert "caps → dataset-life: window release does not suit scope dataset" in ran.err


def test_solve_divides_the_budget():
    ran = confide("policy", "solve", GOOD)
    assert ran.code == 0
    assert "It can be met" in ran.out
    body = confide("policy", "solve", GOOD, "--json").json
    assert body["can-be-met"] is True
    spends = {each["id"]: each["spend"] for each in body["releases"]}
    assert spends["rare-q1"] == spends["rare-q3"] == "0.1644"


def test_solve_shows_the_contradiction_as_a_sum_and_its_repairs():
    ran = confide("policy", "solve", CONFLICT)
    assert ran.code == 3
    assert "1 × rare-q1: at least 0.173286796" in ran.out
    assert (
        "together at least ε = 0.519860388, but ethics-annual for frequent in 2027 leaves ε = 0.5."
        in ran.out
    )
    assert "rare-q1, rare-q2 or rare-q3: allow median error 11.3 % of 40" in ran.out
    assert "plan for a count of 46 instead of 40" in ran.out
    assert "allow median error 10.4 % of 40 instead of 10 %, all of them" in ran.out
    assert "in 2 of the 3 releases at most" in ran.out
    assert "Raise the cap ethics-annual from ε = 0.5 to ε = 0.5199." in ran.out
    assert "at 0.1666 errs by at most 4 with a chance of 0.529" in ran.out
    assert "Caps of priority 1 are never relaxed: legal-release." in ran.out


def test_the_contradiction_is_json_too():
    ran = confide("policy", "solve", CONFLICT, "--json")
    assert ran.code == 3
    (conflict,) = ran.json["conflicts"]
    assert (conflict["needs"], conflict["allows"]) == ("0.519860388", "0.5")
    assert [line["times"] for line in conflict["sum"]] == [1, 1, 1]
    assert {"cap", "error", "count", "mechanism"} <= {r["change"] for r in ran.json["repairs"]}


def test_what_was_spent_is_taken_off():
    ran = confide("policy", "solve", GOOD, "--spent", "ethics-annual@2027=0.1")
    assert ran.code == 3
    assert "leaves ε = 0.4." in ran.out
    assert confide("policy", "solve", GOOD, "--spent", "ethics-annual@2026=0.1").code == 0
    assert confide("policy", "solve", GOOD, "--spent", "nothing").code == 7
    assert confide("policy", "solve", GOOD, "--spent", "dataset=1").code == 7


@pytest.mark.parametrize("path", [GOOD, CONFLICT], ids=["met", "not-met"])
def test_figures_are_drawn(path, tmp_path):
    starts = {".svg": b"<svg", ".png": b"\x89PNG", ".html": b"<!doctype html>"}
    for kind, start in starts.items():
        file = tmp_path / f"policy{kind}"
        confide("policy", "solve", path, "--figure", file, "--quiet")
        assert file.read_bytes().startswith(start)
    html = (tmp_path / "policy.html").read_text("utf-8")
    assert "rare-q1" in html
    assert "http" not in html  # a page that loads nothing
    assert confide("policy", "solve", path, "--figure", tmp_path / "policy.pdf").code == 7


def test_explain_says_each_line_to_the_board():
    ran = confide("policy", "explain", GOOD)
    assert ran.code == 0
    assert "can be led to think it at most 1.7 % likely" in ran.out
    assert "Any 12 months that span two calendar years may hold twice that, ε = 1." in ran.out
    assert "critical: approved by 2 of steward, dpo and ethics-board." in ran.out
    assert "planned with: registry bulletin 2025, table 3" in ran.out
    assert confide("policy", "explain", GOOD, "--json").json["parts"]


def test_simulate_says_what_is_granted_and_refused():
    ran = confide("policy", "simulate", GOOD, "--years", 9)
    assert ran.code == 0
    assert "36 runs" in ran.out or "of 36 runs" in ran.out
    assert "refused by dataset-life" in ran.out
    assert "so any 365 days may hold 1" in ran.out
    body = confide("policy", "simulate", CONFLICT, "--json").json
    assert [run["granted"] for run in body["runs"]] == [True, True, False]
    assert body["runs"][2]["refused-by"] == ["ethics-annual"]


@pytest.mark.parametrize("ceiling", ["0.05", "0.16"])
def test_a_plan_past_the_ceiling_of_its_tier_is_neither_divided_nor_granted(tmp_path, ceiling):
    tier = f'{{id: critical, weight: 4, ceiling: {{epsilon: "{ceiling}"}}}}'
    text = GOOD.read_text("utf-8")
    (line,) = [line for line in text.splitlines() if line.strip().startswith("- {id: critical,")]
    path = tmp_path / "policy.yaml"
    path.write_text(text.replace(line, f"  - {tier}"))
    low = ceiling == "0.05"  # less than a floor
    assert confide("policy", "check", path).code == (3 if low else 0)
    solved = confide("policy", "solve", path, "--json").json
    assert solved["can-be-met"] is not low
    critical = {"rare-q1", "rare-q2", "rare-q3"}
    if low:
        assert {each["cap"] for each in solved["conflicts"]} == {"tiers → critical → ceiling"}
        assert "tiers → critical → ceiling for rare-q1" in confide("policy", "solve", path).out
    for each in solved["releases"]:
        if each["id"] in critical and not low:
            assert Decimal(each["spend"]) <= Decimal(ceiling)
    played = confide("policy", "simulate", path, "--json").json
    runs = [run for run in played["runs"] if run["release"] in critical]
    assert runs
    assert all(run["granted"] is not low for run in runs)
    assert all(run["refused-by"] == ["tiers → critical → ceiling"] for run in runs if low)
    assert confide("policy", "solve", path, "--figure", tmp_path / "policy.svg").code in (0, 3)


def test_simulate_says_that_a_rolling_window_lets_go_on_confirmed_days_alone(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(
        GOOD.read_text("utf-8").replace("window: calendar-year", "window: rolling-365d")
    )
    ran = confide("policy", "simulate", path, "--years", 2)
    assert "ethics-annual is played as if every day were confirmed when it comes" in ran.out
    assert "as if every day" not in confide("policy", "simulate", GOOD).out


def test_simulate_previews_the_bias_of_leaving_patients_out():
    ran = confide("policy", "simulate", DROP, "--visits", FOLDER / "visits.csv")
    assert ran.code == 0
    assert "3 runs, all granted." in ran.out
    # in the third run: 5 % who come three times, 0.05/(0.71/3 + 0.24·2/3 + 0.05) = 11.2 %
    assert "11.2 %" in ran.out
    assert "−4.5 of 40" in ran.out
    assert "is never computed or told" in ran.out
    plain = confide("policy", "simulate", GOOD, "--visits", FOLDER / "visits.csv")
    assert "nothing to preview" in plain.out


def test_a_policy_under_zcdp_is_told_as_epsilon_at_delta(tmp_path):
    text = GOOD.read_text("utf-8").replace("measure: pure", "measure: zcdp, report-delta: 1e-6")
    path = tmp_path / "policy.yaml"
    path.write_text(text.replace("mechanism: discrete-laplace", "mechanism: gaussian"))
    told = confide("policy", "explain", path).out
    assert "shown as ε at δ = 10⁻⁶" in told
    assert "except with a probability of at most 10⁻⁶" in told
    assert "It binds releases with Laplace noise" in told
    solved = confide("policy", "solve", path, "--json").json
    assert solved["measure"] == "zcdp"
    assert solved["releases"][0]["floor"] == "0.014216764"  # (0.67449/4)²/2, up


def test_exit_codes_of_policy_commands_are_those_of_the_reference(tmp_path):
    broken = tmp_path / "policy.yaml"
    broken.write_text(GOOD.read_text("utf-8").replace("window: lifetime", "window: release"))
    page = (ROOT / "docs" / "reference" / "policy.md").read_text("utf-8")
    rows = (line for line in page.splitlines() if line.startswith("| `confide policy "))
    for row in rows:
        _, command, _, codes, _ = row.split("|")
        words = command.strip(" `").split()[1:]
        found = sorted({confide(*words, path).code for path in (GOOD, CONFLICT, broken)})
        assert found == [int(code) for code in codes.split(",")], command


def test_no_plan_seems_to_pass_a_cap_that_it_keeps(tmp_path):
    path = tmp_path / "policy.yaml"
    text = GOOD.read_text("utf-8")
    for limit in ("0.50004", "0.500049", "0.4999999", "0.49"):
        path.write_text(text.replace('limit: {epsilon: "0.5"}', f'limit: {{epsilon: "{limit}"}}'))
        for what, numbers in (("solve", 3), ("simulate", 3)):
            ran = confide("policy", what, path)
            assert ran.code == 0
            rows = [line.split() for line in ran.out.splitlines()]
            held = [row for row in rows if row[:1] == ["ethics-annual"] and len(row) == numbers + 3]
            assert held
            for row in held:
                most, *used, free = row[-numbers:]
                assert most == limit  # as it was written
                assert Decimal(most) - sum(map(Decimal, used)) == Decimal(free)
