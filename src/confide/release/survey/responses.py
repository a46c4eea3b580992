"""Reports of a survey as lines of JSON, and the shares that they show.

A line is one report.  It counts only if it is whole: the schema, the digest of this survey, a
number that no other line has, and to each question exactly one answer that its mechanism can give.
One line that is not so refuses the whole file by line number, because a share of what is left would
be that of other respondents.

*Privacy:* post-processing of randomised answers.

*Utility:* whoever holds a device can send anything that its mechanism can give, as often as there
are numbers; a share of α of such senders moves an estimated share by at most α/(p − q) [CJG21].

References:
    [CJG21] Cao, Jia, Gong. Data poisoning attacks to local differential privacy protocols. USENIX
        Security 2021. https://arxiv.org/abs/1911.02046
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from confide.errors import ContractError
from confide.noise.randomized_response import RandomizedResponse
from confide.noise.response_share import ResponseShare, estimate_shares
from confide.noise.unary_encoding import UnaryEncoding
from confide.release.survey.survey import Report, Said, Survey, SurveyQuestion

SCHEMA = "confide.survey-report/1"
_NUMBER = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionShares:
    """What reports say of one question.

    Attributes:
        question: The question.
        shares: One an answer, in the order of the survey.
    """

    question: SurveyQuestion
    shares: tuple[ResponseShare, ...]


def body_of(report: Report) -> dict[str, Any]:
    """Return the JSON object of a report."""
    return {
        "schema": SCHEMA,
        "survey": report.survey,
        "number": report.number,
        "said": {
            name: list(said) if isinstance(said, tuple) else said
            for name, said in report.said.items()
        },
    }


def line_of(report: Report) -> str:
    """Return a report as one line of JSON."""
    return json.dumps(body_of(report), ensure_ascii=False)


def read_report(value: object, *, survey: Survey) -> Report:
    """Return the report that a JSON value is.

    Raises:
        ContractError: If it is not a whole report of this survey; the message names no answer.
    """
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise ContractError(f"Expected a report of schema {SCHEMA}.")
    if value.keys() != {"schema", "survey", "number", "said"}:
        raise ContractError("Expected the fields schema, survey, number and said.")
    if value["survey"] != survey.digest():
        raise ContractError(
            "The report is of another survey, or of another version of it.",
            hint="Reports mix only if questions, answers and probabilities are the same.",
        )
    number, said = value["number"], value["said"]
    if not isinstance(number, str) or not _NUMBER.fullmatch(number):
        raise ContractError("Expected a number of 32 hexadecimal digits.")
    if not isinstance(said, dict) or said.keys() != {each.id for each in survey.questions}:
        raise ContractError("Expected one answer to each question of the survey.")
    return Report(
        survey=value["survey"],
        number=number,
        said={each.id: _read_said(said[each.id], question=each) for each in survey.questions},
    )


def _read_said(value: object, *, question: SurveyQuestion) -> Said:
    match question.mechanism:
        case RandomizedResponse():
            if isinstance(value, str) and value in question.answers:
                return value
        case UnaryEncoding(categories=categories):
            if (
                isinstance(value, list)
                and len(value) == categories
                and all(type(bit) is int and bit in (0, 1) for bit in value)
            ):
                return tuple(value)
        case _:
            assert_never(question.mechanism)
    raise ContractError(f"The answer to {question.id!r} is none that its mechanism gives.")


def read_reports(lines: Iterable[tuple[str, str]], *, survey: Survey) -> tuple[Report, ...]:
    """Return the reports of lines, each given with the place that errors name.

    Raises:
        ContractError: If a line is no report of this survey, or a number comes twice, or there is
            no report.
    """
    reports: list[Report] = []
    seen: dict[str, str] = {}
    for place, line in lines:
        try:
            report = read_report(_json(line), survey=survey)
        except ContractError as error:
            message = str(error).removesuffix(error.hint).strip()
            raise ContractError(f"{place}: {message}", hint=error.hint) from None
        if report.number in seen:
            raise ContractError(
                f"{place}: the same report as {seen[report.number]}.",
                hint="Give each report once; a respondent who answers again sends the same one.",
            )
        seen[report.number] = place
        reports.append(report)
    if not reports:
        raise ContractError("There is no report.", hint="Make some: confide survey encode")
    return tuple(reports)


def _json(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise ContractError("Expected one JSON object a line.") from None


def counts_of(reports: Sequence[Report], *, question: SurveyQuestion) -> tuple[int, ...]:
    """Return how many reports count for each answer of a question."""
    counts = dict.fromkeys(question.answers, 0)
    for report in reports:
        said = report.said[question.id]
        affirmed = (
            (said,)
            if isinstance(said, str)
            else (answer for answer, bit in zip(question.answers, said, strict=True) if bit)
        )
        for answer in affirmed:
            counts[answer] += 1
    return tuple(counts.values())


def estimate(
    reports: Sequence[Report], *, survey: Survey, level: float
) -> tuple[QuestionShares, ...]:
    """Return the share of each answer to each question, in the population of the respondents."""
    return tuple(
        QuestionShares(
            question=question,
            shares=estimate_shares(
                counts_of(reports, question=question),
                asked=len(reports),
                truth=question.mechanism.keep_probability(),
                lie=question.mechanism.lie_probability(),
                level=level,
            ),
        )
        for question in survey.questions
    )
