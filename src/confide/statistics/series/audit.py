"""What the audit asks of series."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import Audited
from confide.statistics.series.spec import Series, SeriesOf
from confide.tables.expression import DatePart

AUDITED = Audited(
    patients=(
        Series(
            id="series",
            table="events",
            column="change",
            over="day",
            every=DatePart.QUARTER,
            per_patient=PerPatient(cells=2, rows=2),
        ),
        Series(
            id="series-of-sums",
            table="events",
            column="amount",
            over="quarter",
            of=SeriesOf.SUM,
            per_patient=PerPatient(cells=2, rows=1),
        ),
    ),
    events=(
        Series(id="series", table="events", column="change", over="day", every=DatePart.QUARTER),
    ),
)
