"""A chart with what a reader needs beside it, and as it was drawn."""

from dataclasses import dataclass

from confide.report.drawing import Drawing
from confide.report.marks import Chart


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of a report.

    Attributes:
        chart: An Altair chart.
        title: Its title, also the start of its text alternative.
        notes: What the chart leaves out or draws in a special way.
        alt: Its text alternative, where that is not title and headline of its statistic.
    """

    chart: Chart
    title: str
    notes: tuple[str, ...]
    alt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plate:
    """A figure as drawn.

    Attributes:
        name: Of its files, without suffix.
        figure: What was drawn.
        drawing: The same as SVG and PNG; None where it could not be drawn.
    """

    name: str
    figure: Figure
    drawing: Drawing | None
