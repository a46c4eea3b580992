"""What `import confide` gives: every statistic and job by its name, and nothing that takes long."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import confide
from confide.jobs.kinds import KINDS as JOBS
from confide.statistics.registry import KINDS


def test_every_statistic_and_every_job_is_there_by_its_name():
    there = {getattr(confide, name) for name in confide.__all__}
    assert {kind.spec for kind in (*KINDS, *JOBS)} <= there
    for each in {kind.spec for kind in (*KINDS, *JOBS)}:
        assert getattr(confide, each.__name__) is each


def test_names_are_listed_once_and_offered_to_who_completes_them():
    assert len(set(confide.__all__)) == len(confide.__all__)
    assert set(confide.__all__) <= set(dir(confide))


def test_what_types_are_checked_with_is_what_is_there():
    tree = ast.parse(Path(confide.__file__).read_text("utf-8"))
    for_types = next(node for node in tree.body if isinstance(node, ast.If))
    found = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in for_types.body
        for alias in node.names
    }
    assert set(found) == set(confide.__all__)
    for name, (module, attribute) in found.items():
        of = importlib.import_module(module)
        assert getattr(of, attribute) is getattr(confide, name)


def test_modules_of_the_product_are_reached_without_another_import():
    code = (
        "import confide; confide.learning.DPLogisticRegression; confide.errors.PolicyError; "
        "import sys; assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Cuont'"):
        confide.Cuont  # noqa: B018
