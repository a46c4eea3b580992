"""``confide describe``: most of a dataset.yaml, from public vocabulary and clinical ranges."""

import enum
from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Quiet


class Model(enum.Enum):
    """Data models that can be described without seeing data."""

    OMOP = "omop"


def describe(
    *,
    model: Annotated[Model, typer.Option(help="The data model.")],
    source: Annotated[Path, typer.Option(help="Where the data are; not opened.")] = Path(
        "warehouse.duckdb"
    ),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write most of a dataset.yaml from public knowledge; never opens the data."""
    from confide.workspace import describe_model

    text = describe_model(model.value, source=str(source))
    output = Output(json=as_json, quiet=quiet)
    body = {"model": model.value, "dataset.yaml": text}
    output.result("describe", body, show=lambda: typer.echo(text, nl=False))
    output.note("Source values, free text, times of birth and zip codes are left out on purpose.")
