"""The tests of an area, collected once: each variant is tried by a process that has them already."""

import gc
import importlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from mutation.apart import BROKEN, apart
from mutation.in_place import live_functions, put_in_place
from mutation.measured import Lines, Measuring, together

LONGEST_AREA = 3600.0  # seconds that the tests of an area are given
PASSED, REJECTED = 0, 1

# From a file, the text of a variant, tests and seconds: the exit code, or None if it took too long.
Trial = Callable[[Path, str, Sequence[str], float], int | None]


class Collected:
    """A plugin of pytest that measures the tests in place of running them, and tries variants."""

    def __init__(
        self,
        *,
        files: Mapping[Path, str],
        out: Path,
        attempt: Callable[[Mapping[str, Any], Trial], None],
    ) -> None:
        """Take the files that are varied by their modules, where figures go, and what tries."""
        self.files, self.out, self.attempt = files, out, attempt
        self.measuring: Measuring | None = None
        self.rejected = False

    def pytest_sessionstart(self) -> None:
        """Look for one failure only, and measure what runs as tests are collected."""
        settings.register_profile(
            "one failure", settings(), phases=[Phase.explicit, Phase.generate]
        )
        settings.load_profile("one failure")
        if not self.out.exists():
            self.measuring = Measuring(files=[*self.files])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Import what is varied, measure the tests, and try the variants."""
        for each in self.files.values():
            with suppress(ImportError):  # of a library that is not installed
                importlib.import_module(each)
        if self.measuring is not None:
            early = self.measuring.lines()
            apart(lambda: self._measure(session, early), seconds=LONGEST_AREA)
            self.measuring = None
        functions, items = live_functions(), {each.nodeid: each for each in session.items}
        gc.freeze()  # after that it tells of none of them

        def trial(file: Path, text: str, tests: Sequence[str], seconds: float) -> int | None:
            def work() -> int:
                if not put_in_place(file, text=text, functions=functions.get(str(file), ())):
                    return BROKEN
                self._run(session, [items[each] for each in tests])
                return REJECTED if self.rejected else PASSED

            return apart(work, seconds=seconds)

        figures = json.loads(self.out.read_text())
        figures["before"] = first_of_their_fixtures(session.items)
        self.out.write_text(json.dumps(figures))
        self.attempt(figures, trial)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """See what becomes of a test."""
        self.rejected |= report.failed
        if self.measuring is not None:
            self.measuring.told(report)

    def _measure(self, session: pytest.Session, early: Lines) -> int:
        self.measuring = measuring = Measuring(files=[*self.files])
        for each, after in zip(session.items, [*session.items[1:], None], strict=True):
            measuring.count_for(each.nodeid)
            session.config.hook.pytest_runtest_protocol(item=each, nextitem=after)
        _finish(session)
        lines = together(early, measuring.lines())
        self.out.write_text(json.dumps({"seconds": measuring.passed(), "lines": lines}))
        return PASSED

    def _run(self, session: pytest.Session, items: Sequence[pytest.Item]) -> None:
        """Run tests until one fails."""
        try:
            for each, after in zip(items, [*items[1:], None], strict=True):
                session.config.hook.pytest_runtest_protocol(item=each, nextitem=after)
                if self.rejected:
                    break
        except BaseException:  # noqa: BLE001 - whatever a variant raises, it does not pass
            self.rejected = True
        _finish(session)


def first_of_their_fixtures(items: Sequence[pytest.Item]) -> Mapping[str, Sequence[str]]:
    """Return for each test the first ones, other than itself, that use fixtures it shares.

    What those fixtures run, and the time they take, was measured for the first ones.
    """
    first: dict[object, str] = {}
    found = {}
    for item in items:
        shared = {first.setdefault(each, item.nodeid) for each in _shared_fixtures(item)}
        found[item.nodeid] = sorted(shared - {item.nodeid})
    return found


def _shared_fixtures(item: pytest.Item) -> Iterator[object]:
    """Yield what tells apart the fixtures of a test that it shares with others.

    Those of pytest itself are for every test, and run nothing of ours.
    """
    known = getattr(item, "_fixtureinfo", None)
    indices = getattr(getattr(item, "callspec", None), "indices", {})
    for name in known.names_closure if known else ():
        for each in known.name2fixturedefs.get(name, ())[-1:]:
            if each.scope != "function" and each.baseid:
                place = "" if each.scope == "session" else item.nodeid.partition("::")[0]
                yield name, each.baseid, place, indices.get(name)


def _finish(session: pytest.Session) -> None:
    """Stop what the tests of a session started."""
    with suppress(BaseException):
        session.config.hook.pytest_sessionfinish(session=session, exitstatus=0)
