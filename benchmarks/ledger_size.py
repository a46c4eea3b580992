"""What a ledger of many releases costs: to open, to charge, to show, to verify.

Run: .venv/bin/python benchmarks/ledger_size.py [--entries 100000] [--approvals] [--postgres]

The releases are written by the ledger's own rules and signatures, in one transaction instead of one
each, so that only the making is faster than in life.  A release is four rows; with approvals six.
"""

import argparse
import contextlib
import hashlib
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from confide.budget.chain.chain import sign_head
from confide.budget.integrity.inspection import unsigned_head
from confide.budget.ledger import Reservation
from confide.budget.workflow.submission import Verdict
from ledger_policies import ADA, BO, asks, cap, uncapped, with_people
from ledgers import LINEAGE, HandClock, open_ledger, request, terms

COST, CHARGES = 10, 40  # 1e-9; charges that are timed
FILLED = "x" * 1500


def plan_of(number: int) -> dict[str, str]:
    """Return the plan of release ``number`` and its digest."""
    plan = f'{{"statistic":"{number} {FILLED}"}}'
    return {"plan_json": plan, "plan_digest": hashlib.sha256(plan.encode()).hexdigest()}


def policy():
    """Caps of every window, on everybody and on each analyst and project."""
    caps = [
        cap("life", "dataset", "lifetime", "4"),
        cap("year", "patient", "calendar-year", "4"),
        cap("rolling", "patient", "rolling-365d", "4"),
        cap("analyst", "analyst", "calendar-year", "4"),
        cap("project", "project", "lifetime", "4"),
    ]
    return with_people(*caps)


@contextlib.contextmanager
def together(ledger) -> Iterator[None]:
    """Let every row that is written inside be part of one transaction."""
    journal, heads = ledger._journal, []  # noqa: SLF001
    append, transaction = journal.append, journal.transaction

    def noted(kind, **fields):
        event = append(kind, **fields)
        head = unsigned_head(journal.book, key=journal.public_key)
        heads.append(sign_head(head, signer=journal.signer))
        return event

    journal.append, journal.transaction = noted, contextlib.nullcontext
    with journal.store.turn():
        journal.store.begin()
        yield
        journal._sign()  # noqa: SLF001
        journal._commit()  # noqa: SLF001
        journal._anchor.append(*heads)  # noqa: SLF001
    journal.append, journal.transaction = append, transaction


def asked(number: int, *, approvals: bool):
    """Return the request of release ``number``: a question, an analyst, a project of fifty."""
    plan = replace(request(f"k{number}", nano=COST), **plan_of(number))
    if not approvals:
        return plan
    return replace(plan, tier="routine", project=f"project-{number % 50}")


def submit(ledger, number: int) -> None:
    """Ask for release ``number``, and let the steward approve."""
    one = asks("routine", project=f"project-{number % 50}")
    submission = ledger.desk.submit(replace(one, **plan_of(number)), signer=ADA)
    ledger.desk.decide(submission.number, verdict=Verdict.APPROVE, signer=BO)


def release(ledger, number: int, *, approvals: bool) -> None:
    """Take one release through every state."""
    if approvals:
        submit(ledger, number)
    held = ledger.reserve(asked(number, approvals=approvals))
    if not isinstance(held, Reservation):
        raise TypeError(held)
    ledger.start_reading(held)
    ledger.publish(ledger.commit(held, payload=b"x" * 500))


def build(folder: Path, *, url: str, entries: int, approvals: bool) -> None:
    """Make a ledger of many releases."""
    ledger = open_ledger(folder, url=url, clock=HandClock())
    if approvals:
        ledger.register(uncapped())
        ledger.desk.adopt(LINEAGE, policy=policy())
    else:
        ledger.register(terms(lifetime=10**15, year=10**14, release=None))
    with together(ledger):
        for number in range(entries):
            release(ledger, number, approvals=approvals)
    ledger.close()


def processor() -> float:
    """Return seconds of the processor of this process and of those that it waited for."""
    helped = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + helped.ru_utime + helped.ru_stime


def timed(what: str, act) -> object:
    """Do something, and say how long it took."""
    start, used, own = time.perf_counter(), processor(), time.process_time()
    found = act()
    took, used, own = time.perf_counter() - start, processor() - used, time.process_time() - own
    print(f"  {what}: {took:.2f} s, processor {used:.2f} s, {own:.2f} s of it here", flush=True)
    return found


def charges(ledger, *, entries: int, approvals: bool) -> None:
    """Time charges of a ledger that is open."""
    took, used = [], []
    for number in range(entries, entries + CHARGES):
        if approvals:
            submit(ledger, number)
        start, begun = time.perf_counter(), time.process_time()
        held = ledger.reserve(asked(number, approvals=approvals))
        took.append(1000 * (time.perf_counter() - start))
        used.append(1000 * (time.process_time() - begun))
        ledger.start_reading(held)
        ledger.publish(ledger.commit(held, payload=b"x" * 500))
    print(f"  a charge: median {statistics.median(took):.1f} ms, worst {max(took):.1f} ms")
    print(f"  … processor: median {statistics.median(used):.1f} ms, worst {max(used):.1f} ms")


def measure(folder: Path, *, url: str, entries: int, approvals: bool) -> None:
    """Build a ledger and time what people do with it."""
    timed("make it", lambda: build(folder, url=url, entries=entries, approvals=approvals))
    timed("open it the first time", lambda: open_ledger(folder, url=url, clock=HandClock())).close()
    ledger = timed("open", lambda: open_ledger(folder, url=url, clock=HandClock()))
    charges(ledger, entries=entries, approvals=approvals)
    timed("spent", lambda: ledger.spent(LINEAGE))
    timed("entries", lambda: ledger.entries(LINEAGE))
    timed("requests", lambda: ledger.desk.submissions(LINEAGE))
    ledger.close()
    ledger = timed("open", lambda: open_ledger(folder, url=url, clock=HandClock()))
    timed("verify", ledger.verify_chain)
    ledger.close()
    print(f"  most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def main() -> None:
    """Measure one ledger."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--approvals", action="store_true")
    parser.add_argument("--postgres", action="store_true")
    told = parser.parse_args()
    url = ""
    if told.postgres:
        from postgres_server import server

        url = server().url
    kind = f"{'PostgreSQL' if url else 'SQLite'}, {told.entries} releases"
    print(f"{kind}{', with approvals' if told.approvals else ''}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder) / "ledger", url=url, entries=told.entries, approvals=told.approvals)


if __name__ == "__main__":
    main()
