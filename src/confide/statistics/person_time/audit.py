"""What the audit asks of person time."""

from confide.statistics.audited import Audited, Worst

POISSON = Audited(
    worst=Worst.LIKE_ANOTHER,
)

HAZARD = Audited(
    worst=Worst.LIKE_ANOTHER,
)
