"""What reports say of regressions of events over person-time."""

from functools import partial

from confide.drawing.asking import Asking, by_heads, of_covariates, quantity_axis
from confide.drawing.findings import ratio_headline
from confide.statistics.kind import Kind
from confide.statistics.person_time.hazard import HazardRegression
from confide.statistics.person_time.poisson import PoissonRegression
from confide.statistics.person_time.section import HazardRegressionSection, PoissonRegressionSection


def _of_events(statistic: PoissonRegression, asking: Asking) -> str:
    names = asking.listed(statistic.covariates)
    return asking.words.say(
        "title.poisson-regression", events=asking.words.named(statistic.events), covariates=names
    )


POISSON = Kind(
    name="poisson-regression",
    spec=PoissonRegression,
    section=PoissonRegressionSection,
    bias="of order 1/events; towards no association where means reach the bound",
    title=_of_events,
    groups=by_heads("head.term"),
    axis=quantity_axis("quantity.rate-ratio"),
    headline=partial(ratio_headline, of="rate"),
    figure="confide.drawing.charts.forest:ratios",
    figure_tells=True,
    evaluation="confide.statistics.person_time.figures:by_rate",
    audit="confide.statistics.person_time.audit:POISSON",
)
HAZARD = Kind(
    name="hazard-regression",
    spec=HazardRegression,
    section=HazardRegressionSection,
    bias="of order 1/events, as without noise; unusual covariates weigh less",
    title=of_covariates("title.hazard-regression"),
    groups=by_heads("head.term"),
    axis=quantity_axis("quantity.hazard-ratio"),
    headline=partial(ratio_headline, of="hazard"),
    figure="confide.drawing.charts.forest:ratios",
    figure_tells=True,
    evaluation="confide.statistics.person_time.figures:by_horizon",
    audit="confide.statistics.person_time.audit:HAZARD",
)
