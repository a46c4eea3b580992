"""Work in a process of its own, with a folder for its files that ends with it."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress

BROKEN = 99  # the exit code of work that ended otherwise than by its own


def apart(work: Callable[[], int], *, seconds: float) -> int | None:
    """Return the exit code of work done in a process of its own; None if it took too long."""
    folder = tempfile.mkdtemp(prefix="v")
    child = os.fork()
    if not child:
        os.setsid()
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        code = BROKEN
        try:
            code = work()
        finally:
            os._exit(code)
    try:
        return _ended(child, by=time.monotonic() + seconds)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)  # what it started and left behind
        shutil.rmtree(folder, ignore_errors=True)


def _ended(child: int, *, by: float) -> int | None:
    while time.monotonic() < by:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
