"""Grants: the SQL that lets a role add to a PostgreSQL ledger and change nothing."""

import re
from pathlib import Path

from confide.budget.stores.place import PostgresPlace
from confide.errors import ContractError
from confide.files.dataset import read_dataset
from confide.regular_file import own_text

_ROLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


def grants(dataset: Path, *, role: str) -> str:
    """Return the SQL that gives a role the rights to write to a ledger.

    Raises:
        ContractError: If the ledger is not in PostgreSQL, or the role has no plain name.
    """
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
    return text.format(schema=f'"{place.schema}"', role=f'"{role}"')
