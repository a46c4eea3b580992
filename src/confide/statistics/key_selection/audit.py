"""What the audit asks of key selection."""

from confide.plans.contribution import PerPatient
from confide.statistics.audited import Audited, Worst
from confide.statistics.key_selection.spec import KeySelection

AUDITED = Audited(
    patients=(
        KeySelection(id="notes", table="events", key="note", per_patient=PerPatient(cells=2)),
    ),
    worst=Worst.KEYS,
)
