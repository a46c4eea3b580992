"""Surveys on the command line: design, encode on the respondent's side, estimate, report."""

import csv
import json

import pytest
from typer.testing import CliRunner

from command_line import confide
from confide.cli import app
from real_command import run

SURVEY = """
survey: {id: needles, title: Needles and <districts>, respondents: 1000}
at-most: {epsilon: 3}
questions:
  - {id: shared, ask: "Have you ever shared a needle?", answers: [yes, no], truth: 3/4}
  - {id: home, ask: "Where do you live?", epsilon: 1,
     answers: ["=north", south, c, d, e, f, g, h, i, j, k, l]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    (folder / "survey.yaml").write_text(SURVEY)
    with (folder / "answers.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["respondent", "shared", "home"])
        for i in range(1000):
            writer.writerow([f"p{i}", "yes" if i % 5 == 0 else "no", ("=north", "south")[i % 2]])
    ran = confide(
        "survey", "encode", folder / "survey.yaml", "--answers", folder / "answers.csv",
        "--out", folder / "reports.jsonl",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "1000 new, 0 sent again" in ran.err
    return folder


def test_design_says_what_answers_give_away_and_what_to_expect(folder):
    ran = confide("survey", "design", folder / "survey.yaml")
    assert ran.code == 0
    assert "true with a chance of 75 %" in ran.out
    assert "at most be 3 times as likely" in ran.out
    assert "factor of at most 8.16 (ε = 2.099)" in ran.out  # 3e
    body = confide("survey", "design", folder / "survey.yaml", "--json").json
    assert body["schema"] == "confide.survey-design/1"
    shared, home = body["questions"]
    assert shared["method"], home["method"] == ("k-ary", "optimised-unary")
    # War65 at a share of 10 %: 1.96·√(0.3·0.7/1000)/0.5
    assert shared["half-width-at-10-percent"] == pytest.approx(0.05681, abs=1e-5)
    assert shared["half-width-not-randomised"] == pytest.approx(0.01859, abs=1e-5)
    assert min(home["total-variance"].values()) == home["total-variance"]["optimised-unary"]


def test_reports_hold_no_true_answer_and_no_name(folder):
    lines = (folder / "reports.jsonl").read_text().splitlines()
    reports = [json.loads(line) for line in lines]
    assert all(each.keys() == {"schema", "survey", "number", "said"} for each in reports)
    assert not any(f'"p{i}"' in line for i, line in enumerate(lines))
    truthful = sum(
        (each["said"]["shared"] == "yes") == (i % 5 == 0) for i, each in enumerate(reports)
    )
    assert 680 < truthful < 820  # 3 in 4


def test_encoding_again_sends_the_same_bytes(folder, tmp_path):
    ran = confide(
        "survey", "encode", folder / "survey.yaml", "--answers", folder / "answers.csv", "--json"
    )
    assert ran.json["new"] == 0
    assert ran.json["from-receipts"] == 1000
    assert ran.json["lines"] == (folder / "reports.jsonl").read_text().splitlines()


def test_whoever_answered_in_a_file_is_not_asked_again_under_a_name_with_blanks(folder):
    words = ("survey", "encode", folder / "survey.yaml", "--respondent", " p7 ", "--json")
    ran = confide(*words)
    assert ran.code == 0, ran.err
    assert ran.json["from-receipts"] == 1
    assert ran.json["lines"] == [(folder / "reports.jsonl").read_text().splitlines()[7]]


def test_an_interview_prints_one_line_and_asks_on_standard_error(folder, tmp_path):
    words = [
        "survey",
        "encode",
        str(folder / "survey.yaml"),
        "--receipts",
        str(tmp_path / "r.json"),
    ]
    first = CliRunner().invoke(app, words, input="7\nx\n1\n12\n")
    assert first.exit_code == 0
    line, *rest = first.stdout.splitlines()
    assert not rest
    assert json.loads(line)["said"].keys() == {"shared", "home"}
    assert "Have you ever shared a needle?" in first.stderr
    again = CliRunner().invoke(app, words, input="")
    assert again.stdout == first.stdout
    assert "needle" not in again.stderr
    broken_off = [*words[:-1], str(tmp_path / "other.json")]
    assert CliRunner().invoke(app, broken_off, input="1\n").exit_code == 130
    assert not (tmp_path / "other.json").exists()


def test_an_interview_reads_every_answer_of_a_pipe(folder, tmp_path):
    (tmp_path / "said").write_text("1\n12\n")
    with (tmp_path / "said").open() as said:
        words = ("survey", "encode", folder / "survey.yaml", "--receipts", "r.json")
        ran = run(*words, cwd=tmp_path, stdin=said.fileno())
    assert ran.code == 0, ran.told
    assert json.loads(ran.out)["said"].keys() == {"shared", "home"}


def test_estimates_are_a_report_a_table_and_figures(folder, tmp_path):
    ran = confide(
        "survey", "estimate", folder / "survey.yaml", folder / "reports.jsonl",
        "--out", tmp_path / "out", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.json["reports"] == 1000
    yes = ran.json["questions"][0]["shares"][0]
    assert abs(yes["share"] - 0.2) < 6 * yes["standard-error"]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "report.html",
        "shares.csv",
        "shared.svg",
        "shared.png",
        "home.svg",
        "home.png",
    }
    html = (tmp_path / "out" / "report.html").read_text()
    assert "Needles and &lt;districts&gt;" in html
    assert "<script" not in html
    assert html.count("<figure") == 2
    with (tmp_path / "out" / "shares.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 14
    assert float(rows[0]["share"]) == pytest.approx(yes["share"])
    assert rows[2]["answer"] == "'=north"  # no spreadsheet runs it
    for question in ("shared", "home"):
        together = [float(row["together"]) for row in rows if row["question"] == question]
        assert sum(together) == pytest.approx(1)


def test_estimates_are_shown_as_tables(folder):
    ran = confide("survey", "estimate", folder / "survey.yaml", folder / "reports.jsonl")
    assert "Have you ever shared a needle?" in ran.out
    assert "at least 95 %" in ran.out


def test_wrong_files_of_reports_are_refused_by_line(folder, tmp_path):
    lines = (folder / "reports.jsonl").read_text().splitlines()
    (tmp_path / "mixed.jsonl").write_text(
        "\n".join([lines[0], lines[1].replace(lines[1][60:70], "0" * 10)])
    )
    twice = confide(
        "survey",
        "estimate",
        folder / "survey.yaml",
        folder / "reports.jsonl",
        folder / "reports.jsonl",
    )
    assert twice.code == 7
    assert "reports.jsonl line 1: the same report as reports.jsonl line 1" in twice.err
    mixed = confide("survey", "estimate", folder / "survey.yaml", tmp_path / "mixed.jsonl")
    assert mixed.code == 7
    assert "mixed.jsonl line 2: The report is of another survey" in mixed.err


def test_nothing_that_exists_is_written_over(folder):
    kept = (folder / "reports.jsonl").read_bytes()
    for words in (
        ("encode", folder / "survey.yaml", "--answers", folder / "answers.csv"),
        ("estimate", folder / "survey.yaml", folder / "reports.jsonl"),
    ):
        ran = confide("survey", *words, "--out", folder / "reports.jsonl")
        assert ran.code == 7
        assert "exists already" in ran.err
    assert (folder / "reports.jsonl").read_bytes() == kept


def test_a_survey_above_its_cap_is_refused_by_policy(tmp_path):
    (tmp_path / "survey.yaml").write_text(SURVEY.replace("epsilon: 3", "epsilon: 1"))
    assert confide("survey", "design", tmp_path / "survey.yaml").code == 3
