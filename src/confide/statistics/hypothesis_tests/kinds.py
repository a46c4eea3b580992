"""What reports say of tests."""

from collections.abc import Sequence

from confide.drawing.asking import Asking, of_column, of_condition, share_axis
from confide.drawing.cells import Cell
from confide.drawing.findings import independence_headline, test_headline
from confide.statistics.bias import RATIO
from confide.statistics.hypothesis_tests.chi_squared import ChiSquaredTest
from confide.statistics.hypothesis_tests.section import (
    ChiSquaredTestSection,
    TrendTestSection,
    TwoMeansTestSection,
    TwoProportionsTestSection,
)
from confide.statistics.hypothesis_tests.table import independence_table
from confide.statistics.hypothesis_tests.trend import TrendTest
from confide.statistics.hypothesis_tests.two_means import TwoMeansTest
from confide.statistics.hypothesis_tests.two_proportions import TwoProportionsTest
from confide.statistics.kind import Kind


def _of_categories(statistic: ChiSquaredTest, asking: Asking) -> str:
    return asking.words.say("title.chi-squared-test", groups=asking.listed(statistic.by))


def _without_departures(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return what one cites: shares of each group say more than parts of a joint share."""
    return [cell for cell in cells if cell.quantity != "departure"]


def _departures_in_file(statistic: ChiSquaredTest) -> str:
    del statistic
    return "page.rows-without-departures"


def _without_degrees(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return what one cites: effective degrees of freedom may be more than there are patients."""
    return [cell for cell in cells if cell.quantity != "degrees of freedom"]


def _degrees_in_file(statistic: TwoMeansTest) -> str:
    del statistic
    return "page.rows-without-degrees"


CHI_SQUARED = Kind(
    name="chi-squared-test",
    spec=ChiSquaredTest,
    section=ChiSquaredTestSection,
    bias="a function of noisy counts; the null law knows the noise",
    title=_of_categories,
    titled_with_groups=True,
    axis=share_axis,
    headline=independence_headline,
    figure="confide.drawing.charts.forest:shares",
    table=independence_table,
    cited=_without_departures,
    cited_note=_departures_in_file,
    audit="confide.statistics.hypothesis_tests.audit:CHI_SQUARED",
)
TWO_PROPORTIONS = Kind(
    name="two-proportions-test",
    spec=TwoProportionsTest,
    section=TwoProportionsTestSection,
    bias=RATIO,
    title=of_condition("title.two-proportions-test"),
    axis=share_axis,
    headline=test_headline,
    figure="confide.drawing.charts.forest:compared",
    audit="confide.statistics.hypothesis_tests.audit:TWO_PROPORTIONS",
)
TREND = Kind(
    name="trend-test",
    spec=TrendTest,
    section=TrendTestSection,
    bias=RATIO,
    title=of_condition("title.trend-test"),
    axis=share_axis,
    headline=test_headline,
    figure="confide.drawing.charts.forest:shares",
    audit="confide.statistics.hypothesis_tests.audit:TREND",
)
TWO_MEANS = Kind(
    name="two-means-test",
    spec=TwoMeansTest,
    section=TwoMeansTestSection,
    bias=RATIO,
    title=of_column("title.two-means-test"),
    headline=test_headline,
    cited=_without_degrees,
    cited_note=_degrees_in_file,
    figure="confide.drawing.charts.forest:compared",
    audit="confide.statistics.hypothesis_tests.audit:TWO_MEANS",
)
