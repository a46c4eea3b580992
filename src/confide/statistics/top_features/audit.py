"""What the audit asks of top features."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import Audited, Worst
from confide.statistics.top_features.spec import TopFeatures
from confide.tables.aggregates.ranked.ranked_features import About

AUDITED = Audited(
    patients=(
        TopFeatures(
            id="top-features",
            table="events",
            features=("amount", "change", "strict"),
            outcome="whole",
            about=About.CENTRES,
            per_patient=PerPatient(rows=1),
        ),
    ),
    worst=Worst.CHOICE,
)
