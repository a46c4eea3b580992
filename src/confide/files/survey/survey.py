"""survey.yaml: questions with public answers, and how far each answer is hidden.

See docs/reference/survey.md.
"""

from fractions import Fraction
from pathlib import Path

from pydantic import Field

from confide.errors import ContractError, PolicyError
from confide.files.texts import Counting, Exact, Positive, Section, read_section
from confide.files.yaml_text import read_yaml
from confide.noise.local_mechanism import LocalMechanism, Method, least_variance, mechanism_by
from confide.noise.randomized_response import RandomizedResponse
from confide.privacy.loss import PureDP
from confide.release.survey.survey import Survey, SurveyQuestion

_LARGEST = Fraction(100)


class AboutSurvey(Section):
    """What the survey is called, and how many are to be asked."""

    id: str
    title: str = ""
    respondents: Counting


class SurveyCap(Section):
    """The most that one report may cost its respondent."""

    epsilon: Positive


class QuestionSection(Section):
    """One question."""

    id: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,62}$")
    ask: str = Field(min_length=1)
    answers: list[str] = Field(min_length=2, max_length=4096)
    epsilon: Positive | None = None
    truth: Exact | None = None
    method: Method | None = None


class SurveyFile(Section):
    """The sections of survey.yaml."""

    survey: AboutSurvey
    at_most: SurveyCap
    questions: list[QuestionSection] = Field(min_length=1, max_length=200)


def read_survey(path: Path) -> Survey:
    """Return what a survey.yaml declares.

    Raises:
        ContractError: If it breaks its contract; the message names the place.
        PolicyError: If the questions together cost more than ``at-most``.
    """
    file = read_section(SurveyFile, read_yaml(path), name=path.name)
    names = [question.id for question in file.questions]
    if len(set(names)) < len(names) or "respondent" in names:
        raise ContractError(
            f"{path.name}: expected an id of its own for each question, and none called respondent."
        )
    survey = Survey(
        id=file.survey.id,
        title=file.survey.title or file.survey.id,
        respondents=file.survey.respondents,
        questions=tuple(_question(section) for section in file.questions),
    )
    cost = survey.loss().epsilon
    if cost > file.at_most.epsilon:
        raise PolicyError(
            f"The questions together cost ε = {float(cost):.6g}, more than at-most: "
            f"{float(file.at_most.epsilon):g}.",
            hint="Ask fewer questions, give each a smaller epsilon, or raise at-most.",
        )
    return survey


def _question(section: QuestionSection) -> SurveyQuestion:
    return SurveyQuestion(
        id=section.id,
        ask=section.ask,
        answers=tuple(section.answers),
        mechanism=_mechanism(section),
    )


def _mechanism(section: QuestionSection) -> LocalMechanism:
    categories = len(section.answers)
    match section.epsilon, section.truth, section.method:
        case None, Fraction() as truth, None | Method.K_ARY:
            return RandomizedResponse(truth=truth, categories=categories)
        case Fraction() as epsilon, None, method if epsilon <= _LARGEST:
            loss = PureDP(epsilon=epsilon)
            if method is None:
                return least_variance(loss, categories=categories)
            return mechanism_by(method, loss=loss, categories=categories)
        case _:
            raise ContractError(
                f"Question {section.id!r}: expected one of epsilon (at most 100) and truth.",
                hint="Write epsilon: 1; or truth: 3/4 for answers that are true 3 times in 4, "
                "which is k-ary.",
            )
