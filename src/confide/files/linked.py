"""A dataset.yaml that is a link into another folder, which has a ledger of its own.

The ledger of a data set lies in ``.confide`` beside the path by which its dataset.yaml is named.
From the folder of a link another one would begin, and the same patients have a second budget.  A
link whose own folder has a ledger, or that leads to a file without one, begins nothing anew.
"""

from pathlib import Path

from confide.errors import ContractError
from confide.files.public.private_places import WORKSPACE


def require_no_ledger_behind(path: Path) -> None:
    """Refuse a link to a dataset.yaml from a folder that has no ledger, while the other has.

    Raises:
        ContractError: If it is one.
    """
    there, here = path.resolve().parent, path.parent
    if there == here.resolve() or (here / WORKSPACE).exists():
        return
    if (there / WORKSPACE).exists():
        raise ContractError(
            f"{path.name} is a link to a file that has a ledger of its own: from here its patients "
            "would have a second budget.",
            hint="Name the file that it leads to, or link its whole folder.",
        )
