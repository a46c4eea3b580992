"""Deliberately broken rules of what adds up; the search for counterexamples must find one."""

import pytest

import confide
from cell_worlds import search
from confide.budget.chain.consent_rows import ConsentRows
from confide.tables import cell_sums as rule
from confide.tables.conditions import spans
from small_clinic import make_clinic
from unit.release.test_consent_withdrawn import joined_with_a_growing_release

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


def joins_across_a_withdrawal(folder):
    """Asked before and after somebody was taken out: are both answers averaged?"""
    with confide.open(make_clinic(folder).dataset) as ws:
        plan = ws.plan({"id": "n", "kind": "count", "table": "patients"}, epsilon="0.2")
        ws.release(plan, request="before")
        ws.forget(["1"])
        ws.release(plan, request="after")
        return len(ws.reuse(plan).reused.sources) > 1


def test_releases_that_left_out_others_and_are_joined_are_found(tmp_path, monkeypatch):
    assert not joins_across_a_withdrawal(tmp_path / "honest")
    monkeypatch.setattr(ConsentRows, "era", lambda *_: 0)
    assert joins_across_a_withdrawal(tmp_path / "mutant")


def test_a_growing_release_of_before_that_is_joined_with_one_of_after_is_found(
    tmp_path, monkeypatch
):
    era = ConsentRows.era
    monkeypatch.setattr(ConsentRows, "era", lambda self, entry, _: era(self, entry, entry))
    assert joined_with_a_growing_release(tmp_path, withdraw=True) == 2
