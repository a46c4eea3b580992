"""What a charge costs: one release through all its states, and grants a second under contention.

Run: .venv/bin/python benchmarks/ledger.py (PostgreSQL too when the extras are installed)
"""

import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from ledgers import TENTH, open_ledger, request, terms

RELEASES, CONNECTIONS, EACH = 200, 16, 20
STEPS = ("reserve", "read", "commit", "publish")


def latency(folder: Path, *, url: str) -> dict[str, list[float]]:
    """Return milliseconds of each step over many releases."""
    ledger = open_ledger(folder, url=url)
    ledger.register(terms(lifetime=10**15, year=None, release=None))
    found: dict[str, list[float]] = {step: [] for step in (*STEPS, "all four")}
    for number in range(RELEASES):
        times = [time.perf_counter()]
        held = ledger.reserve(request(f"k{number}", nano=TENTH))
        times.append(time.perf_counter())
        ledger.start_reading(held)
        times.append(time.perf_counter())
        entry = ledger.commit(held, payload=b"x" * 10_000)
        times.append(time.perf_counter())
        ledger.publish(entry)
        times.append(time.perf_counter())
        for step, start, stop in zip(STEPS, times, times[1:], strict=False):
            found[step].append(1000 * (stop - start))
        found["all four"].append(1000 * (times[-1] - times[0]))
    started = time.perf_counter()
    ledger.close()
    ledger = open_ledger(folder, url=url)
    found[f"open and check {4 * RELEASES} rows"] = [1000 * (time.perf_counter() - started)]
    ledger.close()
    return found


def grants_a_second(folder: Path, *, url: str) -> float:
    """Return how many charges are granted a second to many connections at once."""
    ledger = open_ledger(folder, url=url)
    ledger.register(terms(lifetime=10**15, year=None, release=None))
    ledger.close()
    together = threading.Barrier(CONNECTIONS + 1)

    def ask(place: int) -> None:
        mine = open_ledger(folder, url=url)
        together.wait()
        for turn in range(EACH):
            mine.reserve(request(f"{place}-{turn}", nano=TENTH))
        together.wait()
        mine.close()

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    together.wait()
    start = time.perf_counter()
    together.wait()
    took = time.perf_counter() - start
    for thread in threads:
        thread.join()
    return CONNECTIONS * EACH / took


def main() -> None:
    """Measure every database there is."""
    places = {"SQLite": ""}
    try:
        from postgres_server import server

        places["PostgreSQL"] = server().url
    except BaseException as missing:  # noqa: BLE001 - pytest's skip is no Exception
        print(f"PostgreSQL is left out: {missing}")
    for name, url in places.items():
        with tempfile.TemporaryDirectory() as folder:
            print(name)
            for step, times in latency(Path(folder) / "one", url=url).items():
                worst = sorted(times)[int(0.95 * (len(times) - 1))]
                print(f"  {step}: median {statistics.median(times):.1f} ms, 95 % {worst:.1f} ms")
            rate = grants_a_second(Path(folder) / "many", url=url)
            print(f"  grants a second, {CONNECTIONS} connections: {rate:.0f}")


if __name__ == "__main__":
    main()
