"""legal.yaml and audit results: what is required, what is refused, and with which hint."""

import json

import pytest

from confide.errors import ContractError, UnknownNameError
from confide.files.audit_results import read_audit
from confide.files.legal import read_legal
from confide.report.legal.declared import Article6, Article9, Outcome, SiteKind

PUBLIC = """\
sites:
  - id: north
    kind: public
    legal-basis: {article-6: "6(1)(e)", article-9: "9(2)(i)"}
"""
PRIVATE = """\
sites:
  - id: south
    name: South Clinic
    kind: private
    legal-basis: {article-6: "6(1)(f)", article-9: "9(2)(j)", national-law: "Act, s. 3"}
    balancing-test: {interest: "Better care", necessity: "", balance: "", outcome: ""}
"""


def read(text, folder):
    path = folder / "legal.yaml"
    path.write_text(text, "utf-8")
    return read_legal(path)


def test_the_usual_pairs_of_a_public_and_a_private_site_are_read(tmp_path):
    (public,) = read(PUBLIC, tmp_path).sites
    assert (public.kind, public.article_6, public.article_9) == (
        SiteKind.PUBLIC,
        Article6.PUBLIC_TASK,
        Article9.PUBLIC_HEALTH,
    )
    assert public.is_usual
    assert not public.needs_balancing
    (private,) = read(PRIVATE, tmp_path).sites
    assert private.needs_balancing
    assert private.title == "South Clinic"
    assert private.balancing_test.interest == "Better care"


def test_without_a_word_released_statistics_are_handled_as_personal_data(tmp_path):
    assert read(PUBLIC, tmp_path).identifiability.outcome is Outcome.PERSONAL


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("sites: []\n", "names no site"),
        ("answers: {}\n", "sites"),
        ("sites:\n  - {id: north, kind: public}\n", "legal-basis"),
        (PUBLIC.replace('"6(1)(e)"', '"6(1)(z)"'), "article-6"),
        (PUBLIC.replace("9(2)(i)", "9(2)(j)"), "not what a public site usually relies on"),
        (PUBLIC.replace("6(1)(e)", "6(1)(f)"), "closed to public authorities"),
        (PUBLIC.replace("kind: public", "kind: mixed"), "kind"),
        (PUBLIC.replace("id: north", 'id: "../north"'), "cannot be a name"),
        (PUBLIC + PUBLIC.removeprefix("sites:\n"), "twice"),
        (PUBLIC + "    balancing-test: {interest: x}\n", "without Art. 6"),
        (PUBLIC + "colour: blue\n", "unknown key"),
        (PUBLIC + "identifiability: {outcome: not-personal-to-recipients}\n", "justification"),
        (PUBLIC + 'identifiability: {outcome: personal, justification: ["a"]}\n', "justification"),
        (PUBLIC + 'answers: {expert-signature: "A."}\n', "signature is given by a person"),
        (PUBLIC + f'answers: {{controller: "{"a" * 4001}"}}\n', "longer than 4000"),
    ],
)
def test_what_the_law_or_the_form_excludes_is_refused(text, refused, tmp_path):
    with pytest.raises(ContractError, match=refused):
        read(text, tmp_path)


def test_another_pair_of_articles_is_taken_with_a_reason(tmp_path):
    text = PUBLIC.replace("9(2)(i)", "9(2)(j)").replace('"}', '", why: "A research register."}')
    (site,) = read(text, tmp_path).sites
    assert not site.is_usual
    assert site.why == "A research register."


def test_an_unknown_answer_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(UnknownNameError, match="controller"):
        read(PUBLIC + 'answers: {controler: "x"}\n', tmp_path)


@pytest.mark.parametrize(
    "claim", ["fully anonymous", "Anonymised data", "de-identified", "deidentified", "已匿名化"]
)
@pytest.mark.parametrize(
    "place",
    [
        'answers: {{controller: "{claim}"}}\n',
        'identifiability: {{outcome: not-personal-to-recipients, justification: "{claim}"}}\n',
    ],
)
def test_a_word_that_claims_a_status_in_law_is_refused(claim, place, tmp_path):
    with pytest.raises(ContractError, match="never claim") as refused:
        read(PUBLIC + place.format(claim=claim), tmp_path)
    assert "Whoever signs draws the conclusion" in refused.value.hint


def test_a_missing_file_says_how_to_begin(tmp_path):
    with pytest.raises(ContractError) as refused:
        read_legal(tmp_path / "legal.yaml")
    assert "confide document start" in refused.value.hint


def audit(folder, **changes):
    checks = [
        {"layer": "L1", "name": "count", "holds": True, "measured": "1", "claimed": "1"},
        {"layer": "L2", "name": "fit", "holds": True, "measured": "1", "claimed": "1"},
        {"layer": "L2", "name": "fit again", "holds": True, "measured": "1", "claimed": "1"},
    ]
    body = {"schema": "confide.audit/1", "quick": True, "holds": True, "checks": checks} | changes
    path = folder / "audit.json"
    path.write_text(json.dumps(body), "utf-8")
    return path


def test_audit_results_are_counted_by_layer(tmp_path):
    found = read_audit(audit(tmp_path))
    assert found.checks == (("L1", 1), ("L2", 2))
    assert (found.total, found.holds, found.quick, found.failed) == (3, True, True, ())


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "confide.run/1"},
        {"checks": []},
        {"holds": "yes"},
        {"checks": [{"layer": "L9", "name": "x", "holds": True}]},
        {"checks": [{"layer": "L1", "name": "x", "holds": False}]},
        {"checks": "none"},
    ],
)
def test_results_of_another_kind_or_that_contradict_themselves_are_refused(changes, tmp_path):
    with pytest.raises(ContractError, match=r"audit\.json"):
        read_audit(audit(tmp_path, **changes))


def test_a_file_that_is_no_json_is_refused_with_the_command_that_makes_one(tmp_path):
    path = tmp_path / "audit.json"
    path.write_text("{", "utf-8")
    with pytest.raises(ContractError) as refused:
        read_audit(path)
    assert "confide audit --json" in refused.value.hint
