"""The option by which an officer signs an act: a year opened, a frozen ledger that goes on."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from confide.budget.workflow.acts import Officers

Officer = Annotated[
    list[Path] | None,
    typer.Option(
        "--officer",
        metavar="KEY",
        help="Key of an officer who does this, of confide request key; needed once the policy "
        "names people; repeatable.",
    ),
]


def officers_of(paths: Sequence[Path] | None) -> "Officers":
    """Return the keys of those who do an act.

    Raises:
        ContractError: If a file is no person's key.
    """
    from confide.release.keys import read_person_key

    return tuple(read_person_key(path) for path in paths or ())
