"""What the audit asks of standardized rate."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import ANY, BANDS, CODED, Audited
from confide.statistics.standardized_rate.spec import StandardizedRate
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn

AUDITED = Audited(
    patients=(
        StandardizedRate(
            id="adjusted-share",
            table="events",
            of=CODED,
            strata=("band",),
            standard=BANDS,
            per_patient=PerPatient(rows=2),
        ),
        StandardizedRate(
            id="adjusted-rate",
            table="patients",
            of=IsIn(of=ColumnOf(table="patients", column="sex"), values=(0,)),
            strata=("any",),
            standard=ANY,
            time="span",
            by=("sex",),
        ),
        StandardizedRate(
            id="adjusted-cases",
            table="events",
            of=CODED,
            strata=("band",),
            standard=BANDS,
            population=BANDS,
            per_patient=PerPatient(rows=2),
        ),
    ),
)
