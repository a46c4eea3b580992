"""What a report says of one statistic: headline, fit, bounds, cost and flags, as plain sentences.

*Privacy:* a function of plan and release.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from confide.drawing.asking import Asking
from confide.drawing.cells import Cell, readable_cells
from confide.drawing.charts.choice import even_lead
from confide.drawing.grid import grid_of
from confide.drawing.numbers import epsilon_text
from confide.drawing.population import about
from confide.drawing.words import Words
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.plans.choices import UNSCORED
from confide.plans.estimates import NOT_REACHED, PATIENTS_LEFT_OUT, POINT_ONLY, Covers
from confide.plans.plan import Plan, Statistic
from confide.plans.soundness.cuts import cutting
from confide.privacy.amount import Amount
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP
from confide.report.wording.bounding import bounds_of, kept_text
from confide.report.wording.bounds_told import BoundSaid, sentences_of
from confide.report.wording.cut import cut_text
from confide.report.wording.describe import title_of, words_on
from confide.report.wording.odds_words import shown_at
from confide.statistics.kind import Kind
from confide.statistics.registry import kind_of
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.survey_weight import weight_of

if TYPE_CHECKING:
    from confide.report.release import Release


_EVEN = 0.5

_NO_WARNING = (NOT_REACHED, UNSCORED)
"""Flags that say what a number is, and nothing that speaks against it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticSection:
    """The words of one statistic.

    Attributes:
        title: As given, or made from what it asks.
        about: Whom it is about.
        finding: Its main number, in one sentence.
        caveats: What the intervals take for granted, and what a bound may leave out.
        fit: What it may be used for.
        unfit: What it may not.
        bounded: How one unit's influence was bounded, and by which noise it is hidden.
        bounds: The same, with the column that each sentence is about.
        share: Of the privacy that the release costs.
        alone: The ε that it would cost on its own.
        flags: Explanations of the flags that occur.
    """

    title: str
    about: str
    finding: str
    caveats: tuple[str, ...]
    fit: tuple[str, ...]
    unfit: tuple[str, ...]
    bounded: tuple[str, ...]
    bounds: tuple[BoundSaid, ...]
    share: Fraction
    alone: str
    flags: tuple[str, ...]

    @property
    def headline(self) -> str:
        """The finding with its caveats."""
        return " ".join((self.finding, *self.caveats))


def section(release: "Release", statistic: Statistic, *, words: Words) -> StatisticSection:
    """Return the words of one statistic of a release."""
    plan, kind, words = (
        release.plan,
        kind_of(statistic),
        words_on(statistic, plan=release.plan, words=words),
    )
    cells = readable_cells(release.of(statistic))
    flags = dict.fromkeys(flag for cell in cells for flag in cell.flags if flag not in _NO_WARNING)
    asking = Asking(dataset=plan.dataset, words=words)
    bounds = bounds_of(statistic, plan=plan, words=words)
    said = {flag for each in release.of(statistic) for flag in each.flags}
    flags |= dict.fromkeys(flag for flag in (*PATIENTS_LEFT_OUT, POINT_ONLY) if flag in said)
    return StatisticSection(
        title=title_of(statistic, plan=plan, words=words),
        about=_about(statistic, plan=plan, words=words),
        finding=headline(kind.told(statistic, cells, asking), kind=kind, words=words),
        caveats=(
            *cut_text(statistic, plan=plan, cells=cells, words=words),
            *assumed(statistic, words=words),
            *_chance(statistic, plan=plan, words=words),
        ),
        fit=words.each(f"fit.{kind.name}", **kind.fit(statistic, cells, words)),
        unfit=(
            *_noise_only(cells, words=words),
            *words.each(f"unfit.{kind.name}", **kind.unfit(statistic, cells, words)),
        ),
        bounded=sentences_of(bounds, words=words),
        bounds=bounds,
        share=_share(statistic, plan=plan),
        alone=epsilon_text(_alone(statistic, plan=plan).epsilon),
        flags=(
            *(words.say(f"flag.{flag}.long") for flag in flags),
            *_nothing(cells, words=words),
        ),
    )


def assumed(statistic: Statistic, *, words: Words) -> tuple[str, ...]:
    """Return what the intervals of a statistic take for granted, if anything."""
    key = kind_of(statistic).assumes
    return (words.say(key),) if key else ()


def _chance(statistic: Statistic, *, plan: Plan, words: Words) -> tuple[str, ...]:
    """Return how far a candidate had to lead not to be chosen by chance; nothing of numbers."""
    return tuple(
        words.say(
            "assumes.chance",
            lead=even_lead(each.mechanism, grid=grid_of(each, dataset=plan.dataset), words=words),
        )
        for each in plan.of(statistic.id)
        if isinstance(each.mechanism, SetSelection | Peeling) and each.mechanism.lead(_EVEN) > 0
    )


def _about(statistic: Statistic, *, plan: Plan, words: Words) -> str:
    """Return whom a statistic is about, what is kept of them, and whether weights are used."""
    told = about(statistic, plan=plan, words=words)
    table = statistic.table
    bounds = plan.of(statistic.id)[0].aggregate.bounds
    if (
        isinstance(bounds, RowBound | CellBound)
        and cutting(plan, statistic) is None  # else the caveat says it
        and not plan.dataset.table(table).one_row_per_patient
    ):
        told = words.say("about.kept", about=told, kept=kept_text(bounds, words=words))
    weight = weight_of(table, dataset=plan.dataset)
    if weight is None:
        return told
    key = "weighting.weighted" if kind_of(statistic).weighted else "weighting.unweighted"
    return words.say(key, about=told, weight=words.named(weight.column))


def _nothing(cells: Sequence[Cell], *, words: Words) -> tuple[str, ...]:
    """Return the warning that goes with intervals that all reach zero, as those of no rows do."""
    ends = [cell.outer for cell in cells if cell.value is not None and cell.outer is not None]
    if any(cell.outer is None for cell in cells if cell.value is not None):
        return ()  # a test may well find no difference
    if not ends or any(low > 0 or high < 0 for low, high in ends):
        return ()
    return (words.say("flag.nothing.long"),)


def _noise_only(cells: Sequence[Cell], *, words: Words) -> tuple[str, ...]:
    """Return the warning that goes with intervals that no sampling is part of."""
    if cells and all(cell.alone for cell in cells):
        return ()
    if any(cell.covers is not Covers.NOISE or cell.quantity == "selected" for cell in cells):
        return ()
    return (words.say("unfit.noise-only"),)


def headline(cells: Sequence[Cell], *, kind: Kind, words: Words) -> str:
    """Return the main number of a statistic in one sentence."""
    if kind.chooses or any(cell.value is not None for cell in cells):
        return kind.headline(cells, words)
    return words.say(kind.nothing)


def statistic_loss(statistic: Statistic, *, plan: Plan) -> PrivacyLoss:
    """Return the loss of one statistic taken by itself."""
    measurements = plan.of(statistic.id)
    return Amount.total(m.amount for m in measurements).loss(plan.dataset.measure)


def _alone(statistic: Statistic, *, plan: Plan) -> ApproxDP | PureDP:
    return shown_at(statistic_loss(statistic, plan=plan), delta=plan.dataset.delta)


def _share(statistic: Statistic, *, plan: Plan) -> Fraction:
    """Return which part of the charge is for one statistic; none of a step that is free."""
    own = sum(measurement.nano for measurement in plan.of(statistic.id))
    return Fraction(own, plan.amount.nano) if plan.amount.nano else Fraction(0)
