"""What a process has once is put aside in one place, so that releases in threads do it together."""

import ast

from pages import ROOT

SOURCE = ROOT / "src" / "confide"
SWITCHES = {
    "catch_warnings",
    "filterwarnings",
    "simplefilter",
    "captureWarnings",
    "redirect_stdout",
    "redirect_stderr",
    "threadpool_limits",
    "ThreadpoolController",
    "set_num_threads",
    "set_state",
    "setstate",
    "disable",  # of logging
    "dup2",
    "gc",
}
PERMITTED = {
    "release/quiet.py": SWITCHES,
    # by one teacher at a time, whoever's it is
    "jobs/learning/pate/teachers.py": {
        "ThreadpoolController",
        "set_state",
        "setstate",
        "gc",
    },
    # of threads that inspect a ledger whoever ends first lets it be collected again
    "budget/chain/garbage.py": {"gc", "disable"},
    # by all trainings together
    "jobs/learning/walk.py": {"set_num_threads"},
    # while PySpark is imported and begins, which is done once
    "rows/engines/spark/spark_connect.py": {"catch_warnings", "filterwarnings"},
    # before a command begins, and after it ended
    "cli/streams.py": {"dup2"},
}


def switched(path):
    """Yield the switches of the process that a source file turns."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in SWITCHES:
            yield node.attr
        if isinstance(node, ast.Name) and node.id in SWITCHES:
            yield node.id


def test_what_a_process_has_once_is_put_aside_in_few_places():
    found = {
        path.relative_to(SOURCE).as_posix(): set(switched(path)) for path in SOURCE.rglob("*.py")
    }
    assert {
        name: more for name, these in found.items() if (more := these - PERMITTED.get(name, set()))
    } == {}


def test_the_places_still_do():
    assert all(set(switched(SOURCE / name)) for name in PERMITTED)
