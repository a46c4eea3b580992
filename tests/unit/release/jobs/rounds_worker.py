"""Runs a job in three parts and kills itself at one place: python rounds_worker.py FOLDER PLACE."""

import os
import signal
import sys

from confide.budget.chained_ledger import ChainedLedger
from confide.service.releasing.jobs import planned, run_in_parts
from counting_job import ThreeParts, clinic


def main(folder, place):
    job = ThreeParts()
    seen = []

    def progress(stage):
        seen.append(stage)
        if f"{stage}{seen.count(stage)}" == place:
            os.kill(os.getpid(), signal.SIGKILL)

    real = ChainedLedger.commit

    def commit(self, held, *, payload, members=""):
        progress("committing")
        return real(self, held, payload=payload, members=members)

    ChainedLedger.commit = commit
    with clinic(folder) as ws:
        found = run_in_parts(
            ws, job, plan=planned(ws, job), runner=job, request="r", progress=progress
        )
        assert found.answer.files


if __name__ == "__main__":
    import pathlib

    main(pathlib.Path(sys.argv[1]), sys.argv[2])
