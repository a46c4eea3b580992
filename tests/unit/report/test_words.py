import ast
import re
from importlib import resources
from pathlib import Path

import pytest

import cohorts
from confide.budget.ledger import Scope
from confide.errors import ContractError, UnknownNameError
from confide.plans.estimates import Covers
from confide.report.bounding import measured_text
from confide.report.describe import quantity_text
from confide.report.words import languages, load_words, placeholders
from confide.statistics import STATISTICS
from confide.tables.expression import DatePart

SOURCES = sorted(Path(str(resources.files("confide.report"))).glob("*.py"))
STATISTIC_SOURCES = sorted(Path(str(resources.files("confide.statistics"))).glob("*.py"))


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


@pytest.mark.parametrize("language", languages())
def test_every_sentence_renders_with_its_placeholders(language):
    words = load_words(language)
    for key, template in words.templates.items():
        parts = dict.fromkeys(placeholders(template), "…")
        said = words.say(key, **parts)
        assert said.strip() or key in ("odds.never",), key
        assert "{" not in said, key


@pytest.mark.parametrize("language", languages())
def test_every_language_has_the_sentences_and_placeholders_of_english(language):
    english, other = load_words("en").templates, load_words(language).templates
    optional = ("unit.", "unit-one.")
    wanted = {key for key in english if not key.startswith(optional)}
    assert wanted <= other.keys()
    for key in wanted:
        assert placeholders(other[key]) == placeholders(english[key]), key


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
            found |= {
                inner.value
                for inner in ast.walk(node.value)
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
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
    patterns = [p for path in SOURCES for p in _patterns(path.read_text("utf-8"))]
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
