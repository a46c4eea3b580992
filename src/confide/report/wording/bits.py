"""A loss in bits, and for several people together, in a sentence each.

*Privacy:* functions of a loss alone; numbers are rounded up.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from confide.drawing.numbers import percent, significant
from confide.drawing.words import Words
from confide.errors import InvalidParameterError
from confide.privacy.adjacency import Adjacency
from confide.privacy.group import group_loss
from confide.privacy.information import bits_of_fact, bits_of_record
from confide.privacy.loss import ApproxDP, PrivacyLoss, ZeroConcentratedDP
from confide.privacy.odds import posterior_bound, require_sayable
from confide.privacy.unit import Entity
from confide.report.wording.odds_words import (
    PRIOR,
    Meaning,
    loss_text,
    meaning_of,
    meaning_of_stated,
    shown_at,
)

FAMILY = 4
"""People of a family that sentences speak of."""


def rounded_up(value: float) -> str:
    """Return a bound with three digits, rounded up.

    Example:
        >>> rounded_up(0.16011), rounded_up(0.0441), rounded_up(0.0)
        ('0.161', '0.0441', '0')
    """
    if value <= 0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return significant(math.ceil(value / step - 1e-9) * step)


def fact_text(*, unit: Entity, adjacency: Adjacency, words: Words) -> str:
    """Return of which fact a bit is told."""
    return words.say(f"bits.fact.{adjacency.value}", entity=words.say(f"entity.{unit.value}"))


def bits_sentence(losses: Sequence[PrivacyLoss], *, adjacency: Adjacency, words: Words) -> str:
    """Return the most bits that losses tell about one unit, in a sentence.

    Example:
        >>> from confide.drawing.words import load_words
        >>> from confide.privacy.loss import PureDP
        >>> words, loss = load_words("en"), PureDP(epsilon=Fraction(1))
        >>> bits_sentence([loss], adjacency=Adjacency.ADD_REMOVE, words=words)
        'In bits: at most 0.161 of 1 about presence, 0.667 about all records together.'
    """
    record = bits_of_record(losses)
    said = {
        "fact": rounded_up(bits_of_fact(losses)),
        "what": words.say(f"bits.short-fact.{adjacency.value}"),
    }
    if record is None:
        return words.say("bits.brief-unbounded", **said)
    return words.say("bits.brief", **said, record=rounded_up(record))


def meaning_of_group(loss: PrivacyLoss, *, size: int, delta: Fraction) -> Meaning | None:
    """Return what a loss means for ``size`` units together; None where no promise is left.

    Args:
        loss: Of one unit.
        size: Of the group.
        delta: Where a concentrated loss is shown as ε.

    Example:
        >>> from confide.privacy.loss import PureDP
        >>> told = meaning_of_group(PureDP(epsilon=Fraction(1, 10)), size=5, delta=Fraction(0))
        >>> told.shown
        PureDP(epsilon=Fraction(1, 2))
    """
    try:
        together = loss_of_group(loss, size=size, delta=delta)
        if isinstance(together, ApproxDP) and size > 1:
            found = meaning_of_stated(together)
        else:
            found = meaning_of(together, delta=delta)
        require_sayable(found.pointwise.epsilon)
        require_sayable(found.shown.epsilon)
    except InvalidParameterError:
        return None
    return found


def loss_of_group(loss: PrivacyLoss, *, size: int, delta: Fraction) -> PrivacyLoss:
    """Return the loss of a group; of approximate zCDP by its (ε, δ).

    Raises:
        InvalidParameterError: If its δ would reach 1.
    """
    if isinstance(loss, ZeroConcentratedDP) and loss.delta > 0 and size > 1:
        return group_loss(shown_at(loss, delta=delta), size=size)
    return group_loss(loss, size=size)


def family_sentence(loss: PrivacyLoss, *, delta: Fraction, words: Words) -> str:
    """Return what a loss means for a family, in a sentence."""
    told = meaning_of_group(loss, size=FAMILY, delta=delta)
    if told is None:
        return words.say("several.brief-none", size=str(FAMILY))
    return words.say(
        "several.brief",
        size=str(FAMILY),
        loss=loss_text(told.shown, words=words),
        posterior=percent(posterior_bound(told.pointwise, prior=PRIOR)),
    )
