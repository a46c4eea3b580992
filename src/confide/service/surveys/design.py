"""Design a survey: what each question promises, and how well its shares will be known."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from confide.drawing.words import load_words
from confide.files.survey.survey import read_survey
from confide.report.wording.survey_words import (
    curator_text,
    design,
    design_table,
    design_title,
    excluded,
    odds_text,
    promised,
    told,
)
from confide.service.dump import ASIDE
from confide.service.grids import TextTable


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignedQuestion:
    """A question of a survey.

    Attributes:
        id: Of the question.
        ask: What is asked.
        answers: That may be given.
        method: By which they are randomised.
        total_variance: Of each method.
        epsilon: Of an answer.
        odds: The same, as odds.
        truth: Probability that the true answer is sent.
        lie: That another one is.
        half_width_at_10_percent: Of a share of 10 %.
        half_width_at_most: Of any share.
        half_width_not_randomised: Without randomising.
        half_width_of_a_trusted_curator: Who adds noise once.
        told: To respondents.
    """

    id: str
    ask: str
    answers: tuple[str, ...]
    method: str
    total_variance: Mapping[str, float]
    epsilon: str
    odds: str
    truth: float
    lie: float
    half_width_at_10_percent: float
    half_width_at_most: float
    half_width_not_randomised: float
    half_width_of_a_trusted_curator: float
    told: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignedSurvey:
    """A survey before it is held.

    Attributes:
        survey: Its digest.
        title: Of it.
        respondents: That are expected.
        epsilon: Of all answers of a respondent.
        odds: The same, as odds.
        promised: To respondents.
        not_promised: To them.
        questions: In order.
        heading: For people.
        table: For people.
        curator: On a trusted curator, for people.
        not_promised_title: For people.
    """

    survey: str
    title: str
    respondents: int
    epsilon: str
    odds: str
    promised: tuple[str, ...]
    not_promised: tuple[str, ...]
    questions: tuple[DesignedQuestion, ...]
    heading: Annotated[str, ASIDE]
    table: Annotated[TextTable, ASIDE]
    curator: Annotated[str, ASIDE]
    not_promised_title: Annotated[str, ASIDE]


def design_survey(path: Path) -> DesignedSurvey:
    """Return what a survey promises and how well its shares will be known.

    Raises:
        ContractError: If the file is no survey.
    """
    declared = read_survey(path)
    words, loss = load_words("en"), declared.loss()
    title, grid = design_table(declared, words=words)
    without, sentences = excluded(words=words)
    return DesignedSurvey(
        survey=declared.digest(),
        title=declared.title,
        respondents=declared.respondents,
        epsilon=str(loss.epsilon),
        odds=odds_text(loss),
        promised=tuple(promised(declared, words=words)),
        not_promised=tuple(sentences),
        questions=tuple(
            DesignedQuestion(
                id=each.question.id,
                ask=each.question.ask,
                answers=tuple(each.question.answers),
                method=each.method.value,
                total_variance={m.value: round(v, 6) for m, v in each.variances.items()},
                epsilon=str(each.question.mechanism.loss().epsilon),
                odds=odds_text(each.question.mechanism.loss()),
                truth=each.question.mechanism.keep_probability(),
                lie=each.question.mechanism.lie_probability(),
                half_width_at_10_percent=each.small,
                half_width_at_most=each.widest,
                half_width_not_randomised=each.plain,
                half_width_of_a_trusted_curator=each.curator,
                told=tuple(told(each.question.mechanism, words=words)),
            )
            for each in design(declared)
        ),
        heading=design_title(declared, words=words),
        table=TextTable(title=title, columns=tuple(grid.head), rows=tuple(map(tuple, grid.rows))),
        curator=curator_text(words=words),
        not_promised_title=without,
    )
