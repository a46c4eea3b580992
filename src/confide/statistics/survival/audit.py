"""What the audit asks of survival."""

from fractions import Fraction

from confide.statistics.audited import Audited
from confide.statistics.survival.method import Method
from confide.statistics.survival.survival import Survival

AUDITED = Audited(
    patients=(
        Survival(
            id="exits",
            table="patients",
            time="age",
            status="any",
            censored=("no",),
            by=("sex",),
            bins=6,
            until=Fraction(60),
        ),
        Survival(
            id="stays-until-any",
            table="events",
            time="span",
            status="any",
            censored=("no",),
            bins=4,
            method=Method.PER_TIME_POINT,
        ),
    ),
    events=(
        Survival(id="exits", table="events", time="amount", status="code", censored=("D",), bins=4),
    ),
)
