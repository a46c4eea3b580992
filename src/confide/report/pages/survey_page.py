"""The report of a survey: what respondents were promised, and each question's shares.

*Privacy:* a function of the survey and of randomised reports, so it costs nothing.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from confide.drawing.cells import span_text
from confide.drawing.charts.marks import Frame, dots, titled
from confide.drawing.charts.narrow import narrowed
from confide.drawing.charts.render import Drawing, draw
from confide.drawing.charts.vega import Chart
from confide.drawing.markup import Html, isolated, tag
from confide.drawing.numbers import clean, decimals_for, epsilon_text, fixed, percent
from confide.drawing.shown import Shown
from confide.drawing.words import Words
from confide.release.export import inert
from confide.release.survey.responses import QuestionShares
from confide.release.survey.survey import Survey
from confide.report.pages.document import document
from confide.report.pages.page_parts import drawing_part
from confide.report.pages.table import html_table
from confide.report.wording.survey_words import excluded, odds_text, promised, told

COLUMNS = ("question", "answer", "share", "standard_error", "lower", "upper", "together", "level")


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyReport:
    """What reports of a survey show, ready to be printed.

    Attributes:
        survey: The survey.
        reports: Number of reports.
        found: Shares, one item a question.
    """

    survey: Survey
    reports: int
    found: tuple[QuestionShares, ...]


def contents(report: SurveyReport, *, words: Words) -> dict[str, bytes]:
    """Return every file of the report, by name."""
    charts = [chart(found, words=words) for found in report.found]
    drawn = [draw(each, narrow=narrowed(each)) for each in charts]
    files = {"report.html": page(report, drawn=drawn, words=words).encode()}
    files["shares.csv"] = csv_bytes(report.found)
    for found, drawing in zip(report.found, drawn, strict=True):
        files[f"{found.question.id}.svg"] = drawing.svg.encode()
        files[f"{found.question.id}.png"] = drawing.png
    return files


def csv_bytes(found: Sequence[QuestionShares]) -> bytes:
    """Return every share as CSV; a text that a spreadsheet would run is quoted with '."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in found:
        for answer, share in zip(each.question.answers, each.shares, strict=True):
            numbers = (share.estimate, share.standard_error, share.lower, share.upper)
            last = (share.together, share.level)
            texts = [f"{number:.10g}" for number in (*numbers, *last)]
            writer.writerow([each.question.id, inert(answer), *texts])
    return out.getvalue().encode()


def chart(found: QuestionShares, *, words: Words) -> Chart:
    """Return the shares of one question as dots with intervals, in per cent."""
    rows = [
        {
            "group": clean(answer),
            "series": "",
            "value": 100 * share.estimate,
            "low": 100 * share.lower,
            "high": 100 * share.upper,
            "inner_low": None,
            "inner_high": None,
            "flagged": not 0 <= share.estimate <= 1,
            "missing": "",
        }
        for answer, share in zip(found.question.answers, found.shares, strict=True)
    ]
    frame = Frame(
        groups=tuple(str(row["group"]) for row in rows), x_title=words.say("survey.axis"), zero=True
    )
    subtitle = lines_text(found, words=words)
    return titled(dots(rows, frame=frame), title=clean(found.question.ask), subtitle=subtitle)


def lines_text(found: QuestionShares, *, words: Words) -> str:
    """Return what the lines of a figure are."""
    return words.say("survey.subtitle", level=percent(found.shares[0].level))


def table(found: QuestionShares, *, words: Words) -> Shown:
    """Return the shares of one question as texts."""
    level = percent(found.shares[0].level)
    places = decimals_for(100 * max(share.standard_error for share in found.shares))
    places = max(0, places - 1)
    return Shown(
        head=(
            words.say("survey.head.answer"),
            words.say("survey.head.share"),
            words.say("survey.head.interval", level=level),
            words.say("survey.head.together"),
        ),
        rows=tuple(
            (
                clean(answer),
                fixed(100 * share.estimate, decimals=places),
                span_text((100 * share.lower, 100 * share.upper), decimals=places, words=words),
                fixed(100 * share.together, decimals=places),
            )
            for answer, share in zip(found.question.answers, found.shares, strict=True)
        ),
        text_columns=1,
        numbers=3,
    )


def headline(found: QuestionShares, *, words: Words) -> str:
    """Return the most frequent answer in one sentence."""
    shown = table(found, words=words)
    most = max(range(len(found.shares)), key=lambda place: found.shares[place].estimate)
    answer, share, interval, _ = shown.rows[most]
    return words.say("survey.headline", answer=answer, share=f"{share} %", interval=f"{interval} %")


def covers(found: QuestionShares, *, words: Words) -> str:
    """Return what the intervals of a question cover."""
    return words.say("survey.covers", level=percent(found.shares[0].level))


def page(report: SurveyReport, *, drawn: Sequence[Drawing], words: Words) -> str:
    """Return the whole HTML document."""
    survey = report.survey
    title, outside = excluded(words=words)
    body = tag(
        "div",
        _header(report, words=words),
        tag(
            "section",
            tag("h2", words.say("survey.title.odds"), id="odds"),
            [tag("p", sentence) for sentence in promised(survey, words=words)],
            tag("h3", title),
            tag("ul", [tag("li", each) for each in outside]),
            class_="card",
            aria_labelledby="odds",
        ),
        tag(
            "main",
            [
                _question(found, drawing=drawing, name=f"q{place}", words=words)
                for place, (found, drawing) in enumerate(
                    zip(report.found, drawn, strict=True), start=1
                )
            ],
            tag("p", words.say("survey.together"), class_="note"),
            tag("p", words.say("survey.file"), class_="note"),
        ),
        class_="sheet",
    )
    return document(body, title=clean(survey.title, most=160), language=words.language)


def _header(report: SurveyReport, *, words: Words) -> Html:
    facts = (
        ("survey.respondents", f"{report.reports:,}"),
        ("survey.head.epsilon", epsilon_text(report.survey.loss().epsilon)),
        ("survey.digest", report.survey.digest()[:16] + "…"),
    )
    return tag(
        "header",
        tag("p", words.say("survey.what"), class_="kicker"),
        tag("h1", isolated(clean(report.survey.title, most=160))),
        tag(
            "dl",
            [tag("div", tag("dt", words.say(key)), tag("dd", value)) for key, value in facts],
            class_="facts",
        ),
    )


def _question(found: QuestionShares, *, drawing: Drawing, name: str, words: Words) -> Html:
    question = found.question
    loss = question.mechanism.loss()
    said = headline(found, words=words)
    cost = f"ε = {epsilon_text(loss.epsilon)} (× {odds_text(loss)})"
    return tag(
        "section",
        tag("h2", isolated(clean(question.ask, most=300)), id=name),
        tag("p", isolated(said), class_="headline"),
        tag(
            "figure",
            tag("p", lines_text(found, words=words), class_="lines"),
            drawing_part(drawing, name=name, alt=said),
        ),
        html_table(table(found, words=words), name=f"{name}t", words=words),
        tag("p", covers(found, words=words), class_="note"),
        tag("h3", words.say("survey.title.explain")),
        [tag("p", sentence) for sentence in told(question.mechanism, words=words)],
        tag("p", cost, class_="note"),
        aria_labelledby=name,
    )
