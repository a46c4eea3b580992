"""What no report says, whatever it is about: words that readers stumble over, numbers that no
headline may name, and intervals that are told twice.
"""

import math
import re

import pytest

import told_reports
from confide.drawing.asking import Asking
from confide.drawing.cells import key_text, readable_cells
from confide.report.pages.page import page
from confide.report.wording.section import section
from confide.statistics.registry import kind_of

SPAN = re.compile(r"\(?−?[\d,.]+(?:–| to )−?[\d,.]+")
NO_WARNINGS = ("not reached", "score not published")
REPORTS = [
    *(
        (name, answers)
        for name in ("kinds", *told_reports.NAMES)
        for answers in told_reports.ANSWERS
    ),
]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Every report, by name and answers: the release and its page."""
    made = {}
    for name, answers in REPORTS:
        if name == "kinds":
            release = told_reports.told(told_reports.every_plan(), answers=answers)
        else:
            into = tmp_path_factory.mktemp(answers)
            release = told_reports.example(name, answers=answers, into=into)
        made[name, answers] = release, page(release, figures={}, words=release.words())
    return made


@pytest.fixture(params=REPORTS, ids="-".join)
def report(request, reports):
    return reports[request.param]


def test_no_page_says_what_readers_stumble_over(report):
    _, html = report
    text = "\n".join(told_reports.blocks_of(html))
    assert told_reports.stumbled_over(text) == []


def test_no_headline_names_a_group_that_is_flagged_or_withheld(report):
    release, _ = report
    for statistic in release.plan.statistics:
        words = release.words().on(statistic)
        finding = section(release, statistic, words=release.words()).finding
        told = re.sub(r"Set aside, because flagged: .*$", "", finding)
        asking = Asking(dataset=release.plan.dataset, words=words)
        published = readable_cells(release.of(statistic))
        told_as = kind_of(statistic).told(statistic, published, asking)
        cells = [cell for cell in told_as if cell.key]
        if kind_of(statistic).chooses or len({cell.key for cell in cells}) < 2:
            continue
        sound = {key_text(c, words=words) for c in cells if c.value is not None and not _warned(c)}
        unsound = {key_text(c, words=words) for c in cells} - sound
        named = [key for key in unsound if re.search(rf"(for|is|By) {re.escape(key)}(?!\w)", told)]
        assert named == [], (statistic.id, finding)


def _warned(cell):
    return any(flag not in NO_WARNINGS for flag in cell.flags)


def test_no_number_has_both_its_ends_and_how_far_they_are(report):
    _, html = report
    for block in told_reports.blocks_of(html):
        if re.search(r"±\d", block):
            assert not SPAN.search(re.sub(r"n = [\d,]+ ± [\d,]+", "", block)), block


def test_no_number_with_its_interval_stands_twice_in_a_paragraph(report):
    _, html = report
    for block in told_reports.blocks_of(html):
        found = re.findall(
            r"\S+ (?:\S+ )?\((?:\S+ CI )?−?[\d,.]+(?:–| to )−?[\d,.]+\)[^.;]*", block
        )
        assert len(found) == len(set(found)), block


def test_what_several_questions_share_is_said_once(report):
    _, html = report
    items = re.findall(r"<li>(.*?)</li>", html, flags=re.DOTALL)
    plain = [re.sub(r"<[^>]*>|\(of [^)]*\)", "", item).strip() for item in items]
    long = [item for item in plain if len(item) > 30]
    assert sorted(item for item in set(long) if long.count(item) > 1) == []


def test_the_first_page_tells_how_much_of_each_interval_is_noise(report):
    release, html = report
    whole = re.search(r'id="whole".*?</table>', html, flags=re.DOTALL)
    assert whole is not None
    rows = re.findall(r"<tr>(.*?)</tr>", whole[0], flags=re.DOTALL)[1:]
    assert len(rows) == len(release.plan.statistics)
    told = [re.sub(r"<[^>]*>", "", f"<td{row.rpartition('<td')[2]}") for row in rows]
    assert all(re.search(r"\d+\u00a0%|no intervals|intervals of one value", each) for each in told)


@pytest.mark.parametrize("name", told_reports.NAMES)
@pytest.mark.parametrize("answers", told_reports.ANSWERS)
def test_what_a_release_found_is_shown_on_forty_lines_of_a_terminal(name, answers, reports, capsys):
    from confide.cli.reading.show import _findings
    from confide.service.reading.show import _findings as found_in

    release, _ = reports[name, answers]
    _findings(found_in(release, words=release.words()), title="A study", loss="ε = 1")
    lines = capsys.readouterr().out.splitlines()
    assert sum(max(1, math.ceil(len(line) / 78)) for line in lines) + 2 <= 40
