"""What a command prints for people fits a terminal of 80 columns, a line for each thing."""

import pytest

from command_line import confide
from confide.cli.output import table
from small_clinic import make_clinic

WIDTH, HEIGHT = 80, 24
POLICY = "examples/policy/policy.yaml"
STUDIES = ("s0", "s1", "s2")
SHOW = ("ledger", "show", "--json")


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDTH))


@pytest.fixture
def clinic(tmp_path):
    clinic = make_clinic(tmp_path / "clinic")
    for number in range(3):
        count = f"  - {{id: n{number}, kind: count, table: patients}}\n"
        clinic.study.write_text(
            f"study: {{id: s{number}}}\nstatistics:\n{count}spend: {{at-most: {{epsilon: 0.25}}}}\n"
        )
        name = ("--request", "fresh") if number == 2 else ()
        ran = confide("run", clinic.study, "--out", tmp_path / str(number), "--quiet", *name)
        assert ran.code == 0, ran.err
    return clinic


def tables(text):
    """The lines of tables, which are never wrapped by the terminal."""
    return [line for line in text.splitlines() if line.startswith("  ") or "─" in line]


@pytest.mark.parametrize("command", ["check", "solve", "simulate", "explain"])
def test_no_table_of_a_policy_is_wider_than_the_terminal(command):
    ran = confide("policy", command, POLICY)
    assert ran.code == 0
    if command != "explain":
        assert max(map(len, tables(ran.out))) <= WIDTH


def test_the_use_of_a_ledger_is_one_screen_with_a_line_for_each_request(clinic):
    shown = confide("ledger", "show", clinic.dataset).out
    lines = shown.splitlines()
    assert len(lines) <= HEIGHT
    assert max(map(len, lines)) <= WIDTH
    rows = [line.split() for line in lines if " published" in line]
    assert [[name for name in row if name in STUDIES] for row in rows] == [[n] for n in STUDIES]
    costs = [row[row.index("ε") : row.index("ε") + 3] for row in rows]
    assert costs == [["ε", "0.25", "(ρ"]] * 3
    assert [("fresh" in row) for row in rows] == [False, False, True]


def test_earlier_requests_are_said_to_be_there_and_shown_when_they_are_asked_for(clinic):
    some = confide("ledger", "show", clinic.dataset, "--last", "2")
    assert "There are earlier ones: --last 20" in some.out
    assert "s0" not in some.out
    body = confide(*SHOW, clinic.dataset, "--last", "2").json
    assert ([each["study"] for each in body["entries"]], body["has-earlier"]) == (
        ["s1", "s2"],
        True,
    )
    every = confide("ledger", "show", clinic.dataset, "--last", "20")
    assert "s0" in every.out
    assert "earlier" not in every.out
    none = confide(*SHOW, clinic.dataset, "--last", "0").json
    assert (none["entries"], none["has-earlier"]) == ([], True)


def test_a_column_of_long_texts_stands_below_the_table_once_for_all_that_say_the_same(capsys):
    rows = [("a", "1", "long " * 20), ("b", "2", "long " * 20), ("c", "3", "other " * 20)]
    table(("id", "n", "because"), rows)
    out = capsys.readouterr().out
    assert "because (a, b): long" in out
    assert "because (c): other" in out
    assert "because" not in out.splitlines()[1]
    table(("id", "n", "because"), rows[:2])
    assert "because: long" in capsys.readouterr().out
    table(("id", "n", "because"), [("a", "1", "short")])
    assert "short" in capsys.readouterr().out.splitlines()[3]


def test_a_study_a_release_or_a_number_is_explained_without_saying_what_it_is(clinic, tmp_path):
    for path, said in (
        (clinic.study, "What the plan s2 would do"),
        (tmp_path / "0", "What certificate clinic/"),
        (tmp_path / "0" / "certificate.json", "What certificate clinic/"),
        ("0.5", "What ε = 0.5 (δ = 0) means"),
    ):
        assert said in confide("explain", path).out
    refused = confide("explain", "nothing")
    assert refused.code == 2
    assert "an ε or a file, got 'nothing'" in refused.err
