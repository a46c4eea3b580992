"""Leases: how one process knows that another, which was reading, is dead.

Every open ledger holds an exclusive ``flock`` on a file of its own, and the kernel drops it when
the process ends, however it ends; unlike a process number it cannot be inherited by a stranger.
Doubt is resolved against the reader of data: a lease that cannot be examined counts as alive, and
one that is wrongly thought dead only burns its request, so an answer is lost and never given twice.

The same folder holds the lock that lets one writer in after another.  It makes waiting fair, and
keeps the lines of the anchor in order; the database's own lock is what makes writing to it safe.
So nobody goes past it: who is held up by a stopped process is refused after a minute.
"""

import contextlib
import fcntl
import os
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from confide.errors import LedgerUnreachableError
from confide.regular_file import descriptor

_NAME = re.compile(r"[0-9a-f]{32}")
_MARK = 48  # characters
_LOOK, _LONGEST = 2.0, 60.0  # seconds
_STOPPED = frozenset("TtZXx")


class Door:
    """The lock that lets one writer of this host in after another.

    Whoever is in leaves a mark in the file, for those who wait: its process number, and the time.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / "writer.lock"
        self._file = self._opened()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Wait for the turn to write, as long as whoever has it is running.

        Raises:
            LedgerUnreachableError: If a process that is stopped, or of which nothing is known, has
                it for a minute; nothing was begun.
        """
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._wait()
        with contextlib.suppress(OSError):  # a full disk; it is for messages alone
            mark = f"{os.getpid()} {time.monotonic_ns()}"
            os.pwrite(self._file, f"{mark:<{_MARK}}".encode(), 0)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Release the file; again is harmless."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _opened(self) -> int:
        return descriptor(self._path, os.O_RDWR | os.O_CREAT)

    def _wait(self) -> None:
        """Stand in the queue of the kernel; if that is given up, with another descriptor next time.

        The turn that comes too late is then given back by whoever waits for it.
        """
        turn = _Turn(self._file)
        try:
            _wait_for(turn, mark=self._mark)
        except BaseException:
            if turn.give_up():
                self._file = self._opened()
            raise

    def _mark(self) -> str:
        try:
            return os.pread(self._file, _MARK, 0).decode("ascii", "replace")
        except OSError:
            return ""


class _Turn:
    """A place in the kernel's queue, where waiting can be ended."""

    def __init__(self, file: int) -> None:
        self._file, self._choice = file, threading.Lock()
        self._came, self._is_given_up = threading.Event(), False
        threading.Thread(target=self._stand, daemon=True).start()

    def came(self, *, within: float) -> bool:
        """Return whether the turn came within some seconds."""
        return self._came.wait(within)

    def give_up(self) -> bool:
        """Wait no longer; return whether the file is left to the queue, which closes it."""
        with self._choice:
            self._is_given_up = not self._came.is_set()
            if not self._is_given_up:
                fcntl.flock(self._file, fcntl.LOCK_UN)
            return self._is_given_up

    def _stand(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        with self._choice:
            if self._is_given_up:
                os.close(self._file)
            else:
                self._came.set()


def _wait_for(turn: _Turn, *, mark: Callable[[], str]) -> None:
    """Wait for a turn; say who has a long one, and end when that one will not go on."""
    seen, waited, is_said = mark(), 0.0, False
    while not turn.came(within=_LOOK):
        before, seen = seen, mark()
        if seen != before:  # others go in and out: the queue is long, nothing more
            waited = 0.0
            continue
        waited, process = waited + _LOOK, _process(seen)
        if not is_said:
            _say(f"{_called(process)} is writing to the ledger; waiting for it.")
            is_said = True
        if waited >= _LONGEST and not _is_running(process):
            raise LedgerUnreachableError(
                f"{_called(process)} has held up the ledger for a minute, and does not go on.",
                hint=f"If it is stopped, let it go on: kill -CONT {process or 'PID'}; or end it. "
                "What it charged stays. Then run the same again.",
            )


def _process(mark: str) -> int:
    """Return the number of the process that left a mark; 0 if it is not known."""
    number = mark.partition(" ")[0]
    return int(number) if number.isdecimal() else 0


def _called(process: int) -> str:
    return f"Process {process}" if process else "Another process"


def _is_running(process: int) -> bool:
    """Return whether a process of this host is known to run: neither stopped, traced nor ended."""
    try:
        status = Path(f"/proc/{process}/stat").read_text("latin-1")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in _STOPPED


def _say(text: str) -> None:
    import logging

    logging.getLogger("confide").warning(text)


class Lease:
    """Proof of life of one open ledger, valid until ``release`` or the end of the process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._door = Door(folder)
        self.owner = uuid.uuid4().hex  # a name, not a secret
        try:
            with self.writing():  # so that nobody takes the new file for one left behind
                self._sweep()
                self._file = descriptor(self._path(self.owner), os.O_RDWR | os.O_CREAT | os.O_EXCL)
                fcntl.flock(self._file, fcntl.LOCK_EX)
        except BaseException:
            self._door.close()
            raise

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
        """End the lease; again is harmless: the number of its file may be another's by then."""
        self._path(self.owner).unlink(missing_ok=True)
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)
        self._door.close()

    def _sweep(self) -> None:
        """Remove the files of the dead."""
        for path in self._folder.glob("*.lease"):
            if not self.is_alive(path.stem):
                path.unlink(missing_ok=True)

    def _path(self, owner: str) -> Path:
        return self._folder / f"{owner}.lease"
