"""What reports say of an incidence rate."""

from confide.drawing.asking import of_events, unit_axis
from confide.statistics.bias import RATIO
from confide.statistics.incidence.section import IncidenceSection
from confide.statistics.incidence.spec import Incidence
from confide.statistics.kind import Kind

KIND = Kind(
    name="incidence",
    spec=Incidence,
    section=IncidenceSection,
    bias=RATIO,
    title=of_events("title.incidence"),
    axis=unit_axis,
    figure="confide.drawing.charts.rates:rates",
    audit="confide.statistics.incidence.audit:AUDITED",
)
