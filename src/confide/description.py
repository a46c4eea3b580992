"""A first description of a data set, written before any of it is read.

*Privacy:* made from public vocabularies and clinical ranges alone; the source is not opened.
"""

import datetime as dt
from collections.abc import Sequence

from confide.files.dataset_text import dataset_text
from confide.rows.clinical_ranges import clinical_range, clinical_ranges
from confide.rows.sources.omop import measurement_table, omop_tables


def describe_omop(
    *, source: str, version: str, measurements: Sequence[str], since: dt.date, until: dt.date
) -> str:
    """Return most of a dataset.yaml for an OMOP database, from public knowledge alone.

    Args:
        source: Path of the database; written down, not opened.
        version: Of the CDM.
        measurements: Short names, LOINC codes or OMOP concepts; each becomes a table.
        since: First day that events are counted.
        until: Last day.

    Raises:
        UnknownNameError: If a measurement has no known range.
    """
    tables = (
        *omop_tables(since=since, until=until),
        *(
            measurement_table(clinical_range(name), since=since, until=until)
            for name in measurements
        ),
    )
    return dataset_text(tables, id="omop", kind="omop", version=version, path=source)


def known_measurements() -> tuple[str, ...]:
    """Return the short names of the measurements whose plausible range is known."""
    return tuple(known.key for known in clinical_ranges())
