"""The private folder into which an engine spills sorts that do not fit in memory.

*Privacy:* what is spilled is patient data, so the folder has mode 0700, is removed with the engine
and at the end of the process, and one that a killed process left behind is removed by the next
engine that opens.
"""

import contextlib
import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path

_NAME = re.compile(r"confide-(\d+)-")


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

    def __init__(self) -> None:
        _sweep(Path(tempfile.gettempdir()))
        self.path = Path(tempfile.mkdtemp(prefix=f"confide-{os.getpid()}-"))
        self._finalizer = weakref.finalize(self, _remove, self.path, os.getpid())

    def close(self) -> None:
        """Remove the folder; again is harmless."""
        self._finalizer()


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not remove its parent's folder
        shutil.rmtree(path, ignore_errors=True)


def _sweep(parent: Path) -> None:
    """Remove our folders whose process is gone."""
    for path in parent.glob("confide-*"):
        named = _NAME.match(path.name)
        with contextlib.suppress(FileNotFoundError):  # another process may sweep at the same time
            if named and path.stat().st_uid == os.getuid() and not _alive(int(named.group(1))):
                shutil.rmtree(path, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
