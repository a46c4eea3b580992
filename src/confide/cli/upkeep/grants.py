"""``confide ledger grants``: the SQL that gives a role the rights to write to a ledger."""

import re
from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import write
from confide.errors import ContractError
from confide.regular_file import own_text

HERE = Path("dataset.yaml")
_ROLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


def grants(
    dataset: Annotated[Path, typer.Argument(help="A dataset.yaml.")] = HERE,
    *,
    role: Annotated[str, typer.Option(help="Who writes to the ledger.")],
) -> None:
    """Print the SQL that lets a role add to a PostgreSQL ledger and change nothing."""
    from confide.budget.place import PostgresPlace
    from confide.files.dataset import read_dataset

    place = read_dataset(dataset).ledger
    if not isinstance(place, PostgresPlace):
        raise ContractError(
            "The ledger of this data set is not in PostgreSQL.",
            hint="Write ledger: {kind: postgres, url: ...} first.",
        )
    if not _ROLE.fullmatch(role):
        raise ContractError(
            f"Expected a role of letters, digits and _, got {role[:63]!r}.",
            hint="Make one: CREATE ROLE confide_writer LOGIN;",
        )
    text = own_text("confide.budget", "grants.sql")
    write(text.format(schema=f'"{place.schema}"', role=f'"{role}"'))
