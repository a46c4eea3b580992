"""What a legal declaration may not say."""

import pytest

import legal_papers as papers
from confide.errors import ContractError
from confide.report.legal.declared import BalancingTest, Identifiability, Outcome


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sites": ()}, "legal.yaml names no site"),
        ({"sites": (papers.PUBLIC, papers.PUBLIC)}, "legal.yaml names a site twice"),
    ],
)
def test_a_declaration_names_each_site_once(change, message):
    with pytest.raises(ContractError, match=f"^{message}"):
        papers.replace(papers.LAW, **change)


def test_a_balancing_test_is_for_legitimate_interests_alone():
    weighed = BalancingTest(interest="care")
    with pytest.raises(ContractError, match=r"balancing test without Art\. 6\(1\)\(f\)"):
        papers.replace(papers.PUBLIC, balancing_test=weighed)
    assert papers.replace(papers.PRIVATE, balancing_test=weighed).balancing_test == weighed


def test_who_says_that_statistics_are_no_personal_data_says_why():
    with pytest.raises(ContractError, match="needs a written justification"):
        Identifiability(outcome=Outcome.NOT_PERSONAL_TO_RECIPIENTS, justification=" ")
    assert Identifiability().outcome is Outcome.PERSONAL
