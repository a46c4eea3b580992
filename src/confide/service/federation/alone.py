"""One process of a member at a time in a run: a second one would speak for a member that is at it.

The lock is a file in the member's own workspace, which the kernel frees however a process ends.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from confide.errors import ContractError
from confide.regular_file import descriptor

_OWN = "federation"


def own_place(workspace: Path) -> Path:
    """Return the folder of what a member remembers of runs, made where it is not there."""
    place = workspace / _OWN
    place.mkdir(mode=0o700, exist_ok=True)
    return place


@contextlib.contextmanager
def alone(workspace: Path, *, about: str) -> Iterator[None]:
    """Keep other processes of this member out of a run.

    Args:
        workspace: The member's own.
        about: 64 hexadecimal digits: the run at a site, the plan at the coordinator.

    Raises:
        ContractError: If another process is at it; nothing was said or charged by this one.
    """
    file = descriptor(own_place(workspace) / f"{about}.lock", os.O_RDWR | os.O_CREAT)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ContractError(
                "Another process of this member is at this run; this one said nothing to the "
                "others, and charged nothing.",
                hint="Wait until it ends. How far the run is: confide federate status",
            ) from None
        yield
    finally:
        os.close(file)
