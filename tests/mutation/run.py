"""Run tests on sampled variants of the source: how many does a test reject?

``python tests/mutation/run.py --areas privacy noise --sample 300 --survivors FILE``

The sample is the same in every run of the same source.  A variant is written nowhere: a process
imports it in place of the module, and runs the tests that run its line, the shortest first, until
one fails.  What only the real command line runs, in processes of its own, is not among them.
With ``--minutes M`` no area is begun after M minutes, and no variant but in the first two minutes of
an area; the areas come in another order each day.  What was not reached is told.
Those that no test rejects are listed; ``explained.toml`` says of some why none can.  With new tests,
``--only-survivors FILE --tests ...`` asks these tests alone of what survived before.
"""

import argparse
import datetime as dt
import functools
import hashlib
import importlib
import importlib.machinery
import json
import math
import os
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from mutation.apart import BROKEN, apart  # noqa: E402
from mutation.collected import LONGEST_AREA, PASSED, Collected, Trial  # noqa: E402
from mutation.measured import AT_IMPORT  # noqa: E402
from mutation.variants import Variant, variants  # noqa: E402

AREAS = tomllib.loads(Path(__file__).with_name("areas.toml").read_text())
EXPLAINED = tomllib.loads(Path(__file__).with_name("explained.toml").read_text())
LONGEST = 20.0  # seconds of tests that a variant is given
AT_LEAST = 120.0  # seconds in which variants of an area that was begun are tried
NOT_REACHED = "not reached"  # the fate of what the minutes did not suffice for
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
        return key(self.file, self.variant)


def key(file: str, variant: Variant) -> str:
    """Return how ``explained.toml`` names a variant."""
    return f"{file} {variant.within}: {' '.join(variant.was.split())} -> {variant.now}"


def files_of(area: str) -> list[Path]:
    """Return the files that are varied."""
    places = [ROOT / "src" / "confide" / each for each in AREAS[area]["source"]]
    return [
        file
        for place in places
        for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])
    ]


def sample(
    area: str, *, size: int, only: frozenset[str] | None = None
) -> list[tuple[Path, Variant]]:
    """Return that many variants of an area, chosen by the hash of what they change.

    What runs for a value that no type allows is left out: that there is none is for mypy.
    Of those only the named ones are returned, if any are named.
    """
    found = []
    for file in files_of(area):
        for number, each in enumerate(variants(file.read_text())):
            if each.of_no_type:
                continue
            name = f"{file.relative_to(ROOT)} {number} {each.within} {each.was} {each.now}"
            found.append((hashlib.sha256(name.encode()).digest(), file, each))
    chosen = [(file, each) for _, file, each in sorted(found, key=lambda one: one[0])[:size]]
    if only is None:
        return chosen
    return [one for one in chosen if key(str(one[0].relative_to(ROOT)), one[1]) in only]


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
    name = ".".join(file.relative_to(ROOT / "src").with_suffix("").parts)
    return name.removesuffix(".__init__")


@functools.cache
def _text(test: str) -> str:
    return (ROOT / test).read_text()


def fate(file: Path, variant: Variant, *, measured: Mapping[str, Any], trial: Trial | None) -> str:
    """Return what becomes of a variant: "killed", "survived", "no test", or "not tried".

    A trial is of a function, by the tests that run its line; without one, the module is imported.
    """
    lines = measured["lines"].get(str(file), {})
    tests = may_reject(file, variant, lines=lines, every=measured["seconds"])
    here = set(lines.get(str(variant.line), ()))
    if trial:
        if variant.at_import:
            return "not tried"
        tests = [each for each in tests if each in here]
    if not tests:
        return "not tried" if trial and AT_IMPORT in here else "no test"
    taken, total = shortest(tests, measured=measured)
    code = (trial or imported)(file, variant.text, taken, 20 + 4 * min(total, LONGEST))
    if code == PASSED:
        return "not tried" if trial and AT_IMPORT in here else "survived"
    return "not tried" if code == BROKEN else "killed"


def shortest(tests: Sequence[str], *, measured: Mapping[str, Any]) -> tuple[list[str], float]:
    """Return tests to run, the shortest first, and their seconds.

    Those that use a fixture after one of them are among them, as it may be the fixture that runs
    the line; the time of the first test of a fixture counts for the others, which make it anew.
    """
    seconds, before = measured["seconds"], measured["before"]
    asked = set(tests)
    every = {each for each in seconds if each in asked or not asked.isdisjoint(before[each])}
    taken: list[str] = []
    paid: set[str] = set()
    total = 0.0
    while every:
        cost = {
            each: sum(seconds.get(one, 0.0) for one in {each, *before[each]} - paid)
            for each in every
        }
        next_one = min(sorted(every), key=cost.__getitem__)
        total += cost[next_one]
        if taken and total > LONGEST:
            break
        taken.append(next_one)
        paid |= {next_one, *before[next_one]}
        every.remove(next_one)
    return taken, total


def imported(file: Path, text: str, tests: Sequence[str], seconds: float) -> int | None:
    """Run tests in a process that imports a variant in place of its module."""

    def work() -> int:
        _import_in_place_of(file, text=text)
        import pytest

        return int(pytest.main([*OPTIONS, "-x", *tests]))

    return apart(work, seconds=seconds)


def _import_in_place_of(file: Path, *, text: str) -> None:
    loader = importlib.machinery.SourceFileLoader
    usual = loader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> Any:
        if self.path == str(file):
            return compile(text, str(file), "exec", dont_inherit=True)
        return usual(self, fullname)

    loader.get_code = get_code  # type: ignore[method-assign]


def try_all(
    chosen: Sequence[tuple[Path, Variant]],
    *,
    files: Sequence[Path],
    tests: Sequence[str],
    out: Path,
    workers: int,
    until: float = math.inf,
) -> Iterator[Tried]:
    """Yield the variants with what became of each; none is begun after ``until``, by the clock.

    But once the tests are measured, which may take longer than that, some are tried.

    Those of functions are tried where all tests are collected already.  For what is not of a
    function, and for what survives there but runs at import as well, the module is imported.
    """
    before = out.with_suffix(".fates")
    before.unlink(missing_ok=True)

    def all_by(
        trial: Trial | None, left: Sequence[int], measured: Mapping[str, Any]
    ) -> Iterator[str]:
        end = max(until, time.time() + AT_LEAST)

        def one(number: int) -> str:
            if time.time() > end:
                return NOT_REACHED
            return fate(*chosen[number], measured=measured, trial=trial)

        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(one, left)

    def collected() -> int:
        import pytest

        def attempt(measured: Mapping[str, Any], trial: Trial) -> None:
            with before.open("w", buffering=1) as file:
                for each in all_by(trial, range(len(chosen)), measured):
                    file.write(f"{each}\n")

        modules = {file: _dotted(file) for file in files}
        plugin = Collected(files=modules, out=out, attempt=attempt)
        places = [str(ROOT / each) for each in tests]
        return int(pytest.main([*OPTIONS, "-s", "-m", "not audit", *places], plugins=[plugin]))

    apart(collected, seconds=LONGEST_AREA)
    fates = before.read_text().splitlines() if before.exists() else []
    if len(fates) < len(chosen):
        raise SystemExit(f"The tests could not be collected and tried: {' '.join(tests)}")
    left = [number for number, each in enumerate(fates) if each == "not tried"]
    later = dict(zip(left, all_by(None, left, json.loads(out.read_text())), strict=True))
    for number, (file, each) in enumerate(chosen):
        name = str(file.relative_to(ROOT))
        yield Tried(file=name, variant=each, fate=later.get(number, fates[number]))


def report(area: str, tried: Sequence[Tried]) -> bool:
    """Print what became of the variants of an area; return whether that is enough."""
    reached = [each for each in tried if each.fate != NOT_REACHED]
    alive = [each for each in reached if each.fate != "killed"]
    share, least = 1 - len(alive) / max(1, len(reached)), AREAS[area]["killed"]
    asked = least if len(reached) == len(tried) else least_of_some(len(reached), least=least)
    lines = [f"{area}: {len(reached)} variants, {share:.1%} rejected (at least {asked:.0%} asked)"]
    if len(reached) < len(tried):
        lines.append(f"  {len(tried) - len(reached)} of the sample not reached")
    for each in alive:
        file, what = each.key.split(" ", 1)
        lines.append(f"  {each.fate}: {file}:{each.variant.line} {what}")
        lines += [f"    ({EXPLAINED[each.key]})"] if each.key in EXPLAINED else []
    told = sum(each.key in EXPLAINED for each in alive)
    lines.append(f"  {told} of {len(alive)} explained\n")
    sys.stdout.write("\n".join(lines))
    sys.stdout.flush()
    return share >= asked


def least_of_some(number: int, *, least: float) -> float:
    """Return the share of a part of a sample that is once in 10,000 times lower, by chance."""
    return least - 3.7 * math.sqrt(least * (1 - least) / max(1, number))


def in_turn(areas: Sequence[str], *, day: int) -> list[str]:
    """Return the areas in the order of a day: each of them is the first in its turn."""
    first = day % len(areas)
    return [*areas[first:], *areas[:first]]


def main(arguments: Sequence[str]) -> int:
    """Try the areas that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--areas", nargs="+", choices=AREAS, default=list(AREAS))
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--minutes", type=float, help="begin nothing more after so many")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--survivors", type=Path, help="a file for those that no test rejects")
    parser.add_argument("--only-survivors", type=Path, help="such a file: try no others")
    parser.add_argument("--measured", type=Path, help="a folder that keeps what the tests run")
    parser.add_argument("--tests", nargs="+", default=(), help="ask these instead of the area's")
    asked = parser.parse_args(arguments)
    for module in PRELOADED:
        importlib.import_module(module)
    if "confide" in sys.modules:
        raise SystemExit("A variant is imported in place of its module, which is imported already.")
    only = asked.only_survivors and frozenset(asked.only_survivors.read_text().splitlines())
    enough, areas, until = [], list(asked.areas), math.inf
    if asked.minutes:
        areas = in_turn(areas, day=dt.datetime.now(dt.UTC).toordinal())
        until = time.time() + 60 * asked.minutes
    for area in areas:
        if time.time() > until:
            sys.stdout.write(f"{area}: not reached in {asked.minutes:g} minutes\n")
            continue
        chosen = sample(area, size=asked.sample, only=only)
        tests = asked.tests or AREAS[area]["tests"]
        with tempfile.TemporaryDirectory() as folder:
            out = (asked.measured or Path(folder)) / f"{area}.json"
            tried = list(
                try_all(
                    chosen,
                    files=files_of(area),
                    tests=tests,
                    out=out,
                    workers=asked.workers,
                    until=until,
                )
            )
        enough.append(report(area, tried))
        if asked.survivors:
            fine = {"killed", NOT_REACHED}
            alive = (each.key for each in tried if each.fate not in fine)
            asked.survivors.write_text("\n".join(alive))
    return 0 if all(enough) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
