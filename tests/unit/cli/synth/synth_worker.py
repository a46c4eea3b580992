"""Runs a synthesis and kills itself at one stage: python synth_worker.py FOLDER STAGE OUT."""

import os
import signal
import sys
from pathlib import Path

from confide.service.synthesis.run import run_synthesis


def main(folder, at, out):
    seen = []

    def progress(stage):
        seen.append(stage)
        if f"{stage}{seen.count(stage)}" == at:
            os.kill(os.getpid(), signal.SIGKILL)

    run_synthesis(Path(folder) / "synth.yaml", out=Path(out), progress=progress)


if __name__ == "__main__":
    main(*sys.argv[1:])
