"""The figure of a choice: how far a candidate had to lead for which chance to be chosen.

Nothing about the candidates but their names is published, so the figure shows the law that chose.

*Privacy:* drawn from the plan alone.
"""

from confide.errors import UnsupportedError
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.plans.choices import NAME
from confide.plans.mechanisms import choice
from confide.plans.plan import Statistic
from confide.release.release import Release
from confide.report.grid import Grid, grid_of
from confide.report.marks import Chart
from confide.report.numbers import clean, percent, significant
from confide.report.style import INK, MAIN, MUTED, WIDTH
from confide.report.words import Words

CHOICES = frozenset({"top-category", "top-features"})
"""Kinds of statistic that publish which candidates were chosen, and no number."""

_POINTS = 120
_HEIGHT = 200
_MARKED = (0.5, 0.95)
_MOST_NAMES = 6


def chance_of_being_chosen(release: Release, statistic: Statistic, *, words: Words) -> Chart:
    """Return the least chance of being chosen by the lead over all others but k − 1.

    Raises:
        UnsupportedError: If the statistic chooses nothing.
    """
    import altair as alt

    law, grid = _law(release, statistic)
    step, unit = float(grid.step), words.unit(grid.units[0])
    farthest = 1.35 * law.lead(0.99)
    leads = [farthest * i / _POINTS for i in range(_POINTS + 1)]
    curve = [{"lead": step * at, "chance": law.chance(at)} for at in leads]
    marks = []
    for chance in _MARKED:
        at = step * law.lead(chance)
        lead = words.amount(significant(at), grid.units[0])
        text = words.say("chart.enough", chance=percent(chance), lead=lead)
        marks.append({"lead": at, "chance": chance, "text": text})
    x = alt.X(
        "lead:Q",
        title=words.say("chart.lead", unit=unit),
        scale=alt.Scale(domain=[0, step * farthest], nice=False),
    )
    y = alt.Y(
        "chance:Q",
        title=words.say("chart.chance"),
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%"),
    )
    line = alt.Chart(alt.Data(values=curve)).mark_line(color=MAIN, strokeWidth=2).encode(x=x, y=y)
    base = alt.Chart(alt.Data(values=marks))
    rules = base.mark_rule(color=MUTED, strokeDash=[3, 3]).encode(x=x, y=y, y2=alt.Y2Datum(0))
    points = base.mark_point(color=MAIN, filled=True, size=50, opacity=1).encode(x=x, y=y)
    below = base.mark_text(align="left", dx=8, dy=6, color=INK)  # right of the curve it is free
    texts = below.encode(x=x, y=y, text=alt.Text("text:N"))
    return (rules + line + points + texts).properties(width=WIDTH, height=_HEIGHT)


def chosen_text(release: Release, statistic: Statistic, *, words: Words) -> str:
    """Return how many candidates there were, and the names of the chosen if they are few."""
    chosen = [words.say("comma").join(map(clean, e.key)) for e in release.of(statistic)]
    return words.say(
        "chart.chosen-of",
        candidates=f"{_law(release, statistic)[0].candidates:,}",
        chosen=words.listed(chosen) if len(chosen) <= _MOST_NAMES else str(len(chosen)),
    )


def _law(release: Release, statistic: Statistic) -> tuple[SetSelection | Peeling, Grid]:
    for measured in release.plan.of(statistic.id):
        if measured.name == NAME:
            return choice(measured.mechanism), grid_of(measured, dataset=release.plan.dataset)
    raise UnsupportedError("The statistic chooses nothing.")
