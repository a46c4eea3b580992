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
from same_noise import of_the_next_command

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
def warm() -> Path:
    """Return the socket of a process that forks; it ends when this one does."""
    folder = tempfile.TemporaryDirectory(prefix="warm")
    place = Path(folder.name) / "asked"
    listening, (mine, theirs) = socket.socket(socket.AF_UNIX), socket.socketpair()
    listening.bind(str(place))
    listening.listen()
    program = Path(__file__).with_name("warm_command.py")
    process = subprocess.Popen(
        [sys.executable, str(program), str(listening.fileno()), str(theirs.fileno())],
        env=place_of(Path.cwd()),
        pass_fds=[listening.fileno(), theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for end in (listening, theirs):
        end.close()
    atexit.register(lambda: (mine.close(), process.wait(), folder.cleanup()))
    return place


def run(*words, cwd, stdin=None, powerless=False, largest=0):
    """Run ``confide`` with words in a process that was forked ready.

    With ``powerless`` the modes of files bind it, even where root runs the tests; no file that it
    writes may be larger than ``largest`` bytes, where that is said.
    """
    words = [str(word) for word in words]
    given = {"words": words, "cwd": str(cwd), "powerless": powerless, "largest": largest}
    message = json.dumps(given | {"env": place_of(cwd, of_the_next_command())}).encode()
    with (
        Path(os.devnull).open("rb") as nothing,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        socket.socket(socket.AF_UNIX) as asking,
    ):
        asking.settimeout(SECONDS)
        asking.connect(str(warm()))
        first = nothing.fileno() if stdin is None else stdin
        socket.send_fds(asking, [message], [first, out.fileno(), err.fileno()])
        asking.shutdown(socket.SHUT_WR)
        with asking.makefile("r") as answers:
            child = int(answers.readline())
            try:
                code = int(answers.readline() or -signal.SIGKILL)  # it died without a word
            except TimeoutError:
                os.kill(child, signal.SIGKILL)
                raise
        out.seek(0)
        err.seek(0)
        return Done(code=code, out=out.read(), err=err.read())


PROGRAM = """\
#!{python} -IS
import json, os, socket, sys
given = {{"words": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ)}}
given |= {{"powerless": False, "largest": 0}}
with socket.socket(socket.AF_UNIX) as asking:
    asking.connect({place!r})
    socket.send_fds(asking, [json.dumps(given).encode()], [0, 1, 2])
    asking.shutdown(socket.SHUT_WR)
    child, code = asking.makefile().read().split()
sys.exit(int(code))
"""


@functools.cache
def ready_program() -> Path:
    """Return a folder with a program ``confide`` whose commands run in processes forked ready."""
    place = warm()
    program = place.with_name("confide")
    program.write_text(PROGRAM.format(python=sys.executable, place=str(place)), "utf-8")
    program.chmod(0o755)
    return program.parent
