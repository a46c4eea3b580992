"""What respondents are told, and what a survey can be expected to find, in sentences and numbers.

Odds and beliefs are rounded up, so that what is said to hide an answer hides at least that.

*Privacy:* a function of the public survey alone.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from confide.drawing.numbers import clean, epsilon_text, percent
from confide.drawing.shown import Shown
from confide.drawing.words import Words
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.local_mechanism import LocalMechanism, Method, method_of, total_variances
from confide.noise.randomized_response import RandomizedResponse
from confide.noise.response_share import expected_half_width
from confide.noise.unary_encoding import UnaryEncoding
from confide.privacy.loss import PureDP
from confide.privacy.odds import odds_factor, posterior_bound
from confide.release.survey.survey import Survey, SurveyQuestion

LEVEL = 0.95
SMALL = 0.1
PRIOR = Fraction(1, 10)
_STEPS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionDesign:
    """What one question can be expected to find; half widths of 95 % intervals, as shares.

    Attributes:
        question: The question.
        method: How it is randomised.
        variances: n times the total variance of the coins, of every method at this loss.
        small: At a share of 10 %.
        widest: At the share where it is largest.
        plain: Of sampling alone, at a share of 10 %.
        curator: At a share of 10 %, of a trusted curator's noisy histogram at the same ε.
    """

    question: SurveyQuestion
    method: Method
    variances: Mapping[Method, float]
    small: float
    widest: float
    plain: float
    curator: float


def design(survey: Survey) -> tuple[QuestionDesign, ...]:
    """Return what each question of a survey can be expected to find."""
    return tuple(_design(question, asked=survey.respondents) for question in survey.questions)


def _design(question: SurveyQuestion, *, asked: int) -> QuestionDesign:
    mechanism = question.mechanism
    keep, lie = mechanism.keep_probability(), mechanism.lie_probability()
    loss = mechanism.loss()

    def half(share: float) -> float:
        return expected_half_width(share, asked=asked, truth=keep, lie=lie, level=LEVEL)

    plain = expected_half_width(SMALL, asked=asked, truth=1.0, lie=0.0, level=LEVEL)
    noise = DiscreteLaplace.calibrate(loss, l1=2)  # one respondent substituted: two cells move
    curated = math.hypot(plain, 1.96 * math.sqrt(noise.variance()) / asked)
    return QuestionDesign(
        question=question,
        method=method_of(mechanism),
        variances=total_variances(loss, categories=len(question.answers)),
        small=half(SMALL),
        widest=max(half(step / _STEPS) for step in range(_STEPS + 1)),
        plain=plain,
        curator=curated,
    )


def design_title(survey: Survey, *, words: Words) -> str:
    """Return the title of what a survey can be expected to find."""
    return words.say("survey.title.design", title=clean(survey.title, most=160))


def design_table(survey: Survey, *, words: Words) -> tuple[str, Shown]:
    """Return the expected half widths of a survey as texts, under a title."""
    names = ("question", "method", "epsilon", "small", "wide", "plain", "central")
    shown = Shown(
        head=tuple(words.say(f"survey.head.{name}") for name in names),
        rows=tuple(
            (
                each.question.id,
                words.say(f"survey.method.{each.method.value}"),
                epsilon_text(each.question.mechanism.loss().epsilon),
                *(
                    half_text(half, words=words)
                    for half in (each.small, each.widest, each.plain, each.curator)
                ),
            )
            for each in design(survey)
        ),
        text_columns=2,
        numbers=5,
    )
    count = f"{survey.respondents:,}"
    title = words.say("survey.title.design-questions", level=percent(LEVEL), count=count)
    return title, shown


def curator_text(*, words: Words) -> str:
    """Return what the last columns of the table compare."""
    return words.say("survey.curator")


def excluded(*, words: Words) -> tuple[str, tuple[str, ...]]:
    """Return what is not promised, under a title."""
    return words.say("survey.title.not-promised"), words.each("survey.not-promised")


def told(mechanism: LocalMechanism, *, words: Words) -> tuple[str, ...]:
    """Return how an answer is randomised, as respondents are told.

    Example:
        >>> from confide.drawing.words import load_words
        >>> coin = RandomizedResponse(truth=Fraction(3, 4), categories=2)
        >>> print(told(coin, words=load_words("en"))[1])
        So whatever is written down for anybody, the truth may have been another: it can at most \
be 3 times as likely from one true answer as from another.
    """
    keep = percent(mechanism.keep_probability())
    match mechanism:
        case RandomizedResponse():
            how = words.say("survey.truth", keep=keep)
        case UnaryEncoding():
            how = words.say("survey.bits", keep=keep, lie=percent(mechanism.lie_probability()))
        case _:
            assert_never(mechanism)
    return how, words.say("survey.deny", odds=odds_text(mechanism.loss()))


def promised(survey: Survey, *, words: Words) -> tuple[str, ...]:
    """Return what one report gives away at most, in sentences."""
    loss = survey.loss()
    return (
        words.say("survey.local"),
        words.say(
            "survey.joint",
            count=str(len(survey.questions)),
            odds=odds_text(loss),
            epsilon=epsilon_text(loss.epsilon),
        ),
        words.say(
            "survey.prior",
            prior=percent(PRIOR),
            posterior=percent(posterior_bound(loss, prior=PRIOR)),
        ),
        words.say("survey.once"),
    )


def odds_text(loss: PureDP) -> str:
    """Return e^ε rounded up to three digits; an exact odds such as 3 stays as it is.

    Example:
        >>> odds_text(PureDP(epsilon=Fraction(1)))
        '2.72'
    """
    factor = odds_factor(loss)
    places = max(0, 2 - math.floor(math.log10(factor)))
    tiny = 1e-9  # a loss such as ln 3 is itself rounded up at its 15th decimal
    up = math.ceil(factor * 10**places - tiny) / 10**places
    return f"{up:,.{places}f}".rstrip("0").rstrip(".") if places else f"{up:,.0f}"


def half_text(half: float, *, words: Words) -> str:
    """Return half a width in percentage points, rounded up.

    Example:
        >>> from confide.drawing.words import load_words
        >>> half_text(0.0312, words=load_words("en"))
        '±3.2'
    """
    return words.say("survey.points", points=f"{math.ceil(half * 1000) / 10:g}")
