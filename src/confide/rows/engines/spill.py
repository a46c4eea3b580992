"""The private folder into which an engine spills sorts that do not fit in memory.

*Privacy:* what is spilled is patient data, so the folder has mode 0700, is removed with the engine
and at the end of the process, and one that a killed process left behind is removed by the next
engine that opens.  Who is alive is told by a lock that the kernel drops with its process, so that
containers which share a temporary folder do not take each other for dead.  Everybody may write to
that folder: only folders of this user are swept, their locks are opened without waiting (a named
pipe would wait for ever), and no symbolic link is followed.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
import weakref
from pathlib import Path

from confide.regular_file import descriptor, shared_folder

_PREFIX, _LOCK = "confide-spill-", "owner.lock"


class SpillFolder:
    """A folder of this process alone; gone when closed, forgotten or at exit.

    Example:
        >>> folder = SpillFolder()
        >>> folder.path.is_dir()
        True
        >>> folder.close()
        >>> folder.path.exists()
        False
    """

    def __init__(self, parent: Path | None = None) -> None:
        parent = Path(tempfile.gettempdir()) if parent is None else parent
        _sweep(parent)
        made = None
        while made is None:
            made = _made(parent)
        self.path, lock = made
        self._finalizer = weakref.finalize(self, _remove, self.path, lock, os.getpid())

    def close(self) -> None:
        """Remove the folder; again is harmless."""
        self._finalizer()


def _made(parent: Path) -> tuple[Path, int] | None:
    """Return a new folder and its lock; None if another process swept it before it was locked."""
    path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    lock = descriptor(path / _LOCK, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)  # whoever sweeps holds it until the folder is gone
    if os.fstat(lock).st_nlink:
        return path, lock
    os.close(lock)
    return None


def _remove(path: Path, lock: int, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not remove its parent's folder
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _sweep(parent: Path) -> None:
    """Remove our folders whose process is gone."""
    for path in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # locked, another user's, not locked yet, or gone
            with shared_folder(path) as folder:
                lock = descriptor(Path(_LOCK), os.O_WRONLY, shared_folder=folder)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
