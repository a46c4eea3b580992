"""What the audit asks of hypothesis tests."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import HIGH, Audited
from confide.statistics.hypothesis_tests.chi_squared import ChiSquaredTest
from confide.statistics.hypothesis_tests.trend import TrendTest
from confide.statistics.hypothesis_tests.two_means import TwoMeansTest
from confide.statistics.hypothesis_tests.two_proportions import TwoProportionsTest

CHI_SQUARED = Audited(
    patients=(
        ChiSquaredTest(
            id="independence", table="events", by=("code", "band"), per_patient=PerPatient(rows=1)
        ),
    ),
    events=(ChiSquaredTest(id="independence", table="events", by=("code", "band")),),
)

TWO_PROPORTIONS = Audited(
    patients=(
        TwoProportionsTest(
            id="two-shares", table="events", of=HIGH, by=("sex",), per_patient=PerPatient(rows=1)
        ),
    ),
)

TREND = Audited(
    patients=(
        TrendTest(
            id="trend", table="events", of=HIGH, by=("code",), per_patient=PerPatient(rows=1)
        ),
    ),
)

TWO_MEANS = Audited(
    patients=(
        TwoMeansTest(
            id="two-means",
            table="events",
            column="change",
            by=("sex",),
            per_patient=PerPatient(rows=1),
        ),
    ),
)
