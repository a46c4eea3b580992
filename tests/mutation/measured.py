"""Which tests run which lines, and how long each takes: measured in one run of the tests of an area."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import coverage
import pytest

AT_IMPORT = ""  # the context of lines that run when no test does

Lines = dict[str, dict[str, list[str]]]  # by file and line: the tests that run it


class Measuring:
    """What runs which line of some files, from now on."""

    def __init__(self, *, files: Sequence[Path]) -> None:
        """Take the files whose lines count."""
        names = [str(each) for each in files]
        self.coverage = coverage.Coverage(data_file=None, include=names, config_file=False)
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.coverage.start()
        self.tracer = sys.gettrace()

    def count_for(self, test: str) -> None:
        """Let the lines that run from now on count for a test, whatever the one before traced."""
        sys.settrace(self.tracer)
        self.coverage.switch_context(test)

    def told(self, report: pytest.TestReport) -> None:
        """Add up the time of a test."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if not report.passed:
            self.failed.add(report.nodeid)

    def lines(self) -> Lines:
        """Return which tests of those that passed run which lines."""
        self.coverage.stop()
        data, passed = self.coverage.get_data(), {*self.seconds, AT_IMPORT} - self.failed
        return {
            file: {
                str(line): sorted(passed.intersection(tests))
                for line, tests in data.contexts_by_lineno(file).items()
            }
            for file in sorted(data.measured_files())
        }

    def passed(self) -> Mapping[str, float]:
        """Return the seconds of each test that passed."""
        return {test: self.seconds[test] for test in self.seconds.keys() - self.failed}


def together(one: Lines, other: Lines) -> Lines:
    """Return the lines of two measurements as those of one."""
    return {
        file: {
            line: sorted({*one.get(file, {}).get(line, ()), *other.get(file, {}).get(line, ())})
            for line in one.get(file, {}).keys() | other.get(file, {}).keys()
        }
        for file in one.keys() | other.keys()
    }
