"""Estimate the share of each answer, with intervals, from randomised reports."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from confide.drawing.words import Words, load_words
from confide.errors import ContractError
from confide.files.survey.survey import read_survey
from confide.regular_file import reading_text, write_bytes
from confide.release.survey.responses import QuestionShares as FoundShares
from confide.release.survey.responses import estimate as shares
from confide.release.survey.responses import read_reports
from confide.report.pages.survey_page import SurveyReport, contents, covers
from confide.report.pages.survey_page import table as shares_table
from confide.report.wording.survey_words import LEVEL
from confide.service.dump import ASIDE
from confide.service.grids import TextTable


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerShare:
    """The share of an answer.

    Attributes:
        answer: Which.
        share: Its estimate.
        standard_error: Of it.
        lower: End of the interval.
        upper: End of the interval.
        together: Half width, in which the intervals of all shares hold at once.
        level: Of the interval.
    """

    answer: str
    share: float
    standard_error: float
    lower: float
    upper: float
    together: float
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionShares:
    """The shares of a question's answers.

    Attributes:
        id: Of the question.
        shares: In the order of the answers.
        table: For people.
    """

    id: str
    shares: tuple[AnswerShare, ...]
    table: Annotated[TextTable, ASIDE]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatedSurvey:
    """What a survey found.

    Attributes:
        survey: Its digest.
        reports: How many.
        epsilon: Of all answers of a respondent.
        questions: In order.
        covers: What the intervals cover, for people.
    """

    survey: str
    reports: int
    epsilon: str
    questions: tuple[QuestionShares, ...]
    covers: Annotated[str, ASIDE]


def estimate_shares(
    path: Path, responses: Sequence[Path], *, out: Path | None = None
) -> EstimatedSurvey:
    """Estimate the share of each answer.

    Args:
        path: A survey.yaml.
        responses: Files of reports, a line each.
        out: A new folder for a page, a table and figures.

    Raises:
        ContractError: If a file breaks its contract, or ``out`` is there.
    """
    declared, words = read_survey(path), load_words("en")
    if out is not None and out.exists():
        raise ContractError(f"{out.name} exists already.", hint="Name a new folder with --out.")
    reports = read_reports(_lines(responses), survey=declared)
    found = shares(reports, survey=declared, level=LEVEL)
    report = SurveyReport(survey=declared, reports=len(reports), found=found)
    if out is not None:
        out.mkdir(parents=True)
        for name, content in contents(report, words=words).items():
            write_bytes(out / name, content)
    return EstimatedSurvey(
        survey=declared.digest(),
        reports=report.reports,
        epsilon=str(declared.loss().epsilon),
        questions=tuple(_question(each, words=words) for each in report.found),
        covers=covers(report.found[0], words=words),
    )


def _question(found: FoundShares, *, words: Words) -> QuestionShares:
    grid = shares_table(found, words=words)
    return QuestionShares(
        id=found.question.id,
        shares=tuple(
            AnswerShare(
                answer=answer,
                share=share.estimate,
                standard_error=share.standard_error,
                lower=share.lower,
                upper=share.upper,
                together=share.together,
                level=share.level,
            )
            for answer, share in zip(found.question.answers, found.shares, strict=True)
        ),
        table=TextTable(
            title=found.question.ask,
            columns=tuple(grid.head),
            rows=tuple(tuple(row) for row in grid.rows),
        ),
    )


def _lines(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield every line that is not blank, with the place that errors name."""
    for path in paths:
        try:
            with reading_text(path, newline=None) as file:
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        yield f"{path.name} line {number}", line
        except UnicodeDecodeError:
            raise ContractError(f"{path.name} is not text in UTF-8.") from None
