"""Deliberately broken rules of what adds up; the search for counterexamples must find one."""

import pytest

from cell_worlds import search
from confide.tables import cell_sums as rule
from confide.tables import spans

pytestmark = pytest.mark.mutant

MUTANTS = {
    "a patient is taken to have one value of every column": (rule, "_fixed", True),
    "any bound is taken to keep one row of a patient": (rule, "_kept", 1),
    "rows outside every published cell are forgotten": (rule, "_require_covered", None),
    "no value is taken to be ever unknown": (spans, "_can_be_unknown", False),
    "conditions that were published are forgotten": (rule, "_conjuncts", ()),
}


def test_the_real_rule_has_no_counterexample():
    assert search(questions=800, seed=1).wrong == 0


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_rule_of_what_adds_up_is_caught(name, monkeypatch):
    module, function, said = MUTANTS[name]
    monkeypatch.setattr(module, function, lambda *_, **__: said)
    assert search(questions=800, seed=1).wrong > 0
