"""The real command line, in a process of its own that may not take for ever."""

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pages import ROOT

SECONDS = 240  # a machine under load starts slowly; what hangs, hangs for ever


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a process left."""

    code: int
    out: bytes
    err: bytes

    @property
    def told(self) -> str:
        return (self.out + self.err).decode("utf-8", "replace")


def place_of(cwd, env=()):
    """Return the environment of a command that is run in a folder."""
    return {
        **{name: value for name, value in os.environ.items() if name not in {"LANG", "LC_ALL"}},
        "PYTHONPATH": str(ROOT / "src"),
        "XDG_STATE_HOME": str(cwd / "state"),
        **dict(env),
    }


def fresh(
    *words,
    cwd,
    env=(),
    before=None,
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    stdin=subprocess.DEVNULL,
):
    """Run ``confide`` with words by a new interpreter; ``before`` is called in its process."""
    done = subprocess.run(
        [sys.executable, "-m", "confide", *map(str, words)],
        cwd=cwd,
        env=place_of(cwd, env),
        check=False,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        preexec_fn=before,
        timeout=SECONDS,
    )
    return Done(code=done.returncode, out=done.stdout or b"", err=done.stderr or b"")


@functools.cache
def _warm():
    """Return the way to a process that forks; it ends when this one does."""
    mine, theirs = socket.socketpair()
    program = Path(__file__).with_name("warm_command.py")
    process = subprocess.Popen(
        [sys.executable, str(program), str(theirs.fileno())],
        env=place_of(Path.cwd()),
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    theirs.close()
    mine.settimeout(SECONDS)
    atexit.register(lambda: (mine.close(), process.wait()))
    return mine


def run(*words, cwd, stdin=None, powerless=False):
    """Run ``confide`` with words in a process that was forked ready.

    With ``powerless`` the modes of files bind it, even where root runs the tests.
    """
    asking = _warm()
    given = {"words": [str(word) for word in words], "cwd": str(cwd), "powerless": powerless}
    message = json.dumps(given | {"env": place_of(cwd)}).encode()
    with (
        Path(os.devnull).open("rb") as nothing,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        first = nothing.fileno() if stdin is None else stdin
        socket.send_fds(asking, [message], [first, out.fileno(), err.fileno()])
        with asking.makefile("r") as answers:
            child = int(answers.readline())
            try:
                code = int(answers.readline())
            except TimeoutError:
                os.kill(child, signal.SIGKILL)
                raise
        out.seek(0)
        err.seek(0)
        return Done(code=code, out=out.read(), err=err.read())
