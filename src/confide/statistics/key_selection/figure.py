"""The figure of selected keys: their counts, and the threshold that they passed.

*Privacy:* drawn from the release alone.
"""

from confide.drawing.charts.by_group import groups
from confide.drawing.charts.marks import threshold_line
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.numbers import fixed
from confide.plans.mechanisms import threshold


def draw(subject: Subject) -> Drawn:
    """Return the selected keys and the threshold that their counts passed."""
    chart, notes = groups(subject, subject.cells, bars=True)
    mechanisms = subject.plan.mechanisms(subject.statistic.id)
    tau = threshold(mechanisms["keys"]).threshold()
    text = subject.words.say("chart.threshold", threshold=fixed(tau, decimals=0))
    return chart + threshold_line(float(tau), text=text), notes
