"""A solved policy as a figure: the spend of each release between its floor and its cap.

Above, a bar a release: what it may spend, with a tick at what it needs and one at the most that a
cap lets it have.  Below, a bar a cap: how much of it is used, as a share, with a line at all of it.
A policy that cannot be met is drawn at the floors, and what passes a cap stands out.

*Privacy:* a policy is public.
"""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from confide.budget.policy.rows import Row as CapRow
from confide.budget.policy.solve import Solution
from confide.drawing.charts.marks import titled
from confide.drawing.charts.render import draw, inline
from confide.drawing.charts.style import INK, MAIN, MUTED, PALE, ROW, WARNING, WIDTH, room_for
from confide.drawing.charts.vega import Chart, Row, below, datum, field, layer, mark, until
from confide.drawing.numbers import clean
from confide.drawing.words import Words
from confide.privacy.amount import NANO
from confide.report.policy.policy_words import exactly, row_text, title

_BAR = {"band": 0.56}
_TICK = ROW * 0.78
SHORT = "#ecc9b0"  # the pale form of WARNING
_MOST_ROWS = 60
_PAST = 1.08  # of the largest share: room for what passes a cap


def chart(solution: Solution, *, words: Words) -> Chart:
    """Return the figure of a solved policy.

    Example:
        In a notebook: ``chart(solve(policy), words=load_words("en"))``.
    """
    met = solution.allocation is not None
    above = _releases(solution, words=words)
    caps = _caps(solution, words=words)
    key = "met" if met else "not-met"
    return titled(
        below((above, caps), spacing=34, own=("color",)),
        title=title(solution.policy, words=words),
        subtitle=words.say(f"policy.figure.{key}"),
    )


def chart_file(solution: Solution, *, kind: str, words: Words) -> bytes:
    """Return the figure as a file: ".svg", ".png", or a page of ".html" that loads nothing."""
    drawing = draw(chart(solution, words=words))
    if kind == ".svg":
        return drawing.svg.encode()
    if kind == ".png":
        return drawing.png
    name = escape(title(solution.policy, words=words))
    picture = inline(drawing.svg, name="policy")
    page = (
        f'<!doctype html><html lang="{words.language}"><head><meta charset="utf-8">'
        f"<title>{name}</title></head><body>{picture}</body></html>\n"
    )
    return page.encode()


def _releases(solution: Solution, *, words: Words) -> Chart:
    rows, kinds = _release_rows(solution, words=words), _kinds(solution, words=words)
    groups = [row["group"] for row in rows]
    place = _place(groups)
    bar, needs, most = kinds
    met = solution.allocation is not None  # else the bar is the need itself
    shown = kinds if met else (bar, most)
    inks = (PALE, INK, WARNING) if met else (SHORT, WARNING)
    colours = {"domain": list(shown), "range": list(inks)}
    colour = field("kind:N", scale=colours, legend={"title": None, "symbolType": "square"})
    letter = solution.policy.measure.letter
    axis = words.say("policy.figure.spend", letter=letter)
    x = field("value:Q", title=axis, scale={"zero": True, "nice": True})

    def of(kind: str, name: str) -> list[Row]:
        return [
            {"group": row["group"], "value": row[name], "kind": kind}
            for row in rows
            if row[name] is not None
        ]

    marks = (of(needs, "floor") if met else []) + of(most, "most")
    bars = mark("bar", of(bar, "spend"), height=_BAR)
    ticks = mark("tick", marks, thickness=2.6, size=_TICK, opacity=1)
    text = mark(
        "text", [r for r in rows if r["text"]], align="left", dx=7, fontSize=11, color=MUTED
    )
    return layer(
        bars.encode(x=x, x2=datum(0), color=colour, **place),
        ticks.encode(x=x, color=colour, **place),
        text.encode(x=field("end:Q", title=axis), text=field("text:N"), **place),
    ).properties(width=_width(groups), height={"step": ROW})


def _kinds(solution: Solution, *, words: Words) -> tuple[str, str, str]:
    bar = "policy.figure.bar" if solution.allocation is not None else "policy.figure.least"
    return (
        words.say(bar),
        words.say("policy.figure.needs"),
        words.say("policy.figure.most"),
    )


def _release_rows(solution: Solution, *, words: Words) -> list[Row]:
    policy, division = solution.policy, solution.allocation
    rows = []
    for release in policy.releases[:_MOST_ROWS]:
        limits = [r.limit for r in solution.rows if r.single and r.whom == release.id]
        floor = solution.floors[release.id]
        spend = floor if division is None else division.spends[release.id]
        room = None if division is None else division.head_room.get(release.id)
        text = "" if room is None else f"{float(room):.2f} ×"
        values = [floor, spend, *([min(limits)] if limits else [])]
        rows.append(
            {
                "group": clean(release.id),
                "spend": spend / NANO,
                "floor": floor / NANO if floor else None,
                "most": min(limits) / NANO if limits else None,
                "end": (spend if not limits or spend < min(limits) * 0.8 else max(values)) / NANO,
                "text": text or (exactly(floor) if floor else words.say("policy.no-floor")),
            }
        )
    return rows


def _caps(solution: Solution, *, words: Words) -> Chart:
    division = solution.allocation
    spends = solution.floors if division is None else division.spends
    written_out = [row for row in solution.rows if not row.single][:_MOST_ROWS]
    rows = [row for each in written_out for row in _cap_rows(each, spends, words=words)]
    groups = list(dict.fromkeys(row["group"] for row in rows))
    place = _place(groups)
    kinds = [words.say(f"policy.figure.{k}") for k in ("before", "planned", "over")]
    present = [kind for kind in kinds if any(row["kind"] == kind for row in rows)]
    colour_of = dict(zip(kinds, (MUTED, MAIN, WARNING), strict=True))
    colours = {"domain": present, "range": [colour_of[kind] for kind in present]}
    colour = field("kind:N", scale=colours, legend={"title": None, "symbolType": "square"})
    most = max([100.0, *(row["end"] * _PAST for row in rows if row["end"] > 100)])
    scale = {"domain": [0, most], "nice": False}
    axis = words.say("policy.figure.share")
    x = field("start:Q", title=axis, scale=scale)
    bars = mark("bar", rows, height=_BAR)
    last = [row for row in rows if row["text"]]
    text = mark("text", last, align="left", dx=7, fontSize=11, color=MUTED)
    rule = mark("rule", [{"at": 100}], color=INK, strokeWidth=1.4)
    return layer(
        bars.encode(x=x, x2=until("end"), color=colour, **place),
        rule.encode(x=field("at:Q", title=axis, scale=scale)),
        text.encode(x=field("end:Q", title=axis, scale=scale), text=field("text:N"), **place),
    ).properties(width=_width(groups), height={"step": ROW})


def _cap_rows(row: CapRow, spends: Any, *, words: Words) -> list[Row]:
    """Return the parts of one bar, in per cent of the cap."""
    before, used = row.spent / row.limit * 100, float(row.used(spends)) / row.limit * 100
    total = before + used
    text = words.say(
        "policy.figure.of",
        used=exactly(math.ceil(row.used(spends)) + row.spent),
        limit=exactly(row.limit),
    )
    parts = [
        ("before", 0.0, min(100.0, before)),
        ("planned", before, min(100.0, total)),
        ("over", 100.0, total),
    ]
    kept = [part for part in parts if part[2] > part[1]] or [("planned", 0.0, 0.0)]
    return [
        {
            "group": row_text(row, words=words),
            "start": start,
            "end": end,
            "kind": words.say(f"policy.figure.{kind}"),
            "text": text if place == len(kept) - 1 else "",
        }
        for place, (kind, start, end) in enumerate(kept)
    ]


def _place(groups: Sequence[str]) -> dict[str, Any]:
    axis = {"minExtent": room_for(groups)}
    scale = {"domain": list(groups), "paddingInner": 0.1}
    return {"y": field("group:N", sort=None, title=None, axis=axis, scale=scale)}


def _width(groups: Sequence[str]) -> int:
    return WIDTH - max(0, room_for(groups) - WIDTH // 3)
