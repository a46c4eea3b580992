"""What reports say of the commonest categories."""

from confide.drawing.asking import Asking, several
from confide.drawing.headlines import chosen
from confide.statistics.bias import CHOICE
from confide.statistics.kind import Kind
from confide.statistics.top_category.section import TopCategorySection
from confide.statistics.top_category.spec import TopCategory


def _title(statistic: TopCategory, asking: Asking) -> str:
    return several(
        "title.top-category",
        "title.several-top-category",
        statistic.size,
        asking.words,
        groups=asking.listed(statistic.by),
    )


KIND = Kind(
    name="top-category",
    spec=TopCategory,
    section=TopCategorySection,
    bias=CHOICE,
    title=_title,
    titled_with_groups=True,
    headline=chosen,
    chooses=True,
    figure="confide.drawing.charts.choice:draw",
    subtitle="confide.drawing.charts.choice:subtitle",
    audit="confide.statistics.top_category.audit:AUDITED",
)
