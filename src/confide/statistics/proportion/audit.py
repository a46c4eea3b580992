"""What the audit asks of proportion."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import HIGH, Audited
from confide.statistics.proportion.spec import Proportion
from confide.tables.expression import ValueOf
from confide.tables.filter import Between

AUDITED = Audited(
    patients=(
        Proportion(id="share", table="events", of=HIGH, per_patient=PerPatient(rows=2)),
        Proportion(id="share-of-persons", table="patients", of=Between(of=ValueOf(name="first"))),
    ),
    events=(Proportion(id="share", table="events", of=HIGH),),
)
