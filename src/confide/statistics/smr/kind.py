"""What reports say of an SMR."""

from confide.drawing.asking import of_events, quantity_axis
from confide.statistics.bias import RATIO
from confide.statistics.kind import Kind
from confide.statistics.smr.section import SMRSection
from confide.statistics.smr.spec import SMR

KIND = Kind(
    name="smr",
    spec=SMR,
    section=SMRSection,
    bias=RATIO,
    title=of_events("title.smr"),
    axis=quantity_axis("quantity.smr"),
    figure="confide.statistics.smr.figure:draw",
    subtitle="confide.statistics.smr.figure:subtitle",
    audit="confide.statistics.smr.audit:AUDITED",
)
