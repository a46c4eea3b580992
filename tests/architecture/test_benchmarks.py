"""Benchmarks are run by hand: what they import must be there all the same."""

import ast
import importlib

import pytest

from confide.statistics import STATISTICS
from pages import ROOT

BENCHMARKS = sorted((ROOT / "benchmarks").rglob("*.py"))


def imported(path):
    """Yield the modules of Confide that a file imports from, with the names it takes."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "confide":
            for each in node.names:
                yield node.module, each.name


def is_there(module, name):
    """Return whether a module has a name, or a module of that name."""
    try:
        found = importlib.import_module(module)
    except ImportError as missing:
        if (missing.name or "").startswith("confide"):
            return False
        pytest.skip(f"{module} needs an extra that is not installed: {missing.name}")
    if hasattr(found, name):
        return True
    try:
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.name)
def test_a_benchmark_imports_names_that_are_there(path):
    missing = [f"{m}.{n}" for m, n in imported(path) if not is_there(m, n)]
    assert missing == []


def test_every_kind_of_statistic_has_a_task_or_is_a_model():
    path = ROOT / "benchmarks" / "every_statistic.py"
    tree = ast.parse(path.read_text("utf-8"))
    asked = {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "task"
    }
    (models,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "MODELS"
    )
    assert asked | models == set(STATISTICS)


def test_a_name_that_is_gone_would_be_seen():
    assert not is_there("confide.release.gate", "_asked")
    assert is_there("confide.release", "gate")
