"""Rounds that a site has spoken in: each is used once, whatever became of it.

A mark is on disk before the first message of a round leaves, so that a crash at any moment leaves
the round used: masks of one round never hide two vectors.
"""

import hashlib
from pathlib import Path

from confide.errors import RoundAbortedError
from confide.regular_file import create_durable, sync_folder


class UsedRounds:
    """Marks of rounds in a folder of the site's own; one site, one folder."""

    __slots__ = ("_folder",)

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def use(self, *, run: str, number: int) -> None:
        """Mark a round as used, durably.

        Raises:
            RoundAbortedError: If it was used before.
        """
        name = hashlib.sha256(f"{run} {number}".encode()).hexdigest()
        try:
            create_durable(self._folder / f"{name}.used", f"{run} {number}\n".encode())
        except FileExistsError:
            raise RoundAbortedError(
                f"Round {number} of this run was used before.",
                hint="Begin another run: masks are never used again, and noise is drawn afresh.",
            ) from None
        sync_folder(self._folder)
