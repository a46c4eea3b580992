"""Describe: a first description of a data set, written before any of its rows is read.

*Privacy:* made from public vocabularies, clinical ranges and data dictionaries; of a file of Excel,
Stata, SPSS or SAS the names, labels and formats are read, and no row is part of what is written.
"""

import datetime as dt
import enum
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from confide.errors import ContractError

if TYPE_CHECKING:
    from confide.files.drafts.draft import DraftedTable
    from confide.tables.schema import Table

_CALLED = {"stata": "Stata", "spss": "SPSS", "sas": "SAS"}
COMMON = "systolic,diastolic,bmi,hba1c,glucose,creatinine"


class Model(enum.Enum):
    """Data models that can be described without seeing data."""

    OMOP = "omop"
    EXCEL = "excel"
    STATA = "stata"
    SPSS = "spss"
    SAS = "sas"
    REDCAP = "redcap"
    FHIR = "fhir"
    MIMIC_III = "mimic-iii"
    MIMIC_IV = "mimic-iv"
    EICU = "eicu"
    MEDS = "meds"


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteConcepts:
    """What a site adds to the CDM's specification.

    Attributes:
        vocabulary: Folder of a download of the OMOP vocabulary; "" for none.
        roll_up: Ancestors whose descendants become groups, between commas.
        visits: Concepts of the site's own types of visits, between commas.
        cohorts: Names of cohort definitions, such as "12=diabetes, 13=controls".
    """

    vocabulary: str = ""
    roll_up: str = ""
    visits: str = ""
    cohorts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """Most of a dataset.yaml.

    Attributes:
        model: Of the data.
        dataset: Its text.
    """

    model: Model
    dataset: str


def describe(  # noqa: PLR0913 - one for each fact of a model
    model: Model,
    *,
    source: str,
    version: str,
    measurements: str,
    since: dt.date,
    until: dt.date,
    dictionary: str = "",
    sheet: str = "",
    header: int = 1,
    site: SiteConcepts = SiteConcepts(),
) -> Described:
    """Return most of a dataset.yaml from public knowledge and dictionaries; never reads a row.

    Args:
        model: Of the data.
        source: Path of the data; of OMOP, FHIR and REDCap written down and not opened, of others a
            file whose names and labels are read.
        version: Of the data model.
        measurements: Short names, LOINC codes or OMOP concepts between commas; all; or none.
        since: First day that events are counted.
        until: Last day.
        dictionary: Data dictionary of a REDCap project.
        sheet: Name of the sheet of a workbook; "" for its only one.
        header: Number of the row with its names.
        site: What an OMOP site adds.

    Raises:
        ContractError: If a file cannot be read, or there is no dictionary.
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
                source=source,
                version=version,
                measurements=names,
                since=since,
                until=until,
                site=site,
            )
        case Model.FHIR:
            text = describe_fhir(source=source, measurements=names, since=since, until=until)
        case Model.MIMIC_III | Model.MIMIC_IV | Model.EICU | Model.MEDS:
            from confide.service.preparing.intensive_care import describe_intensive_care

            text = describe_intensive_care(
                model.value, source=source, measurements=names, since=since, until=until
            )
        case Model.REDCAP:
            text = _drafted(_of_redcap(source, dictionary=dictionary), since=since, until=until)
        case Model.EXCEL:
            drafted = _of_workbook(source, sheet=sheet, header=header)
            text = _drafted(drafted, since=since, until=until)
        case Model.STATA | Model.SPSS | Model.SAS:
            text = _drafted(_of_statistics(source, model=model), since=since, until=until)
        case _:
            assert_never(model)
    return Described(model=model, dataset=text)


def describe_omop(
    *,
    source: str,
    version: str,
    measurements: Sequence[str],
    since: dt.date,
    until: dt.date,
    site: SiteConcepts = SiteConcepts(),
) -> str:
    """Return most of a dataset.yaml for an OMOP database, from public knowledge alone.

    Args:
        source: Path of the database; written down, not opened.
        version: Of the CDM.
        measurements: Short names, LOINC codes or OMOP concepts; each becomes a table.
        since: First day that events are counted.
        until: Last day.
        site: What the site adds.

    Raises:
        ContractError: If the vocabulary cannot be read.
        UnknownNameError: If a measurement has no known range, or the vocabulary no such concept.
    """
    from confide.files.dataset_text import dataset_text
    from confide.rows.clinical_ranges import clinical_range
    from confide.rows.sources.omop import measurement_table, omop_tables

    tables = (
        *_of_site(omop_tables(since=since, until=until), site, source, since=since, until=until),
        *(
            measurement_table(clinical_range(name), since=since, until=until)
            for name in measurements
        ),
    )
    return dataset_text(tables, id="omop", kind="omop", version=version, path=source)


def _of_site(
    tables: "tuple[Table, ...]", site: SiteConcepts, source: str, *, since: dt.date, until: dt.date
) -> "tuple[Table, ...]":
    from confide.rows.sources.omop_groups import cohort_table, with_groups, with_visits
    from confide.rows.sources.vocabulary import require_public

    folder = Path(site.vocabulary)
    if site.roll_up or site.visits:
        if not site.vocabulary:
            raise ContractError(
                "Names and descendants of concepts are read of a vocabulary.",
                hint="Name the folder of a download: --vocabulary athena.",
            )
        require_public(folder, source=Path(source))
    if site.roll_up:
        tables = with_groups(tables, ancestors=_ids(site.roll_up), vocabulary=folder)
    if site.visits:
        tables = with_visits(tables, types=_ids(site.visits), vocabulary=folder)
    if site.cohorts:
        pairs = [each.partition("=") for each in site.cohorts.split(",")]
        named = {code.strip(): name.strip() for code, _, name in pairs}
        if not all(code.isdecimal() and name for code, name in named.items()):
            raise ContractError(
                "A cohort has the number of its definition, and a name.",
                hint='Write --cohorts "12=diabetes, 13=controls".',
            )
        tables = (*tables, cohort_table(named, since=since, until=until))
    return tables


def _ids(listed: str) -> tuple[int, ...]:
    words = [each.strip() for each in listed.split(",")]
    if not all(word.isdecimal() for word in words):
        raise ContractError(
            "Concepts are whole numbers between commas.", hint="Write --roll-up 201820,316866."
        )
    return tuple(dict.fromkeys(int(word) for word in words))


def describe_fhir(
    *, source: str, measurements: Sequence[str], since: dt.date, until: dt.date
) -> str:
    """Return most of a dataset.yaml for FHIR resources in bulk, from public knowledge alone.

    Args:
        source: Folder of the NDJSON files; written down, not opened.
        measurements: Short names, LOINC codes or OMOP concepts; each becomes a table.
        since: First day that events are counted.
        until: Last day.

    Raises:
        UnknownNameError: If a measurement has no known range.
    """
    from confide.files.dataset_text import dataset_text
    from confide.rows.clinical_ranges import clinical_range
    from confide.rows.sources.exported.fhir_tables import fhir_tables, observed_table

    tables = (
        *fhir_tables(since=since, until=until),
        *(observed_table(clinical_range(name), since=since, until=until) for name in measurements),
    )
    return dataset_text(tables, id="fhir", kind="fhir", path=source, person="person")


def known_measurements() -> tuple[str, ...]:
    """Return the short names of the measurements whose plausible range is known."""
    from confide.rows.clinical_ranges import clinical_ranges

    return tuple(known.key for known in clinical_ranges())


def _drafted(table: "DraftedTable", *, since: dt.date, until: dt.date) -> str:
    from confide.files.drafts.draft import draft_text

    return draft_text(table, since=since, until=until)


def _of_redcap(source: str, *, dictionary: str) -> "DraftedTable":
    from confide.files.drafts.redcap import redcap_draft

    if not dictionary:
        raise ContractError(
            "A REDCap export is described by its data dictionary.",
            hint="Name its CSV file: --dictionary dictionary.csv.",
        )
    return redcap_draft(Path(dictionary), source=Path(source))


def _of_workbook(source: str, *, sheet: str, header: int) -> "DraftedTable":
    from confide.files.drafts.draft import Drafted, DraftedTable, person_among
    from confide.rows.sources.exported.workbook import header_names
    from confide.tables.source_files import Sheet

    path = _file(source, endings=(".xlsx", ".xlsm"))
    at = Sheet(name=sheet, header=header)
    names = header_names(path, sheet=at)
    person = person_among(names)
    where = [f"name: {_quoted(sheet)}"] if sheet else []
    where += [f"header: {header}"] if header != 1 else []
    return DraftedTable(
        origin="the names in a workbook",
        kind="excel",
        folder=Path(source).parent.as_posix(),
        file=path.name,
        person=person,
        columns=tuple(
            Drafted(source=name, kind="text", label=_label_of(name), remark=_plausible(name))
            for name in names
            if name != person
        ),
        lines=(f"sheet: {{{', '.join(where)}}}",) if where else (),
    )


def _of_statistics(source: str, *, model: Model) -> "DraftedTable":
    from confide.files.drafts.draft import Drafted, DraftedTable, person_among
    from confide.rows.sources.exported.statistical import variables
    from confide.tables.encoding import Encoding
    from confide.tables.source import SourceKind
    from confide.tables.source_files import EXPORTED

    kind = SourceKind(model.value)
    path = _file(source, endings=EXPORTED[kind])
    found = variables(path, kind=kind, table=path.stem, encoding=Encoding.UTF_8)
    person = person_among([each.name for each in found])
    columns = []
    for each in found:
        kept = "date" if each.is_day else "category" if each.labels else "number"
        kept = "text" if each.is_text and not each.labels else kept
        if each.name != person:
            columns.append(
                Drafted(
                    source=each.name,
                    kind=kept,
                    label=each.label,
                    codes=each.labels,
                    remark=_plausible(each.name) if kept == "number" else "",
                )
            )
    return DraftedTable(
        origin=f"the dictionary of a file of {_CALLED[kind.value]}",
        kind=kind.value,
        folder=Path(source).parent.as_posix(),
        file=path.name,
        person=person,
        columns=tuple(columns),
    )


def _file(source: str, *, endings: tuple[str, ...]) -> Path:
    path = Path(source)
    if not path.is_file() or not path.name.lower().endswith(endings):
        raise ContractError(
            f"Expected --source as a file ending in {' or '.join(endings)}, got {source!r}.",
            hint="Its names and labels are read, and no row.",
        )
    return path


def _plausible(name: str) -> str:
    """Return the range that the catalogue has for what a column is called; a proposal."""
    from confide.rows.clinical_ranges import range_called

    known = range_called(name)
    if known is None:
        return ""
    low, high, step = (f"{float(each):.6g}" for each in (known.lower, known.upper, known.step))
    return (
        f"plausible, if it is {known.name} (LOINC {known.loinc}): lower: {low}, upper: {high}, "
        f'step: {step}, unit: "{known.unit}"'
    )


def _label_of(name: str) -> str:
    """Return a name as label where it cannot be the key of a column."""
    return "" if name.isidentifier() else name


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)
