"""What the audit asks of sum."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import Audited
from confide.statistics.sum.spec import Sum
from confide.tables.expression import ColumnOf, ValueOf
from confide.tables.filter import AnyOf, Between, IsIn, Not

AUDITED = Audited(
    patients=(
        Sum(id="amounts", table="events", column="amount", per_patient=PerPatient(rows=3)),
        Sum(
            id="changes",
            table="events",
            column="change",
            by=("code",),
            per_patient=PerPatient(cells=2, rows=2),
        ),
        Sum(id="big", table="events", column="big", per_patient=PerPatient(rows=2)),
        Sum(
            id="strict",
            table="events",
            column="strict",
            by=("code",),
            where=AnyOf(
                of=(
                    Not(of=IsIn(of=ColumnOf(table="events", column="whole"), values=(1,))),
                    Between(of=ValueOf(name="span")),
                )
            ),
            per_patient=PerPatient(cells=2, rows=1),
        ),
        Sum(id="latest", table="patients", column="latest"),
        Sum(id="whole", table="events", column="whole", per_patient=PerPatient(rows=8)),
    ),
    events=(
        Sum(
            id="amounts",
            table="events",
            column="amount",
            where=Not(of=IsIn(of=ColumnOf(table="events", column="code"), values=(3,))),
        ),
        Sum(id="changes", table="events", column="change", by=("code",)),
    ),
    wide=("big",),
)
