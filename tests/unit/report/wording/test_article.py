"""The methods of an article: two short paragraphs, whose references lie beside them."""

import re

import pytest

import cohorts
from confide.report.pages.save import contents
from confide.report.wording.article import MOST_WORDS, article, references


def paragraphs(text):
    return text.split("## Methods\n", 1)[1].split("\n## Supplement", 1)[0].strip()


def test_the_methods_of_a_study_of_every_kind_are_short_and_say_what_was_promised(files, release):
    said = paragraphs(files["methods.md"].decode())
    assert len(said.split()) <= MOST_WORDS
    assert len(said.split("\n\n")) == 2
    for text in (
        "ε = ",
        "δ = ",
        "ρ = ",
        "all records of one patient",
        str(release.certificate["id"]),
    ):
        assert text in said


@pytest.mark.parametrize("most", [1, 5, 8])
def test_questions_are_named_where_they_are_few_and_the_text_stays_short(words, most):
    plan = cohorts.plan_of(cohorts.every_statistic()[:most], dataset=cohorts.hospital())
    said = article(cohorts.release_of(plan), words=words)
    assert len(said.split()) <= MOST_WORDS
    assert "The release answers: " in said


def test_every_key_that_is_cited_has_its_entry_and_no_other_is_there(files):
    cited = set(re.findall(r"@(\w+)", paragraphs(files["methods.md"].decode())))
    entries = set(re.findall(r"^@\w+\{(\w+),", files["references.bib"].decode(), re.M))
    assert cited == entries != set()


def test_a_text_that_cites_nothing_has_no_references():
    assert references("nothing").strip() == ""


def test_the_bibliography_is_written_beside_the_methods(words):
    plan = cohorts.plan_of(cohorts.every_statistic()[:1], dataset=cohorts.hospital())
    written = contents(cohorts.release_of(plan), words=words)
    assert {"methods.md", "references.bib"} <= set(written)
