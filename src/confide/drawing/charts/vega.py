"""Charts in the grammar of Vega-Lite: marks over rows, their channels, and how charts are joined.

A chart is the JSON that the renderer reads, and nothing more; whether that is valid is checked
against the published schema by test.

References:
    [SMWH17] Satyanarayan, Moritz, Wongsuphasawat, Heer. Vega-Lite: a grammar of interactive
        graphics. IEEE TVCG 23(1), 2017. https://doi.org/10.1109/TVCG.2016.2599030
    [VL] Vega-Lite's documentation. https://vega.github.io/vega-lite/docs/
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}
_SIZES = ("width", "height")

Row: TypeAlias = dict[str, Any]
Spec: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Chart:
    """A specification, or a part of one."""

    spec: Spec

    def encode(self, **channels: Spec) -> "Chart":
        """Return the chart with what each channel shows."""
        return self.properties(encoding={**self.spec.get("encoding", {}), **channels})

    def properties(self, **properties: object) -> "Chart":
        """Return the chart with properties set, such as its title, width and height."""
        return Chart({**self.spec, **properties})

    def __add__(self, other: "Chart") -> "Chart":
        if "layer" not in self.spec:
            return layer(self, other)
        both = layer(*map(Chart, self.spec["layer"]), other)
        return Chart({**both.spec, **{k: v for k, v in self.spec.items() if k != "layer"}})

    def to_dict(self) -> Spec:
        """Return the whole specification, to be drawn by any renderer of Vega-Lite."""
        return {"$schema": SCHEMA, **self.spec}


def mark(name: str, rows: Sequence[Row], **style: object) -> Chart:
    """Return a layer that draws one mark a row (or one for all, as lines and areas are)."""
    return Chart({"data": {"values": list(rows)}, "mark": {"type": name, **style}})


def field(shorthand: str, **definition: object) -> Spec:
    """Return a channel that shows a field.

    Example:
        >>> field("age:Q", title=None)
        {'field': 'age', 'type': 'quantitative', 'title': None}
    """
    name, _, kind = shorthand.partition(":")
    return {"field": name, "type": _TYPES[kind], **definition}


def until(name: str) -> Spec:
    """Return the channel of a mark's other end, which shares scale and type with the first."""
    return {"field": name}


def constant(fixed: object) -> Spec:
    """Return a channel with one value on the screen: a colour, or pixels."""
    return {"value": fixed}


def datum(fixed: object) -> Spec:
    """Return a channel with one value of the data."""
    return {"datum": fixed}


def when(test: str, shown: Spec, otherwise: Spec) -> Spec:
    """Return a channel that depends on an expression over the row; ``shown`` is a value."""
    return {"condition": {"test": test, **shown}, **otherwise}


def layer(*charts: Chart) -> Chart:
    """Return charts drawn over one another, as wide and high as the one that says so."""
    specs = [chart.spec for chart in charts]
    sizes = {name: spec[name] for spec in specs for name in _SIZES if name in spec}
    layers = [{name: part for name, part in spec.items() if name not in _SIZES} for spec in specs]
    return Chart({"layer": layers, **sizes})


def beside(charts: Sequence[Chart], *, spacing: int) -> Chart:
    """Return charts from left to right."""
    return Chart({"hconcat": [chart.spec for chart in charts], "spacing": spacing})


def below(charts: Sequence[Chart], *, spacing: int, own: Sequence[str] = ()) -> Chart:
    """Return charts from top to bottom; ``own`` channels have a scale each."""
    stacked: Spec = {"vconcat": [chart.spec for chart in charts], "spacing": spacing}
    scales: Mapping[str, str] = dict.fromkeys(own, "independent")
    return Chart(stacked | ({"resolve": {"scale": scales}} if own else {}))
