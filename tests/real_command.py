"""The real command line, in a process of its own that may not take for ever."""

import os
import subprocess
import sys
from dataclasses import dataclass

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


def run(
    *words,
    cwd,
    env=(),
    before=None,
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    stdin=subprocess.DEVNULL,
):
    """Run ``confide`` with words; ``before`` is called in the new process."""
    place = {
        **{name: value for name, value in os.environ.items() if name not in {"LANG", "LC_ALL"}},
        "PYTHONPATH": str(ROOT / "src"),
        "XDG_STATE_HOME": str(cwd / "state"),
        **dict(env),
    }
    done = subprocess.run(
        [sys.executable, "-m", "confide", *map(str, words)],
        cwd=cwd,
        env=place,
        check=False,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        preexec_fn=before,
        timeout=SECONDS,
    )
    return Done(code=done.returncode, out=done.stdout or b"", err=done.stderr or b"")
