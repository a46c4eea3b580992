"""A survey whose answers are randomised before they leave the respondent.

Questions, answers, probabilities and losses are public and fixed beforehand; :meth:`Survey.digest`
stands for them.  :func:`encode` runs where the answers are: on a respondent's device, or on that of
an interviewer whom the respondent trusts.  What leaves is a :class:`Report`.

*Privacy:* substitution of one respondent's whole sheet of answers.  Questions are randomised
independently, so their losses add up: a report is ε-local DP with ε the sum over the questions
[DR14, thm. 3.14].  This needs no trust in whoever collects, so no ledger of theirs is asked; it is
spent anew by each report with fresh coins, which is why :mod:`receipts` keeps the first one.  A
report's number is random and tells nothing; who sent it may be known without harm to the bound.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014.
        https://doi.org/10.1561/0400000042
    [KLNRS11] Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith. What can we learn privately?
        SIAM J. Comput. 40(3), 2011. https://arxiv.org/abs/0803.0924
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from confide.errors import ContractError, UnknownNameError
from confide.noise.entropy import Entropy
from confide.noise.local_mechanism import LocalMechanism
from confide.noise.randomized_response import RandomizedResponse
from confide.noise.unary_encoding import UnaryEncoding
from confide.plans import canonical
from confide.privacy.loss import PureDP

Said: TypeAlias = "str | tuple[int, ...]"
"""A k-ary answer is a label; a unary one is 0 or 1 for each answer, in the order of the survey."""

_NUMBER_BITS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyQuestion:
    """One question with its public answers.

    Attributes:
        id: Name of the question in files.
        ask: What respondents read.
        answers: Every answer that can be given.
        mechanism: How an answer is randomised.
    """

    id: str
    ask: str
    answers: tuple[str, ...]
    mechanism: LocalMechanism

    def __post_init__(self) -> None:
        if len(set(self.answers)) < len(self.answers):
            raise ContractError(f"Question {self.id!r} lists an answer twice.")

    def place(self, answer: str) -> int:
        """Return the position of an answer.

        Raises:
            ContractError: If it is none of the public ones; the message does not quote it.
        """
        if answer not in self.answers:
            raise ContractError(
                f"An answer to {self.id!r} is not one of its public answers.",
                hint=f"Public: {', '.join(self.answers)}.",
            )
        return self.answers.index(answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A whole survey.

    Attributes:
        id: Its name.
        title: For people.
        questions: In the order in which they are asked.
        respondents: Planned number of respondents; not part of the digest.
    """

    id: str
    title: str
    questions: tuple[SurveyQuestion, ...]
    respondents: int

    def loss(self) -> PureDP:
        """Return what one report reveals about its respondent: the sum over the questions."""
        losses = (question.mechanism.loss().epsilon for question in self.questions)
        return PureDP(epsilon=sum(losses, start=Fraction(0)))

    def digest(self) -> str:
        """Return the SHA-256 that stands for questions, answers and probabilities."""
        questions = [canonical.encode(question) for question in self.questions]
        return canonical.digest(
            {"schema": "confide.survey/1", "id": self.id, "questions": questions}
        )

    def question(self, name: str) -> SurveyQuestion:
        """Return a question by its id.

        Raises:
            UnknownNameError: If there is none.
        """
        for question in self.questions:
            if question.id == name:
                return question
        raise UnknownNameError("question", name, known=[each.id for each in self.questions])


def one_spelling(respondent: str) -> str:
    """Return the local name of a respondent as it is looked up: in Unicode form C, without blanks.

    Example:
        The same name as two systems write it:

        >>> one_spelling("Zoe" + chr(0x308) + " ") == one_spelling("Zo" + chr(0xEB))
        True
    """
    return unicodedata.normalize("NFC", respondent.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one respondent sends.

    Attributes:
        survey: Digest of the survey.
        number: 32 random hexadecimal digits, so that a report counted twice is noticed.
        said: Randomised answers, by question.
    """

    survey: str
    number: str
    said: Mapping[str, Said]


def encode(
    survey: Survey, answers: Mapping[str, NDArray[np.int64]], *, entropy: Entropy
) -> tuple[Report, ...]:
    """Return one report a respondent; every call draws fresh coins.

    Args:
        survey: What is asked.
        answers: By question, shape (n,): the place of each respondent's true answer.
        entropy: Source of the coins, on the respondents' side.

    Raises:
        ContractError: If a question has no answers.
    """
    missing = [question.id for question in survey.questions if question.id not in answers]
    if missing:
        raise ContractError(f"Question {missing[0]!r} has no answers.")
    said = {
        question.id: _said(question, answers[question.id], entropy=entropy)
        for question in survey.questions
    }
    known = survey.digest()
    return tuple(
        Report(
            survey=known,
            number=f"{entropy.below(1 << _NUMBER_BITS):032x}",
            said={name: each[place] for name, each in said.items()},
        )
        for place in range(len(next(iter(said.values()))))
    )


def _said(question: SurveyQuestion, answers: NDArray[np.int64], *, entropy: Entropy) -> list[Said]:
    match question.mechanism:
        case RandomizedResponse() as mechanism:
            places = mechanism.encode(answers, entropy=entropy).tolist()
            return [question.answers[place] for place in places]
        case UnaryEncoding() as mechanism:
            bits = mechanism.encode(answers, entropy=entropy).astype(int).tolist()
            return [tuple(row) for row in bits]
        case _:
            assert_never(question.mechanism)
