"""Attacks ask no statistic which kind it is: what they need stands in its folder."""

import ast
from importlib import resources
from pathlib import Path

import pytest

from confide.statistics import STATISTICS

ATTACKS = sorted(Path(str(resources.files("confide.attacks"))).rglob("*.py"))
SPECS = {spec.__name__ for spec in STATISTICS.values()}


def _asked(source: str) -> set[str]:
    """Specs that a source tells apart by isinstance, by type or by a pattern."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        asks = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "type")
        if asks or isinstance(node, ast.MatchClass | ast.Compare):
            found |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return found & SPECS


@pytest.mark.parametrize("path", ATTACKS, ids=lambda path: path.name)
def test_attacks_know_no_kind(path):
    assert _asked(path.read_text("utf-8")) == set()


def test_a_question_of_kind_is_found():
    assert _asked("isinstance(s, Mean | Sum)") == {"Mean", "Sum"}
    assert _asked("match s:\n    case Count():\n        pass") == {"Count"}


def test_every_kind_says_where_its_worst_neighbours_are():
    from confide.statistics.audited import Worst
    from confide.statistics.registry import KINDS

    for kind in KINDS:
        asked = kind.audited()
        assert asked.patients or asked.worst is Worst.LIKE_ANOTHER, kind.name
        assert {type(s) for s in (*asked.patients, *asked.events)} <= {kind.spec}
