"""``confide describe``: most of a dataset.yaml, from public vocabulary and data dictionaries.

*Privacy:* no row is read.
"""

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Quiet, write
from confide.errors import InvalidParameterError
from confide.service.preparing.describe import COMMON, Model, SiteConcepts
from confide.service.preparing.describe import describe as described


def describe(  # noqa: PLR0913 - one for each option
    *,
    model: Annotated[Model, typer.Option(help="The data model.")],
    since: Annotated[str, typer.Option(help="First day of events; public.")] = "2010-01-01",
    until: Annotated[str, typer.Option(help="Last day of events; public.")] = "",
    measurements: Annotated[
        str, typer.Option(help="Names, LOINC codes or OMOP concepts; all; or none.")
    ] = COMMON,
    source: Annotated[str, typer.Option(help="Path of the data; no row is read.")] = "cdm.duckdb",
    version: Annotated[str, typer.Option(help="Version of the CDM.")] = "5.4",
    dictionary: Annotated[str, typer.Option(help="Data dictionary of REDCap; CSV.")] = "",
    sheet: Annotated[str, typer.Option(help="Sheet of a workbook; its only one.")] = "",
    header: Annotated[int, typer.Option(min=1, help="Row of its names.")] = 1,
    vocabulary: Annotated[
        str, typer.Option(help="Folder of a download of the OMOP vocabulary.")
    ] = "",
    roll_up: Annotated[
        str, typer.Option(help="OMOP concepts, whose descendants become groups.")
    ] = "",
    visits: Annotated[str, typer.Option(help="OMOP concepts of the site's types of visits.")] = "",
    cohorts: Annotated[
        str, typer.Option(help="Cohort definitions: 12=diabetes, 13=controls.")
    ] = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write most of a dataset.yaml from public knowledge and dictionaries; never reads a row."""
    made = described(
        model,
        source=source,
        version=version,
        measurements=measurements,
        since=_day("since", since),
        until=_day("until", until) if until else dt.datetime.now(dt.UTC).date(),
        dictionary=dictionary,
        sheet=sheet,
        header=header,
        site=SiteConcepts(vocabulary=vocabulary, roll_up=roll_up, visits=visits, cohorts=cohorts),
    )
    output = Output(json=as_json, quiet=quiet)
    output.result("describe", made, show=lambda: write(made.dataset))
    output.note(
        "Save it as dataset.yaml in this folder, as its path begins here; correct it, and set the "
        "caps of your policy."
    )
    if "://" not in source and not Path(source).exists():
        output.note(f"Nothing is at {source} yet: a draft needs no data. Correct the path.")
    if model is Model.EXCEL and "columns: {}" in made.dataset:
        output.note(f"No names of columns stand in row {header}: say where, as in --header 3.")


def _day(name: str, text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise InvalidParameterError(
            f"Expected --{name} as a date, got {text!r}.", hint="Write 2010-01-31."
        ) from None
