"""Where the ledger of a model is: a folder that lasts, or one that is forgotten on purpose."""

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Self

from confide.errors import ContractError


class TemporaryLedger:
    """A ledger that is deleted with this object: for generated or public data only.

    *Privacy:* what was spent is forgotten, so the lifetime cap no longer binds.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="confide-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    @property
    def path(self) -> Path:
        """The folder."""
        return self._folder

    def __repr__(self) -> str:
        return "TemporaryLedger()"

    def __deepcopy__(self, memo: object) -> Self:
        """Return the same ledger: a clone of a model spends from it too."""
        return self


def ledger_folder(workspace: object) -> Path:
    """Return the folder that a ``workspace`` parameter names.

    Raises:
        ContractError: If it names none.
    """
    match workspace:
        case TemporaryLedger():
            return workspace.path
        case str() | Path():
            folder = Path(workspace)
            folder.mkdir(parents=True, exist_ok=True)
            return folder
        case _:
            raise ContractError(
                "A fit spends privacy budget, so it needs a ledger that remembers it.",
                hint='Write workspace="folder"; or TemporaryLedger() for data that are not '
                "private.",
            )
