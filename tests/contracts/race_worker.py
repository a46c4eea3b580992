"""One of the processes of a race: threads, each with its own connection, ask as fast as they can.

Run as ``python race_worker.py OPENER PLACE PROCESS THREADS ROUNDS``, where OPENER is
``module:function`` and takes PLACE; prints how many requests were granted, by round.
"""

import collections
import importlib
import json
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from confide.errors import BudgetExhaustedError
from ledgers import request

ANALYSTS, PROJECTS, SLOT = 8, 4, 1_000


def lineage(turn):
    return f"race-{turn}"


def asked(number, turn):
    """What connection ``number`` asks in round ``turn``."""
    return replace(
        request(f"{turn}-{number}", nano=SLOT),
        lineage=lineage(turn),
        analyst=f"a{number % ANALYSTS}",
        project=f"p{number // ANALYSTS % PROJECTS}",
    )


def racer(opened, place, number, rounds, ready, granted):
    ledger = opened(place)
    ready.wait(timeout=120)
    while not (place / "go").exists():
        time.sleep(0.01)
    for turn in range(rounds):
        try:
            held = ledger.reserve(asked(number, turn))
        except BudgetExhaustedError:
            continue
        ledger.start_reading(held)  # what was only reserved is given back at the end
        granted.append(turn)
    ledger.close()


def main(opener, place, process, threads, rounds):
    module, _, name = opener.partition(":")
    opened, granted = getattr(importlib.import_module(module), name), []
    ready = threading.Barrier(threads + 1)
    racers = [
        threading.Thread(
            target=racer,
            args=(opened, place, process * threads + mine, rounds, ready, granted),
        )
        for mine in range(threads)
    ]
    for each in racers:
        each.start()
    ready.wait(timeout=120)
    (place / f"ready-{process}").touch()
    for each in racers:
        each.join()
    print(json.dumps(collections.Counter(granted)))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
