"""Prepare again and again, killing each run after a random time; print what was seen.

Arguments: folder of the source, number of kills.  Each run is a fork, so that importing costs once;
the parent never starts a thread.
"""

import os
import signal
import sys
import time
from pathlib import Path

import duckdb  # noqa: F401 - loaded before the forks

from confide.rows.copies.manifest import Standing, copies_in, read_manifest
from confide.rows.sources.prepare import prepared
from contracts.test_prepared_engine import SOURCE, preparation
from rows_world import KEY, dataset


def run(work, out: Path) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work.prepare()
            code = 0
        finally:
            os.write(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND), b".")
            os._exit(code)
    return child


def main(folder: Path, kills: int) -> None:
    started = time.monotonic()
    first = preparation(folder, dataset())
    code = os.waitpid(run(first, folder / "log"), 0)[1]
    whole = time.monotonic() - started
    assert code == 0, code
    seen = {"old": 0, "new": 0}
    for kill in range(kills):
        of = dataset(snapshot=f"{kill + 2}")
        before = read_manifest(first.folder)
        work = preparation(folder, of)
        child = run(work, folder / "log")
        time.sleep(whole * 1.1 * (kill + 0.5) / kills)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        after = read_manifest(first.folder)
        opened = prepared(SOURCE, base=folder, dataset=of, frames=None)
        standing, copies = copies_in(first.folder, dataset=of, state=opened.state, hash_key=KEY)
        if after == before:
            assert standing is Standing.OUTDATED, standing
            inside = first.folder / before.generation
            assert all((inside / n).stat().st_size == s for n, s in before.sizes.items())
            seen["old"] += 1
        else:
            assert standing is Standing.CURRENT, standing
            assert all(path.is_file() for path in copies.files())
            seen["new"] += 1
    last = preparation(folder, dataset(snapshot="last"))
    assert os.waitpid(run(last, folder / "log"), 0)[1] == 0
    assert last.differing() == ()
    sys.stdout.write(f"{seen['old']} {seen['new']}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
