"""What the audit asks of smr."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import ANY, BANDS, CODED, Audited
from confide.statistics.smr.spec import SMR
from confide.tables.expression import ValueOf
from confide.tables.filter import IsIn

AUDITED = Audited(
    patients=(
        SMR(
            id="smr",
            table="events",
            of=CODED,
            strata=("band",),
            reference=BANDS,
            by=("quarter",),
            per_patient=PerPatient(rows=2),
        ),
        SMR(
            id="smr-of-time",
            table="patients",
            of=IsIn(of=ValueOf(name="any"), values=(1,)),
            strata=("any",),
            reference=ANY,
            time="span",
        ),
    ),
)
