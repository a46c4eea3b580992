"""The figure of a choice: who was chosen of all candidates, and how far one had to lead for that.

Nothing about the candidates but the names of the chosen is published: above they stand among the
others, in the order of the study, and below is the law that chose.

*Privacy:* drawn from the plan and the names that were published.
"""

import math

from confide.drawing.cells import labels_of
from confide.drawing.charts.style import INK, MAIN, MUTED, WIDTH, room_for
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.charts.vega import Chart, Row, below, datum, field, mark
from confide.drawing.grid import Grid, grid_of
from confide.drawing.numbers import clean, percent, significant
from confide.drawing.words import Words
from confide.errors import UnsupportedError
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.plans.choices import NAME
from confide.plans.estimates import COUNTS
from confide.plans.mechanisms import choice

_POINTS = 120
_HEIGHT = 200
_MARKED = (0.5, 0.95)
_MOST_NAMES = 6
_MARGIN = 26
"""Pixels at the sides of a narrow figure."""
_MOST_CANDIDATES, _LINE, _GAP = 120, 17, 10
"""Candidates that are drawn by name; pixels of a line of them, and between two columns."""


def draw(subject: Subject) -> Drawn:
    """Return the chosen among the candidates, and the least chance of being chosen by the lead.

    The lead is over all others but k − 1 of k that are chosen.

    Raises:
        UnsupportedError: If the statistic chooses nothing.
    """
    words = subject.words
    law, grid = _law(subject)
    step, unit = float(grid.step), words.unit(grid.units[0])
    farthest = 1.35 * law.lead(0.99)
    leads = [farthest * i / _POINTS for i in range(_POINTS + 1)]
    curve = [{"lead": step * at, "chance": law.chance(at)} for at in leads]
    marks: list[Row] = []
    for chance in _MARKED:
        at = step * law.lead(chance)
        lead = _lead_text(at, unit=grid.units[0], words=words)
        text = words.say("chart.enough", chance=percent(chance), lead=lead)
        marks.append({"lead": at, "chance": chance, "text": text})
    x = field(
        "lead:Q",
        title=words.say("chart.lead", unit=unit),
        scale={"domain": [0, step * farthest], "nice": False},
    )
    y = field(
        "chance:Q",
        title=words.say("chart.chance"),
        scale={"domain": [0, 1]},
        axis={"format": "%"},
    )
    line = mark("line", curve, color=MAIN, strokeWidth=2).encode(x=x, y=y)
    rules = mark("rule", marks, color=MUTED, strokeDash=[3, 3]).encode(x=x, y=y, y2=datum(0))
    points = mark("point", marks, color=MAIN, filled=True, size=50, opacity=1).encode(x=x, y=y)
    half = step * farthest / 2
    sides = [row for row in marks if not (subject.narrow and row["lead"] > half)]
    name = mark("text", sides, align="left", dx=8, dy=6, color=INK)  # right of the curve it is free
    texts = name.encode(x=x, y=y, text=field("text:N"))
    others = [row for row in marks if row not in sides]  # and above it
    above = mark("text", others, align="right", dx=-8, dy=-2, color=INK)
    texts += above.encode(x=x, y=y, text=field("text:N"))
    law_chart = (rules + line + points + texts).properties(width=WIDTH, height=_HEIGHT)
    names = _names(subject)
    chart = law_chart if names is None else below([names, law_chart], spacing=24, own=("x", "y"))
    return chart, (words.say("chart.choice"),)


def _names(subject: Subject) -> Chart | None:
    """Return all candidates in columns, the chosen in bold; None where they are too many."""
    words = subject.words
    keys = subject.statistic.candidates(subject.dataset)
    if len(keys) > _MOST_CANDIDATES:
        return None
    labels = labels_of(keys, words=words)
    chosen = {cell.key for cell in subject.cells}
    named = {key: words.say("chart.is-chosen", name=label) for key, label in labels.items()}
    wide = room_for(named.values())
    width = subject.width - _MARGIN if subject.narrow else WIDTH
    columns = max(1, min(len(keys), width // (wide + _GAP)))
    lines = math.ceil(len(keys) / columns)
    rows = [
        {
            "text": words.say("chart.is-chosen", name=labels[key])
            if key in chosen
            else labels[key],
            "chosen": key in chosen,
            "column": place // lines,
            "line": place % lines,
        }
        for place, key in enumerate(keys)
    ]
    x = field("column:Q", axis=None, scale={"domain": [0, columns], "nice": False})
    y = field("line:Q", axis=None, scale={"domain": [lines - 0.5, -0.5], "nice": False})
    marks = [
        mark("text", [row for row in rows if row["chosen"] is bold], align="left", **look).encode(
            x=x, y=y, text=field("text:N")
        )
        for bold, look in ((False, {"color": MUTED}), (True, {"color": MAIN, "fontWeight": 700}))
    ]
    drawn = marks[1] if len(chosen) == len(keys) else marks[0] + marks[1]
    return drawn.properties(width=width, height=lines * _LINE)


def even_lead(mechanism: SetSelection | Peeling, *, grid: Grid, words: Words) -> str:
    """Return the lead with which a candidate is as likely chosen as not."""
    at = float(grid.step) * mechanism.lead(_MARKED[0])
    return _lead_text(at, unit=grid.units[0], words=words)


def _lead_text(lead: float, *, unit: str, words: Words) -> str:
    """Return a lead with its unit; of patients and records the next whole number."""
    return words.amount(significant(math.ceil(lead) if unit in COUNTS else lead), unit)


def subtitle(subject: Subject) -> str:
    """Return how many candidates there were, and the names of the chosen if they are few."""
    words = subject.words
    chosen = [words.say("comma").join(map(clean, cell.key)) for cell in subject.cells]
    return words.say(
        "chart.chosen-of",
        candidates=f"{_law(subject)[0].candidates:,}",
        chosen=words.listed(chosen) if len(chosen) <= _MOST_NAMES else str(len(chosen)),
    )


def _law(subject: Subject) -> tuple[SetSelection | Peeling, Grid]:
    for measured in subject.plan.of(subject.statistic.id):
        if measured.name == NAME:
            return choice(measured.mechanism), grid_of(measured, dataset=subject.dataset)
    raise UnsupportedError("The statistic chooses nothing.")
