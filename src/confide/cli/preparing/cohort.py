"""``confide cohort``: the CDM's table of cohorts, from definitions of ATLAS.

*Privacy:* what it prints of the rows is for the steward alone; no release, plan or policy sees it.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, table

if TYPE_CHECKING:
    from confide.service.preparing.cohort import FilledCohorts


def cohort(
    cdm: Annotated[Path, typer.Argument(help="The OMOP CDM: a DuckDB file.")],
    *,
    definition: Annotated[
        list[str], typer.Option(help="Number and file of a definition: 12=diabetes.json.")
    ],
    vocabulary: Annotated[Path, typer.Option(help="Folder of a download of the OMOP vocabulary.")],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fill the CDM's table of cohorts from definitions of ATLAS; for the steward."""
    from confide.service.preparing.cohort import fill_cohorts

    output = Output(json=as_json, quiet=quiet)
    filled = fill_cohorts(cdm, definitions=definition, vocabulary=vocabulary)
    output.result("cohort", filled, show=lambda: _show(filled))
    for each in filled.cohorts:
        if each.unknown:
            numbers = ", ".join(map(str, each.unknown))
            output.note(
                f"{each.file} names concepts that CONCEPT.csv does not have: {numbers}. Check the "
                "numbers, and that the download holds their vocabularies."
            )
    names = ", ".join(f"{each.number}={Path(each.file).stem}" for each in filled.cohorts)
    output.note(f'Declare them: confide describe --model omop --source {cdm} --cohorts "{names}"')
    output.note("These counts are exact and for you alone: they are no release.")


def _show(filled: "FilledCohorts") -> None:
    """Print how many patients are in each."""
    table(
        ("cohort", "definition", "patients", "rows"),
        [
            (str(each.number), each.file, f"{each.patients:,}", f"{each.rows:,}")
            for each in filled.cohorts
        ],
        title="For the steward alone",
        right=(0, 2, 3),
    )
