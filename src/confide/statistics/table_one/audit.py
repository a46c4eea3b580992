"""What the audit asks of table 1."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import Audited
from confide.statistics.table_one.lines import Characteristic, Summary
from confide.statistics.table_one.spec import TableOne

AUDITED = Audited(
    patients=(
        TableOne(
            id="persons-1",
            table="patients",
            by=("sex",),
            variables=(
                Characteristic(column="age", show=tuple(Summary), bins=4),
                Characteristic(column="latest"),
                Characteristic(column="visits"),
            ),
        ),
        TableOne(
            id="table-1",
            table="events",
            by=("code",),
            variables=(
                Characteristic(column="band"),
                Characteristic(column="change", show=tuple(Summary), bins=6),
                Characteristic(column="strict"),
                Characteristic(column="sex"),
            ),
            per_patient=PerPatient(rows=2),
        ),
        TableOne(
            id="table-1-in-two-rounds",
            table="events",
            by=("code",),
            variables=(
                Characteristic(column="strict", show=(Summary.MEDIAN_IQR,)),
                Characteristic(column="band"),
            ),
            per_patient=PerPatient(rows=2),
        ),
    ),
    events=(
        TableOne(
            id="table-1",
            table="events",
            by=("quarter",),
            variables=(Characteristic(column="strict"), Characteristic(column="code")),
        ),
    ),
    wide=("table-1-in-two-rounds",),
)
