"""``confide ledger grants``: the SQL that gives a role the rights to write to a ledger."""

from typing import Annotated

import typer

from confide.cli.options import HERE, Dataset
from confide.cli.output import write


def grants(
    dataset: Dataset = HERE,
    *,
    role: Annotated[str, typer.Option(help="Who writes to the ledger.")],
) -> None:
    """Print the SQL that lets a role add to a PostgreSQL ledger and change nothing."""
    from confide.service.ledger.grants import grants as granted

    write(granted(dataset, role=role))
