"""Other views of a loss: for groups, in bits, and beside deployments that were published.

*Privacy:* arithmetic on numbers that the caller gives; nothing is read or charged.

*Utility:* deployments are quoted as their publishers state them, each with its unit; no number here
turns one unit into another, since none can.

References:
    [ABC22] Abowd et al. The 2020 Census disclosure avoidance system TopDown algorithm. Harvard
        Data Science Review, special issue 2, 2022. https://doi.org/10.1162/99608f92.529e3cb9
    [HC24] Hod, Canetti. Differentially private release of Israel's national registry of live
        births. 2024. https://arxiv.org/abs/2405.00267
    [Ade23] Adeleye et al. Publishing Wikipedia usage data with strong privacy guarantees. 2023.
        https://arxiv.org/abs/2308.16298
    [Akt20] Aktay et al. Google COVID-19 community mobility reports: anonymization process
        description. 2020. https://arxiv.org/abs/2004.04145
    [Rog20] Rogers et al. LinkedIn's audience engagements API. 2020.
        https://arxiv.org/abs/2002.05839
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from confide.drawing.numbers import epsilon_text, percent, power_text
from confide.drawing.words import Words
from confide.errors import UnknownNameError
from confide.privacy.adjacency import Adjacency
from confide.privacy.information import bits_of_fact, bits_of_record, divergence
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP
from confide.privacy.odds import posterior_bound
from confide.privacy.unit import Entity
from confide.report.wording.bits import fact_text, loss_of_group, meaning_of_group, rounded_up
from confide.report.wording.explain import Explanation, TextGrid
from confide.report.wording.odds_words import (
    PRIOR,
    advantage_text,
    loss_text,
    shown_at,
)

SIZES = (1, 2, 3, 4, 5, 10)
"""Groups that are told of."""
DEPLOYMENTS = (
    "census-2020",
    "israel-births",
    "wikimedia",
    "google-mobility",
    "linkedin",
    "apple-health",
    "apple-emoji",
)
"""Ids of published deployments; what is said of each are words."""
_PURE = tuple(Fraction(text) for text in ("0.1", "0.5", "1", "2", "4"))
_RHOS = tuple(Fraction(text) for text in ("0.005", "0.1", "0.5"))
_NONE = "–"


def for_groups(
    loss: PrivacyLoss, *, delta: Fraction, words: Words, unit: Entity = Entity.PATIENT
) -> Explanation:
    r"""Explain what a loss means for several units together.

    Args:
        loss: Of one unit.
        delta: Where a concentrated loss is shown as ε.
        words: Language.
        unit: Whose loss it is.

    Example:
        >>> from confide.drawing.words import load_words
        >>> words, loss = load_words("en"), PureDP(epsilon=Fraction(1, 2))
        >>> for_groups(loss, delta=Fraction(0), words=words).grids[0].rows[3][:4]
        ('4', '2', '0', '7\xa0%')
    """
    entities = words.say(f"several.name.{unit.value}")
    columns = ("size", "epsilon", "delta", "posterior", "advantage", "bits")
    shown = loss_text(shown_at(loss, delta=delta), words=words)
    return Explanation(
        title=words.say("several.title", loss=shown, entities=entities),
        sentences=(
            words.say("several.about", entities=entities),
            _rule(loss, delta=delta, words=words),
        ),
        grids=(
            TextGrid(
                title=words.say("several.table"),
                head=tuple(words.say(f"several.head.{name}") for name in columns),
                rows=tuple(_group_row(loss, size, delta=delta, words=words) for size in SIZES),
            ),
        ),
    )


def _rule(loss: PrivacyLoss, *, delta: Fraction, words: Words) -> str:
    match loss:
        case PureDP():
            return words.say("several.rule.pure")
        case ApproxDP():
            return words.say("several.rule.approx")
        case ZeroConcentratedDP():
            return words.say("several.rule.rho", delta=power_text(delta))
        case _:
            assert_never(loss)


def _group_row(loss: PrivacyLoss, size: int, *, delta: Fraction, words: Words) -> tuple[str, ...]:
    told = meaning_of_group(loss, size=size, delta=delta)
    if told is None:
        return (str(size), words.say("several.none"), *[_NONE] * 4)
    shown = told.shown
    return (
        str(size),
        epsilon_text(shown.epsilon),
        power_text(shown.delta) if isinstance(shown, ApproxDP) else "0",
        percent(posterior_bound(told.pointwise, prior=PRIOR)),
        advantage_text(told),
        rounded_up(bits_of_fact([loss_of_group(loss, size=size, delta=delta)])),
    )


def in_bits(
    losses: Sequence[PrivacyLoss],
    *,
    words: Words,
    unit: Entity = Entity.PATIENT,
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
) -> Explanation:
    """Explain what losses tell together, in bits.

    Args:
        losses: At least one; each release may depend on the answers before it.
        words: Language.
        unit: Whose losses they are.
        adjacency: What neighbours differ in.
    """
    title = words.say("bits.list-title", count=f"{len(losses):,}")
    if len(losses) == 1:
        title = words.say("bits.title", loss=loss_text(losses[0], words=words))
    others: list[PrivacyLoss] = [PureDP(epsilon=epsilon) for epsilon in _PURE]
    others += [ZeroConcentratedDP(rho=rho) for rho in _RHOS]
    columns = ("loss", "fact", "record", "divergence")
    return Explanation(
        title=title,
        sentences=_bits_sentences(losses, unit=unit, adjacency=adjacency, words=words),
        grids=(
            TextGrid(
                title=words.say("bits.others"),
                head=tuple(words.say(f"bits.others-head.{name}") for name in columns),
                rows=tuple((loss_text(loss, words=words), *_bits_cells(loss)) for loss in others),
            ),
        ),
    )


def _bits_sentences(
    losses: Sequence[PrivacyLoss], *, unit: Entity, adjacency: Adjacency, words: Words
) -> tuple[str, ...]:
    entity = words.say(f"entity.{unit.value}")
    what = fact_text(unit=unit, adjacency=adjacency, words=words)
    record, nats = bits_of_record(losses), divergence(losses)
    fact = words.say("bits.fact-sentence", fact=rounded_up(bits_of_fact(losses)), what=what)
    if record is None or nats is None:
        rest = (words.say("bits.record-unbounded"), words.say("bits.divergence-unbounded"))
    else:
        rest = (
            words.say("bits.record-sentence", record=rounded_up(record), entity=entity),
            words.say("bits.divergence", nats=rounded_up(nats), entity=entity),
        )
    return (words.say("bits.about", entity=entity), fact, *rest)


def _bits_cells(loss: PrivacyLoss) -> tuple[str, ...]:
    bounds = (bits_of_fact([loss]), bits_of_record([loss]), divergence([loss]))
    return tuple(_NONE if bound is None else rounded_up(bound) for bound in bounds)


def deployments(
    loss: PrivacyLoss,
    *,
    delta: Fraction,
    words: Words,
    unit: Entity = Entity.PATIENT,
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
) -> Explanation:
    """Return a loss beside those of published deployments, each with its unit.

    Args:
        loss: The caller's.
        delta: Where a concentrated loss is shown as ε.
        words: Language.
        unit: Whose loss it is.
        adjacency: What neighbours differ in.

    Example:
        >>> from confide.drawing.words import load_words
        >>> words, loss = load_words("en"), PureDP(epsilon=Fraction(1))
        >>> deployments(loss, delta=Fraction(0), words=words).grids[0].rows[1][:3]
        ('US Census 2020', '17.14', '10⁻¹⁰')
    """
    shown = shown_at(loss, delta=delta)
    own = (
        words.say("deployments.own.name"),
        epsilon_text(shown.epsilon),
        power_text(shown.delta) if isinstance(shown, ApproxDP) else "0",
        words.say(f"deployments.own.{adjacency.value}", entity=words.say(f"entity.{unit.value}")),
        words.say("deployments.own.time"),
    )
    columns = ("who", "epsilon", "delta", "unit", "time")
    rows = (
        tuple(words.say(f"deployments.{each}.row.{name}") for name in columns)
        for each in DEPLOYMENTS
    )
    _, *others = DEPLOYMENTS
    return Explanation(
        title=words.say("deployments.title"),
        sentences=(words.say("deployments.about", others=", ".join(others)),),
        grids=(
            TextGrid(
                title=words.say("deployments.table"),
                head=tuple(words.say(f"deployments.head.{name}") for name in columns),
                rows=(own, *rows),
            ),
        ),
    )


def deployment(name: str, *, words: Words) -> Explanation:
    """Return everything that is said of one deployment, with its source.

    Raises:
        UnknownNameError: If it is none of :data:`DEPLOYMENTS`.
    """
    if name not in DEPLOYMENTS:
        raise UnknownNameError("deployment", name, known=DEPLOYMENTS)
    parts = ("loss", "unit", "time", "model", "remark", "source")
    return Explanation(
        title=words.say(f"deployments.{name}.who"),
        sentences=tuple(
            words.say(f"deployments.detail.{part}", text=words.say(f"deployments.{name}.{part}"))
            for part in parts
        ),
        grids=(),
    )
