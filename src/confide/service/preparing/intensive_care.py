"""Describe databases of intensive care, and event streams: MIMIC, eICU, MEDS.

*Privacy:* made from public documentation and code lists.  Of a folder the names of files are looked
at, and of one file of MIMIC-III its first line, which names the columns; no row is read.
"""

import datetime as dt
import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from confide.regular_file import reading

if TYPE_CHECKING:
    from confide.rows.clinical_ranges import ClinicalRange
    from confide.rows.sources.icu.mimic import Names
    from confide.tables.schema import Table

_DAYS = "lower: 0, upper: 100, label: days in"
_STAYS = f"""\
derived:
  hospital_days: {{days-between: [admitted, discharged], {_DAYS} hospital}}
  unit_days: {{days-between: [admitted_to_unit, left_unit], {_DAYS} intensive care}}
"""


def describe_intensive_care(
    model: str, *, source: str, measurements: Sequence[str], since: dt.date, until: dt.date
) -> str:
    """Return most of a dataset.yaml for MIMIC, eICU or MEDS.

    Args:
        model: "mimic-iii", "mimic-iv", "eicu" or "meds".
        source: Folder of the files, or a DuckDB file.
        measurements: Short names, LOINC codes or OMOP concepts; each becomes a table where the
            database has a code for it.
        since: First day of events of MEDS; dates of MIMIC are shifted, and eICU has none.
        until: Last day.

    Raises:
        UnknownNameError: If a measurement has no known range.
    """
    from confide.files.dataset_text import dataset_text
    from confide.rows.clinical_ranges import clinical_range
    from confide.rows.sources.icu.declared import coded_items

    asked = [clinical_range(each) for each in measurements]
    items = coded_items("eicu" if model == "eicu" else "mimic")
    coded = [each for each in asked if each.key in items or model == "meds"]
    tables: tuple[Table, ...]
    person, version, derived = "subject_id", "", ""
    kind = "meds" if model == "meds" else _kind(Path(source))
    if model == "meds":
        from confide.rows.sources.icu.meds import meds_tables

        tables, version = meds_tables(since=since, until=until, measured=coded), "0.4"
    elif model == "eicu":
        from confide.rows.sources.icu.eicu import eicu_tables

        # in the files as they come a result names the stay alone
        tables, person = eicu_tables(measured=coded if kind == "duckdb" else ()), "uniquepid"
    else:
        tables, derived = _mimic(model, Path(source), kind=kind, measured=coded), _STAYS
        if tables[0].source.isupper():
            person = person.upper()
    text = dataset_text(tables, id=model, kind=kind, version=version, path=source, person=person)
    return text + derived + _left_out(asked, tables=tables, model=model)


def _left_out(asked: "Sequence[ClinicalRange]", *, tables: "tuple[Table, ...]", model: str) -> str:
    """Return a remark on measurements that became no table; "" where all did."""
    missing = [each.key for each in asked if each.key not in {table.name for table in tables}]
    if not missing:
        return ""
    why = "no code of it is known"
    if model == "eicu":
        why = "no code is known, or results name the stay alone; put the patient in, in DuckDB"
    return f"# left out: {', '.join(missing)} ({why})\n"


def _mimic(
    model: str, source: Path, *, kind: str, measured: "Sequence[ClinicalRange]"
) -> "tuple[Table, ...]":
    from confide.rows.sources.icu.mimic import mimic_tables

    version = "4" if model == "mimic-iv" else "3"
    return mimic_tables(
        version,
        measured=measured,
        names=_names(source, version=version, kind=kind),
        in_folders=version == "4" and kind != "duckdb",
    )


def _kind(source: Path) -> str:
    """Return the kind of a source, by names of files alone."""
    if source.suffix in (".duckdb", ".db"):
        return "duckdb"
    return "parquet" if any(source.glob("**/*.parquet")) else "csv"


def _names(source: Path, *, version: str, kind: str) -> "Names":
    """Return how columns are written: in capitals in the files of MIMIC-III, except its demo."""
    from confide.rows.sources.icu.mimic import Names

    if version == "4" or kind == "duckdb":
        return Names.SMALL
    for path in (source / "PATIENTS.csv", source / "PATIENTS.csv.gz"):
        if path.is_file():
            with reading(path) as file:
                whole = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
                head = whole.readline(4096)
            return Names.CAPITALS if b"SUBJECT_ID" in head else Names.CAPITAL_FILES
    return Names.CAPITALS
