"""Leases: how one process knows that another, which was reading, is dead.

Every open ledger holds an exclusive ``flock`` on a file of its own, and the kernel drops it when
the process ends, however it ends; unlike a process number it cannot be inherited by a stranger.
Doubt is resolved against the reader of data: a lease that cannot be examined counts as alive, and
one that is wrongly thought dead only burns its request, so an answer is lost and never given twice.

The same folder holds the lock that lets one writer in after another.  It makes waiting fair; the
database's own lock is what makes writing safe.
"""

import contextlib
import fcntl
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

from confide.regular_file import descriptor

_NAME = re.compile(r"[0-9a-f]{32}")


class Door:
    """The lock that lets one writer of this host in after another."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = descriptor(folder / "writer.lock", os.O_RDWR | os.O_CREAT)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Wait for the turn to write."""
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Release the file; again is harmless."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


class Lease:
    """Proof of life of one open ledger, valid until ``release`` or the end of the process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._door = Door(folder)
        self.owner = uuid.uuid4().hex  # a name, not a secret
        with self.writing():  # so that nobody takes the new file for one left behind
            self._sweep()
            self._file = descriptor(self._path(self.owner), os.O_RDWR | os.O_CREAT | os.O_EXCL)
            fcntl.flock(self._file, fcntl.LOCK_EX)

    def writing(self) -> contextlib.AbstractContextManager[None]:
        """Wait for the turn to write."""
        return self._door.writing()

    def others(self) -> bool:
        """Return whether anybody else may have the ledger open."""
        names = {path.stem for path in self._folder.glob("*.lease")} - {self.owner}
        return any(self.is_alive(name) for name in names)

    def is_alive(self, owner: str) -> bool:
        """Return whether the ledger object called ``owner`` may still be open."""
        if not _NAME.fullmatch(owner):
            return True
        try:
            file = descriptor(self._path(owner), os.O_RDWR)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(file)
        return False

    def release(self) -> None:
        """End the lease."""
        self._path(self.owner).unlink(missing_ok=True)
        os.close(self._file)
        self._door.close()

    def _sweep(self) -> None:
        """Remove the files of the dead."""
        for path in self._folder.glob("*.lease"):
            if not self.is_alive(path.stem):
                path.unlink(missing_ok=True)

    def _path(self, owner: str) -> Path:
        return self._folder / f"{owner}.lease"
