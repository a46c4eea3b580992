"""Figures of legal documents: what a belief can become, and budget used against caps.

*Privacy:* drawn from losses and caps, which are public.
"""

import math

from confide.drawing.charts.render import inline, svg_of
from confide.drawing.charts.style import MUTED, PAPER, SERIES, WIDTH, theme
from confide.drawing.charts.vega import Chart, field, layer, mark
from confide.drawing.markup import trusted
from confide.drawing.numbers import percent
from confide.privacy.loss import PureDP
from confide.report.legal.beliefs import PRIORS, posterior, windows
from confide.report.legal.document import Gauges, Picture
from confide.report.legal.exhibits import window_text
from confide.report.legal.scribe import Scribe
from confide.report.wording.gauges import gauge, line_texts, scope_name
from confide.report.wording.guarantee import ChargeLine

_STEPS = 100
_DASHES = ([1, 0], [7, 4], [2, 3])
_HEIGHT = 300


def belief_picture(scribe: Scribe) -> Picture | None:
    """Return the curves from prior to largest posterior; None when nothing is spent or capped."""
    spans = windows(scribe.subject)
    if not spans:
        return None
    told = [span.meaning(dataset=scribe.subject.dataset) for span in spans]
    pointwise = [each.pointwise for each in told]
    names = [window_text(span, scribe=scribe) for span in spans]
    chart = _curves(pointwise, names=names, scribe=scribe).properties(config=theme())
    caption = scribe.say(
        "caption.beliefs",
        window=names[0],
        prior=percent(PRIORS[1]),
        posterior=percent(posterior(told[0], prior=PRIORS[1])),
    )
    return Picture(
        name="beliefs",
        svg=trusted(inline(svg_of(chart), name="beliefs")),
        caption=caption,
        source=scribe.computed(scribe.from_ledger()),
    )


def _curves(losses: list[PureDP], *, names: list[str], scribe: Scribe) -> Chart:
    rows = [
        {"prior": 100 * prior, "posterior": 100 * _posterior(loss, prior), "name": name}
        for loss, name in zip(losses, names, strict=True)
        for prior in (step / _STEPS for step in range(_STEPS + 1))
    ]
    scale = {"domain": [0, 100]}
    axes = {
        "x": field("prior:Q", title=scribe.say("axis.prior"), scale=scale),
        "y": field(
            "posterior:Q",
            title=scribe.say("axis.posterior"),
            scale=scale,
            axis={"grid": True, "tickCount": 6},
        ),
    }
    colours = {"domain": names, "range": list(SERIES[: len(names)])}
    dashes = {"domain": names, "range": [_DASHES[i % len(_DASHES)] for i in range(len(names))]}
    legend = {
        "title": None,
        "orient": "top",
        "labelLimit": 400,
        "columnPadding": 40,
        "symbolStrokeWidth": 2.4,
        "symbolFillColor": PAPER,
    }
    lines = mark("line", rows, strokeWidth=2.4).encode(
        **axes,
        color=field("name:N", scale=colours, sort=names, legend=legend),
        strokeDash=field("name:N", scale=dashes, sort=names, legend=legend),
    )
    none = [{"prior": 0, "posterior": 0}, {"prior": 100, "posterior": 100}]
    diagonal = mark("line", none, strokeWidth=1, color=MUTED).encode(
        x=field("prior:Q"), y=field("posterior:Q")
    )
    said = [{"prior": 62, "posterior": 55, "text": scribe.say("axis.unchanged")}]
    text = mark("text", said, align="left", fontSize=11, color=MUTED, dx=4).encode(
        x=field("prior:Q"), y=field("posterior:Q"), text=field("text:N")
    )
    return layer(diagonal, text, lines).properties(width=WIDTH, height=_HEIGHT)


def _posterior(loss: PureDP, prior: float) -> float:
    if prior in (0, 1):
        return prior
    odds = math.log(prior / (1 - prior)) + min(float(loss.epsilon), 700.0)
    return 1 / (1 + math.exp(-odds))


def _letter(line: ChargeLine, *, scribe: Scribe) -> str:
    return line.letter(scribe.subject.dataset)


def cap_gauges(scribe: Scribe) -> Gauges | None:
    """Return a bar for each cap; None when there is none."""
    words = scribe.words
    rows = []
    for line in scribe.subject.lines:
        _, _, after, cap = line_texts(line)
        text = words.say(
            "legal.gauge",
            letter=_letter(line, scribe=scribe),
            after=after,
            cap=cap,
        )
        rows.append((scope_name(line, words=words), gauge(line, words=words), text))
    if not rows:
        return None
    return Gauges(rows=tuple(rows), source=scribe.from_ledger())
