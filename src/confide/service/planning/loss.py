"""A plan's loss as numbers and in words: odds, never a bare ε."""

import math
from dataclasses import dataclass
from typing import Annotated

from confide.drawing.words import load_words
from confide.plans.plan import Plan, Priced
from confide.plans.pricing.by_itself import loss_by_itself
from confide.privacy.loss import ApproxDP
from confide.report.wording.by_itself_words import by_itself_sentences
from confide.report.wording.odds_words import (
    adjacency_text,
    loss_text,
    meaning_of_plan,
    odds_sentences,
)
from confide.service.dump import OMITTED


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldLoss:
    """What a plan costs.

    Attributes:
        unit: Who is protected.
        adjacency: Add-remove or substitute.
        measure: In which losses add.
        nano: The amount, in 1e-9 of ε or ρ.
        epsilon: At the declared δ; rounded up.
        delta: Beside it.
        text: Both, with the adjacency.
        odds: What somebody may learn.
        noise: Why it has its noise, and ε of the release by itself where that is less.
        epsilon_by_itself: That ε at the same δ, rounded up; None where the charge says as much.
    """

    unit: str
    adjacency: str
    measure: str
    nano: str
    epsilon: str
    delta: str
    text: str
    odds: tuple[str, ...]
    noise: tuple[str, ...]
    epsilon_by_itself: Annotated[str | None, OMITTED] = None


def told_loss(plan: Priced) -> ToldLoss:
    """Return what a plan costs, of a study or of a job."""
    words, dataset = load_words("en"), plan.dataset
    unit, adjacency = dataset.unit.entity, dataset.adjacency
    alone = loss_by_itself(plan) if isinstance(plan, Plan) else None
    meaning = meaning_of_plan(plan)
    shown = meaning.shown
    told = adjacency_text(unit, adjacency=adjacency, words=words)
    return ToldLoss(
        unit=unit.value,
        adjacency=adjacency.value,
        measure=dataset.measure.value,
        nano=str(plan.amount.nano),
        epsilon=f"{math.ceil(shown.epsilon * 10_000) / 10_000:.4f}",
        delta=f"{float(shown.delta if isinstance(shown, ApproxDP) else 0):g}",
        text=f"{loss_text(shown, words=words)}: {told}",
        odds=tuple(odds_sentences(meaning, unit=unit, adjacency=adjacency, words=words)),
        noise=by_itself_sentences(plan, words=words) if isinstance(plan, Plan) else (),
        epsilon_by_itself=None if alone is None else f"{float(alone.epsilon):.4f}",
    )
