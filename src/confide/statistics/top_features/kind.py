"""What reports say of the features that go most strongly with an outcome."""

from confide.drawing.asking import Asking, by_heads, several
from confide.drawing.headlines import chosen
from confide.statistics.bias import CHOICE
from confide.statistics.kind import Kind
from confide.statistics.top_features.section import TopFeaturesSection
from confide.statistics.top_features.spec import TopFeatures


def _title(statistic: TopFeatures, asking: Asking) -> str:
    return several(
        "title.top-features",
        "title.several-top-features",
        statistic.size,
        asking.words,
        outcome=asking.words.named(statistic.outcome),
    )


KIND = Kind(
    name="top-features",
    spec=TopFeatures,
    section=TopFeaturesSection,
    bias=CHOICE,
    title=_title,
    groups=by_heads("head.feature"),
    headline=chosen,
    chooses=True,
    figure="confide.drawing.charts.choice:draw",
    subtitle="confide.drawing.charts.choice:subtitle",
    audit="confide.statistics.top_features.audit:AUDITED",
)
