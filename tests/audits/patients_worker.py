"""A clean process that forks releases with per-patient charges and kills them; prints one JSON line.

Run as ``python patients_worker.py FOLDER SIZE``; never imports DuckDB.
"""

import collections
import functools
import gc
import json
import os
import signal
import sys
from pathlib import Path

import numpy as np

from confide.budget.ledger import State, StoredRelease
from confide.budget.per_patient import members, people, sealed
from confide.errors import BurnedError
from confide.privacy.amount import NANO
from confide.privacy.individual import FEMTO
from ledgers import LINEAGE
from patient_ledgers import UNIT, Site

POINTS = (
    "before READING",
    "after READING",
    "before the patients' segment is renamed",
    "after the patients' segment, before the membership",
    "while the membership is written",
    "before the membership is renamed",
    "after the membership, before noise",
    "after noise, before COMMIT",
    "after COMMIT",
)
PEOPLE = 20
WHOLE = NANO // 1000
LOSSES = np.arange(1, PEOPLE + 1, dtype=np.int64) * UNIT


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def half_then_die(file, rest):
    os.write(file, rest[: len(rest) // 2])
    die()


def dying(original, *, suffix):
    """Let a rename of such a file be the last thing that does not happen."""

    def rename(path, to):
        if str(to).endswith(suffix):
            die()
        return original(path, to)

    return rename


def victim(folder, key, point, number):
    """Run one release with per-patient charges and be killed at ``point``."""
    site = Site(folder)
    held = site.reserve(key, nano=WHOLE)
    if point == POINTS[0]:
        die()
    site.begin(held)
    if point == POINTS[1]:
        die()
    if point == POINTS[2]:
        Path.replace = dying(Path.replace, suffix=".people")
    if point == POINTS[3]:
        members.write_sealed = die
    if point == POINTS[4]:
        people.write_sealed = lambda *_, **__: None  # only the membership is cut in half
        sealed.write_all = half_then_die
    if point == POINTS[5]:
        Path.replace = dying(Path.replace, suffix=".members")
    count = PEOPLE + (number if point in POINTS[2:4] else 0)  # with patients nobody met
    _, tag = site.charge(held, np.arange(PEOPLE), LOSSES, count=count)
    if point == POINTS[6]:
        die()
    payload = os.urandom(16)
    if point == POINTS[7]:
        die()
    site.ledger.commit(held, payload=payload, members=tag)
    die()


def retry(folder, key):
    """Ask again with the same key; return what happened."""
    site = Site(folder)
    try:
        from dataclasses import replace

        from confide.privacy.amount import Amount
        from ledgers import request
        from patient_ledgers import FILTERED

        asked = replace(request(key, nano=WHOLE), plan_json=FILTERED, amount=Amount(nano=WHOLE))
        held = site.ledger.reserve(asked)
        if isinstance(held, StoredRelease):
            return "same answer"
        site.begin(held)
        _, tag = site.charge(held, np.arange(PEOPLE), LOSSES, count=PEOPLE)
        site.ledger.publish(site.ledger.commit(held, payload=b"n", members=tag))
    except BurnedError:
        return "burned"
    else:
        return "new answer"
    finally:
        site.close()


def in_child(work):
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - a child never returns
            sys.excepthook(*sys.exc_info())
        os._exit(250)
    return child


def audit(folder):
    """Count what must not happen: compare what each patient paid with the ledger's entries."""
    site = Site(folder)
    site.store.verify(site.ledger)
    bad = collections.Counter(double=0, lost=0, overcharged=0)
    entries = site.ledger.entries(LINEAGE)
    for patient in range(PEOPLE):
        expected = 0
        for entry in entries:
            file = any(int(path.stem) == entry.number for path in site.members)
            if entry.state in {State.COMMITTED, State.PUBLISHED} or file:
                expected += int(LOSSES[patient])
            elif entry.state is State.BURNED:
                expected += WHOLE * UNIT
        found = site.spent(patient)
        bad["double"] += found > expected
        bad["lost"] += found < expected
        bad["overcharged"] += found > FEMTO
    published = [e for e in entries if e.state in {State.COMMITTED, State.PUBLISHED}]
    bad["uncharged"] = sum(not entry.members for entry in published)
    site.close()
    return bad


def kill(folder, size):
    outcome = collections.Counter()
    for start in range(0, size, 90):
        place = folder / str(start)
        Site(place).close()
        for number in range(start, min(start + 90, size)):
            point = POINTS[number % len(POINTS)]
            child = in_child(functools.partial(victim, place, f"k{number}", point, number + 1))
            _, status = os.waitpid(child, 0)
            assert os.WIFSIGNALED(status), (point, status)
            outcome[f"{point}: {retry(place, f'k{number}')}"] += 1
        outcome.update(audit(place))
    return outcome


if __name__ == "__main__":
    gc.disable()
    print(json.dumps(kill(Path(sys.argv[1]), int(sys.argv[2]))))  # noqa: T201
