"""The figure of a count: the counts that its noise leaves plausible, and the number.

*Privacy:* drawn from the release alone.
"""

import math

from confide.drawing.charts.by_group import groups
from confide.drawing.charts.marks import Frame, plausible, row_of
from confide.drawing.charts.subject import Drawn, Subject
from confide.plans.mechanisms import additive, coordinate

_POINTS = 160


def draw(subject: Subject) -> Drawn:
    """Return a count over those that its noise leaves plausible; of a rounded one the interval."""
    cell, house = subject.cells[0], subject.plan.study.small_cells
    if house and house.rule.round_to > 1:  # a curve has its peak at the count as it was
        return groups(subject, [cell], bars=False)
    row = row_of(cell, group="")
    frame = Frame(groups=("",), x_title=subject.axis([cell]))
    raw = coordinate(subject.noisy("count"), 0)
    noise = additive(subject.plan.mechanisms(subject.statistic.id)["count"])
    reach = max(4, math.ceil(4.2 * math.sqrt(noise.variance())))
    step = max(1, 2 * reach // _POINTS)
    peak = noise.pmf(0)
    curve = [
        (float(count), noise.pmf(raw - count) / peak)
        for count in range(max(0, raw - reach), max(0, raw + reach) + step, step)
    ]
    return plausible(curve, row=row, frame=frame), (subject.words.say("chart.plausible"),)
