"""Programs that let lost rows give an approval back; the suite must fail for each."""

import pytest

from confide.budget import journal
from confide.budget.chain.consent_rows import ConsentRows
from confide.budget.integrity.acceptance import acceptance
from confide.budget.workflow import rules
from unit.cli.ledger import test_approvals_of_lost_rows as suite
from unit.release import test_withdrawn_for_the_whole_folder as whole

BREAKS = (
    suite.test_an_approval_that_lost_rows_may_have_used_admits_nothing,
    suite.test_a_rejection_in_lost_rows_does_not_bring_an_approval_back,
)


@pytest.mark.parametrize("test", BREAKS)
def test_an_approval_that_outlives_the_rows_that_used_it_is_caught(test, tmp_path, monkeypatch):
    test(tmp_path / "whole")
    monkeypatch.setattr(rules, "is_lapsed", lambda *_: False)
    with pytest.raises(AssertionError):
        test(tmp_path / "mutant")


def of_named_rows_alone(found, **more):
    found.may_lack = bool(found.lost)
    return acceptance(found, **more)


@pytest.mark.parametrize("anchor", [suite.no_anchor, suite.a_cut_anchor])
@pytest.mark.parametrize("put_back", [suite.by_a_copy, suite.by_a_restore])
def test_an_approval_that_outlives_rows_that_nobody_can_name_is_caught(
    tmp_path, monkeypatch, put_back, anchor
):
    monkeypatch.setattr(journal, "acceptance", of_named_rows_alone)
    with pytest.raises(AssertionError):
        suite.an_approval_serves_once(tmp_path, put_back=put_back, anchor=anchor)


def test_lists_that_outlive_rows_that_nobody_can_name_are_caught(tmp_path, monkeypatch):
    assert whole.withdrew_in_rows_that_may_be_lost(whole.capped(tmp_path / "whole"), kept=0) == 0
    take = ConsentRows.take

    def of_named_rows(self, fields, **more):
        take(self, {name: fields[name] for name in fields if name != "consent"}, **more)

    monkeypatch.setattr(ConsentRows, "take", of_named_rows)
    assert whole.withdrew_in_rows_that_may_be_lost(whole.capped(tmp_path / "mutant"), kept=0) > 0
