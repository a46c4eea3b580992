"""Run the commands of a documentation page as a reader would.

``confide`` is the program that was installed on the first page that a reader sees; on the others
its commands run in processes that were forked ready.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from pages import Block, name_of
from real_command import ready_program

FIRST = "README.md"


def walk(block: Block, *, page: Path) -> None:
    """Run the commands of a block; what stands below a command in a console is what it says."""
    if block.language == "sh":
        ran(block.text, page=page, line=block.line)
        return
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        said = ran(command, page=page, line=block.line)
        for line in printed.splitlines():
            assert line in said, (
                f"{name_of(page)}:{block.line}: not printed by {command}: {line}\n{said}"
            )


def ran(commands: str, *, page: Path, line: int) -> str:
    """Return what commands print; fail where one of them fails."""
    installed = Path(sys.executable).parent
    first = [] if name_of(page) == FIRST else [ready_program()]
    path = os.pathsep.join(map(str, [*first, installed, os.environ["PATH"]]))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        env=os.environ | {"PATH": path, "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{name_of(page)}:{line}: exit {done.returncode}\n{done.stdout}"
    return done.stdout
