"""Titles and names from studies are cut in legal documents, where a table would not hold them."""

from dataclasses import replace

import cohorts
import legal_papers as papers
from confide.drawing.words import load_words
from confide.report.legal.exhibits import entries_table, statistic_title
from confide.report.legal.scribe import Scribe
from confide.report.wording import describe

COUNT = papers.DIABETES
WORDS = load_words("en", part="legal")


def scribe_of(subject):
    return Scribe(words=WORDS, subject=subject, law=papers.LAW)


def test_the_title_of_a_study_of_the_year_is_cut_at_a_hundred_and_twenty_letters():
    subject = papers.year_subject()
    first, *others = subject.entries
    entries = (replace(first, title="x" * 200), *others)
    table = entries_table(scribe_of(replace(subject, entries=entries)))
    assert "x" * 119 + "…" in table.rows[0]


def test_the_name_of_a_certificate_is_cut_at_a_hundred_and_sixty_letters():
    subject = papers.release_subject()
    named = subject.certificate.model_copy(update={"id": "x" * 200})
    told = scribe_of(replace(subject, certificate=named)).from_plan()
    assert "x" * 159 + "…" in told
    assert "x" * 160 not in told


def test_a_title_that_names_its_question_besides_is_cut_at_a_hundred_and_sixty_letters(monkeypatch):
    monkeypatch.setattr(describe, "_made", lambda *_, **__: "y" * 160)
    one, other = (replace(COUNT, id=name * 40, title="") for name in "ab")
    plan = cohorts.plan_of((one, other), dataset=cohorts.hospital())
    told = statistic_title(one, plan=plan, scribe=scribe_of(papers.release_subject()))
    assert len(told) == 160
    assert told.endswith("…")
