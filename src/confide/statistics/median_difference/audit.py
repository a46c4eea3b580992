"""What the audit asks of a difference of medians."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import Audited
from confide.statistics.median_difference.spec import MedianDifference

AUDITED = Audited(
    patients=(
        MedianDifference(
            id="median-difference",
            table="events",
            column="change",
            by=("sex",),
            bins=5,
            per_patient=PerPatient(rows=1),
        ),
    ),
    events=(
        MedianDifference(
            id="median-difference",
            table="events",
            column="amount",
            by=("code",),
            groups=("A", "C"),
            bins=4,
        ),
    ),
)
