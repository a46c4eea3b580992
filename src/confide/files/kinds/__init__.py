"""The kinds of statistic that study.yaml knows: one section class each, told apart by ``kind``."""

from typing import Annotated, TypeAlias, get_args

from pydantic import BeforeValidator, Field

from confide.files.kinds.choices import TopCategorySection, TopFeaturesSection
from confide.files.kinds.counts import (
    CountSection,
    HistogramSection,
    KeySelectionSection,
    ProportionSection,
)
from confide.files.kinds.numbers import MeanSection, QuantilesSection, SumSection, VarianceSection
from confide.files.kinds.section import StatisticSection

__all__ = ["KINDS", "AnyStatistic", "StatisticSection"]

_Known: TypeAlias = (
    CountSection
    | HistogramSection
    | SumSection
    | MeanSection
    | VarianceSection
    | ProportionSection
    | QuantilesSection
    | KeySelectionSection
    | TopCategorySection
    | TopFeaturesSection
)

KINDS: tuple[str, ...] = tuple(
    get_args(section.model_fields["kind"].annotation)[0] for section in get_args(_Known)
)
"""Every word that ``kind`` may be."""

_OTHER_WORDS = {
    "median": "quantiles, with at: [0.5]",
    "quartiles": "quantiles, with at: [0.25, 0.5, 0.75]",
    "percentiles": "quantiles",
    "quantile": "quantiles",
    "average": "mean",
    "total": "sum",
    "sd": "variance",
    "prevalence": "proportion",
    "percentage": "proportion",
    "rate": "proportion",
}


def _kind(value: object) -> object:
    """Send other words for a statistic to the one that is known."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind in KINDS:
        return value
    if kind.lower() in _OTHER_WORDS:
        raise ValueError(f"unknown kind {kind!r}; write kind: {_OTHER_WORDS[kind.lower()]}")
    raise ValueError(f"unknown kind {kind!r}; known: {', '.join(KINDS)}")


AnyStatistic: TypeAlias = Annotated[
    Annotated[_Known, Field(discriminator="kind")], BeforeValidator(_kind)
]
"""One item of ``statistics``."""
