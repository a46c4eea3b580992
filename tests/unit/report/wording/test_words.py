import ast
import re
from importlib import resources
from pathlib import Path

import pytest

import cohorts
from confide.budget.ledger import Scope
from confide.drawing.quantities import quantity_text
from confide.drawing.words import languages, load_words, placeholders
from confide.errors import ContractError, UnknownNameError
from confide.plans.estimates import Covers
from confide.report.wording.bounding import measured_text
from confide.statistics import STATISTICS
from confide.tables.expression import DatePart

SOURCES = sorted(
    path
    for room in ("confide.drawing", "confide.report")
    for path in Path(str(resources.files(room))).rglob("*.py")
)
STATISTIC_SOURCES = sorted(Path(str(resources.files("confide.statistics"))).rglob("*.py"))


def _docstrings(tree: ast.AST) -> set[int]:
    found = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            found |= {
                id(statement.value)
                for statement in body
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            }
    return found


def _raised(tree: ast.AST) -> set[int]:
    raises = [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    return {id(inner) for node in raises for inner in ast.walk(node)}


def sentences_in(source: str) -> list[str]:
    """String literals of four words or more that are neither docstrings nor errors."""
    tree = ast.parse(source)
    exempt = _docstrings(tree) | _raised(tree)
    literals = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in exempt
    ]
    return [
        text for text in literals if len(re.findall(r"(?<!\S)[A-Za-z]+[,.;:]?(?!\S)", text)) > 3
    ]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_sentence_is_built_outside_the_words_files(path):
    assert sentences_in(path.read_text("utf-8")) == []


def test_the_search_for_sentences_finds_one():
    assert sentences_in('x = f"{n} cells are shown in this figure"')
    assert not sentences_in('"""A docstring of more than four words."""')


LEGAL = languages(part="legal")
NEEDED_BY_LAW = {"legal", "guarantee", "odds", "loss", "adjacency", "entity", "gauge", "scope"}


def _lacks(other, english):
    """Keys and placeholders of English, in the tables that another language has, that it lacks."""
    tables = {key.partition(".")[0] for key in other}
    optional = ("unit.", "unit-one.")
    wanted = {key for key in english if key.partition(".")[0] in tables}
    lacking = {key for key in wanted - other.keys() if not key.startswith(optional)}
    strange = other.keys() - english.keys()
    differs = {
        key
        for key in wanted & other.keys()
        if placeholders(other[key]) != placeholders(english[key])
    }
    return lacking | strange | differs


@pytest.mark.parametrize("language", LEGAL)
def test_every_sentence_renders_with_its_placeholders(language):
    words = load_words(language, part="legal")
    for key, template in words.templates.items():
        parts = dict.fromkeys(placeholders(template), "…")
        said = words.say(key, **parts)
        assert said.strip() or key in ("odds.never",), key
        assert "{" not in said, key


def test_legal_documents_are_in_english_and_chinese_and_reports_in_english():
    assert LEGAL == ("en", "zh")
    assert languages() == ("en",)


@pytest.mark.parametrize("language", LEGAL)
def test_every_language_has_the_sentences_and_placeholders_of_english(language):
    english = load_words("en", part="legal").templates
    other = load_words(language, part="legal").templates
    assert _lacks(other, english) == set()
    assert {key.partition(".")[0] for key in other} >= NEEDED_BY_LAW


DIALECT = (
    "with known ",
    "Lowest:",
    "In brackets:",
    "for the noise alone",
    "without the event",
    "is clipped to",
    "public value",
    "accuses outsiders",
    "Taken by itself",
    "risks that are right",
    "gives as much away again",
)
"""What we used to write, and a physician had to read twice."""


def test_no_sentence_is_written_in_our_own_dialect():
    said = load_words("en").templates
    found = {key: text for key, text in said.items() if any(old in text for old in DIALECT)}
    assert found == {}


def test_the_search_for_missing_sentences_finds_each_kind_of_loss():
    english = load_words("en", part="legal").templates
    chinese = dict(load_words("zh", part="legal").templates)
    key = "legal.from.entry"
    assert _lacks({k: v for k, v in chinese.items() if k != key}, english) == {key}
    assert _lacks(chinese | {key: "台账 {lineage}"}, english) == {key}
    assert _lacks(chinese | {"legal.from.nowhere": "无"}, english) == {"legal.from.nowhere"}


def test_a_report_in_a_language_that_has_legal_documents_alone_is_refused():
    with pytest.raises(UnknownNameError, match="zh"):
        load_words("zh")


def test_no_chinese_sentence_was_left_in_english():
    names = ("legal.source.", "unit")  # titles of papers, UCUM codes
    left = [
        key
        for key, text in load_words("zh", part="legal").templates.items()
        if not key.startswith(names)
        and re.search("[A-Za-z]{3}", re.sub(r"\{[^}]*\}", "", text))
        and not re.search("[\u4e00-\u9fff]", text)
    ]
    assert left == []


def test_a_missing_placeholder_is_refused():
    with pytest.raises(ContractError, match="interval"):
        load_words("en").say("interval", lower="1", upper="2")


def test_an_unused_placeholder_is_refused():
    with pytest.raises(ContractError, match="placeholders"):
        load_words("en").say("or", idle="x")


def test_an_unknown_sentence_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="interval"):
        load_words("en").say("intervals")


def test_an_unknown_language_is_refused():
    with pytest.raises(UnknownNameError, match="en"):
        load_words("xx")


def test_the_parts_of_a_list_must_be_used_by_one_of_its_sentences():
    words = load_words("en")
    assert len(words.each("fit.count", width="20 patients")) == 2
    with pytest.raises(ContractError):
        words.each("fit.mean", width="20 patients")


def test_every_kind_of_statistic_has_words():
    templates = load_words("en").templates
    for kind in STATISTICS:
        assert f"fit.{kind}.0" in templates, kind
        assert f"unfit.{kind}.0" in templates, kind
        titles = {f"title.{kind}", f"title.{kind}.patients", f"title.{kind}.mean"}
        assert titles & templates.keys(), kind


def test_every_question_and_quantity_of_every_statistic_has_words(release, words):
    for measurement in release.plan.measurements:
        assert measured_text(measurement, words=words)
    for quantity in {estimate.quantity for estimate in release.estimates}:
        assert quantity_text(quantity, words=words)


def test_the_example_release_holds_every_kind_of_statistic():
    assert {type(s) for s in cohorts.every_statistic()} == set(STATISTICS.values())


def test_every_flag_that_a_statistic_can_raise_has_words():
    templates = load_words("en").templates
    flags = {flag for path in STATISTIC_SOURCES for flag in _flags(path.read_text("utf-8"))}
    assert {"denominator too small", "below threshold", "near the threshold"} <= flags
    for flag in flags:
        assert f"flag.{flag}.short" in templates
        assert f"flag.{flag}.long" in templates


def _flags(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        named = isinstance(node, ast.keyword) and node.arg == "flags"
        assigned = isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "flags" for target in node.targets
        )
        if named or assigned:
            compared = {
                id(part)
                for each in ast.walk(node.value)
                if isinstance(each, ast.Compare | ast.Subscript)
                for part in ast.walk(each)
            }
            found |= {
                inner.value
                for inner in ast.walk(node.value)
                if isinstance(inner, ast.Constant)
                and isinstance(inner.value, str)
                and id(inner) not in compared
            }
    return found


def test_every_cover_scope_and_calendar_part_has_words():
    templates = load_words("en").templates
    for cover in Covers:
        assert f"covers.{cover.name.lower().replace('_', '-')}" in templates
    for scope in Scope:
        assert f"scope.{scope.value}" in templates
    for part in DatePart:
        assert f"part.{part.value}" in templates


def test_every_sentence_is_used_somewhere():
    rooms = (
        Path(str(resources.files(f"confide.{room}"))) for room in ("service", "cli", "release")
    )
    elsewhere = (path for room in rooms for path in sorted(room.rglob("*.py")))
    sources = (*SOURCES, *STATISTIC_SOURCES, *elsewhere)
    patterns = [p for path in sources for p in _patterns(path.read_text("utf-8"))]
    tables = ("unit.", "unit-one.")
    idle = [
        key
        for key in load_words("en").templates
        if not key.startswith(tables)
        and not any(pattern.fullmatch(_stem(key)) for pattern in patterns)
    ]
    assert idle == []


def _stem(key: str) -> str:
    """The key as sources name it: without the number of a list item, or one and many."""
    return re.sub(r"\.(\d+|one|many)$", "", key)


def _patterns(source: str) -> list[re.Pattern[str]]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(re.escape(node.value))
        elif isinstance(node, ast.JoinedStr):
            parts = [
                re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+"
                for part in node.values
            ]
            if re.search("[a-z]{3}", "".join(part for part in parts if part != ".+")):
                found.append("".join(parts))
    return [re.compile(pattern) for pattern in found]
