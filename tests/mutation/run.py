"""Run tests on sampled variants of the source: how many does a test reject?

``python tests/mutation/run.py --areas privacy noise --sample 300``

The sample is the same in every run of the same source.  A variant is written nowhere: a process
imports it in place of the module, and runs the tests that run its line, the shortest first, until
one fails.  What only the real command line runs, in processes of its own, is not among them.
Those that no test rejects are listed; ``explained.toml`` says of some why none can.
"""

import argparse
import functools
import hashlib
import importlib
import importlib.machinery
import json
import os
import signal
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from mutation.measured import AT_IMPORT, Measuring  # noqa: E402
from mutation.variants import Variant, variants  # noqa: E402

AREAS = tomllib.loads(Path(__file__).with_name("areas.toml").read_text())
EXPLAINED = tomllib.loads(Path(__file__).with_name("explained.toml").read_text())
LONGEST = 60.0  # seconds of tests that a variant is given
LONGEST_AREA = 3600.0
BROKEN = 99  # the exit code of work that ended otherwise than by its own
OPTIONS = (
    "-q",
    "--assert=plain",
    "-p",
    "no:xdist",
    "-p",
    "no:cacheprovider",
    "--rootdir",
    str(ROOT),
)
PRELOADED = ("numpy", "pytest", "duckdb", "pyarrow", "scipy.stats", "cryptography")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A variant, and what became of it."""

    file: str
    variant: Variant
    fate: str

    @property
    def key(self) -> str:
        """How ``explained.toml`` names it."""
        one_line = " ".join(self.variant.was.split())
        return f"{self.file} {self.variant.within}: {one_line} -> {self.variant.now}"


def sample(area: str, *, size: int) -> list[tuple[Path, Variant]]:
    """Return that many variants of an area, chosen by the hash of what they change.

    What runs for a value that no type allows is left out: that there is none is for mypy.
    """
    found = []
    for root in AREAS[area]["source"]:
        place = ROOT / "src" / "confide" / root
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            for number, each in enumerate(variants(file.read_text())):
                if each.of_no_type:
                    continue
                name = f"{file.relative_to(ROOT)} {number} {each.within} {each.was} {each.now}"
                found.append((hashlib.sha256(name.encode()).digest(), file, each))
    return [(file, each) for _, file, each in sorted(found, key=lambda one: one[0])[:size]]


def apart(work: Callable[[], int], *, seconds: float) -> int | None:
    """Return the exit code of work done in a process of its own; None if it took too long."""
    child = os.fork()
    if not child:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        code = BROKEN
        try:
            code = work()
        finally:
            os._exit(code)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def measure(area: str, *, out: Path) -> Mapping[str, Any]:
    """Return which tests of an area run which lines, and their times."""
    tests = [str(ROOT / each) for each in AREAS[area]["tests"]]

    def work() -> int:
        import pytest

        plugin = Measuring(source=ROOT / "src" / "confide", out=out)
        return int(pytest.main([*OPTIONS, "-m", "not audit", *tests], plugins=[plugin]))

    apart(work, seconds=LONGEST_AREA)
    if not out.exists():
        raise SystemExit(f"The tests of {area} could not be measured.")
    found: Mapping[str, Any] = json.loads(out.read_text())
    return found


def may_reject(
    file: Path, variant: Variant, *, lines: Mapping[str, Sequence[str]], every: Mapping[str, float]
) -> list[str]:
    """Return the tests that may reject a variant, the shortest first.

    They are those that run its line.  What runs at import runs for every test of the module: for
    each that runs another line of it or names it, or for all of the area if there is none.
    """
    tests = set(lines.get(str(variant.line), ()))
    if variant.at_import or AT_IMPORT in tests:
        tests = {each for line in lines.values() for each in line} - {AT_IMPORT}
        tests |= {each for each in every if _dotted(file) in _text(each.partition("::")[0])}
    return sorted(tests or (every if variant.at_import else ()), key=lambda each: every[each])


def _dotted(file: Path) -> str:
    return ".".join(file.relative_to(ROOT / "src").with_suffix("").parts)


@functools.cache
def _text(test: str) -> str:
    return (ROOT / test).read_text()


def fate(file: Path, variant: Variant, *, measured: Mapping[str, Any]) -> str:
    """Return what becomes of a variant: "killed", "survived", or "no test"."""
    seconds = measured["seconds"]
    tests = may_reject(file, variant, lines=measured["lines"].get(str(file), {}), every=seconds)
    if not tests:
        return "no test"
    taken, total = [], 0.0
    for each in tests:
        total += seconds[each]
        if taken and total > LONGEST:
            break
        taken.append(each)

    def work() -> int:
        _import_in_place_of(file, text=variant.text)
        import pytest

        return int(pytest.main([*OPTIONS, "-x", *taken]))

    code = apart(work, seconds=30 + 5 * min(total, LONGEST))
    if code == BROKEN:
        raise SystemExit(f"The tests of {file}:{variant.line} could not be run.")
    return "survived" if code == 0 else "killed"


def _import_in_place_of(file: Path, *, text: str) -> None:
    loader = importlib.machinery.SourceFileLoader
    usual = loader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> Any:
        if self.path == str(file):
            return compile(text, str(file), "exec", dont_inherit=True)
        return usual(self, fullname)

    loader.get_code = get_code  # type: ignore[method-assign]


def try_area(area: str, *, size: int, workers: int) -> Iterator[Tried]:
    """Yield the sampled variants of an area with what became of each."""
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(area, out=Path(folder) / "lines.json")
        chosen = sample(area, size=size)
        with ThreadPoolExecutor(workers) as pool:
            fates = pool.map(lambda one: fate(*one, measured=measured), chosen)
            for (file, each), told in zip(chosen, fates, strict=True):
                yield Tried(file=str(file.relative_to(ROOT)), variant=each, fate=told)


def report(area: str, tried: Sequence[Tried]) -> bool:
    """Print what became of the variants of an area; return whether that is enough."""
    alive = [each for each in tried if each.fate != "killed"]
    share, least = 1 - len(alive) / len(tried), AREAS[area]["killed"]
    lines = [f"{area}: {len(tried)} variants, {share:.1%} rejected (at least {least:.0%} asked)"]
    for each in alive:
        file, what = each.key.split(" ", 1)
        lines.append(f"  {each.fate}: {file}:{each.variant.line} {what}")
        lines += [f"    ({EXPLAINED[each.key]})"] if each.key in EXPLAINED else []
    told = sum(each.key in EXPLAINED for each in alive)
    lines.append(f"  {told} of {len(alive)} explained\n")
    sys.stdout.write("\n".join(lines))
    sys.stdout.flush()
    return share >= least


def main(arguments: Sequence[str]) -> int:
    """Try the areas that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--areas", nargs="+", choices=AREAS, default=list(AREAS))
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args(arguments)
    for module in PRELOADED:
        importlib.import_module(module)
    if "confide" in sys.modules:
        raise SystemExit("A variant is imported in place of its module, which is imported already.")
    enough = [
        report(area, list(try_area(area, size=asked.sample, workers=asked.workers)))
        for area in asked.areas
    ]
    return 0 if all(enough) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
