"""What reports say of rates of areas."""

from collections.abc import Sequence

from confide.drawing.areas import spine_text
from confide.drawing.asking import Asking, by_key_names, counted
from confide.drawing.conditions import label
from confide.drawing.words import Words
from confide.statistics.area_rate.section import AreaRateSection
from confide.statistics.area_rate.spec import AreaRate
from confide.statistics.bias import RATIO
from confide.statistics.kind import Kind


def _title(statistic: AreaRate, asking: Asking) -> str:
    words = asking.words
    rate = asking.told(statistic.of) or words.say(f"title.rate.{counted(statistic)}")
    return words.say("title.area-rate", rate=rate, area=label(statistic.key_names[0]))


def _axis(statistic: AreaRate, unit: str, words: Words) -> str:
    del statistic
    return words.say("axis.rate", unit=unit)


def _bounded(statistic: AreaRate, asking: Asking) -> Sequence[str]:
    said = [spine_text(statistic.spine, asking)]
    if statistic.same_error_above is not None:
        size = f"{statistic.same_error_above:,}"
        said.append(asking.words.say("bounded.weighted", size=size))
    return said


KIND = Kind(
    name="area-rate",
    spec=AreaRate,
    section=AreaRateSection,
    bias=RATIO,
    title=_title,
    groups=by_key_names,
    axis=_axis,
    figure="confide.statistics.area_rate.figure:draw",
    subtitle="confide.statistics.area_rate.figure:subtitle",
    bounded=_bounded,
    outlined=AreaRate.outlined,
    audit="confide.statistics.area_rate.audit:AUDITED",
)
