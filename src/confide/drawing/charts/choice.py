"""The figure of a choice: how far a candidate had to lead for which chance to be chosen.

Nothing about the candidates but their names is published, so the figure shows the law that chose.

*Privacy:* drawn from the plan alone.
"""

import math

from confide.drawing.charts.style import INK, MAIN, MUTED, WIDTH
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.charts.vega import Row, datum, field, mark
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


def draw(subject: Subject) -> Drawn:
    """Return the least chance of being chosen by the lead over all others but k − 1.

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
    chart = (rules + line + points + texts).properties(width=WIDTH, height=_HEIGHT)
    even = _lead_text(step * law.lead(_MARKED[0]), unit=grid.units[0], words=words)
    return chart, (words.say("chart.choice-lead", lead=even), words.say("chart.choice"))


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
