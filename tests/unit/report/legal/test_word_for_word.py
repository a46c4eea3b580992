"""Legal documents, word for word and number for number."""

import pytest

import legal_papers as papers
from confide.report.legal.document import Kind
from confide.report.legal.save import files_of
from kept_texts import assert_kept

STAGES = {Kind.DPIA: tuple(papers.SUBJECTS)}
DOCUMENTS = [(kind, stage) for kind in Kind for stage in STAGES.get(kind, ("release",))]


@pytest.mark.parametrize(("kind", "stage"), DOCUMENTS)
def test_every_word_of_a_legal_document_is_the_one_that_was_read(kind, stage):
    document = papers.document(kind, papers.SUBJECTS[stage](), language="en")
    text = files_of(document)[f"{kind.value}.en.md"]
    assert_kept(f"legal/{kind.value}-{stage}.md", text)
