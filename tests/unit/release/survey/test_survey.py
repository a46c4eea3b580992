"""Surveys: reports, permanent receipts, shares; and answers that never leave."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError, PolicyError, UnknownNameError
from confide.files.survey.survey import read_survey
from confide.files.survey.survey_answers import read_answers
from confide.noise.local_mechanism import Method, method_of
from confide.noise.randomized_response import RandomizedResponse
from confide.release.survey.receipts import permanent, read_receipts, respond
from confide.release.survey.responses import body_of, counts_of, estimate, line_of, read_reports
from confide.release.survey.survey import encode
from seeded import SeededEntropy

SURVEY = """
survey: {id: needles, title: Needles and districts, respondents: 400}
at-most: {epsilon: "2.5"}
questions:
  - {id: shared, ask: "Have you ever shared a needle?", answers: [yes, no], truth: 3/4}
  - {id: home, ask: "Where do you live?", epsilon: 1,
     answers: [a, b, c, d, e, f, g, h, i, j, k, l]}
"""
CANARY = "xq-canary"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "survey.yaml"
    file.write_text(SURVEY)
    return file


@pytest.fixture
def survey(path):
    return read_survey(path)


def answers(count):
    return {
        f"p{i}": {"shared": "yes" if i % 5 == 0 else "no", "home": "ab"[i % 2]}
        for i in range(count)
    }


def placed(lines):
    return [(f"line {number}", line) for number, line in enumerate(lines, start=1)]


def test_a_survey_file_is_read_with_the_best_mechanism_for_each_question(survey):
    shared, home = survey.questions
    assert shared.mechanism == RandomizedResponse(truth=Fraction(3, 4), categories=2)
    assert method_of(home.mechanism) is Method.OPTIMISED_UNARY
    assert survey.question("home") is home
    with pytest.raises(UnknownNameError, match="Did you mean 'home'"):
        survey.question("hom")


def test_the_joint_loss_of_a_report_is_the_sum_over_its_questions(survey):
    assert float(survey.loss().epsilon) == pytest.approx(math.log(3) + 1, abs=1e-14)


def test_questions_that_cost_more_than_the_cap_are_refused(path):
    path.write_text(SURVEY.replace('"2.5"', "2"))
    with pytest.raises(PolicyError, match=r"together cost ε = 2\.09861, more than at-most: 2"):
        read_survey(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("truth: 3/4", "truth: 3/4, epsilon: 1", "one of epsilon"),
        ("truth: 3/4", "method: k-ary", "one of epsilon"),
        ("truth: 3/4", "truth: 3/4, method: optimised-unary", "one of epsilon"),
        ("truth: 3/4", "truth: 1/2", "1/2 < truth < 1"),
        ("[yes, no]", "[yes]", "at least 2"),
        ("[yes, no]", "[yes, yes]", "lists an answer twice"),
        ("id: home", "id: shared", "an id of its own"),
        ("id: home", "id: respondent", "none called respondent"),
        ('ask: "Where', 'aks: "Where', r"1 \(home\) → aks; missing: ask\. Did you mean 'ask'"),
    ],
)
def test_a_survey_file_that_breaks_its_contract_is_told_where(path, old, new, message):
    path.write_text(SURVEY.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read_survey(path)


def test_the_digest_is_of_what_is_asked_and_how_and_of_nothing_else(path, survey):
    path.write_text(
        SURVEY.replace("respondents: 400", "respondents: 9").replace("Needles and", "x")
    )
    assert read_survey(path).digest() == survey.digest()
    for old, new in (
        ("yes, no", "no, yes"),
        ("3/4", "2/3"),
        ("Where do", "where do"),
        ("id: needles", "id: n"),
    ):
        path.write_text(SURVEY.replace(old, new))
        assert read_survey(path).digest() != survey.digest()


def test_a_report_survives_its_line(survey):
    reports = permanent(survey, answers(30), held={}, entropy=SeededEntropy(1)).values()
    lines = [line_of(report) for report in reports]
    assert read_reports(placed(lines), survey=survey) == tuple(reports)
    assert len({report.number for report in reports}) == 30


def test_shares_of_reports_are_those_of_the_mechanisms(survey):
    true = {"shared": np.arange(4000) % 5 // 4, "home": np.arange(4000) % 3}
    reports = encode(
        survey, {k: v.astype(np.int64) for k, v in true.items()}, entropy=SeededEntropy(2)
    )
    shared, home = estimate(reports, survey=survey, level=0.95)
    for share, truth in zip(shared.shares, (0.8, 0.2), strict=True):
        assert abs(share.estimate - truth) < 4 * share.standard_error
    for share, truth in zip(home.shares, [1 / 3] * 3 + [0] * 9, strict=True):
        assert abs(share.estimate - truth) < 4 * share.standard_error
        assert 0 <= share.lower <= share.upper <= 1
    said = [report.said["home"] for report in reports]
    assert counts_of(reports, question=survey.questions[1]) == tuple(np.sum(said, axis=0))


def test_who_answers_again_sends_the_first_report_whatever_the_answers_are_now(survey, tmp_path):
    receipts = tmp_path / "r.json"
    first, made = respond(survey, answers(20), receipts=receipts)
    assert made == 20
    changed = {name: {"shared": "yes", "home": "l"} for name in answers(25)}
    again, made = respond(survey, changed, receipts=receipts)
    assert again[:20] == first
    assert made == 5
    assert receipts.stat().st_mode & 0o077 == 0


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


@pytest.mark.parametrize(
    ("first", "then"),
    [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED), ("p1", " p1\N{NO-BREAK SPACE}")],
)
def test_a_name_in_another_spelling_is_the_same_respondent(survey, tmp_path, first, then):
    receipts, given = tmp_path / "r.json", {"shared": "yes", "home": "a"}
    made = respond(survey, {first: given}, receipts=receipts)
    assert respond(survey, {then: given}, receipts=receipts) == (made[0], 0)
    with pytest.raises(ContractError, match="Two names are one respondent"):
        respond(survey, {first: given, then: given}, receipts=tmp_path / "other.json")
    (tmp_path / "answers.csv").write_text(f"respondent,shared,home\n{first},yes,a\n{then},yes,a\n")
    with pytest.raises(ContractError, match="row 3: expected one row a respondent"):
        read_answers(tmp_path / "answers.csv", survey=survey)


def test_of_two_spellings_that_receipts_hold_already_the_first_report_is_sent(survey, tmp_path):
    receipts, given = tmp_path / "r.json", {"shared": "yes", "home": "a"}
    (one, _), _ = respond(survey, {"a": given, "b": given}, receipts=receipts)
    text = (
        receipts.read_text().replace('"a":', f'"{DECOMPOSED}":').replace('"b":', f'"{COMPOSED}":')
    )
    receipts.write_text(text)
    assert respond(survey, {COMPOSED: given}, receipts=receipts) == ((one,), 0)


def test_receipts_hold_what_was_sent_and_no_answer(survey, tmp_path):
    receipts = tmp_path / "r.json"
    reports, _ = respond(survey, answers(3), receipts=receipts)
    held = json.loads(receipts.read_text())
    assert held["reports"] == {f"p{i}": body_of(reports[i]) for i in range(3)}
    assert held.keys() == {"schema", "survey", "reports"}


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"schema": "confide.survey-receipts/1"}', "null"]
)
def test_damaged_receipts_are_refused_and_never_started_anew(survey, tmp_path, text):
    receipts = tmp_path / "r.json"
    receipts.write_text(text)
    with pytest.raises(ContractError, match="does not hold receipts of this survey"):
        respond(survey, answers(2), receipts=receipts)
    assert receipts.read_text() == text


def test_receipts_of_another_survey_are_refused(path, survey, tmp_path):
    receipts = tmp_path / "r.json"
    respond(survey, answers(2), receipts=receipts)
    path.write_text(SURVEY.replace("3/4", "2/3"))
    with pytest.raises(ContractError, match="receipts of this survey"):
        read_receipts(receipts, survey=read_survey(path))


def test_a_crash_between_receipt_and_report_leads_to_no_second_report(
    survey, tmp_path, monkeypatch
):
    receipts = tmp_path / "r.json"

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.replace", crash)  # before it is on disk: nothing is handed out
        with pytest.raises(KeyboardInterrupt):
            respond(survey, answers(2), receipts=receipts)
    assert not receipts.exists()
    first, _ = respond(survey, answers(2), receipts=receipts)  # on disk, then lost on its way
    assert respond(survey, answers(2), receipts=receipts) == (first, 0)


def good_line(survey):
    return line_of(
        next(iter(permanent(survey, answers(1), held={}, entropy=SeededEntropy(8)).values()))
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "x"}, "Expected a report of schema"),
        ({"survey": "0" * 64}, "of another survey"),
        ({"number": "12"}, "32 hexadecimal digits"),
        ({"said": {"shared": "yes"}}, "one answer to each question"),
        ({"said": {"shared": CANARY, "home": [0] * 12}}, "'shared' is none that its mechanism"),
        ({"said": {"shared": "yes", "home": [0] * 11}}, "'home' is none that its mechanism"),
        ({"said": {"shared": "yes", "home": [0] * 11 + [2]}}, "'home' is none that its mechanism"),
        ({"said": {"shared": "yes", "home": [0] * 11 + [True]}}, "'home' is none"),
        ({"said": {"shared": ["yes"], "home": [0] * 12}}, "'shared' is none"),
        ({"more": 1}, "Expected the fields"),
    ],
)
def test_reports_that_are_not_of_this_survey_are_refused_by_line(survey, change, message):
    good = good_line(survey)
    with pytest.raises(ContractError, match=f"line 2: .*{message}") as refused:
        read_reports(placed([good, json.dumps(json.loads(good) | change)]), survey=survey)
    assert CANARY not in str(refused.value)


def test_a_report_given_twice_a_broken_line_and_no_line_are_refused(survey):
    good = good_line(survey)
    with pytest.raises(ContractError, match="line 2: the same report as line 1"):
        read_reports(placed([good, good]), survey=survey)
    for broken in (good[:-3], "[" * 100_000, '"x"', "NaN"):
        with pytest.raises(ContractError, match="line 1: Expected"):
            read_reports(placed([broken]), survey=survey)
    with pytest.raises(ContractError, match="There is no report"):
        read_reports([], survey=survey)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"respondent,shared,home\nx,yes,a\ny,{CANARY},a\n", "row 3: An answer to 'shared'"),
        (f"respondent,shared\n{CANARY},yes\n", "columns of the survey"),
        (f"respondent,shared,home,{CANARY}\nx,yes,a,1\n", "columns of the survey"),
        (f"respondent,shared,home\n{CANARY},yes,a\n{CANARY},no,a\n", "row 3: .*a name of its own"),
        (f"respondent,shared,home\n,yes,{CANARY}\n", "row 2: .*a name of its own"),
        (f"respondent,shared,home\nx,yes,a,{CANARY}\n", "row 2: .*one row a respondent"),
        ("respondent,shared,home\nx,yes\n", "row 2: An answer to 'home'"),
        ("respondent,shared,home\n", "holds no respondent"),
        ("", "columns of the survey"),
    ],
)
def test_errors_about_true_answers_name_the_place_and_never_the_answer(
    survey, tmp_path, text, message
):
    file = tmp_path / "answers.csv"
    file.write_text(text)
    with pytest.raises(ContractError, match=message) as refused:
        read_answers(file, survey=survey)
    assert CANARY not in str(refused.value)


def test_answers_are_read_with_their_blanks_stripped(survey, tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text("home,respondent,shared\n a ,x, yes\n", "utf-8-sig")
    assert read_answers(file, survey=survey) == {"x": {"home": "a", "shared": "yes"}}


def test_a_respondent_without_an_answer_is_refused(survey):
    with pytest.raises(ContractError, match=r"no answer to 'home'.*prefer not to say"):
        permanent(survey, {"x": {"shared": "yes"}}, held={}, entropy=SeededEntropy(1))
    with pytest.raises(ContractError, match="'home' has no answers"):
        encode(survey, {"shared": np.array([0])}, entropy=SeededEntropy(1))
