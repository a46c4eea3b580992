"""A clean single-threaded process that forks, kills and races; prints one JSON line.

Run as ``python ledger_worker.py kill|race|crowd FOLDER SIZE [URL]``; never imports DuckDB.  With
the URL of a PostgreSQL server the ledgers are there.
"""

import collections
import functools
import gc
import json
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from confide.budget.ledger import Reservation, State, StoredRelease
from confide.errors import BudgetExhaustedError, BurnedError, PolicyError
from ledgers import LINEAGE, TENTH, request, terms, used
from ledgers import open_ledger as open_anywhere

open_ledger = functools.partial(open_anywhere, url=sys.argv[4] if len(sys.argv) > 4 else "")

POINTS = (
    "before T1 commits",
    "after T1, before its anchor line",
    "after T1",
    "after READING",
    "during noise",
    "after COMMIT, half an anchor line",
    "after COMMIT, before publishing",
    "after publishing",
)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def half_a_line_then_die(folder):
    with (folder / "anchor").open("ab") as file:
        file.write(b'{"hash":"12')
    die()


def deliver(folder, key, payload):
    with (folder / "delivered" / key).open("ab") as file:
        file.write(payload.hex().encode() + b"\n")


def victim(folder, key, point):
    """Run one release and be killed at ``point``."""
    ledger = open_ledger(folder)
    journal = ledger._journal
    if point == POINTS[0]:
        journal.store.commit = die
    if point == POINTS[1]:
        journal._anchor.append = lambda _: die()
    reservation = ledger.reserve(request(key, nano=1000))
    if point == POINTS[2]:
        die()
    ledger.start_reading(reservation)
    if point == POINTS[3]:
        die()
    payload = os.urandom(16)  # the noise: another draw would be another answer
    if point == POINTS[4]:
        die()
    if point == POINTS[5]:
        journal._anchor.append = lambda _: half_a_line_then_die(folder)
    entry = ledger.commit(reservation, payload=payload)
    if point == POINTS[6]:
        die()
    deliver(folder, key, payload)
    ledger.publish(entry)
    die()


def retry(folder, key):
    """Ask again with the same key, as a client does; return what happened."""
    ledger = open_ledger(folder)
    try:
        answer = reserve_patiently(ledger, request(key, nano=1000))
        match answer:
            case StoredRelease():
                deliver(folder, key, answer.payload)
                ledger.publish(answer.entry)
                return "same answer"
            case Reservation():
                ledger.start_reading(answer)
                entry = ledger.commit(answer, payload=os.urandom(16))
                deliver(folder, key, ledger.stored(entry.number).payload)
                ledger.publish(entry)
                return "new answer"
    except BurnedError:
        return "burned"
    finally:
        ledger.close()


def reserve_patiently(ledger, asked):
    """Reserve; a server may take a moment to see that a killed client is gone."""
    for _ in range(1_000):
        try:
            return ledger.reserve(asked)
        except BurnedError:
            raise
        except PolicyError as error:
            if "in progress" not in str(error):
                raise
            time.sleep(0.01)
    raise AssertionError


def in_child(work):
    """Fork, run ``work`` there, and return how the child ended."""
    child = os.fork()
    if child == 0:
        try:
            code = work()
        except BaseException:  # noqa: BLE001 - a child never returns
            sys.excepthook(*sys.exc_info())
            code = 250
        os._exit(code)
    return child


def kill(folder, size):
    """Kill ``size`` releases, retry each twice, and count what must not happen."""
    outcome = collections.Counter()
    for start in range(0, size, 100):
        place = folder / str(start)
        (place / "delivered").mkdir(parents=True, mode=0o700)
        place.chmod(0o700)
        ledger = open_ledger(place)
        ledger.register(terms())
        ledger.close()
        keys = [f"k{number}" for number in range(start, min(start + 100, size))]
        for number, key in enumerate(keys):
            point = POINTS[number % len(POINTS)]
            child = in_child(functools.partial(victim, place, key, point))
            _, status = os.waitpid(child, 0)
            assert os.WIFSIGNALED(status), (point, status)
            outcome[f"{point}: {retry(place, key)}"] += 1
            retry(place, key)
        outcome.update(audit(place, keys))
    return outcome


def audit(folder, keys):
    """Count the three things that must not happen, from the outside."""
    ledger = open_ledger(folder)
    bad = collections.Counter(double=0, uncharged=0, two_answers=0)
    charged = collections.Counter()
    for entry in ledger.entries(LINEAGE):
        if entry.state is not State.CANCELLED:
            charged[entry.request_key] += entry.amount.nano
    for key in keys:
        path = folder / "delivered" / key
        answers = set(path.read_text().split()) if path.exists() else set()
        bad["double"] += charged[key] > 1000
        bad["uncharged"] += bool(answers) and charged[key] < 1000
        bad["two_answers"] += len(answers) > 1
    assert used(ledger)["lifetime"] == sum(charged.values())
    ledger.verify_chain()
    ledger.close()
    return bad


def racer(folder, start, number, each):
    """Ask ``each`` times as soon as the race starts; return how often it was granted."""
    ledger = open_ledger(folder)
    os.read(start, 1)
    granted = 0
    for turn in range(each):
        try:
            reservation = ledger.reserve(request(f"{number}-{turn}", nano=TENTH))
        except BudgetExhaustedError:
            continue
        ledger.start_reading(reservation)  # what was only reserved is given back at the end
        granted += 1
    ledger.close()
    return granted


def race(folder, each):
    """64 processes ask ``each`` times under a cap of 100 slots."""
    folder.mkdir(mode=0o700)
    ledger = open_ledger(folder)
    ledger.register(terms(lifetime=100 * TENTH, year=None, release=None))
    ledger.close()
    start, go = os.pipe()
    children = [
        in_child(functools.partial(racer, folder, start, number, each)) for number in range(64)
    ]
    os.write(go, b"g" * 64)
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert 250 not in ends
    assert min(ends) >= 0
    return {"granted": sum(ends)}


def crowd(folder, repeats):
    """64 connections in 4 processes, each asking twice for one of 50 slots, many times over.

    Each time has a lineage of its own; nobody knows which of the others has asked already.
    """
    folder.mkdir(mode=0o700)
    ledger = open_ledger(folder)
    for turn in range(repeats):
        of = terms(lifetime=50 * TENTH, year=None, release=None)
        ledger.register(replace(of, lineage=f"turn-{turn}"))
    start, go = os.pipe()
    children = [
        in_child(functools.partial(hall, folder, start, number, repeats)) for number in range(4)
    ]
    os.write(go, b"g" * 4)
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert ends == [0, 0, 0, 0]
    granted = collections.Counter()
    for turn in range(repeats):
        entries = ledger.entries(f"turn-{turn}")
        assert len(entries) == 128
        granted[sum(entry.state in {State.READING, State.BURNED} for entry in entries)] += 1
        lifetime = next(
            s for s in ledger.spent(f"turn-{turn}").scopes if s.scope.value == "lifetime"
        )
        assert lifetime.used == lifetime.cap == 50 * TENTH
    ledger.verify_chain()
    ledger.close()
    return {"granted": sorted(granted), "times": granted.total()}


def hall(folder, start, process, repeats):
    """16 connections of one process; a thread each, all at one turn at the same time."""
    together, failures = threading.Barrier(16), []

    def ask(place):
        try:
            mine = open_ledger(folder)
            if together.wait(timeout=300) == 0:
                os.read(start, 1)
            for turn in range(repeats):
                together.wait(timeout=300)
                for again in range(2):
                    key = f"{turn}-{process}-{place}-{again}"
                    asked = replace(request(key, nano=TENTH), lineage=f"turn-{turn}")
                    try:
                        mine.start_reading(mine.reserve(asked))
                    except BudgetExhaustedError:
                        continue
        except BaseException as error:
            failures.append(error)
            together.abort()
            raise

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not failures:
        os._exit(0)  # without closing: what was granted stays reading until the parent has counted
    return 1


if __name__ == "__main__":
    gc.disable()
    act = {"kill": kill, "race": race, "crowd": crowd}[sys.argv[1]]
    print(json.dumps(act(Path(sys.argv[2]), int(sys.argv[3]))))  # noqa: T201
