"""Figures and pages that no release of the clinic has, number for number."""

import math
from dataclasses import replace

import pytest

from confide.budget.per_patient.preview import Outcome, Year
from confide.files.survey.survey import read_survey
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.privacy.measure import Measure
from confide.release.survey.receipts import permanent
from confide.release.survey.responses import estimate
from confide.report.charts.left_out_chart import left_out_chart
from confide.report.charts.membership_chart import Attacked, membership_chart
from confide.report.pages import survey_page
from confide.report.wording.survey_words import design
from kept_texts import assert_kept, chart_text, page_text
from seeded import SeededEntropy

SURVEY = """
survey: {id: needles, title: Needles and <districts>, respondents: 1000}
at-most: {epsilon: 3}
questions:
  - {id: shared, ask: "Have you ever shared a needle?", answers: [yes, no], truth: 3/4}
  - {id: home, ask: "Where do you live?", epsilon: 1,
     answers: ["=north", south, c, d, e, f, g, h, i, j, k, l]}
"""


def whole_lines(drawn):
    """Which series are drawn without gaps."""

    def dashes(part):
        if isinstance(part, dict):
            if "strokeDash" in part and isinstance(part["strokeDash"], dict):
                yield part["strokeDash"]["scale"]["range"]
            part = list(part.values())
        if isinstance(part, list):
            for each in part:
                yield from dashes(each)

    found = next(dashes(drawn.to_dict()))
    return [gap == 0 for _, gap in found]


def test_the_figure_of_an_attack_has_its_points_and_the_bound_of_the_claim(words):
    attacked = [
        Attacked(model="without-privacy", points=((0.0, 0.1), (0.001, 0.2), (0.5, 1.0))),
        Attacked(model="in-rounds", points=((0.01, 0.0005), (0.01, 0.001), (1.0, 1.0))),
    ]
    drawn = membership_chart(attacked, epsilon=1.0, delta=1e-6, words=words)
    assert_kept("report/membership.txt", chart_text(drawn))
    assert whole_lines(drawn) == [True, True, False, False]  # of models; not of what bounds them


def test_the_figure_of_leaving_patients_out_has_noise_and_bias_of_each_number(words):
    year = Year(visits={1: 700, 2: 240, 3: 60}, releases=3, cap=0.5, measure=Measure.PURE)
    found = (
        Outcome(shares=1, noise=2.83, missing=(0.0, 100.0, 200.5), rmse=115.25),
        Outcome(shares=2, noise=5.66, missing=(0.0, 0.0, 0.3), rmse=5.75),
        Outcome(shares=3, noise=8.49, missing=(0.0, 0.0, 0.2), rmse=8.49),
    )
    worst = Outcome(shares=3, noise=8.49, missing=(), rmse=1234.56)
    drawn = left_out_chart(year, found, worst=worst, words=words)
    assert_kept("report/left-out.txt", chart_text(drawn))
    assert whole_lines(drawn) == [True, False, False]


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """The report of a thousand respondents, whose coins are drawn from a seed."""
    path = tmp_path_factory.mktemp("survey") / "survey.yaml"
    path.write_text(SURVEY)
    declared = read_survey(path)
    answers = {
        f"p{i}": {"shared": "yes" if i % 5 == 0 else "no", "home": ("=north", "south")[i % 2]}
        for i in range(1000)
    }
    reports = permanent(declared, answers, held={}, entropy=SeededEntropy(7)).values()
    found = estimate(tuple(reports), survey=declared, level=0.95)
    return survey_page.SurveyReport(survey=declared, reports=1000, found=found)


def test_every_word_of_the_report_of_a_survey_is_the_one_that_was_read(survey, words):
    files = survey_page.contents(survey, words=words)
    assert files.keys() == {
        "report.html", "shares.csv", "shared.svg", "shared.png", "home.svg", "home.png",
    }  # fmt: skip
    assert_kept("report/survey.html", page_text(files["report.html"].decode()))
    assert_kept("report/survey.csv", files["shares.csv"].decode())


@pytest.mark.parametrize("place", [0, 1])
def test_the_figure_of_a_question_has_its_shares_in_per_cent(survey, words, place):
    drawn = survey_page.chart(survey.found[place], words=words)
    assert_kept(f"report/survey-{place}.txt", chart_text(drawn))


@pytest.mark.parametrize(("error", "text"), [(0.2, "30"), (0.002, "30.0"), (0.0002, "30.00")])
def test_shares_of_a_survey_have_decimals_by_the_largest_error(survey, words, error, text):
    found = survey.found[0]
    one = replace(found.shares[0], estimate=0.3, standard_error=error)
    small = replace(found.shares[1], standard_error=1e-9)
    table = survey_page.table(replace(found, shares=(one, small)), words=words)
    assert table.rows[0][1] == text


def test_a_trusted_curator_errs_by_sampling_and_by_noise_on_two_cells(survey):
    for each in design(survey.survey):
        loss = each.question.mechanism.loss()
        noise = DiscreteLaplace.calibrate(loss, l1=2).standard_deviation()
        assert each.curator == pytest.approx(math.hypot(each.plain, 1.96 * noise / 1000))
        assert each.plain < each.curator < each.small
