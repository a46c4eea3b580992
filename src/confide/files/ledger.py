"""The section ``ledger`` of dataset.yaml: where the budget is kept, and its anchor."""

from pathlib import Path
from typing import Literal, assert_never

from pydantic import Field

from confide.budget.stores.place import Place, PostgresPlace, SQLitePlace
from confide.errors import ContractError
from confide.files.texts import Section


class LedgerSection(Section):
    """Where the ledger and its anchor are."""

    kind: Literal["sqlite", "postgres"] = "sqlite"
    url: str = Field(default="", repr=False)
    schema_name: str = "confide"
    anchor: str = ""


def read_place(section: LedgerSection) -> Place:
    """Return where the ledger is.

    Raises:
        ContractError: If the section holds a password, or keys of the other kind.
    """
    match section.kind:
        case "sqlite":
            if section.url:
                raise ContractError(
                    "ledger → url: a SQLite ledger is a file of the workspace folder.",
                    hint="Write kind: postgres, or leave url out.",
                )
            return SQLitePlace()
        case "postgres":
            return PostgresPlace(url=section.url, schema=section.schema_name)
        case _:
            assert_never(section.kind)


def read_anchor(section: LedgerSection, *, base: Path) -> Path | None:
    """Return the declared file of signed heads; None for the one in the workspace folder."""
    return base / section.anchor if section.anchor else None
