"""What reports say of survival curves."""

from confide.drawing.asking import Asking, by_names
from confide.drawing.numbers import clean
from confide.statistics.kind import Kind
from confide.statistics.survival.headline import survival_headline
from confide.statistics.survival.readable import table
from confide.statistics.survival.section import SurvivalSection
from confide.statistics.survival.survival import Survival


def _title(statistic: Survival, asking: Asking) -> str:
    words = asking.words
    time, status = words.named(statistic.time), words.named(statistic.status)
    return words.say("title.survival", time=time, status=status)


def _groups(statistic: Survival, asking: Asking) -> tuple[str, ...]:
    words = asking.words
    unit = clean(words.unit(statistic.time_domain(asking.dataset).unit))
    time = words.say("head.time-unit", unit=unit) if unit else words.say("head.time")
    return (*by_names(statistic, asking), words.say("head.event"), time)


KIND = Kind(
    name="survival",
    spec=Survival,
    section=SurvivalSection,
    bias="of order 1/n in the noisy numbers at risk",
    title=_title,
    groups=_groups,
    headline=survival_headline,
    figure="confide.statistics.survival.figure:draw",
    subtitle="confide.statistics.survival.figure:subtitle",
    table=table,
    audit="confide.statistics.survival.audit:AUDITED",
)
