"""Every legal document, at every stage, in both languages: sources, empty fields, no claims."""

import re
from html.parser import HTMLParser

import pytest

import legal_papers as papers
from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.report.legal.asked import ASKED, SIGNED
from confide.report.legal.document import AskedField, Gauges, Kind, Picture, StatedField, TextTable
from confide.report.legal.save import files_of, save_document

CLAIM = re.compile(r"anonym|de-?identif|匿名|去标识|去识别", re.IGNORECASE)
TEMPLATE = [
    "0",
    "0.1",
    "0.2",
    "0.3",
    "0.4",
    "0.5",
    "1",
    "1.1.a",
    "1.1.b",
    "1.1.c",
    "1.1.d",
    "1.2",
    "1.3",
    "1.4",
    "2",
    "2.1",
    "2.2",
    "2.2.a",
    "2.2.b",
    "2.3",
    "2.3.a",
    "2.3.b",
    "2.3.c",
    "2.3.d",
    "2.3.e",
    "3",
    "3.1",
    "3.2",
    "3.3",
    "4",
    "4.1.a",
    "4.1.b",
    "4.1.c",
    "4.1.c.1",
    "4.1.c.2",
    "4.1.c.3",
    "4.1.c.4",
    "4.1.c.5",
    "4.2.a",
    "4.2.b",
    "4.2.c",
    "5",
    "5.1",
    "5.2",
    "6",
]


@pytest.fixture(scope="module")
def made():
    """All documents: five kinds, three stages, two languages."""
    subjects = {stage: make() for stage, make in papers.SUBJECTS.items()}
    return {
        (kind, stage, language): papers.document(kind, subject, language=language)
        for kind in Kind
        for stage, subject in subjects.items()
        for language in ("en", "zh")
    }


@pytest.fixture(scope="module")
def files(made):
    return {place: files_of(document) for place, document in made.items()}


def test_no_document_ever_claims_a_status_in_law(files):
    texts = [text for each in files.values() for text in each.values()]
    assert len(texts) == 60
    for text in texts:
        assert not CLAIM.search(text)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_sentence_of_any_language_claims_a_status_in_law(language):
    for key, text in load_words(language, part="legal").templates.items():
        assert not CLAIM.search(text), key


def test_the_search_for_claims_finds_one_in_each_language():
    for text in (
        "Anonymous data",
        "anonymised",
        "de-identified",
        "deidentified",
        "匿名化",
        "去标识化",
    ):
        assert CLAIM.search(text)
    assert not CLAIM.search("personal (pseudonymised) data, 假名化")


def test_every_automatic_field_says_where_it_came_from(made):
    for document in made.values():
        for kind in (StatedField, TextTable, Picture, Gauges):
            for item in papers.items_of(document, kind):
                assert item.source.strip()


@pytest.mark.parametrize(
    ("stage", "told"),
    [
        ("release", ("certificate north-ehr/7", "ledger of north-ehr, row 7")),
        ("forecast", ("study file study.yaml", "ledger of north-ehr")),
        ("year", ("ledger of north-ehr", "description of the data set north-hospital")),
    ],
)
def test_sources_name_certificate_ledger_row_and_file(made, stage, told):
    document = made[Kind.DPIA, stage, "en"]
    sources = {
        item.source for kind in (StatedField, TextTable) for item in papers.items_of(document, kind)
    }
    for text in (*told, "audit results audit.json", "legal.yaml, written by a person"):
        assert any(text in source for source in sources), text


def test_every_empty_field_is_marked_and_listed(made, files):
    for place, document in made.items():
        page = files[place][f"{document.kind.value}.{document.language}.html"]
        text = files[place][f"{document.kind.value}.{document.language}.md"]
        words = load_words(document.language, part="legal")
        missing = document.missing()
        assert missing
        assert page.count('class="ask empty"') == len(missing)
        assert page.count('href="#ask-') == len(missing)
        assert text.count("**▢ ") == len(missing)
        headline = words.say_count("legal.status.missing", len(missing))
        assert headline in page
        assert headline in text
        for _, field in missing:
            assert f'id="ask-{field.id}"' in page


def test_every_field_for_a_person_is_asked_in_some_document(made):
    asked = {
        item.id
        for (_, _, language), document in made.items()
        if language == "en"
        for item in papers.items_of(document, AskedField)
    }
    shares = papers.forecast_subject(
        papers.study_plan((papers.Ask(statistic=papers.BY_SEX),), nano=20_000_000),
        asks=(papers.Ask(statistic=papers.BY_SEX),),
    )
    asked |= {item.id for item in papers.items_of(papers.document(subject=shares), AskedField)}
    assert set(ASKED) | set(SIGNED) <= asked


def test_an_answer_fills_its_field_in_every_document_that_has_it():
    law = papers.replace(papers.LAW, answers={"available-information": "A census.\n\nA register."})
    for kind in (Kind.HIPAA, Kind.IDENTIFIABILITY):
        document = papers.document(kind, law=law)
        assert "available-information" not in {item.id for _, item in document.missing()}
        page = files_of(document)[f"{kind.value}.en.html"]
        assert "<p><bdi>A census.</bdi></p><p><bdi>A register.</bdi></p>" in page


def test_a_document_with_every_answer_has_still_no_effect_until_it_is_signed():
    national = papers.replace(papers.PUBLIC, national_law="Hospital Act, section 12")
    law = papers.replace(
        papers.LAW, sites=(national,), answers=dict.fromkeys(ASKED, "Written by a person.")
    )
    for kind in Kind:
        document = papers.document(kind, law=law)
        assert not document.missing()
        assert document.signatures()
        page = files_of(document)[f"{kind.value}.en.html"]
        assert "no effect until it is signed" in page
        assert page.count('class="ask sign"') == len(document.signatures())


@pytest.mark.parametrize("stage", papers.SUBJECTS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_impact_assessment_has_the_parts_of_the_template_in_order(made, stage, language):
    document = made[Kind.DPIA, stage, language]
    assert [part.number for part in document.everything()] == TEMPLATE


def test_a_private_site_gets_the_balancing_test_as_an_annex(made):
    document = made[Kind.LEGAL_BASIS, "release", "en"]
    annex = [part for part in document.everything() if part.number.startswith("A")]
    assert [part.number for part in annex] == ["A", "A.1", "A.1.1", "A.1.2", "A.1.3", "A.1.4"]
    assert annex[1].title == "Site: south"
    public = papers.replace(papers.LAW, sites=(papers.PUBLIC,))
    alone = papers.document(Kind.LEGAL_BASIS, law=public)
    assert not [part for part in alone.everything() if part.number.startswith("A")]


def test_identifiability_is_personal_unless_a_person_wrote_why_not(made):
    said = papers.items_of(made[Kind.IDENTIFIABILITY, "release", "en"], StatedField)
    status = next(item for item in said if item.label == "Status of the released statistics")
    assert status.texts == (
        "Handled as personal (pseudonymised) data. This is the default of this software.",
    )
    changed = papers.replace(
        papers.LAW,
        identifiability=papers.Identifiability(
            outcome=papers.Outcome.NOT_PERSONAL_TO_RECIPIENTS, justification="No means are left."
        ),
    )
    said = papers.items_of(papers.document(Kind.IDENTIFIABILITY, law=changed), StatedField)
    status = next(item for item in said if item.label == "Status of the released statistics")
    assert status.texts[1] == "Written justification: No means are left."
    assert "The records at the site remain personal data" in status.texts[0]


class _Loads(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        loads = {"script", "link", "iframe", "img", "object"}
        outside = [v for k, v in given.items() if k in ("src", "href") and not v.startswith("#")]
        if tag in loads or outside or any(name.startswith("on") for name in given):
            self.found.append((tag, given))


def test_a_page_loads_nothing_and_runs_nothing(files):
    for each in files.values():
        for name, text in each.items():
            if name.endswith(".html"):
                parser = _Loads()
                parser.feed(text)
                assert parser.found == []
                assert "default-src &#x27;none&#x27;" in text


def test_text_from_files_becomes_no_markup():
    plan = papers.study_plan()
    study = papers.replace(plan.study, title="<script>x</script> | [a](b)", purpose="<b>\u202ehi")
    subject = papers.forecast_subject(papers.replace(plan, study=study))
    site = papers.replace(papers.PUBLIC, national_law="<img src=x> | `code`")
    law = papers.replace(papers.LAW, sites=(site,), answers={"controller": "<i>me</i> *you*"})
    made = files_of(papers.document(subject=subject, law=law))
    assert "<script>" not in made["dpia.en.html"]
    assert "<img" not in made["dpia.en.html"]
    assert "<i>" not in made["dpia.en.html"]
    assert "\u202e" not in "".join(made.values())
    assert r"\<i\>me\</i\> \*you\*" in made["dpia.en.md"]
    assert r"\<img src=x\> \| \`code\`" in made["dpia.en.md"]


def test_the_same_subject_gives_the_same_bytes():
    assert files_of(papers.document()) == files_of(papers.document())


def test_a_file_that_somebody_may_have_edited_is_not_written_over(tmp_path):
    document = papers.document(Kind.EHDS)
    _, text = sorted(save_document(document, tmp_path))
    assert save_document(document, tmp_path)
    text.write_text("edited", "utf-8")
    with pytest.raises(ContractError, match="somebody may have edited"):
        save_document(document, tmp_path)
    assert text.read_text("utf-8") == "edited"
    save_document(document, tmp_path, replace=True)
    assert text.read_text("utf-8") == files_of(document)["ehds.en.md"]


def test_a_failed_audit_is_told_in_capitals_and_a_missing_one_is_told():
    broken = papers.AuditResults(
        file="audit.json", quick=False, holds=False, checks=(("L1", 9),), failed=("count/count",)
    )
    text = files_of(papers.document(subject=papers.release_subject(audit=broken)))["dpia.en.md"]
    assert "at least one FAILED" in text
    assert "count/count" in text
    assert "Nothing may be released" in text
    none = files_of(papers.document(subject=papers.release_subject(audit=None)))["dpia.en.md"]
    assert "No audit results were given" in none


def test_the_form_for_the_expert_leaves_the_determination_and_the_signature_to_the_expert(made):
    document = made[Kind.HIPAA, "release", "en"]
    last = document.parts[-1]
    by = {item.id: item for item in last.items if isinstance(item, AskedField)}
    assert list(by) == [
        "very-small",
        "determination",
        "conditions",
        "valid-until",
        "expert-signature",
    ]
    assert all(item.who == "the expert" for item in by.values())
    assert by["expert-signature"].signature
    assert not any(item.answer for item in by.values())


def test_every_kind_of_statistic_has_its_words_in_chinese():
    plan = papers.plan_of_every_statistic()
    subject = papers.release_subject(plan, asks=())
    text = files_of(papers.document(Kind.HIPAA, subject, language="zh"))["hipaa.zh.md"]
    assert text.count("离散高斯噪声") >= len(plan.statistics) // 2
    assert not CLAIM.search(text)
