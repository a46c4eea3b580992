"""What reports say of logistic and multinomial regressions."""

from collections.abc import Sequence
from functools import partial

from confide.drawing.asking import by_heads, of_covariates, of_outcome, quantity_axis
from confide.drawing.cells import Cell
from confide.drawing.findings import ratio_headline
from confide.plans.rounds.held_out import BY_RISK
from confide.statistics.kind import Kind
from confide.statistics.logistic.multinomial import MultinomialRegression
from confide.statistics.logistic.regression import LogisticRegression
from confide.statistics.logistic.section import (
    LogisticRegressionSection,
    MultinomialRegressionSection,
)


def _cited(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return all but ranges of risk: figures show them, and the file holds them."""
    return [cell for cell in cells if not cell.key[0].startswith(BY_RISK)]


def _note(statistic: LogisticRegression) -> str:
    return "page.rows-without-risks" if statistic.hold_out else ""


LOGISTIC = Kind(
    name="logistic-regression",
    spec=LogisticRegression,
    section=LogisticRegressionSection,
    bias="of order 1/n, as without noise; rows of unusual covariates weigh less",
    title=of_covariates("title.logistic-regression"),
    groups=by_heads("head.term"),
    axis=quantity_axis("quantity.odds-ratio"),
    headline=partial(ratio_headline, of="odds"),
    figure="confide.drawing.charts.forest:ratios",
    figure_tells=True,
    evaluation="confide.statistics.logistic.figures:held_out",
    card="confide.statistics.logistic.card:card",
    cited=_cited,
    cited_note=_note,
    audit="confide.statistics.logistic.audit:LOGISTIC",
)
MULTINOMIAL = Kind(
    name="multinomial-regression",
    spec=MultinomialRegression,
    section=MultinomialRegressionSection,
    bias="of order 1/n, as without noise; unusual covariates weigh less",
    title=of_outcome("title.multinomial-regression"),
    groups=by_heads("head.term", "head.classes"),
    axis=quantity_axis("quantity.odds-ratio"),
    headline=partial(ratio_headline, of="odds"),
    figure="confide.drawing.charts.forest:ratios",
    figure_tells=True,
    evaluation="confide.statistics.logistic.class_figures:classes_in_subgroups",
    audit="confide.statistics.logistic.audit:MULTINOMIAL",
)
