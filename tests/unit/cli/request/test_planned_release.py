"""What those who approve are told of a request: whose cap it takes from, and what was planned."""

import datetime as dt

import pytest

from command_line import confide
from small_clinic import DATASET, make_clinic

POLICY = """\
policy: {{id: town, version: 1, effective: 2020-01-01}}
protects: {{unit: patient, adjacency: add-remove}}
accounting: {{measure: pure}}
caps:
  - {{id: life, basis: internal, priority: 3, scope: dataset, window: lifetime, limit: {{epsilon: "9"}}}}
  - {{id: each, basis: internal, priority: 3, scope: analyst, window: lifetime, limit: {{epsilon: "0.5"}}}}
tiers:
  - {{id: bulletin, approvals: [steward]}}
  - {{id: open}}
releases:
  - {{id: cases, tier: bulletin, query: count, mechanism: {noise}, period: {period}, runs: 2,
     utility: {{id: u, priority: 3, metric: {metric}, at-most: "{most}",
       planning-count: {{value: 40, source: bulletin}}}}}}
  - {{id: loose, tier: open}}
workflow:
  people:
    - {{name: ada, roles: [analyst], key: {ada}}}
    - {{name: bo, roles: [steward], key: {bo}}}
"""
CAPS = "caps: {release: {epsilon: 1}, calendar-year: {epsilon: 3}, lifetime: {epsilon: 10}}\n"
COUNT = "{id: n, kind: count, table: patients, where: {diabetes: [yes]}}"
HISTOGRAM = "{id: n, kind: histogram, table: patients, by: [sex]}"
THIS_YEAR = str(dt.datetime.now(tz=dt.UTC).year)
UNLIKE = "The policy plans release"


class Board:
    """A clinic whose policy plans a count."""

    def __init__(
        self, folder, *, noise="discrete-laplace", metric="mdape", most="0.1", period=THIS_YEAR
    ):
        text = DATASET.replace(CAPS, "policy: policy.yaml\n")
        text = text.replace("{measure: zcdp, delta: 1e-6}", "{measure: pure}")
        files = make_clinic(folder, dataset=text)
        self.folder, self.dataset = files.folder, files.dataset
        self.keys = {name: folder / f"{name}.key" for name in ("ada", "bo")}
        public = {
            name: confide("request", "key", "--out", path, "--json").json["public"]
            for name, path in self.keys.items()
        }
        said = {"noise": noise, "metric": metric, "most": most, "period": period}
        (folder / "policy.yaml").write_text(POLICY.format(**said, **public))

    def study(
        self, name, *, epsilon="0.16", asks=COUNT, release="cases", tier="bulletin", period=""
    ):
        path = self.folder / f"{name}.yaml"
        of = f', period: "{period}"' if period else ""
        named = f", release: {release}" if release else ""
        path.write_text(
            f"study: {{id: {name}, purpose: test, tier: {tier}{named}{of}}}\n"
            f"statistics: [{asks}]\nspend: {{at-most: {{epsilon: {epsilon}}}}}\n"
        )
        return path

    def submit(self, path, *words):
        return confide("request", "submit", path, "--key", self.keys["ada"], *words)

    def approve(self, number):
        words = ("request", "approve", number, self.dataset, "--key", self.keys["bo"])
        assert confide(*words).code == 0


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # so that no phrase is broken over two lines
    monkeypatch.setenv("LOGNAME", "operator")


def each_cap(preview):
    """Whose cap on analysts a preview shows, and what it says is spent of it."""
    (found,) = (cap for cap in preview["caps"] if cap["cap"].startswith("each "))
    return found["cap"].split()[-1].rstrip(")"), found["spent"], found["free-after"]


def test_those_who_decide_see_the_cap_of_who_asked_and_will_be_charged(tmp_path):
    board = Board(tmp_path / "clinic")
    first = board.submit(board.study("first"), "--json").json
    assert each_cap(first["preview"]) == ("ada", "0", "0.34")
    board.approve(first["number"])
    out = board.folder / "out"
    assert confide("run", board.folder / "first.yaml", "--out", out).code == 0
    second = board.submit(board.study("second", epsilon="0.2"), "--json").json
    show = ("request", "show", second["number"], board.dataset, "--json")
    for approved in (False, True):
        if approved:
            board.approve(second["number"])
        for preview in (second["preview"], confide(*show).json["preview"]):
            assert each_cap(preview) == ("ada", "0.16", "0.14")
            assert (preview["approval"]["admitted"], preview["fits"]) == (
                approved and preview is not second["preview"],
                True,
            )
    assert "each (analyst lifetime ada)" in confide(*show[:-1]).out


def test_where_nobody_has_to_approve_the_cap_shown_is_of_who_runs_it(tmp_path):
    board = Board(tmp_path / "clinic")
    path = board.study("free", tier="open", release="")
    asked = board.submit(path, "--json").json
    assert each_cap(asked["preview"])[0] == "operator"
    assert confide("run", path, "--out", board.folder / "out").code == 0
    entries = confide("ledger", "show", board.dataset, "--json").json["entries"]
    assert [each["analyst"] for each in entries] == ["operator"]


def told(board, path):
    """What plan, submit and request show say of what was planned; they say the same."""
    planned = confide("plan", path)
    number = board.submit(path, "--json").json["number"]
    shown = confide("request", "show", number, board.dataset)
    lines = [
        [line for line in said.out.splitlines() if UNLIKE in line] for said in (planned, shown)
    ]
    said = confide("plan", path, "--json").json["unlike-planned"]
    in_json = [each.replace("\N{NO-BREAK SPACE}", " ") for each in said]
    assert lines[0] == lines[1] == ([" ".join(in_json)] if in_json else [])
    return in_json[1:]


def test_a_study_that_misses_the_floor_of_the_release_it_names_says_so(tmp_path):
    board = Board(tmp_path / "clinic")
    assert told(board, board.study("good")) == []
    (said,) = told(board, board.study("low", epsilon="0.01"))
    assert said.startswith("It asks for at most 10 %, and this gives median error 1")
    assert said.endswith(" of 40.")


@pytest.mark.parametrize(
    ("noise", "metric", "most", "good", "low"),
    [
        ("laplace", "mdape", "0.11", "0.1577", "0.1"),  # within 4.4 of 40, so 5 as drawn
        ("discrete-laplace", "p95", "0.25", "0.29", "0.2"),
        ("discrete-laplace", "rmse", "8", "0.1769", "0.15"),
        ("laplace", "interval-width", "20", "0.2996", "0.2"),
    ],
)
def test_a_floor_is_missed_or_met_in_every_metric(tmp_path, noise, metric, most, good, low):
    board = Board(tmp_path / "clinic", noise=noise, metric=metric, most=most)
    assert told(board, board.study("good", epsilon=good)) == []
    assert len(told(board, board.study("low", epsilon=low))) == 1


def test_a_study_of_another_query_or_time_than_planned_says_so(tmp_path):
    board = Board(tmp_path / "clinic", period="2021-Q1")
    other = board.study("other", asks=HISTOGRAM, period="2021-02")
    assert told(board, other) == ["It plans a count, and the study asks: histogram."]
    both = board.study("both", asks=f"{COUNT}, {HISTOGRAM.replace('id: n', 'id: h')}")
    assert told(board, both) == [
        "It plans a count, and the study asks: count and histogram.",
        "It is planned for 2021-Q1.",
    ]
    assert told(board, board.study("about", period="2021-03")) == []
    assert told(board, board.study("late", period="2021-06")) == ["It is planned for 2021-Q1."]
    loose = board.study("loose", release="loose", tier="open", asks=COUNT)
    assert told(board, loose) == []


def test_a_plan_without_its_ledger_says_too_what_is_not_as_planned(tmp_path):
    board = Board(tmp_path / "clinic")
    path = board.study("low", epsilon="0.01")
    assert confide("plan", path).code == 0
    (board.folder / ".confide" / "ledger.sqlite").chmod(0o644)
    body = confide("plan", path, "--json").json
    assert "unknown" in body
    assert len(body["unlike-planned"]) == 2


def test_a_simulation_says_which_caps_it_leaves_out_and_what_one_analyst_would_ask(tmp_path):
    board = Board(tmp_path / "clinic")
    played = confide("policy", "simulate", board.folder / "policy.yaml", "--years", 3)
    assert "each binds each analyst, and no plan says who will ask" in played.out
    body = confide("policy", "simulate", board.folder / "policy.yaml", "--years", 3, "--json").json
    asked = sum(round(float(run["asks"]) * 10**9) for run in body["runs"] if run["granted"])
    assert round(float(body["one-analyst"]["each"]) * 10**9) == asked
    assert asked > 5 * 10**8


def test_an_edited_policy_waits_for_an_officer_though_nothing_is_charged(tmp_path):
    board = Board(tmp_path / "clinic")
    path = board.study("first")
    assert confide("plan", path).code == 0  # adopts version 1
    policy = board.folder / "policy.yaml"
    edited = policy.read_text("utf-8").replace('{epsilon: "9"}', '{epsilon: "8"}')
    for text in (edited, edited.replace("version: 1,", "version: 2,")):
        policy.write_text(text)
        refused = confide("plan", path)
        assert refused.code == 3
        assert "count `version` up, and let an officer adopt it" in refused.err
    assert confide("request", "endorse", board.dataset, "--key", board.keys["bo"]).code == 0
    assert confide("ledger", "adopt", board.dataset, "--reason", "lower").code == 0
    assert confide("plan", path).code == 0
