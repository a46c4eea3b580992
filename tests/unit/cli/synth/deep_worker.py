"""Runs a short training of a generator and kills itself at a stage: FOLDER STAGE OUT."""

import os
import signal
import sys
from pathlib import Path

from confide.files.synth import trained
from confide.service.synthesis.run import run_synthesis


def main(folder, at, out):
    def progress(stage):
        if stage == at:
            os.kill(os.getpid(), signal.SIGKILL)

    trained.EPOCHS = 2
    run_synthesis(Path(folder) / "synth.yaml", out=Path(out), progress=progress)


if __name__ == "__main__":
    main(*sys.argv[1:])
