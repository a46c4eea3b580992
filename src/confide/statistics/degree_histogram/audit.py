"""What the audit asks of degree histogram."""

from confide.statistics.audited import Audited, Worst
from confide.statistics.degree_histogram.spec import DegreeHistogram

AUDITED = Audited(
    patients=(DegreeHistogram(id="degrees", table="contacts", at_most=2, persons="people"),),
    worst=Worst.NETWORK,
)
