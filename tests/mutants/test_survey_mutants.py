"""A broken rule of who has answered already, against the test that receipts hold."""

import pytest

from confide.files.survey.survey import read_survey
from confide.release.survey import receipts

SURVEY = """
survey: {id: needles, title: Needles, respondents: 10}
at-most: {epsilon: 2}
questions:
  - {id: shared, ask: "Have you ever shared a needle?", answers: [yes, no], truth: 3/4}
"""
SPELLINGS = ("Zo\u00eb", "Zoe\u0308", " Zo\u00eb", "Zoe\u0308 ")


def one_report_of_one_respondent(folder):
    """Each spelling of one name gets the bytes that the first one got."""
    (folder / "survey.yaml").write_text(SURVEY)
    survey, kept = read_survey(folder / "survey.yaml"), folder / "receipts.json"
    given = {"shared": "yes"}
    sent = [receipts.respond(survey, {name: given}, receipts=kept) for name in SPELLINGS]
    assert all(reports == sent[0][0] for reports, _ in sent)


def test_one_respondent_has_one_report(tmp_path):
    one_report_of_one_respondent(tmp_path)


@pytest.mark.mutant
def test_receipts_that_know_a_name_in_one_spelling_alone_are_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(receipts, "one_spelling", lambda name: name)
    with pytest.raises(AssertionError):
        one_report_of_one_respondent(tmp_path)
