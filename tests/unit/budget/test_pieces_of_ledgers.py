"""Single parts of a ledger at their edges."""

from dataclasses import replace

import pytest

from confide.budget.accounts.account import Account
from confide.budget.accounts.counter import Counter
from confide.budget.accounts.lost_terms import is_fixed
from confide.budget.plan_text import plan_in
from confide.errors import InvalidParameterError, UnknownNameError
from confide.privacy.amount import Amount
from ledger_policies import uncapped
from ledgers import open_ledger, request


def test_terms_are_fixed_once_anything_was_charged_or_a_policy_holds():
    account = Account(terms=uncapped(), year=2026)
    assert is_fixed(account) is False
    account.counters["year"] = Counter(spent=0)
    assert is_fixed(account) is False
    account.counters["year"] = Counter(spent=1)
    assert is_fixed(account) is True
    account.counters["year"], account.charged = Counter(spent=0), True
    assert is_fixed(account) is True


def test_a_charge_is_above_nothing_unless_it_goes_on_with_one():
    asked = request(key="k", nano=5)
    with pytest.raises(InvalidParameterError, match="Expected a charge above 0"):
        replace(asked, amount=Amount(nano=0))


def test_an_entry_that_there_is_not_is_told_with_where_entries_stand(tmp_path):
    ledger = open_ledger(tmp_path)
    with pytest.raises(UnknownNameError, match="confide ledger show"):
        ledger._journal.held(99)
    ledger.close()


def test_a_plan_with_a_number_too_long_or_nested_too_deep_is_none():
    assert plan_in('{"a": ' + "7" * 20_000 + "}") is None
    assert plan_in('{"a": ' + "7" * 20_000 + ', "b": "words"}') is None
    assert plan_in('{"a": 7, "b": "words"}') == {"a": 7, "b": "words"}
