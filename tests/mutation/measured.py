"""Which tests run which lines, and how long each takes: measured in one run of the tests of an area."""

import json
from pathlib import Path
from typing import Any

import coverage
import pytest

AT_IMPORT = ""  # the context of lines that run when no test does


class Measuring:
    """A plugin of pytest: every line counts for the test that runs it."""

    def __init__(self, *, source: Path, out: Path) -> None:
        """Take the folder whose lines count, and where the figures go."""
        self.source, self.out = source, out
        self.coverage = coverage.Coverage(data_file=None, source=[str(source)], config_file=False)
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_sessionstart(self) -> None:
        """Begin."""
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Let lines count for this test."""
        self.coverage.switch_context(item.nodeid)
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up its time."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if not report.passed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write which tests of those that passed run which lines."""
        self.coverage.stop()
        data, passed = self.coverage.get_data(), {*self.seconds, AT_IMPORT} - self.failed
        lines = {
            file: {
                line: sorted(passed.intersection(tests))
                for line, tests in data.contexts_by_lineno(file).items()
            }
            for file in sorted(data.measured_files())
        }
        seconds = {test: self.seconds[test] for test in self.seconds.keys() - self.failed}
        self.out.write_text(json.dumps({"seconds": seconds, "lines": lines}))
