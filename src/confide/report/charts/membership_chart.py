"""Whom a membership attack finds, on logarithmic axes, with the bound that a claim sets."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from confide.drawing.charts.marks import titled
from confide.drawing.charts.style import INK, MAIN, MUTED, SERIES, WIDTH
from confide.drawing.charts.vega import Chart, field, mark
from confide.drawing.words import Words

_HEIGHT, _FINE = 320, 60
FARTHEST = 1e-3
"""Left and lower end of the axes; shares below it are not drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """An attack on some models.

    Attributes:
        model: Word for the kind of model.
        points: Share of others accused and share of members found, both rising.
    """

    model: str
    points: tuple[tuple[float, float], ...]


def membership_chart(
    attacked: Sequence[Attacked], *, epsilon: float, delta: float, words: Words
) -> Chart:
    """Return the share of members found by the share of others accused, with the bound.

    Args:
        attacked: Each kind of model.
        epsilon: Of the claim.
        delta: Of the claim.
        words: Of the figure.
    """
    claim = words.say(
        "membership.claim", epsilon=f"{epsilon:g}", delta=f"{delta:g}".replace("e-0", "e-")
    )
    named = [words.say(f"membership.{each.model}") for each in attacked]
    bound, chance = words.say("membership.bound", claim=claim), words.say("membership.chance")
    grid = [FARTHEST ** (1 - k / _FINE) for k in range(_FINE + 1)]
    curves = [*zip(named, (each.points for each in attacked), strict=True)]
    curves += [(bound, tuple((x, _most(x, epsilon=epsilon, delta=delta)) for x in grid))]
    curves += [(chance, tuple((x, x) for x in grid))]
    rows = [
        {"accused": x, "found": y, "series": name}
        for name, points in curves
        for x, y in points
        if x >= FARTHEST and y >= FARTHEST
    ]
    names = [name for name, _ in curves]
    colours = {"domain": names, "range": [SERIES[1], MAIN, INK, MUTED]}
    dashes = {"domain": names, "range": [[1, 0], [1, 0], [6, 3], [2, 3]]}
    legend = {
        "title": None,
        "orient": "top",
        "columns": 2,
        "labelLimit": 320,
        "symbolType": "stroke",
        "symbolStrokeWidth": 2,
        "symbolSize": 300,
    }
    log = {"type": "log", "domain": [FARTHEST, 1]}
    axis = {"values": [0.001, 0.01, 0.1, 1], "format": "~g"}
    lines = mark("line", rows, strokeWidth=2).encode(
        x=field("accused:Q", title=words.say("membership.x"), scale=log, axis=axis),
        y=field("found:Q", title=words.say("membership.y"), scale=log, axis=axis),
        color=field("series:N", scale=colours, legend=legend),
        strokeDash=field("series:N", scale=dashes, legend=legend),
        order=field("accused:Q"),
    )
    return titled(
        lines.properties(width=WIDTH, height=_HEIGHT),
        title=words.say("membership.title"),
        subtitle=words.say("membership.subtitle"),
    )


def _most(accused: float, *, epsilon: float, delta: float) -> float:
    plain = math.exp(epsilon) * accused + delta
    return min(plain, 1 - math.exp(-epsilon) * (1 - delta - accused), 1.0)
