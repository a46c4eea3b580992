"""Which test runs which line, whatever other tests do."""

import subprocess
import sys
from pathlib import Path

SEEN = """
import sys
from pathlib import Path

from mutation.measured import Measuring

import varied

measuring = Measuring(files=[Path(varied.__file__)])
for name in ("first", "one that traces", "last"):
    measuring.count_for(name)
    varied.work()
    if name == "one that traces":
        sys.settrace(None)
    measuring.seconds[name] = 0.1
lines = measuring.lines()[varied.__file__]
assert lines["2"] == ["first", "last", "one that traces"], lines
"""


def test_lines_count_for_the_tests_after_one_that_traces_too(tmp_path):
    (tmp_path / "varied.py").write_text("def work():\n    return 1\n")
    path = f"{tmp_path}:{Path(__file__).parents[1]}"
    subprocess.run([sys.executable, "-c", SEEN], env={"PYTHONPATH": path}, check=True)
