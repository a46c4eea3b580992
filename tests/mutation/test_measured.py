"""Which test runs which line, whatever other tests do."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from mutation.collected import first_of_their_fixtures

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


def item(test, *fixtures):
    named = {each.argname: [each] for each in fixtures}
    info = SimpleNamespace(names_closure=[*named], name2fixturedefs=named)
    return SimpleNamespace(nodeid=f"tests/test_a.py::{test}", _fixtureinfo=info)


def test_tests_go_with_the_first_that_makes_their_fixture_unless_it_is_one_of_pytest():
    pytests = SimpleNamespace(argname="tmp_path_factory", scope="session", baseid="")
    ours = SimpleNamespace(argname="issued", scope="module", baseid="tests/test_a.py")
    each_anew = SimpleNamespace(argname="ws", scope="function", baseid="tests/test_a.py")
    items = [item("a", pytests, each_anew), item("b", pytests, ours), item("c", ours, each_anew)]
    first, second, third = first_of_their_fixtures(items).values()
    assert (first, second, third) == ([], [], ["tests/test_a.py::b"])
