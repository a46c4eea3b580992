"""Describe: a first description of a data set, written before any of it is read.

*Privacy:* made from public vocabularies and clinical ranges alone; the source is not opened.
"""

import datetime as dt
import enum
from collections.abc import Sequence
from dataclasses import dataclass

COMMON = "systolic,diastolic,bmi,hba1c,glucose,creatinine"


class Model(enum.Enum):
    """Data models that can be described without seeing data."""

    OMOP = "omop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """Most of a dataset.yaml.

    Attributes:
        model: Of the data.
        dataset: Its text.
    """

    model: Model
    dataset: str


def describe(
    model: Model, *, source: str, version: str, measurements: str, since: dt.date, until: dt.date
) -> Described:
    """Return most of a dataset.yaml from public knowledge; never opens the data.

    Args:
        model: Of the data.
        source: Path of the database; written down, not opened.
        version: Of the data model.
        measurements: Short names, LOINC codes or OMOP concepts between commas; all; or none.
        since: First day that events are counted.
        until: Last day.

    Raises:
        UnknownNameError: If a measurement has no known range.
    """
    match measurements.strip():
        case "all":
            names = known_measurements()
        case "none" | "":
            names = ()
        case listed:
            names = tuple(name.strip() for name in listed.split(","))
    match model:
        case Model.OMOP:
            text = describe_omop(
                source=source, version=version, measurements=names, since=since, until=until
            )
    return Described(model=model, dataset=text)


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
    from confide.files.dataset_text import dataset_text
    from confide.rows.clinical_ranges import clinical_range
    from confide.rows.sources.omop import measurement_table, omop_tables

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
    from confide.rows.clinical_ranges import clinical_ranges

    return tuple(known.key for known in clinical_ranges())
