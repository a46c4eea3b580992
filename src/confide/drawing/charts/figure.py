"""A chart with what a reader needs beside it, and as it was drawn."""

import json
from dataclasses import dataclass
from pathlib import Path

from confide.drawing.charts.narrow import narrowed
from confide.drawing.charts.render import Drawing, draw, svg_of
from confide.drawing.charts.vega import Chart, Spec
from confide.drawing.stamp import marked, stamped
from confide.errors import ContractError
from confide.regular_file import write_bytes


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Figure:
    """A figure of a report.

    Attributes:
        chart: Its specification in Vega-Lite.
        title: Its title, also the start of its text alternative.
        notes: What the chart leaves out or draws in a special way.
        alt: Its text alternative, where that is not title and headline of its statistic.
        slim: The chart as its kind draws it for a narrow screen; None of one that it draws once.
        mark: What is written across it wherever it is drawn; "" of what was published.
    """

    chart: Chart
    title: str
    notes: tuple[str, ...]
    alt: str = ""
    slim: Chart | None = None
    mark: str = ""

    @property
    def subtitle(self) -> str:
        """What its lines and bands are, for a page that tells it above the chart."""
        told = self.chart.spec.get("title", {}).get("subtitle", "")
        return told if isinstance(told, str) else "; ".join(told)

    def drawn(self) -> Drawing:
        """Return it as drawn.

        Raises:
            ValueError: If it cannot be drawn.
        """
        return draw(self.chart, narrow=narrowed(self.slim or self.chart), mark=self.mark)

    @property
    def spec(self) -> Spec:
        """The chart in Vega-Lite, with its numbers."""
        return marked(self.chart.to_dict(), mark=self.mark)

    def save(self, path: str | Path) -> None:
        """Write it as .svg or .png, or as .json its Vega-Lite; over what was there.

        Raises:
            ContractError: If the name ends in anything else, or the figure cannot be drawn.
        """
        path = Path(path)
        match path.suffix.lower():
            case ".svg":
                content = self._drawn().svg.encode()
            case ".png":
                content = self._drawn().png
            case ".json":
                content = json.dumps(self.spec, ensure_ascii=False).encode()
            case _:
                raise ContractError(
                    f"A figure cannot be saved as {path.name!r}.",
                    hint="Its name ends in .svg, .png or .json.",
                )
        write_bytes(path, content)

    def _drawn(self) -> Drawing:
        try:
            return self.drawn()
        except ValueError:
            raise ContractError(f"The figure {self.title!r} cannot be drawn.") from None

    def __repr__(self) -> str:
        return f"<Figure: {self.title}>"

    def _repr_svg_(self) -> str:
        return stamped(svg_of(self.chart), mark=self.mark)


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
