"""Runs a job in three parts and kills itself at one place: python rounds_worker.py FOLDER PLACE."""

import os
import signal
import sys

from confide.learning.running import planned, run_in_parts
from counting_job import ThreeParts, clinic


def main(folder, place):
    job = ThreeParts()
    seen = []

    def progress(stage):
        seen.append(stage)
        if f"{stage}{seen.count(stage)}" == place:
            os.kill(os.getpid(), signal.SIGKILL)

    with clinic(folder) as ws:
        found = run_in_parts(
            ws, job, plan=planned(ws, job), runner=job, request="r", progress=progress
        )
        assert found.answer.files


if __name__ == "__main__":
    import pathlib

    main(pathlib.Path(sys.argv[1]), sys.argv[2])
